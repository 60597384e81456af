// Deliveries as consumers and people see them: acknowledge, pull, read, send again. Acknowledging is idempotent: a late or
// repeated acknowledgement gets the first answer and changes nothing (I19). Foreign and unknown guids look the same (S1).

import { isoTime } from '../clock/clock.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import { isUuid } from '../core/id/id.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type {
  ClaimedDelivery,
  DeliveryRow,
  DeliveryStage,
  DeliveryStore,
  MessageHead,
  MessageKind,
} from '../store/delivery-port.ts';
import type { JsonText, Store, Timestamp } from '../store/port.ts';
import type { Acknowledgements } from './acknowledgements.ts';
import { resultText } from './channel/channel.ts';
import type { Consumer } from './consumer.ts';
import type { ConsumerBook } from './consumer-book.ts';
import { consumerNotFound } from './consumers.ts';
import { consumerFailure } from './delivery-notice.ts';
import type { Notices } from './notices.ts';
import type { PullRequest, Pulls } from './pulls.ts';
import { matches, type Subject } from './subscription.ts';

export interface DeliveriesDeps {
  readonly store: DeliveryStore & Pick<AuditStore, 'audited'>;
  readonly book: ConsumerBook;
  readonly acknowledgements: Acknowledgements;
  readonly pulls: Pulls;
  readonly notices: Pick<Notices, 'raise'>;
  /** These consumers may have due deliveries. */
  readonly wake: (consumerIds: Iterable<string>) => void;
}

export interface AckRequest {
  readonly ackGuid: string;
  /** The consumer's code. */
  readonly consumer: string;
  readonly stage: 'Delivered' | 'Processed';
  readonly outcome?: 'succeeded' | 'failed' | undefined;
  readonly message?: string | undefined;
  readonly result?: unknown;
  readonly retryAt?: Timestamp | undefined;
}

/** One delivery, with its consumer's code instead of its id. */
export type DeliveryView = Omit<DeliveryRow, 'consumerId'> & { readonly consumer: string };

export interface MessageView {
  readonly ackGuid: string;
  readonly kind: MessageKind;
  readonly subjectId: string;
  readonly source: string;
  readonly event: string;
  readonly createdAt: Timestamp;
  readonly body: JsonText;
  readonly deliveries: readonly DeliveryView[];
}

export interface DeliveryFilter {
  readonly consumer?: string | undefined;
  readonly stage?: DeliveryStage | undefined;
  readonly ackGuids?: string[] | undefined;
  readonly newestFirst?: boolean | undefined;
}

export interface DeliveryItem {
  readonly ackGuid: string;
  readonly consumer: string;
}

const MESSAGE_PAGE = 1_000;
const MAX_TEXT = 2_000;

export class Deliveries {
  private readonly deps: DeliveriesDeps;

  constructor(deps: DeliveriesDeps) {
    this.deps = deps;
  }

  /** The delivery's stage. `changed: false`: it was there before. */
  async ack(tenantId: string, request: AckRequest): Promise<{ stage: DeliveryStage; changed: boolean }> {
    const { ackGuid, stage, outcome = 'succeeded', message, retryAt } = request;
    if (retryAt !== undefined && outcome !== 'failed') {
      throw new PawlError('REQUEST_INVALID', '`retryAt` has a meaning only with `outcome: "failed"`');
    }
    const consumer = await this.consumer(tenantId, request.consumer);
    if (!isUuid(ackGuid)) throw deliveryNotFound(request);
    const text = message?.slice(0, MAX_TEXT) ?? null;
    const result = resultText(request.result);
    const failed = outcome === 'failed';
    const said = { outcome, message: text, retryAt: retryAt ?? null };
    const { consumerId } = consumer;
    const item = { tenantId, ackGuid, consumerId, stage: failed ? ('Processed' as const) : stage, result, ...said };
    const { known, changed, stage: reached } = await this.deps.acknowledgements.ack(item);
    if (!known) throw deliveryNotFound(request);
    if (changed) {
      if (failed) this.deps.notices.raise(tenantId, [consumerFailure({ ackGuid }, consumer, said)]);
      this.deps.wake([consumerId]);
    }
    return { stage: reached, changed };
  }

  async get(tenantId: string, ackGuid: string): Promise<MessageView> {
    const detail = isUuid(ackGuid) ? await this.deps.store.deliveryGet({ tenantId, ackGuid }) : null;
    if (detail === null) throw new PawlError('DELIVERY_NOT_FOUND', `there is no message ${ackGuid}`);
    const { kind, subjectId, source, event, createdAt, body, deliveries } = detail;
    const views = deliveries.map((row) => this.view(row));
    return { ackGuid, kind, subjectId, source, event, createdAt, body, deliveries: views };
  }

  async list(tenantId: string, { consumer, stage, ...page }: DeliveryFilter & Page) {
    const consumerId = consumer === undefined ? null : (await this.consumer(tenantId, consumer)).consumerId;
    const rows = await this.deps.store.deliveryList({ tenantId, consumerId, stage: stage ?? null, ...page });
    return rows.map((row) => this.view(row));
  }

  /** Claims the due messages of this consumer, and waits for one if there is none. */
  async pull(tenantId: string, code: string, request: PullRequest): Promise<ClaimedDelivery[]> {
    const { kind } = await this.consumer(tenantId, code);
    if (kind !== 'pull') {
      throw new PawlError(
        'REQUEST_INVALID',
        `"${code}" is a consumer of kind ${kind}; only those of kind pull can ask`,
      );
    }
    return this.deps.pulls.pull(() => this.deps.book.byCode(tenantId, code), request);
  }

