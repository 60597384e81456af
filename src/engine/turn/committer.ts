// Group commit: the transitions of many executions in one statement. While commits are on their way, new items collect for the
// next one, so batches grow with the load, up to caps that keep every connection busy (docs/decisions/0021). Each slot has one
// batch in flight. Nothing is acknowledged before its own commit (I17).
//
// Failures: when the fence is dead, nothing was applied and everything is dropped (I4). When the outcome is unknown, the
// identical batch is sent again on the same slot until it applies or meets its own journal key (I18). When the data is at fault,
// the batch is bisected, so that only the culprit suffers (I20).

import type { Timers } from '../../clock/timers.ts';
import type { CommitBatch } from '../../store/port.ts';
import { StoreError, type StoreFailure } from '../../store/store-error.ts';
import type { EngineObserver } from '../environment.ts';

/** The writes of one turn of one execution. */
export interface TurnRows extends Omit<CommitBatch, 'slotId'> {
  readonly executionId: string;
  readonly bytes: number;
}

/** The pending writes of one execution, applied atomically and in order. */
export interface CommitItem {
  readonly rows: TurnRows;
  /** `at`: the database's time, 0 when the reply was lost. */
  committed(at: number): void;
  /** The database refuses this item in any batch. */
  refused(error: Error): void;
  /** Another process has continued its journal, so this runner no longer owns it. */
  overtaken(): void;
}

export interface CommitterDeps {
  readonly commit: (batch: CommitBatch) => Promise<{ applied: boolean; at: number }>;
  /** Whether the journal holds exactly this row. */
  readonly isWritten: (event: CommitBatch['events'][number]) => Promise<boolean>;
  readonly slotIds: readonly string[];
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly fenceLost: () => void;
  /** A batch is durable and its items have been notified. */
  readonly settled: () => void;
}

const MAX_ITEMS = 256;
const MAX_ROWS = 1024;
const MAX_BYTES = 1024 * 1024;
/** How long a partial batch waits for the commit in flight, which may be large or have lost its connection. */
const WAIT_AT_MOST_MS = 10;
const RETRY_DELAY_MS = 50;

export class Committer {
  private readonly deps: CommitterDeps;
  private readonly freeSlots: string[];
  /** Items that are not known to be durable yet. */
  unsettled = 0;
  private pending: CommitItem[] = [];
  private pendingBytes = 0;
  /**
   * Each of these is a batch of its own, and one slot is left for the others: a large write takes long, and its neighbours
   * must not wait for it (I22).
   */
  private readonly large: CommitItem[] = [];
  private largeInFlight = 0;
  private wasLarge = false;
  private scheduled = false;
  /** Set while items wait for a commit in flight. */
  private cancelWait: (() => void) | null = null;
  private abandoned = false;

  constructor(deps: CommitterDeps) {
    this.deps = deps;
    this.freeSlots = [...deps.slotIds];
  }

  submit(item: CommitItem): void {
    this.unsettled++;
    if (item.rows.bytes > MAX_BYTES) {
      this.large.push(item);
      return this.schedule();
    }
    this.pending.push(item);
    this.pendingBytes += item.rows.bytes;
    // A full batch gains nothing by waiting, and the database would be idle meanwhile.
    if (this.isFull()) this.flush();
    else this.schedule();
  }

  /** Forgets pending items and ignores those in flight: this incarnation is dead. */
  abandon(): void {
    this.abandoned = true;
    this.pending = [];
    this.pendingBytes = 0;
    this.large.length = 0;
    this.endWait();
  }

  private schedule(): void {
    if (this.scheduled || this.abandoned || this.freeSlots.length === 0) return;
    if (this.pending.length === 0 && !this.isTurnOfLarge()) return;
    this.scheduled = true;
    this.deps.timers.soon(() => this.flush());
  }

  private flush(hasWaited = false): void {
    this.scheduled = false;
    while (!this.abandoned && this.freeSlots.length > 0) {
      if (this.isTurnOfLarge()) {
        this.dispatch([this.large.shift()!], 1);
        continue;
      }
      if (this.pending.length === 0) return;
      const isAlone = this.freeSlots.length + this.largeInFlight === this.deps.slotIds.length;
      if (!isAlone && !hasWaited && !this.isFull()) return this.wait();
      this.endWait();
      this.dispatch(this.takeBatch(), 0);
    }
  }

  private dispatch(items: CommitItem[], large: 0 | 1): void {
    const slotId = this.freeSlots.shift()!;
    this.largeInFlight += large;
    this.wasLarge = large === 1;
    void this.settle(slotId, items).then(() => {
      this.freeSlots.push(slotId);
      this.largeInFlight -= large;
      this.schedule();
    });
  }

  /** With a single slot they take turns with the others. */
  private isTurnOfLarge(): boolean {
    const { length } = this.deps.slotIds;
    if (this.large.length === 0 || this.largeInFlight >= Math.max(1, length - 1)) return false;
    return length > 1 || !this.wasLarge || this.pending.length === 0;
  }

  /** A statement costs as much as many rows, so a second one in parallel pays off only when it is full. */
  private isFull(): boolean {
    return this.pending.length >= MAX_ITEMS || this.pendingBytes >= MAX_BYTES;
  }

