// What nobody waits for: forgetting executions that ended long ago (I24), and asking now and then whether any live execution
// is without a wake-up (I12). Begun by the runner's tick. Both go on beside the ticks, one at a time: forgetting
// in small pieces until nothing is left, the audit at everything that ever ended (half a second per million). No wake-up or takeover
// waits for them.

import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import type { Store } from '../../store/port.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';

const PURGE_EVERY_MS = 5_000;
/** How far apart purges that find nothing may get. */
const PURGE_AT_LEAST_EVERY_MS = 60_000;
const PURGE_LIMIT = 2_000;
const AUDIT_EVERY_MS = 600_000;

type HousekeepingStore = Pick<Store, 'retentionPurge' | 'queueAudit'>;

export class Housekeeping {
  private readonly store: HousekeepingStore;
  private readonly timers: Timers;
  private readonly clock: Clock;
  private readonly observer: EngineObserver;
  private readonly retentionMs: number;
  private nextPurge: number;
  private purgeEveryMs = PURGE_EVERY_MS;
  private nextAudit: number;
  private auditing: Promise<void> | null = null;
  private purging: Promise<void> | null = null;
  private stopped = false;

  constructor(deps: {
    readonly store: HousekeepingStore;
    readonly timers: Timers;
    readonly clock: Clock;
    readonly observer: EngineObserver;
    readonly options: Pick<EngineOptions, 'retentionMs'>;
  }) {
    this.store = deps.store;
    this.timers = deps.timers;
    this.clock = deps.clock;
    this.observer = deps.observer;
    this.retentionMs = deps.options.retentionMs;
    const now = this.timers.monotonicMs();
    this.nextPurge = now + PURGE_EVERY_MS;
    this.nextAudit = now + AUDIT_EVERY_MS;
  }

  async runOnce(): Promise<void> {
    const now = this.timers.monotonicMs();
    if (now >= this.nextPurge) this.beginPurge();
    if (now >= this.nextAudit) this.beginAudit(now);
  }

  /** Begins nothing more; resolves when nothing is under way. */
  async settled(): Promise<void> {
    this.stopped = true;
    await this.purging;
    await this.auditing;
  }

  /** Until nothing is left to forget, one small statement after the other: under load as much ends as begins. */
  private beginPurge(): void {
    if (this.purging !== null) return;
    this.purging = this.purge()
      .catch((error: unknown) => this.observer.warn('forgetting old executions failed', { error: String(error) }))
      .finally(() => {
        this.purging = null;
        this.nextPurge = this.timers.monotonicMs() + this.purgeEveryMs;
      });
  }

  private async purge(): Promise<void> {
    let total = 0;
    for (let purged = PURGE_LIMIT; purged === PURGE_LIMIT && !this.stopped; ) {
      // 0 = keep every execution; the call still forgets runners that are gone.
      const endedBefore = this.retentionMs === 0 ? 0 : this.clock.now() - this.retentionMs;
      purged = await this.store.retentionPurge({ endedBefore, limit: PURGE_LIMIT });
      total += purged;
    }
    this.purgeEveryMs = total > 0 ? PURGE_EVERY_MS : Math.min(this.purgeEveryMs * 2, this.slowestPurgeMs());
  }

  /** With nothing to forget, it is looked for less often: within a tenth of the retention, and once a minute at least. */
  private slowestPurgeMs(): number {
    const wanted = this.retentionMs === 0 ? PURGE_AT_LEAST_EVERY_MS : this.retentionMs / 10;
    return Math.max(PURGE_EVERY_MS, Math.min(wanted, PURGE_AT_LEAST_EVERY_MS));
  }

  private beginAudit(now: number): void {
    if (this.auditing !== null) return;
    this.nextAudit = now + AUDIT_EVERY_MS;
    this.auditing = this.audit()
      .catch((error: unknown) => this.observer.warn('the audit failed', { error: String(error) }))
      .finally(() => {
        this.auditing = null;
      });
  }

  private async audit(): Promise<void> {
    this.observer.count('audits');
    for (const { executionId, problem } of await this.store.queueAudit()) {
      this.observer.count('auditViolations');
      this.observer.warn('a live execution has no wake-up', { executionId, problem });
    }
  }
}
