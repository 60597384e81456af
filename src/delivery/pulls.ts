// Consumers that pull. A pull claims: a delivery that is not confirmed becomes due again after a while, as with every other
// channel (I19). A pull that finds nothing may wait. A commit wakes it at once, in another process by a hint; the monitor finds
// deliveries without a wake-up.

import type { Timers } from '../clock/timers.ts';
import type { ClaimedDelivery, DeliveryStore } from '../store/delivery-port.ts';
import type { Consumer } from './consumer.ts';
import { deadAfterAttempts, sentAgain } from './delivery-notice.ts';
import type { DeliveryOptions } from './environment.ts';
import type { Notices } from './notices.ts';
import { remindDelays, resendDelays } from './resend-schedule.ts';

export interface PullsDeps {
  readonly store: Pick<DeliveryStore, 'deliveryClaim'>;
  readonly timers: Timers;
  readonly notices: Pick<Notices, 'raise'>;
  readonly options: DeliveryOptions;
}

export interface PullRequest {
  readonly limit: number;
  readonly waitMs: number;
  /** Aborted when the caller has gone. */
  readonly signal?: AbortSignal | undefined;
}

/** For a process without a monitor. */
const LOOK_AGAIN_AFTER_MS = 5_000;

export class Pulls {
  private readonly deps: PullsDeps;
  private readonly waiters = new Map<string, Set<() => void>>();

  constructor(deps: PullsDeps) {
    this.deps = deps;
  }

  /** False: no pull waits in this process. */
  wake(consumerId: string): boolean {
    const waiting = this.waiters.get(consumerId);
    for (const wake of waiting ?? []) wake();
    return waiting !== undefined;
  }

  /** Consumers with waiting pulls. */
  waitedFor(): Iterable<string> {
    return this.waiters.keys();
  }

  /** `current`: the consumer as it is now, because it may be paused or removed during the wait. */
  async pull(current: () => Consumer | null, request: PullRequest): Promise<ClaimedDelivery[]> {
    const { timers } = this.deps;
    const until = timers.monotonicMs() + request.waitMs;
    for (;;) {
      const consumer = current();
      if (consumer === null || request.signal?.aborted) return [];
      // Listens first, so that a commit during the look is not missed.
      const news = this.listen(consumer.consumerId, request.signal);
      try {
        const claimed = consumer.isPaused ? [] : await this.claim(consumer, request.limit);
        const left = until - timers.monotonicMs();
        if (claimed.length > 0 || left <= 0) return claimed;
        await news.within(Math.min(left, LOOK_AGAIN_AFTER_MS));
      } finally {
        news.end();
      }
    }
  }

  private async claim(consumer: Consumer, limit: number): Promise<ClaimedDelivery[]> {
    const { store, notices, options } = this.deps;
    const { consumerId, ordering, settings, tenantId } = consumer;
    const maxAttempts = (settings.maxAttempts ?? options.maxAttempts) || null;
    const delays = { resendMs: resendDelays(options), remindMs: remindDelays(options) };
    const { claimed, dead } = await store.deliveryClaim({ consumerId, ordering, limit, ...delays, maxAttempts });
    const raised = claimed.map((one) => sentAgain(one, consumer)).filter((notice) => notice !== null);
    notices.raise(tenantId, [...raised, ...dead.map((one) => deadAfterAttempts(one, consumer))]);
    return claimed;
  }

  private listen(consumerId: string, signal: AbortSignal | undefined) {
    const { promise: told, resolve: wake } = Promise.withResolvers<void>();
    const waiting = this.waiters.get(consumerId) ?? new Set();
    this.waiters.set(consumerId, waiting.add(wake));
    const onAbort = () => wake();
    signal?.addEventListener('abort', onAbort, { once: true });
    let cancel = () => {};
    return {
      within: (delayMs: number): Promise<void> => {
        cancel = this.deps.timers.after(delayMs, wake);
        return told;
      },
      end: (): void => {
        cancel();
        signal?.removeEventListener('abort', onAbort);
        waiting.delete(wake);
        if (waiting.size === 0 && this.waiters.get(consumerId) === waiting) this.waiters.delete(consumerId);
      },
    };
  }
}
