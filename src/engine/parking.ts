// Executions that only wait leave memory: the queue row says until when, or for what. Park, then look for mail in a new
// statement: a message that came in between finds the row either owned (and is seen by this look) or parked (and wakes
// it); every other order stranded messages in the tests (3b decision 5, I10, I12).

import type { ParkItem, Store } from '../store/port.ts';
import type { EngineObserver, Timers } from './environment.ts';
import type { Resident } from './resident.ts';

export interface ParkingDeps {
  readonly store: Store;
  readonly slotId: string;
  readonly runnerId: string;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly runInSlotZero: <T>(work: () => Promise<T>) => Promise<T>;
  readonly isOver: () => boolean;
  /** The execution is no longer this runner's. */
  readonly left: (resident: Resident) => void;
  /** It could not be parked and is still this runner's. */
  readonly stays: (resident: Resident) => void;
  /** Some of what was parked became ready at once. */
  readonly woken: () => void;
}

const RETRY_MS = 500;

export class ParkingLot {
  private readonly deps: ParkingDeps;
  private arriving: { resident: Resident; item: ParkItem }[] = [];
  private scheduled = false;

  constructor(deps: ParkingDeps) {
    this.deps = deps;
  }

  park(resident: Resident, item: ParkItem): void {
    this.arriving.push({ resident, item });
    if (this.scheduled) return;
    this.scheduled = true;
    this.deps.timers.soon(() => void this.flush());
  }

  private async flush(): Promise<void> {
    this.scheduled = false;
    const batch = this.arriving.splice(0);
    await this.deps.runInSlotZero(() => this.parkAll(batch));
    await this.wakeThoseWithMail(batch.map(({ item }) => item.executionId));
  }

  private async parkAll(batch: readonly { resident: Resident; item: ParkItem }[]): Promise<void> {
    const { store, slotId, observer } = this.deps;
    try {
      const { parked } = await store.executionPark({ slotId, items: batch.map(({ item }) => item) });
      observer.count('parked', parked.length);
      for (const { resident } of batch) this.deps.left(resident);
    } catch (error) {
      observer.warn('parking failed', { error: String(error) });
      await this.reconcile(batch);
    }
  }

  /** It happened or it did not: ask what is still ours (I18), before anything else is claimed. */
  private async reconcile(batch: readonly { resident: Resident }[]): Promise<void> {
    const { store, runnerId, timers } = this.deps;
    while (!this.deps.isOver()) {
      try {
        const owned = new Set(await store.executionListOwned({ runnerId }));
        for (const { resident } of batch) {
          if (owned.has(resident.execution.executionId)) this.deps.stays(resident);
          else this.deps.left(resident);
        }
        return;
      } catch {
        await new Promise<void>((resolve) => {
          timers.after(RETRY_MS, resolve);
        });
      }
    }
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