  private wait(): void {
    this.cancelWait ??= this.deps.timers.after(WAIT_AT_MOST_MS, () => {
      this.cancelWait = null;
      this.flush(true);
    });
  }

  private endWait(): void {
    this.cancelWait?.();
    this.cancelWait = null;
  }

  private takeBatch(): CommitItem[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { rows: item } of this.pending) {
      rows += item.events.length + item.attempts.length + item.children.length + item.sent.length + 1;
      bytes += item.bytes;
      if (count > 0 && (count === MAX_ITEMS || rows > MAX_ROWS || bytes > MAX_BYTES)) break;
      count++;
    }
    const batch = this.pending.slice(0, count);
    this.pending = this.pending.slice(count);
    for (const { rows: item } of batch) this.pendingBytes -= item.bytes;
    return batch;
  }

  /** Sends until the outcome is known, then notifies the items. Never rejects. */
  private async settle(slotId: string, items: CommitItem[]): Promise<void> {
    const batch = merge(slotId, items);
    for (let unknownBefore = false; !this.abandoned; ) {
      const outcome = await this.send(batch);
      if (this.abandoned) return;
      switch (outcome.result) {
        case 'applied':
          return this.acknowledge(items, outcome.at);
        case 'fenced':
          this.deps.observer.count('zombieWritesRejected', items.length);
          return this.deps.fenceLost();
        case 'alreadyApplied': {
          // Some row of this batch exists: either this batch wrote all of it, or somebody else wrote that row.
          const isOurs = unknownBefore ? await this.isWritten(items) : false;
          if (isOurs === null) break;
          if (!isOurs) return this.isolate(slotId, items, outcome.error);
          this.deps.observer.count('unknownCommitsApplied');
          return this.acknowledge(items, 0);
        }
        case 'unknown':
          unknownBefore = true;
          this.deps.observer.count('unknownCommitsResent');
          await this.pause();
          break;
        case 'retry':
          // A server that shuts down may report it after committing. If the key is met later, the journal decides.
          unknownBefore = true;
          await this.pause();
          break;
        default:
          return this.isolate(slotId, items, outcome.error);
      }
    }
  }

  private async send(batch: CommitBatch): Promise<SendOutcome> {
    try {
      const { applied, at } = await this.deps.commit(batch);
      return applied ? { result: 'applied', at } : { result: 'fenced' };
    } catch (error) {
      return { result: error instanceof StoreError ? error.failure : 'fatal', error: error as Error };
    }
  }

  /** One statement writes a whole batch or nothing, so one row tells for all. null: cannot be determined now. */
  private async isWritten(items: readonly CommitItem[]): Promise<boolean | null> {
    const event = items.flatMap(({ rows }) => rows.events)[0];
    if (event === undefined) return true;
    try {
      return await this.deps.isWritten(event);
    } catch {
      await this.pause();
      return null;
    }
  }

  private pause(): Promise<void> {
    return new Promise((resolve) => {
      this.deps.timers.after(RETRY_DELAY_MS, resolve);
    });
  }

  private acknowledge(items: readonly CommitItem[], at: number): void {
    this.deps.observer.count('committedBatches');
    this.deps.observer.count('committedTransitions', items.length);
    this.unsettled -= items.length;
    for (const item of items) item.committed(at);
    this.deps.settled();
  }

  /** Halves the batch until the culprit is alone. */
  private async isolate(slotId: string, items: CommitItem[], error: Error): Promise<void> {
    if (items.length === 1) {
      this.unsettled--;
      this.deps.observer.count('poisonIsolated');
      this.deps.observer.warn('commit refused', { executionId: items[0]!.rows.executionId, error: error.message });
      const isOvertaken = error instanceof StoreError && error.failure === 'alreadyApplied';
      return isOvertaken ? items[0]!.overtaken() : items[0]!.refused(error);
    }
    const middle = items.length >> 1;
    await this.settle(slotId, items.slice(0, middle));
    await this.settle(slotId, items.slice(middle));
  }
}

type SendOutcome =
  | { readonly result: 'applied'; readonly at: number }
  | { readonly result: 'fenced' }
  | { readonly result: StoreFailure; readonly error: Error };

function merge(slotId: string, items: readonly CommitItem[]): CommitBatch {
  const all = <Row>(of: (rows: TurnRows) => readonly Row[] | undefined): Row[] => gather(items, of);
  return {
    slotId,
    events: all((rows) => rows.events),
    attempts: all((rows) => rows.attempts),
    outcomes: all((rows) => rows.outcomes),
    ended: all((rows) => rows.ended),
    children: all((rows) => rows.children),
    consumed: all((rows) => rows.consumed),
    sent: all((rows) => rows.sent),
    links: all((rows) => rows.links),
    logs: all((rows) => rows.logs),
    crashResets: all((rows) => rows.crashResets),
    paused: all((rows) => rows.paused),
    resumed: all((rows) => rows.resumed),
  };
}

/** A loop, because flatMap costs more for the nine kinds of ten that a turn does not have. */
function gather<Row>(items: readonly CommitItem[], of: (rows: TurnRows) => readonly Row[] | undefined): Row[] {
  const gathered: Row[] = [];
  for (const { rows } of items) for (const row of of(rows) ?? []) gathered.push(row);
  return gathered;
}
