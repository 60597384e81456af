// What nobody waits for: forgetting executions that ended long ago (I24), and asking now and then whether any live execution
// is without a wake-up (I12). Part of the runner's tick. Forgetting is done in small pieces; the audit goes on beside the ticks,
// one at a time: it looks at everything that ever ended (half a second per million), and no wake-up or takeover waits for it.

import type { Store } from '../../store/port.ts';
import type { Clock } from '../clock.ts';
import type { EngineObserver, EngineOptions, Timers } from '../environment.ts';

const PURGE_EVERY_MS = 30_000;
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
  private nextAudit: number;
  private auditing: Promise<void> | null = null;

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
    if (now >= this.nextPurge) await this.purge(now);
    if (now >= this.nextAudit) this.beginAudit(now);
  }

  /** When no audit is under way. */
  async settled(): Promise<void> {
    await this.auditing;
  }

  private async purge(now: number): Promise<void> {
    // 0 = keep every execution; the call still forgets runners that are gone.
    const endedBefore = this.retentionMs === 0 ? 0 : this.clock.now() - this.retentionMs;
    const purged = await this.store.retentionPurge({ endedBefore, limit: PURGE_LIMIT });
    this.nextPurge = purged === PURGE_LIMIT ? now : now + PURGE_EVERY_MS;
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
