// Waiting for executions to move on or end, shared by every waiter of this process. What happens in this process is told at
// once and costs no read. Everything else is found by one look at the database for all waiters together, again and again
// while anybody waits (I11: notifications are not needed, they only make it faster). Nothing is asked when nobody waits.

import type { Timers } from '../clock/timers.ts';

export interface SharedLookDeps<Found> {
  readonly timers: Timers;
  /** The execution is in this process's memory: whatever happens to it is told here, and needs no look. */
  readonly isHere: (executionId: string) => boolean;
  /** What the database knows about these executions. Those it has nothing to say about are left out. */
  readonly look: (executionIds: string[]) => Promise<ReadonlyMap<string, Found>>;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

export interface Waiting<Found> {
  /** Null: it was cancelled. */
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
/** An execution may leave this process unseen (it lost its lease, say): once in so many rounds everything is looked at. */
const EVERYTHING_EACH = 20;

export class SharedLook<Found> {
  private readonly deps: SharedLookDeps<Found>;
  private readonly waiters = new Map<string, Set<Waiter<Found>>>();
  private isLooking = false;
  private rounds = 0;

  constructor(deps: SharedLookDeps<Found>) {
    this.deps = deps;
  }

  /** How many executions are waited for. */
  get size(): number {
    return this.waiters.size;
  }

  /** Register before reading the state that is waited on: what happens after that read cannot be missed then. */
  wait(executionId: string, isNews: (found: Found) => boolean = () => true): Waiting<Found> {
    const { promise, resolve } = Promise.withResolvers<Found | null>();
    const waiter = { isNews, resolve };
    const those = this.waiters.get(executionId) ?? new Set();
    those.add(waiter);
    this.waiters.set(executionId, those);
    if (!this.isLooking) {
      this.isLooking = true;
      this.lookAfter(LOOK_EVERY_MS);
    }
    return { promise, cancel: () => this.settle(executionId, waiter, null) };
  }

  tell(executionId: string, found: Found): void {
    for (const waiter of this.waiters.get(executionId) ?? []) {
      if (waiter.isNews(found)) this.settle(executionId, waiter, found);
    }
  }

  /** For what is costly to say: whether anybody would hear it. */
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
      await this.lookAtAll();
    } catch (error) {
      warn('looking for the ends of executions failed', { error: String(error) });
    }
    if (this.waiters.size === 0) {
      this.isLooking = false;
      return;
    }
    this.lookAfter(Math.max(LOOK_EVERY_MS, (timers.monotonicMs() - startedAt) * REST_PER_LOOK));
  }

  private async lookAtAll(): Promise<void> {
    const { isHere, look } = this.deps;
    const isEverything = ++this.rounds % EVERYTHING_EACH === 0;
    const ids = [...this.waiters.keys()].filter((id) => isEverything || !isHere(id));
    for (let from = 0; from < ids.length; from += IDS_PER_LOOK) {
      const asked = ids.slice(from, from + IDS_PER_LOOK).filter((id) => this.waiters.has(id));
      if (asked.length === 0) continue;
      for (const [id, found] of await look(asked)) this.tell(id, found);
    }
  }
}
