// Writes acknowledgements, many in one statement, each answered when it is durable (I1). A repeated acknowledgement changes
// nothing (I19). A statement that met a deadlock is sent again after the others. A statement whose reply was lost is sent again
// as well, because it may be repeated.

import type { Timers } from '../clock/timers.ts';
import type { AckItem, AckResult, DeliveryStore } from '../store/delivery-port.ts';
import { type Waiting as GroupWaiting, GroupWrite } from '../store/group-write.ts';
import { StoreError } from '../store/store-error.ts';

const MAX_BATCH = 256;
const MAX_IN_FLIGHT = 2;
const RETRY_AFTER_MS = [10, 50, 250, 1_000];

export interface AcknowledgementsDeps {
  readonly store: Pick<DeliveryStore, 'deliveryAck'>;
  readonly timers: Timers;
  /** Delays of the reminders, counted from Delivered. */
  readonly remindMs: readonly number[];
  /** Some hooks are done, and their outcome has an event to trigger. */
  readonly reactionsWaiting: () => void;
}

type Waiting = GroupWaiting<AckItem, AckResult>;

export class Acknowledgements {
  private readonly deps: AcknowledgementsDeps;
  private readonly group: GroupWrite<AckItem, AckResult>;

  constructor(deps: AcknowledgementsDeps) {
    this.deps = deps;
    const { timers } = deps;
    this.group = new GroupWrite({ timers, maxInFlight: MAX_IN_FLIGHT, split, write: (batch) => this.write(batch) });
  }

  ack(item: AckItem): Promise<AckResult> {
    return this.group.submit(item);
  }

  private async write(batch: readonly Waiting[]): Promise<void> {
    const results = await this.send(batch.map(({ item }) => item));
    for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
    if (results.some(({ reacted }) => reacted)) this.deps.reactionsWaiting();
  }

  private async send(acks: AckItem[]): Promise<AckResult[]> {
    for (let tries = 0; ; tries++) {
      try {
        return await this.deps.store.deliveryAck({ acks, remindMs: [...this.deps.remindMs] });
      } catch (error) {
        const delayMs = RETRY_AFTER_MS[tries];
        if (delayMs === undefined || !mayWorkAgain(error)) throw error;
        await new Promise<void>((resolve) => void this.deps.timers.after(delayMs, resolve));
      }
    }
  }
}

const mayWorkAgain = (error: unknown): boolean =>
  error instanceof StoreError && (error.failure === 'retry' || error.failure === 'unknown');

/** A statement has each delivery at most once, and orders them by guid so that two statements lock rows in the same order. */
function split(waiting: Waiting[]): [Waiting[], Waiting[]] {
  const next = new Map<string, Waiting>();
  const left: Waiting[] = [];
  for (const one of waiting) {
    const key = `${one.item.ackGuid} ${one.item.consumerId}`;
    if (next.size === MAX_BATCH || next.has(key)) left.push(one);
    else next.set(key, one);
  }
  return [[...next.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one), left];
}
