// Fires the timeouts of states. The database decides by its own clock which are due, so none is early (I8). Each is a trigger at
// one revision, so two monitors, or a monitor and a trigger, have one winner. Work that a dying monitor had claimed becomes due
// again.

import type { Clock } from '../../clock/clock.ts';
import type { InstanceRow, LifecycleStore } from '../../store/lifecycle-port.ts';
import type { Cause } from '../machine/decision.ts';
import { timeoutOf } from '../machine/timeout.ts';
import { type InstanceTriggers, RESERVED_REQUESTS } from './instance-triggers.ts';
import type { MachineBook } from './machine-book.ts';

const LIMIT = 500;

export interface TimeoutsDeps {
  readonly store: Pick<LifecycleStore, 'instanceClaimDue'>;
  readonly machines: MachineBook;
  readonly triggers: InstanceTriggers;
  readonly clock: Clock;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** How long a dead process keeps its claimed work before it is due again. */
  readonly claimMs: number;
}

/** Returns how many fired. If that is the limit, there may be more. */
export async function fireTimeouts(deps: TimeoutsDeps): Promise<{ fired: number; isMore: boolean }> {
  const { due, at } = await deps.store.instanceClaimDue({ limit: LIMIT, leaseMs: deps.claimMs });
  deps.clock.observe(at);
  const outcomes = await Promise.all(due.map((row) => fireOne(deps, row)));
  return { fired: outcomes.filter(Boolean).length, isMore: due.length === LIMIT };
}

async function fireOne(deps: TimeoutsDeps, row: InstanceRow): Promise<boolean> {
  const { tenantId, env, definition, externalRef, instanceId, state, revision } = row;
  try {
    const known = await deps.machines.version(row, row.version);
    const timeout = known === null ? null : timeoutOf(known.machine, row);
    if (timeout === null) throw new Error(`state "${state}" has no timeout`);
    const { event, count } = timeout;
    const cause: Cause = { type: 'timeout', state, count };
    const requestId = `${RESERVED_REQUESTS}timeout:${revision}:${count}`;
    const key = { tenantId, env, definition, externalRef };
    const answer = await deps.triggers.apply({ ...key, event, requestId, cause, onlyAt: revision });
    return answer?.applied === true;
  } catch (error) {
    // The timeout is due again when the claim ends: nothing is lost, and one bad timeout does not hold up the others.
    deps.warn('a timeout could not be fired', { instanceId, state, error: (error as Error).message });
    return false;
  }
}
