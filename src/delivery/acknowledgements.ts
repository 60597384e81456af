// Writes acknowledgements, many in one statement, each answered when it is durable (I1). The same one twice is harmless: the
// statement changes nothing the second time (I19). A statement that met a deadlock is sent again, once the others had their
// turn; one whose reply was lost too, because it may be repeated.

import { PawlError } from '../core/error/pawl-error.ts';
import type { AckItem, AckResult, DeliveryStore } from '../store/delivery-port.ts';
import { StoreError } from '../store/store-error.ts';
import type { Timers } from './environment.ts';

const MAX_BATCH = 256;
const MAX_IN_FLIGHT = 2;
const RETRY_AFTER_MS = [10, 50, 250, 1_000];

export interface AcknowledgementsDeps {
  readonly store: Pick<DeliveryStore, 'deliveryAck'>;
  readonly timers: Timers;
  /** From Delivered to the reminders. */
  readonly remindMs: readonly number[];
  /** Some hooks are done, and their outcome has an event to trigger. */
  readonly reactionsWaiting: () => void;
}

interface Waiting {
  readonly item: AckItem;
  readonly resolve: (result: AckResult) => void;
  readonly reject: (error: unknown) => void;
}

export class Acknowledgements {
  private readonly deps: AcknowledgementsDeps;
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private scheduled = false;

  constructor(deps: AcknowledgementsDeps) {
    this.deps = deps;
  }

  ack(item: AckItem): Promise<AckResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight === MAX_IN_FLIGHT || this.waiting.length === 0) return;
    this.scheduled = true;
    this.deps.timers.soon(() => {
      this.scheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    const batch = this.nextBatch();
    this.inFlight++;
    this.schedule();
    await this.write(batch);
    this.inFlight--;
    this.schedule();
  }

  /** A delivery at most once in a statement; in order of their guids, so that two statements lock rows the same way round. */
  private nextBatch(): Waiting[] {
    const batch = new Map<string, Waiting>();
    const left: Waiting[] = [];
    for (const waiting of this.waiting) {
      const key = `${waiting.item.ackGuid} ${waiting.item.consumerId}`;
      if (batch.size === MAX_BATCH || batch.has(key)) left.push(waiting);
      else batch.set(key, waiting);
    }
    this.waiting = left;
    return [...batch.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, waiting]) => waiting);
  }

  private async write(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.send(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index]!);
      if (results.some(({ reacted }) => reacted)) this.deps.reactionsWaiting();
    } catch (error) {
      const isTheirs = error instanceof StoreError && error.failure === 'data';
      if (!isTheirs || batch.length === 1) return refuse(batch, error, isTheirs);
      // Somebody's data is at fault: the others must not pay for it.
      const middle = batch.length >> 1;
      await this.write(batch.slice(0, middle));
      await this.write(batch.slice(middle));
    }
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

function refuse(batch: readonly Waiting[], error: unknown, isTheirs: boolean): void {
  const reason = isTheirs ? new PawlError('REQUEST_INVALID', 'the request holds a value that cannot be stored') : error;
  for (const { reject } of batch) reject(reason);
}
