// Counts the HTTP steps of tenants with a quota (one per step, retries are free). Counts are kept in memory and written together,
// so a step costs no round trip; a killed runner loses its unwritten counts.

import type { RunAttempt } from '../action/attempt.ts';
import type { Timers } from '../clock/timers.ts';
import type { QuotaStore } from '../store/quota-port.ts';

export interface UsageMeterDeps {
  readonly store: Pick<QuotaStore, 'usageAdd'>;
  readonly timers: Timers;
  readonly observer: { warn(event: string, details: Record<string, unknown>): void };
  readonly isCounted: (tenantId: string) => boolean;
}

export const HTTP_STEP = 'http.step';
const WRITE_AFTER_MS = 500;

export class UsageMeter {
  private readonly deps: UsageMeterDeps;
  private counts = new Map<string, number>();
  private cancelTimer: (() => void) | null = null;
  private writing: Promise<void> = Promise.resolve();

  constructor(deps: UsageMeterDeps) {
    this.deps = deps;
  }

  measure(run: RunAttempt): RunAttempt {
    return (request) => {
      const { tenantId, actionType, attempt } = request;
      if (actionType === HTTP_STEP && attempt === 1 && this.deps.isCounted(tenantId)) this.count(tenantId, 1);
      return run(request);
    };
  }

  /** Writes the remaining counts. */
  async stop(): Promise<void> {
    await this.writing;
    await this.write();
    this.cancelTimer?.();
  }

  private count(tenantId: string, by: number): void {
    this.counts.set(tenantId, (this.counts.get(tenantId) ?? 0) + by);
    this.cancelTimer ??= this.deps.timers.after(WRITE_AFTER_MS, () => {
      this.cancelTimer = null;
      this.writing = this.write();
    });
  }

  private async write(): Promise<void> {
    const items = [...this.counts].map(([tenantId, executions]) => ({ tenantId, executions }));
    if (items.length === 0) return;
    this.counts = new Map();
    try {
      await this.deps.store.usageAdd({ items });
    } catch (error) {
      this.deps.observer.warn('usage could not be written; it is tried again', { error: (error as Error).message });
      for (const { tenantId, executions } of items) this.count(tenantId, executions);
    }
  }
}
