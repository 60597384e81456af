// How many messages are on their way to a consumer at the same time, and how many are claimed ahead. A quick consumer would
// mostly wait for the database if each free slot were filled one by one, so the next messages are claimed, many in one statement,
// while the ones before are still being sent. Nothing is claimed ahead for a slow consumer, because a message that waits here is
// missing elsewhere.

import type { Timers } from '../clock/timers.ts';

const QUICK_MS = 100;
/** Claimed ahead per slot, for a quick consumer. */
const AHEAD = 3;
/** The next message does not wait until an answer is written, but the number of unwritten answers is limited. */
const UNACKNOWLEDGED = 8;

export class Slots {
  private readonly timers: Timers;
  private readonly waiting: (() => void)[] = [];
  private busy = 0;
  private lastMs = Number.POSITIVE_INFINITY;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  /** Nothing is on its way or waiting. */
  get isIdle(): boolean {
    return this.busy + this.waiting.length === 0;
  }

  /** How many to claim now; 0: none, or too few for a statement. `held`: claimed and unacknowledged. */
  wanted(size: number, held: number): number {
    const taken = this.busy + this.waiting.length;
    const isQuick = this.lastMs < QUICK_MS;
    const free = Math.min(size * (isQuick ? 1 + AHEAD : 1) - taken, size * UNACKNOWLEDGED - held);
    return isQuick && taken > 0 && free < size ? 0 : Math.max(0, free);
  }

  /** Runs the work when a slot is free. `waitedMs`: how long that took; 0: a slot was free at once. */
  async use<Result>(size: number, work: (waitedMs: number) => Promise<Result>): Promise<Result> {
    const askedMs = this.timers.monotonicMs();
    const waited = this.busy >= size;
    // A slot is handed over directly: it is never free in between, so nobody else can take it.
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