  /** The same as a stream: pages as they come, with an empty page now and then. */
  async *follow(tenantId: string, code: string, request: PullRequest): AsyncGenerator<ClaimedDelivery[]> {
    while (!request.signal?.aborted) yield await this.pull(tenantId, code, request);
  }

  /** Sends dead or failed deliveries again. Returns how many. */
  async requeue(tenantId: string, items: readonly DeliveryItem[], by: Actor = SYSTEM): Promise<number> {
    const found = this.found(tenantId, items);
    const count = await this.recorded({ tenantId, by }, 'requeue', items, (store) =>
      store.deliveryRequeue({ tenantId, items: found }),
    );
    this.deps.wake(new Set(found.map(({ consumerId }) => consumerId)));
    return count;
  }

  /** Forgets dead deliveries. Returns how many. */
  async discard(tenantId: string, items: readonly DeliveryItem[], by: Actor = SYSTEM): Promise<number> {
    const found = this.found(tenantId, items);
    return this.recorded({ tenantId, by }, 'discard', items, (store) =>
      store.deliveryPurgeDead({ tenantId, items: found }),
    );
  }

  /** Sends everything of this period once more that the consumer was sent, or would have been sent. Returns how many. */
  async replay(
    tenantId: string,
    code: string,
    range: { from: Timestamp; until: Timestamp },
    by: Actor = SYSTEM,
  ): Promise<number> {
    if (!(range.from < range.until)) throw new PawlError('REQUEST_INVALID', '`from` must be before `until`');
    const consumer = await this.consumer(tenantId, code);
    const count = await this.deps.store.audited({
      tenantId,
      by,
      work: (store) => replayPages(store, tenantId, consumer, range),
      deed: (sent) => ({
        action: 'consumer.replay',
        target: `consumer/${code}`,
        details: { from: isoTime(range.from), until: isoTime(range.until), count: sent },
      }),
    });
    this.deps.wake([consumer.consumerId]);
    return count;
  }

  /** An operator's change: one audit record, whatever the number of deliveries. */
  private recorded(
    { tenantId, by }: { readonly tenantId: string; readonly by: Actor },
    action: string,
    items: readonly DeliveryItem[],
    work: (store: Store) => Promise<number>,
  ): Promise<number> {
    const consumers = [...new Set(items.map(({ consumer }) => consumer))];
    const target = `delivery/${items[0]?.ackGuid}`;
    return this.deps.store.audited({
      tenantId,
      by,
      work,
      deed: (count) => (count > 0 ? { action: `delivery.${action}`, target, details: { count, consumers } } : null),
    });
  }

  /** Ids of other tenants are reported as not found (S1). */
  private found(tenantId: string, items: readonly DeliveryItem[]) {
    const found = items.map(({ ackGuid, consumer }) => ({
      ackGuid,
      consumerId: this.deps.book.idOf(tenantId, consumer),
    }));
    return found.filter(
      (item): item is { ackGuid: string; consumerId: string } => item.consumerId !== null && isUuid(item.ackGuid),
    );
  }

  private view<Row extends DeliveryRow>({ consumerId, ...row }: Row): Omit<Row, 'consumerId'> & { consumer: string } {
    return { ...row, consumer: this.deps.book.byId(consumerId)?.code ?? consumerId };
  }

  /** A consumer that another process has just created may not be in the book yet. */
  private async consumer(tenantId: string, code: string): Promise<Consumer> {
    const known = this.deps.book.byCode(tenantId, code);
    if (known !== null) return known;
    await this.deps.book.refresh();
    const consumer = this.deps.book.byCode(tenantId, code);
    if (consumer === null) throw consumerNotFound(code);
    return consumer;
  }
}

interface Page {
  readonly after: string | null;
  readonly limit: number;
}

/** In one transaction, page by page: a range may hold any number of messages. */
async function replayPages(
  store: DeliveryStore,
  tenantId: string,
  { consumerId, subscribed }: Consumer,
  range: { from: Timestamp; until: Timestamp },
): Promise<number> {
  let count = 0;
  for (let after: string | null = null; ; ) {
    const page: MessageHead[] = await store.messageList({ tenantId, ...range, after, limit: MESSAGE_PAGE });
    const wanted = page.filter((message) => {
      const subject = subjectOf(message);
      return subject !== null && subscribed.some((one) => matches(one, subject));
    });
    count += await store.deliveryReplay({
      tenantId,
      consumerId,
      ackGuids: page.map(({ ackGuid }) => ackGuid),
      missing: wanted.map(({ ackGuid }) => ackGuid),
    });
    if (page.length < MESSAGE_PAGE) return count;
    after = page.at(-1)!.cursor;
  }
}

/** null: the message goes only to the consumers of its route. */
function subjectOf({ kind, env, source, event }: MessageHead): Subject | null {
  switch (kind) {
    case 'transition':
      return { kind, env: env ?? '', definition: source, event };
    case 'execution':
      return { kind, env: env ?? '', workflow: source, type: event };
    case 'hook':
      return null;
  }
}

function deliveryNotFound({ ackGuid, consumer }: AckRequest): PawlError {
  return new PawlError('DELIVERY_NOT_FOUND', `there is no delivery ${ackGuid} to "${consumer}"`);
}
