// Deliveries: pull due messages, acknowledge them, and repair failed ones; and notices, which need no answer.

import type { Page } from '../protocol/answer.ts';
import type {
  AckJson,
  AckRequest,
  DeliveryJson,
  deliveryQuery,
  MessageJson,
  NoticeJson,
  WorkEventJson,
} from '../protocol/delivery.ts';
import type { QueryOf } from '../protocol/page.ts';
import { Backoff, isPassing } from './backoff.ts';
import type { HandleWork, WorkOptions } from './delivery-worker.ts';
import { serverSentEvents } from './event-source.ts';
import { part, type Transport } from './transport.ts';

const BASE = '/api/v1/deliveries';
const NOTICES = '/api/v1/notices';

export interface PullOptions {
  /** How long to wait when there is nothing, e.g. "30s"; at most a minute. */
  readonly wait?: string;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface DeliveryListQuery extends Omit<QueryOf<typeof deliveryQuery>, 'stage' | 'wait'> {
  /** A stage or `any` is required: without a stage the request would hand out a consumer's messages. */
  readonly stage: DeliveryJson['stage'] | 'any';
}

export class DeliveriesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** The due messages of a pull consumer. Unacknowledged messages are handed out again later. */
  async pull(consumer: string, { wait, limit, signal }: PullOptions = {}): Promise<WorkEventJson[]> {
    const query = { consumer, wait, limit };
    return (await this.transport.get<Page<WorkEventJson>>(BASE, query, { signal })).data;
  }

  /** Idempotent: a late or repeated acknowledgement changes nothing. */
  ack(ackGuid: string, request: AckRequest): Promise<AckJson> {
    return this.transport.ask('POST', `${of(ackGuid)}/ack`, { body: request, repeatable: true });
  }

  get(ackGuid: string): Promise<MessageJson> {
    return this.transport.get(of(ackGuid));
  }

  /** `{ stage: 'Dead' }` lists the dead letters. */
  list({ ackGuids, ...query }: DeliveryListQuery): Promise<Page<DeliveryJson>> {
    return this.transport.get(BASE, { ...query, ackGuids: ackGuids?.join(',') });
  }

  /** Sends dead or failed deliveries again, to one consumer or to all. */
  async requeue(ackGuid: string, request: { readonly consumer?: string } = {}): Promise<number> {
    return (await this.transport.ask<{ count: number }>('POST', `${of(ackGuid)}/requeue`, { body: request })).count;
  }

  /** Forgets the dead deliveries of a message. */
  async discard(ackGuid: string): Promise<void> {
    await this.transport.ask('DELETE', of(ackGuid));
  }

  /**
   * Handles due messages until the signal aborts. Each message is confirmed on receipt, handled, and then answered for. A
   * handler that throws reports a failure. The worker waits for a restarting server. The same message may come again when a
   * worker dies (at least once): `ackGuid` identifies it.
   */
  async work(consumer: string, handle: HandleWork, options: WorkOptions): Promise<void> {
    // Loaded on demand: a page that only reads need not carry it.
    const { DeliveryWorker } = await import('./delivery-worker.ts');
    return new DeliveryWorker(this, consumer, handle, options).run();
  }

  /** The last ones, newest last. */
  notices(query: { readonly after?: string; readonly limit?: number } = {}): Promise<Page<NoticeJson>> {
    return this.transport.get(NOTICES, query);
  }

  /** Notices as they come, until the signal aborts. Resumes where it was when the connection breaks or the server restarts. */
  async *followNotices({
    after,
    signal,
  }: {
    readonly after?: string;
    readonly signal?: AbortSignal;
  } = {}): AsyncGenerator<NoticeJson> {
    const backoff = new Backoff();
    for (let seen = after; ; ) {
      try {
        for await (const { id, data } of serverSentEvents(await this.noticeStream(seen, signal))) {
          backoff.reset();
          if (id === undefined) continue;
          seen = id;
          yield JSON.parse(data) as NoticeJson;
        }
      } catch (error) {
        if (signal?.aborted === true || !isPassing(error)) throw error;
      }
      await backoff.rest(signal);
      signal?.throwIfAborted();
    }
  }

  private async noticeStream(
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ReadableStream<Uint8Array>> {
    const headers = { accept: 'text/event-stream' };
    return (await this.transport.send('GET', NOTICES, { query: { after }, headers, repeatable: true, signal })).body!;
  }
}

const of = (ackGuid: string): string => `${BASE}/${part(ackGuid)}`;
