// Consumers that are functions of this process. A handler that returns has taken the message; `{ stage: 'Processed' }` means that
// it is done; a handler that throws has not taken it. Several processes may have a handler for one consumer: a free one gets the
// next message.

import type { Json } from '../../core/json/json.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import type { Consumer } from '../consumer.ts';
import { type Channel, type Sent, sentOf } from './channel.ts';

/** A message as its consumer gets it: the body of a webhook. */
export type Work = { readonly ackGuid: string } & Readonly<Record<string, Json>>;

export interface HandledWork {
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Aborted when this process stops and can wait no longer. */
  readonly signal: AbortSignal;
}

/** Returns a HandlerAnswer. Any other value, or none, means Delivered. */
export type Handler = (work: Work, context: HandledWork) => unknown;

export interface HandlerAnswer {
  readonly stage: 'Delivered' | 'Processed';
  readonly outcome?: 'succeeded' | 'failed';
  readonly message?: string;
  /** The payload of the event that a finished hook triggers. */
  readonly result?: unknown;
  readonly retryAt?: Date | string | number;
}

export class ProcessChannel implements Channel {
  private readonly handlers = new Map<string, Handler>();
  private readonly changed: () => void;

  /** `changed`: called when this process can reach more consumers than before. */
  constructor(changed: () => void) {
    this.changed = changed;
  }

  /** One handler per consumer and process. The returned function removes it. */
  handle(tenantId: string, code: string, handler: Handler): () => void {
    const key = keyOf({ tenantId, code });
    if (this.handlers.has(key)) throw new Error(`this process has a handler for the consumer "${code}" already`);
    this.handlers.set(key, handler);
    this.changed();
    return () => void (this.handlers.get(key) === handler && this.handlers.delete(key));
  }

  reaches(consumer: Consumer): boolean {
    return this.handlers.has(keyOf(consumer));
  }

  async send(delivery: ClaimedDelivery, consumer: Consumer, signal: AbortSignal): Promise<Sent> {
    const handler = this.handlers.get(keyOf(consumer));
    if (handler === undefined) throw new Error(`this process has no handler for the consumer "${consumer.code}"`);
    const work = { ackGuid: delivery.ackGuid, ...(JSON.parse(delivery.body) as Record<string, Json>) };
    const attempt = delivery.attempts + delivery.reminders;
    return sentOf(await handler(work, { attempt, signal }));
  }
}

const keyOf = ({ tenantId, code }: { tenantId: string; code: string }): string => JSON.stringify([tenantId, code]);
