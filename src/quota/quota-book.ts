// Which tenants have a quota, known without asking: the start of a run and the dispatch of a step look here, so that a tenant
// without one pays nothing. A change made elsewhere is known after REFRESH_MS at the latest. What is written here decides
// only whether to look closer; whether there is room is decided in the database.

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

  /** Resolves when every quota is known. */
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

  /** Whether somebody will ask how much this tenant used. */
  isCounted(tenantId: string): boolean {
    return this.limited.has(tenantId);
  }

  /** HTTP steps of a tenant that this runner may have in flight: its share among the live runners, and never none. */
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
