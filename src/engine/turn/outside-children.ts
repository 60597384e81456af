// Children of executions on another engine. The commit that starts them inserts them. If a process dies between that commit and
// the message for the node, the next turn takes them up here. A child runs on its parent's engine.

import { type Command, startCommand } from '../../core/decider/command.ts';
import { allNodes } from '../../core/decider/frame.ts';
import type { TurnParts } from './decide-turn.ts';
import { parametersOf, type Remembered } from './outside-memory.ts';
import { startAgain } from './subworkflow.ts';

/** The process of the last turn may have died before it told a node that its child was started or refused. */
export async function takeUpChildren(parts: TurnParts, found: Remembered): Promise<void> {
  const { resident, knownChildren, driver } = found;
  const starts: Extract<Command, { type: 'startChild' }>[] = [];
  for (const [node, { status, childId }] of [...allNodes(resident.state)]) {
    const isOpen = (status === 'Waiting' || status === 'Running') && childId !== null && !knownChildren.has(childId);
    if (!isOpen) continue;
    const command = startCommand(resident.state, node, await parametersOf(parts.store, found, node));
    if (command.type === 'startChild') starts.push(command);
  }
  if (starts.length === 0) return;
  const known = await startAgain(parts, resident, starts, { now: parts.clock.now(), driver });
  for (const { childId } of starts) if (known.has(childId)) knownChildren.add(childId);
}
