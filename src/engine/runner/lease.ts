// The lease of one incarnation, renewed well before it ends. Its end only permits others to declare this runner dead; the fence
// protects the data. The lease protects the outside world: no external call starts after `renewal started + lease − margin`, by
// the monotonic clock (I6).
//
// A thread beside the event loop renews it, so that a busy loop does not lose it. The loop renews it as well while the thread has
// not done so recently: because it is just starting, has died, or does not exist (the simulation). Only an answer that this loop
// has heard counts. The thread's database session guards the lease: when the process is killed, others need not wait for the end
// of the lease. A runner that lost only this session dispatches nothing until the lease is renewed.

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import { keepRenewing, type LeaseNews, type OpenLeaseThread } from '../../store/lease-renewal.ts';
import type { RunnerStore } from '../../store/runner-port.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';

export interface Lease {
  mayDispatch(): boolean;
  /**
   * Whether this runner may declare others dead. After a late renewal of its own it waits a full lease first: a stalled
   * database stalled for all, and the first to come back must not take the others for dead.
   */
  mayJudge(): boolean;
  stop(): Promise<void>;
}

/** A share of the lease, so that a short lease keeps enough time, and no more than a request needs. */
const marginOf = ({ leaseMs, leaseMarginMs }: LeaseOptions): number => leaseMarginMs ?? Math.min(2_000, leaseMs / 5);

type LeaseOptions = Pick<EngineOptions, 'leaseMs' | 'leaseMarginMs'>;

export function keepLease(deps: {
  readonly store: RunnerStore;
  readonly openLeaseThread?: OpenLeaseThread | undefined;
  readonly runnerId: string;
  readonly options: LeaseOptions;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  /** Monotonic time of the registration request. The lease counts from there at the latest. */
  readonly registeredAt: number;
  /** Somebody declared this incarnation dead. */
  readonly lost: () => void;
}): Lease {
  const { store, timers, clock, observer, runnerId } = deps;
  const { leaseMs } = deps.options;
  const mayDispatchMs = leaseMs - marginOf(deps.options);
  let renewedAt = deps.registeredAt;
  let renewedByThreadAt = Number.NEGATIVE_INFINITY;
  let lateAt = Number.NEGATIVE_INFINITY;
  /** Until a renewal that began after this, others may have declared this runner dead. */
  let unguardedAt = Number.NEGATIVE_INFINITY;
  let stopped = false;

  function heard(news: LeaseNews): void {
    if (stopped) return;
    if (news.type === 'failed') return observer.warn('lease not renewed', { error: news.error });
    if (news.type === 'lost') return deps.lost();
    if (news.type === 'unguarded') return;
    const { startedAt, answeredAt, at } = news;
    // A busy loop hears of the renewal late.
    clock.observe(at + (timers.monotonicMs() - answeredAt));
    if (answeredAt - renewedAt > leaseMs) lateAt = answeredAt;
    renewedAt = Math.max(renewedAt, startedAt);
  }

  const thread = deps.openLeaseThread?.({ runnerId, leaseMs }, (news) => {
    if (news.type === 'renewed') renewedByThreadAt = news.startedAt;
    else unguardedAt = timers.monotonicMs();
    heard(news);
  });
  const renewing = keepRenewing({
    store,
    runnerId,
    leaseMs,
    monotonicMs: timers.monotonicMs,
    after: timers.after,
    isWanted() {
      thread?.beat();
      return timers.monotonicMs() - renewedByThreadAt > leaseMs / 2;
    },
    heard,
  });

  return {
    mayDispatch: () => renewedAt > unguardedAt && timers.monotonicMs() < renewedAt + mayDispatchMs,
    mayJudge: () => timers.monotonicMs() < renewedAt + leaseMs && timers.monotonicMs() > lateAt + leaseMs,
    async stop() {
      stopped = true;
      renewing.stop();
      await thread?.stop();
    },
  };
}
