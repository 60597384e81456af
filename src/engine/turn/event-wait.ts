// The rows of an execution's event waits.

import type { Command } from '../../core/decider/command.ts';
import { idOf } from '../../core/decider/frame.ts';
import type { State } from '../../core/decider/state.ts';
import type { EventWaitRow } from '../../store/event-wait-port.ts';
import type { Resident } from './resident.ts';

export function eventWaits(
  { execution, state }: Pick<Resident, 'execution' | 'state'>,
  { node, subscriptions }: Extract<Command, { type: 'subscribe' }>,
): EventWaitRow[] {
  const { tenantId, executionId } = execution;
  const nodeId = idOf(state, node);
  return subscriptions.map(({ type, key }) => ({ tenantId, eventType: type, key, executionId, nodeId }));
}

export const hasEventWaits = ({ nodes }: State): boolean => nodes.some(({ isSubscribed }) => isSubscribed);
