// How long the engine keeps the event loop at a stretch. One decision and one synchronous action are bounded, but hundreds
// may become possible in the same moment; whoever else uses the process (HTTP, leases, timers) must get a turn in between
// (S4, I22). Work is timed; when it adds up to a stretch, what comes next waits for the next turn of the loop, in order.

import type { Timers } from '../clock/timers.ts';

/** With the longest single piece of work on top of it this stays below 50 ms. */
const STRETCH_MS = 10;

export class Pace {
  private readonly timers: Timers;
  private readonly waiting: (() => void)[] = [];
  private usedMs = 0;
  private isResting = false;
  /** Until when work has been counted, while some is being done. */
  private countedUntil = 0;
  private depth = 0;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Now if there is time left, else in a later turn of the loop. */
  run(work: () => void): void {
    if (this.isResting) this.waiting.push(work);
    else this.timed(work);
  }

  /** Whether work that is begun now would begin at once. */
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
