// Waits for executions to move on or end, shared by all waiters of this process. Events of this process are told at once and cost
// no read. All others are found by one look at the database for all waiters together, repeated while anybody waits (I11:
// notifications only make it faster). Nothing is queried when nobody waits.

import type { Timers } from '../clock/timers.ts';

export interface SharedLookDeps<Found> {
  readonly timers: Timers;
  /** The execution is in this process's memory: its events arrive directly, without a query. */
  readonly isHere: (executionId: string) => boolean;
  /** The state of these executions in the database; unknown ones are left out. */
  readonly look: (executionIds: string[]) => Promise<ReadonlyMap<string, Found>>;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** The longest interval between looks that find nothing. Absent: looks stay frequent. */
  readonly slowestMs?: number;
}

export interface Waiting<Found> {
  /** null: it was cancelled. */
  readonly promise: Promise<Found | null>;
  cancel(): void;
}

interface Waiter<Found> {
  readonly isNews: (found: Found) => boolean;
  readonly resolve: (found: Found | null) => void;
}

const LOOK_EVERY_MS = 100;
/** Looking takes at most about a twentieth of the time, however many wait. */
const REST_PER_LOOK = 20;
const IDS_PER_LOOK = 2_000;
/** An execution may leave this process unnoticed, e.g. after a lost lease: every this many rounds, all are queried. */
const EVERYTHING_EACH = 20;

export class SharedLook<Found> {
  private readonly deps: SharedLookDeps<Found>;
  private readonly waiters = new Map<string, Set<Waiter<Found>>>();
  private isLooking = false;
  private rounds = 0;
  private everyMs = LOOK_EVERY_MS;

  constructor(deps: SharedLookDeps<Found>) {
    this.deps = deps;
  }

  /** The number of awaited executions. */
  get size(): number {
    return this.waiters.size;
  }

  /** Register before reading the awaited state, so that nothing after that read is missed. */
  wait(executionId: string, isNews: (found: Found) => boolean = () => true): Waiting<Found> {
    const { promise, resolve } = Promise.withResolvers<Found | null>();
    const waiter = { isNews, resolve };
    const those = this.waiters.get(executionId) ?? new Set();
    those.add(waiter);
    this.waiters.set(executionId, those);
    if (!this.isLooking) {
      this.isLooking = true;
      this.everyMs = LOOK_EVERY_MS;
      this.lookAfter(LOOK_EVERY_MS);
    }
    return { promise, cancel: () => this.settle(executionId, waiter, null) };
  }

  /** Returns whether it was news to anybody. */
  tell(executionId: string, found: Found): boolean {
    const those = [...(this.waiters.get(executionId) ?? [])].filter((waiter) => waiter.isNews(found));
    for (const waiter of those) this.settle(executionId, waiter, found);
    return those.length > 0;
  }

  /** Whether anybody would hear it, for messages that are expensive to prepare. */
  isAwaited(executionId: string): boolean {
    return this.waiters.has(executionId);
  }

  private settle(executionId: string, waiter: Waiter<Found>, found: Found | null): void {
    const those = this.waiters.get(executionId);
    if (those?.delete(waiter) && those.size === 0) this.waiters.delete(executionId);
    waiter.resolve(found);
  }

  private lookAfter(delayMs: number): void {
    this.deps.timers.after(delayMs, () => void this.round());
  }

  private async round(): Promise<void> {
    const { timers, warn } = this.deps;
    const startedAt = timers.monotonicMs();
    try {
      const hasNews = await this.lookAtAll();
      this.everyMs = hasNews ? LOOK_EVERY_MS : Math.min(this.everyMs * 2, this.deps.slowestMs ?? LOOK_EVERY_MS);
    } catch (error) {
      warn('looking for the ends of executions failed', { error: String(error) });
    }
    if (this.waiters.size === 0) {
      this.isLooking = false;
      return;
    }
    this.lookAfter(Math.max(this.everyMs, (timers.monotonicMs() - startedAt) * REST_PER_LOOK));
  }

  private async lookAtAll(): Promise<boolean> {
    const { isHere, look } = this.deps;
    const isEverything = ++this.rounds % EVERYTHING_EACH === 0;
    const ids = [...this.waiters.keys()].filter((id) => isEverything || !isHere(id));
    let hasNews = false;
    for (let from = 0; from < ids.length; from += IDS_PER_LOOK) {
      const asked = ids.slice(from, from + IDS_PER_LOOK).filter((id) => this.waiters.has(id));
      if (asked.length === 0) continue;
      for (const [id, found] of await look(asked)) hasNews = this.tell(id, found) || hasNews;
    }
    return hasNews;
  }
}
