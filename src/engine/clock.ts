// The engine's time: the database's, as last seen, plus monotonic time since its receipt. It is never ahead of the
// database, so nothing fires early (I8), and it does not jump when the machine's wall clock does.

import type { Timers } from './environment.ts';

export interface Clock {
  now(): number;
  /** Tells the clock what the database said, and when the question was asked. */
  observe(databaseMs: number): void;
}

export function createClock(timers: Timers): Clock {
  let seenAt = timers.monotonicMs();
  let seen = 0;
  return {
    now: () => Math.floor(seen + (timers.monotonicMs() - seenAt)),
    observe(databaseMs) {
      seen = databaseMs;
      seenAt = timers.monotonicMs();
    },
  };
}
