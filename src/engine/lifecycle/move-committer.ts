// Group commit of lifecycles: the moves of many instances in one statement, each written with all that hangs on it or not at
// all. Nothing is answered before its own commit (I1). While statements are on their way, what arrives collects for the next.
//
// What can go wrong: somebody was quicker (the revision is another one): that move alone is not written. The generation
// changed: nothing is, and all decide again. The reply was lost: 'unknown', and the timeline tells by the requestId. The data
// of one is at fault: bisect, so that the others do not pay for it.

import type { LifecycleBatch, LifecycleStore } from '../../store/lifecycle-port.ts';
import { StoreError } from '../../store/store-error.ts';
import type { Timers } from '../environment.ts';

type Parts = Pick<LifecycleBatch, 'messages' | 'deliveries' | 'reactionsSettled'>;

export interface MoveItem extends Parts {
  readonly generation: string;
  readonly move: LifecycleBatch['moves'][number];
  readonly bytes: number;
}

export type MoveOutcome = 'applied' | 'overtaken' | 'outdated' | 'unknown';

interface Waiting {
  readonly item: MoveItem;
  readonly resolve: (outcome: MoveOutcome) => void;
  readonly reject: (error: unknown) => void;
}

const MAX_MOVES = 128;
const MAX_ROWS = 512;
const MAX_BYTES = 1024 * 1024;
const MAX_IN_FLIGHT = 3;

export class MoveCommitter {
  private readonly deps: {
    readonly store: Pick<LifecycleStore, 'lifecycleApply'>;
    readonly timers: Timers;
    readonly observe: (at: number) => void;
  };
  private pending: Waiting[] = [];
  private inFlight = 0;
  private scheduled = false;

  constructor(deps: MoveCommitter['deps']) {
    this.deps = deps;
  }

  submit(item: MoveItem): Promise<MoveOutcome> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.pending.length === 0 || this.inFlight === MAX_IN_FLIGHT) return;
    this.scheduled = true;
    this.deps.timers.soon(() => {
      this.scheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    const batch = this.takeBatch();
    this.inFlight++;
    this.schedule();
    await this.write(batch);
    this.inFlight--;
    this.schedule();
  }

  /** A batch is of one generation; what was decided with another one waits for the next. */
  private takeBatch(): Waiting[] {
    const generation = this.pending[0]?.item.generation;
    let rows = 0;
    let bytes = 0;
    let count = 0;
    for (const { item } of this.pending) {
      rows += 2 + item.messages.length + item.deliveries.length;
      bytes += item.bytes;
      const isFull = count === MAX_MOVES || rows > MAX_ROWS || bytes > MAX_BYTES;
      if (item.generation !== generation || (count > 0 && isFull)) break;
      count++;
    }
    const batch = this.pending.slice(0, count);
    this.pending = this.pending.slice(count);
    return batch;
  }

  private async write(batch: readonly Waiting[]): Promise<void> {
    try {
      const { current, applied, at } = await this.deps.store.lifecycleApply(merge(batch.map(({ item }) => item)));
      this.deps.observe(at);
      const written = new Set(applied);
      for (const { item, resolve } of batch) {
        resolve(!current ? 'outdated' : written.has(item.move.instanceId) ? 'applied' : 'overtaken');
      }
    } catch (error) {
      await this.explain(batch, error);
    }
  }

  private async explain(batch: readonly Waiting[], error: unknown): Promise<void> {
    const failure = error instanceof StoreError ? error.failure : 'fatal';
    if (failure === 'unknown' || failure === 'retry') {
      for (const { resolve } of batch) resolve('unknown');
      return;
    }
    if (batch.length === 1 || failure === 'fatal') {
      for (const { reject } of batch) reject(error);
      return;
    }
    const middle = batch.length >> 1;
    await this.write(batch.slice(0, middle));
    await this.write(batch.slice(middle));
  }
}

function merge(items: readonly MoveItem[]): LifecycleBatch {
  return {
    generation: items[0]!.generation,
    moves: items.map(({ move }) => move),
    messages: items.flatMap(({ messages }) => messages),
    deliveries: items.flatMap(({ deliveries }) => deliveries),
    reactionsSettled: items.flatMap(({ reactionsSettled }) => reactionsSettled),
  };
}
