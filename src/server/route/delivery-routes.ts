// Deliveries: ask for what is due, acknowledge it, see how far it got, send the dead again.

import { PawlError } from '../../core/error/pawl-error.ts';
import type { JsonObject } from '../../core/json/json.ts';
import type { Deliveries, DeliveryItem } from '../../delivery/deliveries.ts';
import {
  ackAnswer,
  ackRequest,
  countAnswer,
  deliveryParams,
  deliveryQuery,
  deliverySchema,
  messageSchema,
  pulledEventSchema,
  requeueRequest,
} from '../../protocol/delivery.ts';
import { pageOf } from '../../protocol/page.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import { page } from '../cursor.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS, serverSent, wantsEventStream } from '../event-stream.ts';
import type { RouteParts } from '../parts.ts';
import { presentDelivery, presentMessage } from '../present/delivery.ts';
import { parsed } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/deliveries';
const common = { tag: 'Deliveries', access: 'deliveries:ack', notFound: 'DELIVERY_NOT_FOUND' } as const;
const one = { ...common, params: deliveryParams } as const;

/** For a stream: how long one look waits, so that the connection shows a sign of life. */
const LOOK_MS = 10_000;

export function deliveryRoutes({ deliveries }: Pick<RouteParts, 'deliveries'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: BASE,
      summary:
        'The due messages of a pull consumer (long poll, or `Accept: text/event-stream`); with `stage`, `ackGuids` or `order`, a list of deliveries',
      query: deliveryQuery,
      unlimited: true,
      responses: { 200: pageOf(pulledEventSchema.or(deliverySchema)) },
      sends: EVENT_STREAM,
      async handle(request) {
        const { headers, aside } = request;
        const { tenantId } = request.caller;
        const { consumer, wait = 0, stage, ackGuids, order, limit, cursor } = request.query;
        if (stage !== undefined || ackGuids !== undefined || order !== undefined || consumer === undefined) {
          const filter = {
            consumer,
            stage: stage === 'any' ? undefined : stage,
            ackGuids,
            newestFirst: order === 'desc',
          };
          return page(
            limit,
            (limit) => deliveries.list(tenantId, { ...filter, after: cursor ?? null, limit }),
            (last) => last.cursor,
            (found) => found.map(presentDelivery),
          );
        }
        const { signal } = request;
        if (!wantsEventStream(headers)) {
          const pull = (waitMs: number) => deliveries.pull(tenantId, consumer, { limit, waitMs, signal });
          const due = await ((wait === 0 ? null : aside(() => pull(wait))) ?? pull(0));
          return { status: 200, body: { data: due.map(pulled) } };
        }
        // Pull once before streaming, so that a caller without the right gets an error and not a broken stream.
        const first = await deliveries.pull(tenantId, consumer, { limit, waitMs: 0, signal });
        const rest = deliveries.follow(tenantId, consumer, { limit, waitMs: LOOK_MS, signal });
        const stream = serverSent(after(first, rest), messageOf, signal);
        return { status: 200, headers: EVENT_STREAM_HEADERS, stream };
      },
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: `${BASE}/:ackGuid`,
      summary: 'A message and its state at each consumer',
      responses: { 200: messageSchema },
      async handle({ params: { ackGuid }, caller }) {
        return { status: 200, body: presentMessage(await deliveries.get(caller.tenantId, ackGuid)) };
      },
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: `${BASE}/:ackGuid/ack`,
      summary: 'Acknowledge a message as received (Delivered), done (Processed) or failed; repeating it is harmless',
      body: ackRequest,
      responses: { 200: ackAnswer },
      async handle({ params: { ackGuid }, body: { tenantId: _checked, retryAt, ...body }, caller }) {
        const again = retryAt === undefined ? {} : { retryAt: Date.parse(retryAt) };
        const result = await deliveries.ack(caller.tenantId, { ackGuid, ...body, ...again });
        return { status: 200, body: { ackGuid, consumer: body.consumer, ...result } };
      },
    }),
    defineRoute({
      ...one,
      access: 'admin',
      method: 'POST',
      path: `${BASE}/:ackGuid/requeue`,
      summary: 'Send a dead or failed delivery again',
      body: requeueRequest,
      responses: { 202: countAnswer },
      async handle({ params: { ackGuid }, body: { consumer }, caller: { tenantId }, by }) {
        const items = await ended(deliveries, tenantId, ackGuid, consumer);
        return { status: 202, body: { count: await deliveries.requeue(tenantId, items, by) } };
      },
    }),
    defineRoute({
      ...one,
      access: 'admin',
      method: 'DELETE',
      path: `${BASE}/:ackGuid`,
      summary: 'Delete the dead deliveries of a message',
      responses: { 204: null },
      async handle({ params: { ackGuid }, caller: { tenantId }, by }) {
        await deliveries.discard(tenantId, await ended(deliveries, tenantId, ackGuid, undefined), by);
        return { status: 204 };
      },
    }),
  ];
}

async function* after<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

/** The stored body. Events of executions have a fixed contract without an ackGuid, so it is added here. */
const pulled = ({ ackGuid, body }: ClaimedDelivery) => ({ ackGuid, ...(parsed(body) as JsonObject) });

const messageOf = (claimed: ClaimedDelivery): string =>
  `id: ${claimed.ackGuid}\nevent: ${claimed.kind}\ndata: ${JSON.stringify(pulled(claimed))}\n\n`;

/** The deliveries of a message that ended badly. */
async function ended(
  deliveries: Deliveries,
  tenantId: string,
  ackGuid: string,
  consumer: string | undefined,
): Promise<DeliveryItem[]> {
  const message = await deliveries.get(tenantId, ackGuid);
  const found = message.deliveries.filter(
    (each) => (each.stage === 'Dead' || each.stage === 'Failed') && (consumer ?? each.consumer) === each.consumer,
  );
  if (found.length === 0)
    throw new PawlError('DELIVERY_NOT_FOUND', 'no such delivery of this message is dead or failed');
  return found.map((each) => ({ ackGuid, consumer: each.consumer }));
}
