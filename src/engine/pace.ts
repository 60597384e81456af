// Bounds how long the engine occupies the event loop at a stretch. One decision and one synchronous action are bounded, but
// hundreds may become possible in the same moment; HTTP, leases and timers need a turn in between (S4, I22). Work is timed; when
// it adds up to a stretch, the next piece waits for the next turn of the loop, in order.

import type { Timers } from '../clock/timers.ts';

/** Together with the longest single piece of work this stays below 50 ms. */
const STRETCH_MS = 10;

export class Pace {
  private readonly timers: Timers;
  private readonly waiting: (() => void)[] = [];
  private usedMs = 0;
  private isResting = false;
  /** The time up to which running work has been counted. */
  private countedUntil = 0;
  private depth = 0;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Runs now if there is time left, else in a later turn of the loop. */
  run(work: () => void): void {
    if (this.isResting) this.waiting.push(work);
    else this.timed(work);
  }

  /** Whether new work would begin at once. */
  hasTime(): boolean {
    return !this.isResting;
  }

  timed<Result>(work: () => Result): Result {
    if (this.depth++ === 0) this.countedUntil = this.timers.monotonicMs();
    try {
      return work();
    } finally {
      this.depth--;
      const now = this.timers.monotonicMs();
      this.usedMs += now - this.countedUntil;
      this.countedUntil = now;
      if (this.usedMs >= STRETCH_MS) this.rest();
    }
  }

  private rest(): void {
    if (this.isResting) return;
    this.isResting = true;
    this.timers.soon(() => {
      this.isResting = false;
      this.usedMs = 0;
      while (this.waiting.length > 0 && this.hasTime()) this.timed(this.waiting.shift()!);
    });
  }
}
