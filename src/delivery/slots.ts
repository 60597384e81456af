// How many messages are on their way to a consumer at the same time, and how many are taken ahead of their turn. A consumer that
// answers quickly would wait for the database most of the time if each free slot were filled one by one; so the next messages
// are claimed while the ones before are still being sent, and many in one statement. From a slow one nothing is taken ahead:
// what waits here is missing elsewhere.

import type { Timers } from '../clock/timers.ts';

const QUICK_MS = 100;
/** Of a quick consumer: taken ahead, for each slot. */
const AHEAD = 3;
/** The next message need not wait until an answer is written, but the number of unwritten answers is limited. */
const UNACKNOWLEDGED = 8;

export class Slots {
  private readonly timers: Timers;
  private readonly waiting: (() => void)[] = [];
  private busy = 0;
  private lastMs = Number.POSITIVE_INFINITY;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Nothing is on its way, and nothing waits to be. */
  get isIdle(): boolean {
    return this.busy + this.waiting.length === 0;
  }

  /** How many to claim now; 0: none, or too few to be worth a statement. `held`: claimed and not acknowledged. */
  wanted(size: number, held: number): number {
    const taken = this.busy + this.waiting.length;
    const isQuick = this.lastMs < QUICK_MS;
    const free = Math.min(size * (isQuick ? 1 + AHEAD : 1) - taken, size * UNACKNOWLEDGED - held);
    return isQuick && taken > 0 && free < size ? 0 : Math.max(0, free);
  }

  /** Does the work when there is a slot. `waitedMs`: for how long there was none; 0: there was one at once. */
  async use<Result>(size: number, work: (waitedMs: number) => Promise<Result>): Promise<Result> {
    const askedMs = this.timers.monotonicMs();
    const waited = this.busy >= size;
    // Whoever leaves hands the slot over: it is never free in between, when somebody else could take it.
    if (waited) await new Promise<void>((resolve) => void this.waiting.push(resolve));
    else this.busy++;
    const startedMs = this.timers.monotonicMs();
    try {
      return await work(waited ? Math.max(1, startedMs - askedMs) : 0);
    } finally {
      this.lastMs = this.timers.monotonicMs() - startedMs;
      const next = this.waiting.shift();
      if (next === undefined) this.busy--;
      else next();
    }
  }
}
