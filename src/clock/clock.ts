// The engine's time: the database's time when it was last seen, plus monotonic time since then. It is never ahead of the
// database, so nothing fires early (I8), and it does not jump with the machine's wall clock.
//
// A slow answer tells less than a quick one: a commit reads the clock, then waits for the disk. So the observation that put the
// database furthest ahead counts. Time that went back with every slow commit once let sleeps end early, by as much as the commit
// had taken. Old observations expire, because the database's clock may be set back, and no two clocks run at the same pace.

import type { Timers } from './timers.ts';

export interface Clock {
  now(): number;
  /** Records the database's time from an answer that has just arrived. */
  observe(databaseMs: number): void;
}

/** An observation counts for one to two times this long. */
const KEPT_MS = 10_000;

export function createClock(timers: Timers): Clock {
  /** The lower bound of the database's lead over the monotonic clock: from recent observations, and from the period before. */
  let ahead = -timers.monotonicMs();
  let aheadBefore = Number.NEGATIVE_INFINITY;
  let since = Number.NEGATIVE_INFINITY;
  return {
    now: () => Math.floor(Math.max(ahead, aheadBefore) + timers.monotonicMs()),
    observe(databaseMs) {
      const at = timers.monotonicMs();
      if (at - since >= KEPT_MS) {
        aheadBefore = at - since < 2 * KEPT_MS ? ahead : Number.NEGATIVE_INFINITY;
        ahead = Number.NEGATIVE_INFINITY;
        since = at;
      }
      ahead = Math.max(ahead, databaseMs - at);
    },
  };
}

export const isoTime = (at: number): string => new Date(at).toISOString();
