// Renews a runner's lease repeatedly, well before it ends. The same loop runs in two places: on the runner's own event loop, and
// in a thread that goes on while that loop is busy (store/postgres/lease-thread.ts). It only reports; engine/runner/lease.ts
// decides what follows.

import type { Timestamp } from './port.ts';
import type { RunnerStore } from './runner-port.ts';

export type LeaseNews =
  /** Times are monotonic milliseconds; `at` is the database's. */
  | { readonly type: 'renewed'; readonly startedAt: number; readonly answeredAt: number; readonly at: Timestamp }
  /** Somebody declared this runner dead. */
  | { readonly type: 'lost' }
  /** The session that guarded the lease is gone: others may declare this runner dead soon. */
  | { readonly type: 'unguarded' }
  | { readonly type: 'failed'; readonly error: string };

export interface LeaseTerms {
  readonly runnerId: string;
  readonly leaseMs: number;
}

/** Beside the runner's event loop. */
export interface LeaseThread {
  /** Reports that the loop is alive. A thread without a beat for half a minute stops renewing; a stopped one is restarted. */
  beat(): void;
  stop(): Promise<void>;
}

export type OpenLeaseThread = (terms: LeaseTerms, heard: (news: LeaseNews) => void) => LeaseThread;

export interface RenewalDeps extends LeaseTerms {
  readonly store: Pick<RunnerStore, 'leaseRenew'>;
  readonly monotonicMs: () => number;
  readonly after: (delayMs: number, callback: () => void) => () => void;
  /** Asked before each renewal. */
  readonly isWanted: () => boolean;
  readonly heard: (news: LeaseNews) => void;
  /** The session of the store guards the lease. */
  readonly isGuard?: boolean;
}

export interface Renewing {
  /** Renews now instead of on schedule. */
  hurry(): void;
  stop(): void;
}

/** Runs until it is stopped or the lease is lost. */
export function keepRenewing(deps: RenewalDeps): Renewing {
  const { store, runnerId, leaseMs, monotonicMs, after, isWanted, heard, isGuard = false } = deps;
  let stopped = false;
  let cancel = after(leaseMs / 3, renew);

  function renew(): void {
    const startedAt = monotonicMs();
    if (!isWanted()) {
      cancel = after(leaseMs / 3, renew);
      return;
    }
    store.leaseRenew({ runnerId, leaseMs, isGuard }).then(
      ({ renewed, at }) => {
        if (stopped) return;
        if (!renewed) return heard({ type: 'lost' });
        heard({ type: 'renewed', startedAt, answeredAt: monotonicMs(), at });
        cancel = after(leaseMs / 3, renew);
      },
      (error: unknown) => {
        if (stopped) return;
        heard({ type: 'failed', error: String(error) });
        cancel = after(Math.min(1_000, leaseMs / 10), renew);
      },
    );
  }

  return {
    hurry() {
      cancel();
      if (!stopped) renew();
    },
    stop() {
      stopped = true;
      cancel();
    },
  };
}
