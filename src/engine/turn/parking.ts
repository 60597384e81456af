// Executions that only wait leave memory: the queue row says until when, or for what. Park, then look for mail in a new
// statement: a message that came in between finds the row either owned (and is seen by this look) or parked (and wakes
// it); every other order stranded messages in the tests (3b decision 5, I10, I12).

import { toCheckpoint } from '../../core/decider/checkpoint.ts';
import { DECIDER_VERSION } from '../../core/decider/decide.ts';
import type { ParkItem, Store } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { EngineObserver, Timers } from '../environment.ts';
import type { Resident } from './resident.ts';

export interface ParkingDeps {
  readonly store: Store;
  readonly slotId: string;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly runInSlotZero: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isOver: () => boolean;
  /** The execution is no longer this runner's. */
  readonly left: (resident: Resident) => void;
  /** All of a batch has left. */
  readonly settled: () => void;
  /** It could not be parked and is still this runner's. */
  readonly stays: (resident: Resident) => void;
  /** Some of what was parked became ready at once. */
  readonly woken: () => void;
}

const RETRY_MS = 500;
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

  /** Durable mail for an execution that is not in memory here: should it be parked, it need not wait for the poll. */
  mailCame(executionId: string): void {
    this.mailed.push(executionId);
    this.schedule();
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    this.deps.timers.soon(() => void this.flush());
  }

  private async flush(): Promise<void> {
    this.scheduled = false;
    const batch = this.arriving.splice(0);
    const mailed = this.mailed.splice(0);
    if (batch.length > 0) await this.deps.runInSlotZero(() => this.parkAll(batch));
    await this.wakeThoseWithMail([...new Set([...batch.map(({ item }) => item.executionId), ...mailed])]);
  }

  /**
   * An unknown outcome is resolved as for commits: the same again on the same slot, which waits for the old statement if
   * it is still under way (I18). After an answer everything in the batch has left, by this statement or the one before.
   */
  private async parkAll(batch: readonly { resident: Resident; item: ParkItem }[]): Promise<void> {
    const { store, slotId, observer, timers } = this.deps;
    const items = batch.map(({ item }) => item);
    while (!this.deps.isOver()) {
      try {
        const { parked } = await store.executionPark({ slotId, items });
        observer.count('parked', parked.length);
        for (const { resident } of batch) this.deps.left(resident);
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

  /** The statement was refused for its data: nothing was parked. One at a time, only the culprit stays. */
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

/** What the queue row says while the execution is away; a checkpoint when folding its journal again would cost something. */
export function parkItem({ state, execution, epoch, factsSinceCheckpoint }: Resident, dueAt: number | null): ParkItem {
  const paused = state.status === 'Paused';
  const waiting = state.nodes.filter((node) => node.status === 'Waiting').length;
  const checkpoint =
    factsSinceCheckpoint >= CHECKPOINT_AFTER_FACTS
      ? { seq: state.seq, deciderVersion: DECIDER_VERSION, state: JSON.stringify(toCheckpoint(state)) }
      : null;
  const { executionId } = execution;
  return { executionId, epoch, dueAt, waits: waiting + (paused ? 1 : 0), paused, checkpoint };
}
