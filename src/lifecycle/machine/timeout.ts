// When the timeout of an instance's state is due, and the event it triggers. The first firing counts from the entry, each
// repetition from the firing before it, so that a monitor that was away does not fire a burst (I8: never early).

import type { Instance } from './decision.ts';
import type { Machine, StateTimeout } from './machine.ts';

export interface DueTimeout {
  readonly event: string;
  /** The number of this firing within the stay, from 1. */
  readonly count: number;
  readonly dueAt: number;
}

/** The fields of an instance that its timeout depends on. */
type Stay = Pick<Instance, 'state' | 'stateSince' | 'timeoutsFired' | 'dueAt'>;

/** null: the state has no timeout, or it has fired as often as allowed. */
export function timeoutOf(machine: Machine, instance: Stay): DueTimeout | null {
  const timeout = machine.states.get(instance.state)?.timeout;
  if (!timeout || !mayFire(timeout, instance.timeoutsFired)) return null;
  return { event: timeout.event, count: instance.timeoutsFired + 1, dueAt: dueAt(timeout, instance) };
}

/** When the timeout is due after a firing at `now`. */
export function dueAfterFiring(timeout: StateTimeout, timeoutsFired: number, now: number): number | null {
  return mayFire(timeout, timeoutsFired) ? now + timeout.intervalMs : null;
}

function mayFire({ mode, max }: StateTimeout, fired: number): boolean {
  return mode === 'once' ? fired === 0 : max === null || fired < max;
}

/** The first due time follows from the entry alone, because a claim may have moved the stored one. */
function dueAt(timeout: StateTimeout, { stateSince, timeoutsFired, dueAt: stored }: Stay): number {
  const first = stateSince + timeout.afterMs;
  return timeoutsFired === 0 ? first : (stored ?? first + timeoutsFired * timeout.intervalMs);
}
