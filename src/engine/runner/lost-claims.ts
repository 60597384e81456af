// A claim without a reply may or may not have happened. Comparing the runner's rows in the database with its memory finds the
// claimed executions, which are given back (I18): after every failed claim, and once in a while.

import type { Timers } from '../../clock/timers.ts';
import type { CommitBatch, Store } from '../../store/port.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import type { Arrivals } from './arrivals.ts';
import type { Incarnation } from './incarnation.ts';

const LATE_CLAIM_MS = [1_000, 5_000, 15_000];

export interface LostClaimsDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly incarnation: Incarnation;
  readonly arrivals: Pick<Arrivals, 'has'>;
  /** The runner claims nothing any more. */
  readonly isStopped: () => boolean;
  /** Some were given back: there is work. */
  readonly returned: () => void;
}

export class LostClaims {
  private readonly deps: LostClaimsDeps;
  /** Scheduled looks; each function cancels one. */
  private waiting: (() => void)[] = [];

  constructor(deps: LostClaimsDeps) {
    this.deps = deps;
  }

  /** The claim is unknown, or its executions could not be loaded. */
  async lost(error: unknown): Promise<void> {
    this.deps.observer.warn('claim failed', { error: String(error) });
    await this.reconcile();
    // The statement may still be on its way to the server: look again when it must have arrived.
    if (this.deps.isStopped()) return;
    for (const delayMs of LATE_CLAIM_MS) this.later(delayMs, () => void this.reconcile());
  }

  /** Cancels all scheduled looks: a stopping process does not wait for them. */
  stop(): void {
    for (const takeBack of this.waiting.splice(0)) takeBack();
  }

  private later(delayMs: number, work: () => void): void {
    const takeBack = this.deps.timers.after(delayMs, () => {
      this.waiting = this.waiting.filter((other) => other !== takeBack);
      work();
    });
    this.waiting.push(takeBack);
  }

  async reconcile(): Promise<void> {
    const { incarnation, observer, options, timers, isStopped } = this.deps;
    if (isStopped()) return;
    try {
      await incarnation.runInSlotZero(() => this.giveBack());
    } catch (error) {
      observer.warn('reconciling failed', { error: String(error) });
      await new Promise<void>((resolve) => {
        timers.after(options.pollMs, resolve);
      });
    }
  }

  private async giveBack(): Promise<void> {
    const { store, incarnation, arrivals, observer, isStopped, returned } = this.deps;
    const { runnerId, slotIds } = incarnation.registration;
    const slotId = slotIds[0]!;
    // Waits on the fence for a claim in progress, so that the list below includes it.
    await store.executionCommit(nothingOn(slotId));
    const owned = await store.executionListOwned({ runnerId });
    const lost = owned.filter(({ executionId: id }) => !incarnation.residents.has(id) && !arrivals.has(id));
    // A stopping runner has forgotten everything, and its last commits may still be on their way: it signs off instead.
    if (lost.length === 0 || isStopped()) return;
    observer.warn('gave back executions whose claim was answered too late: another look will take them', {
      count: lost.length,
    });
    await store.executionRelease({ slotId, items: lost });
    returned();
  }
}

function nothingOn(slotId: string): CommitBatch {
  const none: never[] = [];
  const rows = { events: none, attempts: none, outcomes: none, ended: none, children: none };
  return { slotId, ...rows, consumed: none, sent: none, links: none, logs: none };
}
