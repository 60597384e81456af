// Gives up nodes that nothing needs any more: the losers of a join, the rest of a failed item, the items of a failed loop.
// Running attempts are told to stop, and their results do not count.

import { type Deciding, emit } from './deciding.ts';
import { framesOf, nodeAt } from './frame.ts';
import { type Frame, isFinal } from './state.ts';

/** Only for a node in flight; for a loop, with all its running items. */
export function loseNode(deciding: Deciding, node: number, why: string): void {
  for (const frame of framesOf(deciding.state, node)) loseFrame(deciding, frame, why);
  const { attempts: attempt, status } = nodeAt(deciding.state, node)!;
  const error = { code: 'CANCELLED', message: `No longer needed: ${why}` };
  const between = status === 'Retrying' ? { betweenAttempts: true as const } : {};
  emit(deciding, { type: 'NodeCancelled', node, attempt, error, lost: true, ...between });
}

export function loseFrame(deciding: Deciding, { base, nodes }: Frame, why: string): void {
  for (const [local, { status }] of nodes.entries()) {
    if (!isFinal(status) && status !== 'Pending') loseNode(deciding, base + local, why);
  }
}
