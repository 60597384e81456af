// Group commit of lifecycles: the moves of many instances in one statement, each written completely or not at all
// (store/group-write.ts). A move whose revision has changed is not written. When the generation has changed, nothing is written
// and all moves are decided again. A lost reply gives 'unknown', and the timeline tells by the requestId. A move with bad data is
// refused alone.

import type { Timers } from '../../clock/timers.ts';
import { type Waiting as GroupWaiting, GroupWrite } from '../../store/group-write.ts';
import type { LifecycleBatch, LifecycleStore } from '../../store/lifecycle-port.ts';
import { StoreError } from '../../store/store-error.ts';

type Parts = Pick<LifecycleBatch, 'messages' | 'deliveries' | 'reactionsSettled'>;

export interface MoveItem extends Parts {
  readonly generation: string;
  readonly move: LifecycleBatch['moves'][number];
  readonly bytes: number;
}

export type MoveOutcome = 'applied' | 'overtaken' | 'outdated' | 'unknown';

type Waiting = GroupWaiting<MoveItem, MoveOutcome>;

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
  private readonly group: GroupWrite<MoveItem, MoveOutcome>;

  constructor(deps: MoveCommitter['deps']) {
    this.deps = deps;
    const { timers } = deps;
    this.group = new GroupWrite({ timers, maxInFlight: MAX_IN_FLIGHT, split, write: (batch) => this.write(batch) });
  }

  submit(item: MoveItem): Promise<MoveOutcome> {
    return this.group.submit(item);
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
      const mayBeWritten = error instanceof StoreError && (error.failure === 'unknown' || error.failure === 'retry');
      if (!mayBeWritten) throw error;
      for (const { resolve } of batch) resolve('unknown');
    }
  }
}

/** Splits off a batch of one generation. Moves of another generation wait for the next batch. */
function split(pending: Waiting[]): [Waiting[], Waiting[]] {
  const generation = pending[0]?.item.generation;
  let rows = 0;
  let bytes = 0;
  let count = 0;
  for (const { item } of pending) {
    rows += 2 + item.messages.length + item.deliveries.length;
    bytes += item.bytes;
    const isFull = count === MAX_MOVES || rows > MAX_ROWS || bytes > MAX_BYTES;
    if (item.generation !== generation || (count > 0 && isFull)) break;
    count++;
  }
  return [pending.slice(0, count), pending.slice(count)];
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
