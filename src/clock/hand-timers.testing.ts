// Time that moves only when a test says so. `soon` runs in the next turn of the real loop, so that promises settle first.

import type { Timers } from './timers.ts';

export interface HandTimers extends Timers {
  /** Moves time on, ringing in order whatever falls due on the way. */
  advance(ms: number): void;
  /** How many callbacks wait for their time. */
  readonly pending: number;
}

interface Alarm {
  readonly at: number;
  readonly ring: () => void;
}

export function handTimers(): HandTimers {
  let now = 0;
  const alarms = new Set<Alarm>();
  return {
    get pending() {
      return alarms.size;
    },
    monotonicMs: () => now,
    after(delayMs, ring) {
      const alarm = { at: now + Math.max(0, delayMs), ring };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    soon: (callback) => void setImmediate(callback),
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...alarms].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        alarms.delete(due);
        now = due.at;
        due.ring();
      }
      now = until;
    },
  };
}

/** Lets every promise and every `soon` that is ready have its turn. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
}
