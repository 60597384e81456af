// Counts recent events: those of the last 20 to 40 ms, in two parts, because remembering each event would cost more than it
// tells.

import type { Timers } from '../../clock/timers.ts';

const PART_MS = 20;

export class Lately {
  private readonly timers: Timers;
  private partBegan = Number.NEGATIVE_INFINITY;
  private inPart = 0;
  private inPartBefore = 0;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  add(): void {
    this.turnOver();
    this.inPart++;
  }

  count(): number {
    this.turnOver();
    return this.inPartBefore + this.inPart;
  }

  private turnOver(): void {
    const now = this.timers.monotonicMs();
    const elapsed = now - this.partBegan;
    if (elapsed < PART_MS) return;
    this.inPartBefore = elapsed < 2 * PART_MS ? this.inPart : 0;
    this.inPart = 0;
    this.partBegan = now;
  }
}
