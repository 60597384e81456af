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
import { EVENT_STREAM, EVENT_STREAM_HEADERS, serverSent, wantsEventStream } from '../event-stream.ts';
import { presentDelivery, presentMessage } from '../present/delivery.ts';
import { parsed } from '../present/execution.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

export interface DeliveryRoutesDeps {
  readonly deliveries: Deliveries;
}

const BASE = '/api/v1/deliveries';
const common = { tag: 'Deliveries', access: 'deliveries:ack', notFound: 'DELIVERY_NOT_FOUND' } as const;
const one = { ...common, params: deliveryParams } as const;

/** Of a stream: how long one look waits, so that the connection shows a sign of life now and then. */
const LOOK_MS = 10_000;

export function deliveryRoutes(deps: DeliveryRoutesDeps): RouteSpec[] {
  return [pullRoute(deps), getRoute(deps), ackRoute(deps), requeueRoute(deps), discardRoute(deps)];
}

function pullRoute({ deliveries }: DeliveryRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: BASE,
    summary:
      'What is due to a consumer of kind pull (long poll, or `Accept: text/event-stream`); with `stage`, `ackGuids` or `order`, a list of deliveries',
    query: deliveryQuery,
    unlimited: true,
    responses: { 200: pageOf(pulledEventSchema.or(deliverySchema)) },
    sends: EVENT_STREAM,
    async handle(request) {
      const { headers, aside } = request;
      const { tenantId } = request.caller;
      const { consumer, wait = 0, stage, ackGuids, order, limit, cursor } = request.query;
      if (stage !== undefined || ackGuids !== undefined || order !== undefined || consumer === undefined) {
        const page = { after: cursor ?? null, limit: limit + 1 };
        const filter = {
          consumer,
          stage: stage === 'any' ? undefined : stage,
          ackGuids,
          newestFirst: order === 'desc',
        };
        return listed(await deliveries.list(tenantId, { ...filter, ...page }), limit);
      }
      const { signal } = request;
      if (!wantsEventStream(headers)) {
        const pull = (waitMs: number) => deliveries.pull(tenantId, consumer, { limit, waitMs, signal });
        const due = await ((wait === 0 ? null : aside(() => pull(wait))) ?? pull(0));
        return { status: 200, body: { data: due.map(pulled) } };
      }
      // The first look is made here: whoever may not ask is told so, not sent a stream that breaks.
      const first = await deliveries.pull(tenantId, consumer, { limit, waitMs: 0, signal });
      const rest = deliveries.follow(tenantId, consumer, { limit, waitMs: LOOK_MS, signal });
      const stream = serverSent(after(first, rest), messageOf, signal);
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream };
    },
  });
}

async function* after<Item>(first: Item, rest: AsyncIterable<Item>): AsyncGenerator<Item> {
  yield first;
  yield* rest;
}

/** What was stored; events of executions, whose shape is a contract of its own, get their ackGuid here. */
const pulled = ({ ackGuid, body }: ClaimedDelivery) => ({ ackGuid, ...(parsed(body) as JsonObject) });

const messageOf = (claimed: ClaimedDelivery): string =>
  `id: ${claimed.ackGuid}\nevent: ${claimed.kind}\ndata: ${JSON.stringify(pulled(claimed))}\n\n`;

function listed(found: Awaited<ReturnType<Deliveries['list']>>, limit: number): Answer {
  const page = found.slice(0, limit);
  const next = found.length > limit ? { nextCursor: page.at(-1)!.cursor } : {};
  return { status: 200, body: { data: page.map(presentDelivery), ...next } };
}

function getRoute({ deliveries }: DeliveryRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/:ackGuid`,
    summary: 'A message, and how far it got with each consumer',
    responses: { 200: messageSchema },
    async handle({ params: { ackGuid }, caller }) {
      return { status: 200, body: presentMessage(await deliveries.get(caller.tenantId, ackGuid)) };
    },
  });
}

function ackRoute({ deliveries }: DeliveryRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'POST',
    path: `${BASE}/:ackGuid/ack`,
    summary: 'Acknowledge: received (Delivered), done (Processed), or failed; the same twice is harmless',
    body: ackRequest,
    responses: { 200: ackAnswer },
    async handle({ params: { ackGuid }, body: { tenantId: _checked, retryAt, ...body }, caller }) {
      const again = retryAt === undefined ? {} : { retryAt: Date.parse(retryAt) };
      const result = await deliveries.ack(caller.tenantId, { ackGuid, ...body, ...again });
      return { status: 200, body: { ackGuid, consumer: body.consumer, ...result } };
    },
  });
}

function requeueRoute({ deliveries }: DeliveryRoutesDeps): RouteSpec {
  return defineRoute({
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
  });
}

function discardRoute({ deliveries }: DeliveryRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    access: 'admin',
    method: 'DELETE',
    path: `${BASE}/:ackGuid`,
    summary: 'Forget the dead deliveries of a message',
    responses: { 204: null },
    async handle({ params: { ackGuid }, caller: { tenantId }, by }) {
      await deliveries.discard(tenantId, await ended(deliveries, tenantId, ackGuid, undefined), by);
      return { status: 204 };
    },
  });
}

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
