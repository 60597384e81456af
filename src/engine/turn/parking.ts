// Executions that only wait leave memory; the queue row says until when, or for what. Park first, then look for mail in a new
// statement: a message in between finds the row either owned (and this look sees it) or parked (and it wakes the row). Every
// other order stranded messages in the tests (I10, I12).

import type { Timers } from '../../clock/timers.ts';
import { toCheckpoint } from '../../core/decider/checkpoint.ts';
import { DECIDER_VERSION } from '../../core/decider/decide.ts';
import { allNodes } from '../../core/decider/frame.ts';
import type { State } from '../../core/decider/state.ts';
import { PARKED_FOR, type ParkItem, type Store } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { EngineObserver } from '../environment.ts';
import type { Resident } from './resident.ts';

export interface ParkingDeps {
  readonly store: Store;
  readonly slotId: string;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly runInSlotZero: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isOver: () => boolean;
  /** This runner no longer owns the execution. */
  readonly left: (resident: Resident) => void;
  /** A parked execution is due then. */
  readonly parkedUntil: (dueAt: number) => void;
  /** All of a batch has left. */
  readonly settled: () => void;
  /** It could not be parked, and this runner still owns it. */
  readonly stays: (resident: Resident) => void;
  /** Some parked executions became ready at once. */
  readonly woken: () => void;
}

const RETRY_MS = 500;
/** The statement searches its arrays linearly, so its cost grows with the square of this. */
const MAX_BATCH = 256;
const CHECKPOINT_AFTER_FACTS = 64;

export class ParkingLot {
  private readonly deps: ParkingDeps;
  private arriving: { resident: Resident; item: ParkItem }[] = [];
  private mailed: string[] = [];
  private scheduled = false;

  constructor(deps: ParkingDeps) {
    this.deps = deps;
  }

  park(resident: Resident, item: ParkItem): void {
    this.arriving.push({ resident, item });
    this.schedule();
  }

  /** Durable mail for an execution that is not in memory here. If it is parked, it need not wait for the poll. */
  mailCame(executionId: string): void {
    this.mailed.push(executionId);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.deps.timers.soon(() => void this.flush());
  }

  /** While one statement is on its way, the next batch collects. Claims get their turn on slot zero in between. */
  private async flush(): Promise<void> {
    const batch = this.arriving.splice(0, MAX_BATCH);
    const mailed = this.mailed.splice(0);
    try {
      if (batch.length > 0) await this.deps.runInSlotZero(() => this.parkAll(batch));
      await this.wakeThoseWithMail([...new Set([...batch.map(({ item }) => item.executionId), ...mailed])]);
    } finally {
      this.scheduled = false;
      if (this.arriving.length + this.mailed.length > 0) this.schedule();
    }
  }

  /**
   * An unknown outcome is resolved as for commits: the same statement again on the same slot, which waits for the old one if
   * it is still running (I18). After an answer everything in the batch has left, by this statement or the one before.
   */
  private async parkAll(batch: readonly { resident: Resident; item: ParkItem }[]): Promise<void> {
    const { store, slotId, observer, timers } = this.deps;
    const items = batch.map(({ item }) => item);
    while (!this.deps.isOver()) {
      try {
        const { parked } = await store.executionPark({ slotId, items });
        observer.count('parked', parked.length);
        for (const { resident } of batch) this.deps.left(resident);
        for (const { item } of batch) if (item.dueAt !== null) this.deps.parkedUntil(item.dueAt);
        this.deps.settled();
        return;
      } catch (error) {
        observer.warn('parking failed', { error: String(error) });
        if (error instanceof StoreError && error.failure === 'data') return this.keepAll(batch);
        await new Promise<void>((resolve) => {
          timers.after(RETRY_MS, resolve);
        });
      }
    }
  }

  /** The statement was refused for its data, so nothing was parked. Sent one at a time, only the culprit stays. */
  private async keepAll(batch: readonly { resident: Resident; item: ParkItem }[]): Promise<void> {
    if (batch.length === 1) return this.deps.stays(batch[0]!.resident);
    for (const one of batch) await this.parkAll([one]);
  }

  private async wakeThoseWithMail(executionIds: string[]): Promise<void> {
    try {
      const woken = await this.deps.store.parkCheck({ executionIds });
      if (woken.length > 0) this.deps.woken();
    } catch (error) {
      // The poll of queue_wake_mail finds them too, a little later.
      this.deps.observer.warn('park check failed', { error: String(error) });
    }
  }
}

/** The queue row of a parked execution, with a checkpoint if folding its journal again would be expensive. */
export function parkItem({ state, execution, epoch, factsSinceCheckpoint }: Resident, dueAt: number | null): ParkItem {
  const paused = state.status === 'Paused';
  let waiting = 0;
  for (const [, { status, loop }] of allNodes(state)) {
    if (loop === null && (status === 'Waiting' || status === 'Running')) waiting++;
  }
  const checkpoint =
    factsSinceCheckpoint >= CHECKPOINT_AFTER_FACTS
      ? { seq: state.seq, deciderVersion: DECIDER_VERSION, state: JSON.stringify(toCheckpoint(state)) }
      : null;
  const { executionId } = execution;
  const waits = waiting + (paused ? 1 : 0);
  return { executionId, epoch, dueAt, waits, paused, parkedFor: parkedFor(state), checkpoint };
}

function parkedFor(state: State): number {
  let bits = state.status === 'Paused' ? PARKED_FOR.paused : 0;
  if (state.undo !== null) bits |= PARKED_FOR.undo;
  for (const [, { status, childId, loop }] of allNodes(state)) {
    if (loop !== null) continue;
    if (status === 'Retrying') bits |= PARKED_FOR.retry;
    if (status === 'Waiting') bits |= childId === null ? PARKED_FOR.callback : PARKED_FOR.child;
    if (status === 'Sleeping') bits |= PARKED_FOR.sleep;
    // With a worker, or waiting for one: nothing runs here.
    if (status === 'Running') bits |= PARKED_FOR.worker;
  }
  return bits;
}
