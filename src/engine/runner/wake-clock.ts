// Wakes parked executions when they are due, instead of at the next poll. It learns the next due time from every execution that
// this runner parks, and from every look. The poll stays the correctness path for executions that other processes parked (I8: the
// database decides what is due, so nothing wakes early; I11).

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import type { QueueLook, Store } from '../../store/port.ts';
import type { EngineObserver } from '../environment.ts';

export interface WakeClockDeps {
  readonly store: Pick<Store, 'queueWake'>;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  /** Executions that became ready more recently are about to be taken by a runner that was told of them. */
  readonly readyForMs: number;
  /** Some are ready now. */
  readonly woken: () => void;
}

type Seen = Pick<QueueLook, 'hasReady' | 'hasMail'>;

const WAKE_LIMIT = 5_000;
/** Due times this close together share one statement. */
const TOGETHER_MS = 20;
/** Later due times are read again before they are needed. */
const HORIZON_MS = 60_000;

export class WakeClock {
  private readonly deps: WakeClockDeps;
  private nextAt = Number.POSITIVE_INFINITY;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private cancel: () => void = () => {};
  private looking: Promise<Seen> | null = null;
  private stopped = false;

  constructor(deps: WakeClockDeps) {
    this.deps = deps;
  }

  /** An execution was parked until then. */
  expect(dueAt: number): void {
    if (dueAt < this.nextAt) this.ringAt(dueAt);
  }

  /** Wakes everything that is due, and returns what else there is to do. Concurrent callers share one query. */
  runOnce(): Promise<Seen> {
    this.looking ??= this.look().finally(() => {
      this.looking = null;
    });
    return this.looking;
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  private async look(): Promise<Seen> {
    const { store, timers, readyForMs } = this.deps;
    let seen: Seen = { hasReady: false, hasMail: false };
    this.cancel();
    this.nextAt = Number.POSITIVE_INFINITY;
    for (let woken = WAKE_LIMIT; woken === WAKE_LIMIT && !this.stopped; ) {
      const found = await store.queueWake({ limit: WAKE_LIMIT, readyForMs });
      this.lookedAt = timers.monotonicMs();
      woken = found.woken;
      seen = found;
      if (woken > 0) this.deps.woken();
      if (found.nextDueAt !== null) this.expect(found.nextDueAt);
    }
    return seen;
  }

  private ringAt(dueAt: number): void {
    const { timers, clock } = this.deps;
    this.cancel();
    this.nextAt = dueAt;
    const inMs = dueAt - clock.now();
    if (this.stopped || inMs > HORIZON_MS) return;
    const rested = this.lookedAt + TOGETHER_MS - timers.monotonicMs();
    this.cancel = timers.after(Math.max(0, inMs, rested), () => void this.ring());
  }

  private async ring(): Promise<void> {
    try {
      await this.runOnce();
    } catch (error) {
      // The poll looks again.
      this.deps.observer.warn('waking failed', { error: String(error) });
    }
  }
}
