// Refuses starts while starting takes too long: when more than one recent start in twenty took over five seconds, new ones are
// refused at once, with a Retry-After that doubles, instead of waiting for a timeout (I21). One is let in each time, to measure
// again.

import type { Timers } from '../../clock/timers.ts';
import { PawlError } from '../../core/error/pawl-error.ts';

const SLOW_MS = 5_000;
const SAMPLES = 100;
/** Fewer samples say nothing. */
const MIN_SAMPLES = 20;
const SLOW_SHARE = 0.05;
/** Older measurements do not count. */
const FRESH_MS = 60_000;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 32_000;

export class StartGate {
  private readonly timers: Timers;
  private readonly durations: number[] = [];
  private next = 0;
  private slow = 0;
  private lastAt = 0;
  private waitMs = 0;
  private closedUntil = 0;

  constructor(timers: Timers) {
    this.timers = timers;
  }

  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    const startedAt = this.timers.monotonicMs();
    if (this.isSlow(startedAt)) this.refuseUnlessDue(startedAt);
    try {
      return await work();
    } finally {
      this.record(this.timers.monotonicMs(), startedAt);
    }
  }

  /** null: too few to tell. */
  p95Ms(): number | null {
    if (this.durations.length < MIN_SAMPLES) return null;
    const sorted = this.durations.toSorted((a, b) => a - b);
    return Math.round(sorted[Math.ceil(sorted.length * (1 - SLOW_SHARE)) - 1]! * 10) / 10;
  }

  private isSlow(now: number): boolean {
    if (this.slow === 0) return false;
    if (now - this.lastAt > FRESH_MS) this.forget();
    return this.durations.length >= MIN_SAMPLES && this.slow > this.durations.length * SLOW_SHARE;
  }

  private refuseUnlessDue(now: number): void {
    if (now >= this.closedUntil) {
      this.waitMs = Math.min(LONGEST_WAIT_MS, Math.max(FIRST_WAIT_MS, this.waitMs * 2));
      this.closedUntil = now + this.waitMs;
      return;
    }
    const retryAfterSeconds = Math.ceil((this.closedUntil - now) / 1_000);
    throw new PawlError('UNAVAILABLE', 'starting takes too long at the moment; come back later', { retryAfterSeconds });
  }

  private record(now: number, startedAt: number): void {
    const duration = now - startedAt;
    if ((this.durations[this.next] ?? 0) > SLOW_MS) this.slow--;
    if (duration > SLOW_MS) this.slow++;
    else if (this.waitMs > 0) this.forget();
    this.durations[this.next] = duration;
    this.next = (this.next + 1) % SAMPLES;
    this.lastAt = now;
  }

  /** Starts are quick again. */
  private forget(): void {
    this.durations.length = 0;
    this.next = 0;
    this.slow = 0;
    this.waitMs = 0;
    this.closedUntil = 0;
  }
}
