// When the timeout of the state that an instance stays in is due, and what it then triggers. It counts from the entry; a
// repeated one counts from the firing before it, so that a monitor that was away does not fire a burst (I8: never early).

import type { Instance } from './decision.ts';
import type { Machine, StateTimeout } from './machine.ts';

export interface DueTimeout {
  readonly event: string;
  /** The how-manieth firing of this stay it will be. */
  readonly count: number;
  readonly dueAt: number;
}

/** As much of an instance as its timeout depends on. */
type Stay = Pick<Instance, 'state' | 'stateSince' | 'timeoutsFired' | 'dueAt'>;

/** null: the state has none, or it has fired as often as it may. */
export function timeoutOf(machine: Machine, instance: Stay): DueTimeout | null {
  const timeout = machine.states.get(instance.state)?.timeout;
  if (!timeout || !mayFire(timeout, instance.timeoutsFired)) return null;
  return { event: timeout.event, count: instance.timeoutsFired + 1, dueAt: dueAt(timeout, instance) };
}

/** How the timeout stands after the firing at `now`. */
export function dueAfterFiring(timeout: StateTimeout, timeoutsFired: number, now: number): number | null {
  return mayFire(timeout, timeoutsFired) ? now + timeout.intervalMs : null;
}

function mayFire({ mode, max }: StateTimeout, fired: number): boolean {
  return mode === 'once' ? fired === 0 : max === null || fired < max;
}

/** The first follows from the entry alone; a claim may have moved what is stored. */
function dueAt(timeout: StateTimeout, { stateSince, timeoutsFired, dueAt: stored }: Stay): number {
  const first = stateSince + timeout.afterMs;
  return timeoutsFired === 0 ? first : (stored ?? first + timeoutsFired * timeout.intervalMs);
}
