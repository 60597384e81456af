// Knows without a query which tenants have a quota. Starting a run and dispatching a step look here, so a tenant without a quota
// pays nothing. A change in another process is known after REFRESH_MS at the latest. This book only decides whether to look
// closer; the database decides whether there is room.

import type { Timers } from '../clock/timers.ts';
import type { QuotaLimits } from '../protocol/quota.ts';
import type { QuotaStore } from '../store/quota-port.ts';

export interface QuotaBookDeps {
  readonly store: Pick<QuotaStore, 'quotaChanges'>;
  readonly timers: Timers;
  readonly observer: { warn(event: string, details: Record<string, unknown>): void };
}

const REFRESH_MS = 10_000;

export class QuotaBook {
  private readonly deps: QuotaBookDeps;
  private readonly limited = new Map<string, QuotaLimits>();
  private liveRunners = 1;
  private readThrough = 0;
  private cancelTimer: () => void = () => {};
  private isStopped = false;

  constructor(deps: QuotaBookDeps) {
    this.deps = deps;
  }

  /** Resolves when all quotas are known. */
  async start(): Promise<void> {
    await this.runOnce();
    this.schedule();
  }

  stop(): void {
    this.isStopped = true;
    this.cancelTimer();
  }

  async runOnce(): Promise<void> {
    const { quotas, liveRunners, at } = await this.deps.store.quotaChanges({ after: this.readThrough });
    for (const { tenantId, limits } of quotas) {
      if (isLimiting(limits)) this.limited.set(tenantId, limits);
      else this.limited.delete(tenantId);
    }
    this.liveRunners = Math.max(1, liveRunners);
    this.readThrough = at;
  }

  /** Whether starting a run needs a look at the quota. */
  limitsRuns(tenantId: string): boolean {
    const limits = this.limited.get(tenantId);
    return limits !== undefined && (limits.concurrentRuns !== null || limits.executionsPerMonth !== null);
  }

  /** Whether the tenant's usage must be counted. */
  isCounted(tenantId: string): boolean {
    return this.limited.has(tenantId);
  }

  /** HTTP steps of a tenant that this runner may have in flight: its share among the live runners, at least one. */
  httpStepsAtOnce(tenantId: string): number {
    const atOnce = this.limited.get(tenantId)?.httpStepsAtOnce ?? null;
    return atOnce === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(atOnce / this.liveRunners));
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.cancelTimer = this.deps.timers.after(REFRESH_MS, () => {
      void this.runOnce()
        .catch((error: unknown) =>
          this.deps.observer.warn('the quotas could not be read', { error: (error as Error).message }),
        )
        .finally(() => this.schedule());
    });
  }
}

const isLimiting = ({ cron, ...counts }: QuotaLimits): boolean =>
  !cron || Object.values(counts).some((count) => count !== null);
