// Wakes resident executions when their next timer is due. Only near due times get a timer; the rest is looked at again every half
// horizon, so a deadline an hour away costs nothing for an execution that ends in a millisecond.

import type { Timers } from '../../clock/timers.ts';
import type { Resident } from './resident.ts';

export interface Alarms {
  /** (Re)sets the alarm of an execution to its next due time; null = none. */
  set(resident: Resident, dueAt: number | null): void;
  clear(resident: Resident): void;
  stop(): void;
}

const HORIZON_MS = 5_000;

export function createAlarms(deps: {
  readonly timers: Timers;
  readonly now: () => number;
  readonly residents: () => Iterable<Resident>;
  readonly dueOf: (resident: Resident) => number | null;
  readonly ring: (resident: Resident) => void;
}): Alarms {
  const { timers, now } = deps;
  let cancelSweep = timers.after(HORIZON_MS / 2, sweep);

  function sweep(): void {
    for (const resident of deps.residents()) {
      if (resident.alarm === null) set(resident, deps.dueOf(resident));
    }
    cancelSweep = timers.after(HORIZON_MS / 2, sweep);
  }

  function set(resident: Resident, dueAt: number | null): void {
    if (dueAt !== null && resident.alarm?.at === dueAt) return;
    clear(resident);
    if (dueAt === null || dueAt - now() > HORIZON_MS) return;
    const cancel = timers.after(Math.max(0, dueAt - now()), () => {
      clear(resident);
      // The engine's clock may be slightly behind the timer's: never early (I8).
      if (now() < dueAt) set(resident, dueAt);
      else deps.ring(resident);
    });
    resident.setAlarm({ at: dueAt, cancel });
  }

  function clear(resident: Resident): void {
    resident.setAlarm(null);
  }

  return {
    set,
    clear,
    stop() {
      cancelSweep();
      for (const resident of deps.residents()) clear(resident);
    },
  };
}
