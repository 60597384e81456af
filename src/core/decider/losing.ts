// Gives up what nobody needs any more: the losers of a join, the rest of an item that has failed, the items of a loop that has. What
// runs is told to stop, and its result will not count.

import { type Deciding, emit } from './deciding.ts';
import { framesOf, nodeAt } from './frame.ts';
import { type Frame, isFinal } from './state.ts';

/** Only of a node that is in flight. Of a loop, with all that runs of it. */
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
