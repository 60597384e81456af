// The lease of one incarnation: renewed well before it ends. Its end is only a permission for others to declare this
// runner dead; what protects the data is the fence. What the lease protects is the outside world: no external call
// starts after `renewal started + lease − margin`, by the monotonic clock (I6).

import type { RunnerStore } from '../store/port.ts';
import type { Clock } from './clock.ts';
import type { EngineObserver, Timers } from './environment.ts';

export interface Lease {
  mayDispatch(): boolean;
  /**
   * Whether this runner may declare others dead. One whose own renewal was late waits a full lease first: a database that
   * stalled stalled for all, and the first to come back must not take the others for dead.
   */
  mayJudge(): boolean;
  stop(): void;
}

export function keepLease(deps: {
  readonly store: RunnerStore;
  readonly runnerId: string;
  readonly leaseMs: number;
  readonly marginMs: number;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  /** Monotonic time at which the registration was asked for: the lease counts from there at the latest. */
  readonly registeredAt: number;
  /** The slots are no longer live: somebody declared this incarnation dead. */
  readonly lost: () => void;
}): Lease {
  const { timers, leaseMs } = deps;
  let renewedAt = deps.registeredAt;
  let lateAt = Number.NEGATIVE_INFINITY;
  let stopped = false;
  let cancel = timers.after(leaseMs / 3, renew);

  function renew(): void {
    const startedAt = timers.monotonicMs();
    deps.store.leaseRenew({ runnerId: deps.runnerId, leaseMs }).then(
      ({ renewed, at }) => {
        if (stopped) return;
        deps.clock.observe(at);
        if (!renewed) return deps.lost();
        if (timers.monotonicMs() - renewedAt > leaseMs) lateAt = timers.monotonicMs();
        renewedAt = startedAt;
        cancel = timers.after(leaseMs / 3, renew);
      },
      (error: unknown) => {
        if (stopped) return;
        deps.observer.warn('lease not renewed', { error: String(error) });
        cancel = timers.after(Math.min(1_000, leaseMs / 10), renew);
      },
    );
  }

  return {
    mayDispatch: () => timers.monotonicMs() < renewedAt + leaseMs - deps.marginMs,
    mayJudge: () => timers.monotonicMs() < renewedAt + leaseMs && timers.monotonicMs() > lateAt + leaseMs,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
