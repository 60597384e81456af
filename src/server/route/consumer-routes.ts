// Consumers: register, change, pause, resume, rotate the secret, send again, remove.

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import type { ConsumerRequest, ConsumerView } from '../../delivery/consumer.ts';
import type { Consumers } from '../../delivery/consumers.ts';
import type { Deliveries } from '../../delivery/deliveries.ts';
import {
  consumerChangeRequest,
  consumerChangeShape,
  consumerParams,
  consumerRequest,
  consumerSchema,
  consumerShape,
  countAnswer,
  replayRequest,
} from '../../protocol/delivery.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import type { Scope } from '../../protocol/scope.ts';
import { secretRotateRequest } from '../../protocol/trigger.ts';
import type { OverviewStore } from '../../store/overview-port.ts';
import { presentConsumer } from '../present/delivery.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

export interface ConsumerRoutesDeps {
  readonly consumers: Consumers;
  readonly deliveries: Deliveries;
  readonly store: Pick<OverviewStore, 'consumerBacklogs'>;
}

const BASE = '/api/v1/consumers';
const common = { tag: 'Consumers', access: 'lifecycles:manage' } as const;
const one = { ...common, params: consumerParams, notFound: 'CONSUMER_NOT_FOUND' } as const;

export function consumerRoutes(deps: ConsumerRoutesDeps): RouteSpec[] {
  return [
    registerRoute(deps),
    listRoute(deps, BASE, 'workflows:read'),
    listRoute(deps, '/api/v1/admin/consumers', 'admin'),
    getRoute(deps),
    changeRoute(deps),
    removeRoute(deps),
    switchRoute(deps, 'pause', 'Send it nothing more for now; what comes meanwhile waits'),
    switchRoute(deps, 'resume', 'Go on sending'),
    rotateRoute(deps),
    replayRoute(deps),
  ];
}

function registerRoute({ consumers }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: BASE,
    summary:
      'Register a consumer, or change the one of this code; a generated secret is in this answer and in no other',
    body: consumerRequest,
    bodyShape: consumerShape,
    responses: { 200: consumerSchema, 201: consumerSchema },
    async handle({ body: { tenantId: _checked, ...request }, caller, by }) {
      const { consumer, secret, created } = await consumers.register(caller.tenantId, asRequest(request), by);
      return { status: created ? 201 : 200, body: presentConsumer(consumer, secret) };
    },
  });
}

function listRoute({ consumers, store }: ConsumerRoutesDeps, path: string, access: Scope): RouteSpec {
  return defineRoute({
    ...common,
    access,
    method: 'GET',
    path,
    summary: 'List consumers',
    query: z.object(shortListQuery),
    responses: { 200: pageOf(consumerSchema) },
    async handle({ query, caller }) {
      const [all, backlogs] = await Promise.all([
        consumers.list(caller.tenantId),
        store.consumerBacklogs({ tenantId: caller.tenantId }),
      ]);
      const backlogOf = new Map(backlogs.map((backlog) => [backlog.code, backlog]));
      const found = all.map((consumer) => presentConsumer(consumer, null, backlogOf.get(consumer.code) ?? null));
      return { status: 200, body: shortList(found, ({ code }) => code, query) };
    },
  });
}

function getRoute({ consumers, store }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    access: 'workflows:read',
    method: 'GET',
    path: `${BASE}/:code`,
    summary: 'A consumer, and what it has not acknowledged',
    responses: { 200: consumerSchema },
    async handle({ params: { code }, caller: { tenantId } }) {
      const consumer = await consumers.get(tenantId, code);
      const backlogs = await store.consumerBacklogs({ tenantId });
      const backlog = backlogs.find((each) => each.code === code) ?? null;
      return { status: 200, body: presentConsumer(consumer, null, backlog) };
    },
  });
}

function changeRoute({ consumers }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'PATCH',
    path: `${BASE}/:code`,
    summary: 'Change a consumer; what is not mentioned stays',
    body: consumerChangeRequest,
    bodyShape: consumerChangeShape,
    responses: { 200: consumerSchema },
    async handle({ params: { code }, body: { tenantId: _checked, ...request }, caller, by }) {
      const { consumer, secret } = await consumers.change(caller.tenantId, code, asRequest(request), by);
      return { status: 200, body: presentConsumer(consumer, secret) };
    },
  });
}

function removeRoute({ consumers }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/:code`,
    summary: 'Remove a consumer; what it has not been sent yet goes with it',
    responses: { 204: null },
    async handle({ params: { code }, caller, by }) {
      await consumers.remove(caller.tenantId, code, by);
      return { status: 204 };
    },
  });
}

function switchRoute({ consumers }: ConsumerRoutesDeps, verb: 'pause' | 'resume', summary: string): RouteSpec {
  return defineRoute({
    ...one,
    method: 'POST',
    path: `${BASE}/:code/${verb}`,
    summary,
    responses: { 200: consumerSchema },
    handle: async ({ params: { code }, caller, by }) => shown(await consumers[verb](caller.tenantId, code, by)),
  });
}

function rotateRoute({ consumers }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'POST',
    path: `${BASE}/:code/rotate-secret`,
    summary: 'Give a webhook a new secret; the one before it signs too until the next rotation',
    body: secretRotateRequest,
    responses: { 200: consumerSchema },
    async handle({ params: { code }, body: { secret: given, keepPrevious }, caller, by }) {
      const rotation = { secret: given, keepPrevious };
      const { consumer, secret } = await consumers.rotateSecret(caller.tenantId, code, rotation, by);
      return { status: 200, body: presentConsumer(consumer, secret) };
    },
  });
}

function replayRoute({ deliveries }: ConsumerRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    method: 'POST',
    path: `${BASE}/:code/replay`,
    summary: 'Send everything of a time range once more: same ackGuid, same bytes',
    body: replayRequest,
    responses: { 202: countAnswer },
    async handle({ params: { code }, body: { from, until }, caller, by }) {
      const range = { from: Date.parse(from), until: until === undefined ? Date.now() : Date.parse(until) };
      return { status: 202, body: { count: await deliveries.replay(caller.tenantId, code, range, by) } };
    },
  });
}

/** Delivery judges every field itself, and says everything that is wrong. */
const asRequest = (body: object): ConsumerRequest => body as { [Key in keyof ConsumerRequest]: Json };
const shown = (consumer: ConsumerView) => ({ status: 200, body: presentConsumer(consumer) });
