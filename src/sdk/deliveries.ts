// Deliveries: ask for what is due, acknowledge it, and see to what went wrong; and the notices, which need no answer.

import type { Page } from '../protocol/answer.ts';
import type {
  AckJson,
  AckRequest,
  DeliveryJson,
  MessageJson,
  NoticeJson,
  WorkEventJson,
} from '../protocol/delivery.ts';
import { serverSentEvents } from './event-source.ts';
import { part, pause, type Transport } from './transport.ts';
import type { PageQuery } from './workflows.ts';

const BASE = '/api/v1/deliveries';
const NOTICES = '/api/v1/notices';

export interface PullOptions {
  /** How long to wait when there is nothing, e.g. "30s"; at most a minute. */
  readonly wait?: string;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface WorkOptions {
  readonly signal: AbortSignal;
  readonly limit?: number;
  /** When to send a message again that the handler threw for; null: it goes to the dead letters. */
  readonly retryAfterMs?: number | null;
}

export interface DeliveryListQuery extends PageQuery {
  readonly consumer?: string;
  readonly stage?: DeliveryJson['stage'];
}

const RETRY_AFTER_MS = 30_000;
const AGAIN_AFTER_MS = 1_000;

export class DeliveriesApi {
  private readonly transport: Transport;

  constructor(transport: Transport) {
    this.transport = transport;
  }

  /** What is due to a consumer of kind pull. What is not acknowledged is handed out again after a while. */
  async pull(consumer: string, { wait, limit, signal }: PullOptions = {}): Promise<WorkEventJson[]> {
    const query = { consumer, wait, limit };
    return (await this.transport.get<Page<WorkEventJson>>(BASE, query, { signal })).data;
  }

  /** Idempotent: a late or repeated one changes nothing. */
  ack(ackGuid: string, request: AckRequest): Promise<AckJson> {
    return this.transport.ask('POST', `${of(ackGuid)}/ack`, { body: request, repeatable: true });
  }

  get(ackGuid: string): Promise<MessageJson> {
    return this.transport.get(of(ackGuid));
  }

  /** E.g. `{ stage: 'Dead' }`: the dead letters. */
  list(query: DeliveryListQuery & { readonly stage: DeliveryJson['stage'] }): Promise<Page<DeliveryJson>> {
    return this.transport.get(BASE, { ...query });
  }

  /** Dead or failed ones are sent again; to one consumer, or to all. */
  async requeue(ackGuid: string, request: { readonly consumer?: string } = {}): Promise<number> {
    return (await this.transport.ask<{ count: number }>('POST', `${of(ackGuid)}/requeue`, { body: request })).count;
  }

  /** The dead deliveries of a message are forgotten. */
  async discard(ackGuid: string): Promise<void> {
    await this.transport.ask('DELETE', of(ackGuid));
  }

  /**
   * Handles what is due, one message after the other, until the signal: received, handled, done. A handler that throws reports
   * a failure. The same message may come again (at least once): `ackGuid` tells.
   */
  async work(consumer: string, handle: (event: WorkEventJson) => Promise<void>, options: WorkOptions): Promise<void> {
    const { signal, limit = 10, retryAfterMs = RETRY_AFTER_MS } = options;
    while (!signal.aborted) {
      const due = await this.pull(consumer, { wait: '30s', limit, signal }).catch(async (error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      for (const event of due) {
        await this.ack(event.ackGuid, { consumer, stage: 'Delivered' });
        await this.ack(event.ackGuid, {
          consumer,
          stage: 'Processed',
          ...(await outcomeOf(handle, event, retryAfterMs)),
        });
      }
    }
  }

  /** The last ones, newest last. */
  notices(query: { readonly after?: string; readonly limit?: number } = {}): Promise<Page<NoticeJson>> {
    return this.transport.get(NOTICES, query);
  }

  /** Notices as they come, until the signal; goes on where it was after a broken connection. */
  async *followNotices({
    after,
    signal,
  }: {
    readonly after?: string;
    readonly signal?: AbortSignal;
  } = {}): AsyncGenerator<NoticeJson> {
    for (let seen = after; ; ) {
      const headers = { accept: 'text/event-stream' };
      const answer = await this.transport.send('GET', NOTICES, {
        query: { after: seen },
        headers,
        repeatable: true,
        signal,
      });
      try {
        for await (const { id, data } of serverSentEvents(answer.body!)) {
          if (id === undefined) continue;
          seen = id;
          yield JSON.parse(data) as NoticeJson;
        }
      } catch (error) {
        if (signal?.aborted === true) throw error;
      }
      await pause(AGAIN_AFTER_MS, signal);
    }
  }
}

async function outcomeOf(
  handle: (event: WorkEventJson) => Promise<void>,
  event: WorkEventJson,
  retryAfterMs: number | null,
): Promise<Pick<AckRequest, 'outcome' | 'message' | 'retryAt'>> {
  try {
    await handle(event);
    return { outcome: 'succeeded' };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const retryAt = retryAfterMs === null ? {} : { retryAt: new Date(Date.now() + retryAfterMs).toISOString() };
    return { outcome: 'failed', message, ...retryAt };
  }
}

const of = (ackGuid: string): string => `${BASE}/${part(ackGuid)}`;
