// The engine's time: the database's, as it was seen, plus monotonic time since its receipt. It is never ahead of the database, so
// nothing fires early (I8), and it does not jump when the machine's wall clock does.
//
// An answer that took its time on the way (a commit waits for the disk after it has read the clock) tells less than one that was quick:
// what counts is the one that put the database furthest ahead. Time that went back with every slow commit let sleeps end early, by as
// much as the commit had taken. But not for ever: the database's clock may be set back, and no two clocks run at the same pace.

import type { Timers } from './timers.ts';

export interface Clock {
  now(): number;
  /** Records the database's time from an answer that has just arrived. */
  observe(databaseMs: number): void;
}

/** An observation counts for one to two times this long. */
const KEPT_MS = 10_000;

export function createClock(timers: Timers): Clock {
  /** How far the database's time is ahead of the monotonic one, at least: by what was seen lately, and in the time before that. */
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
