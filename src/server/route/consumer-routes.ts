// Consumers: register, change, pause, resume, rotate the secret, send again, remove.

import { z } from 'zod';
import type { ConsumerView } from '../../delivery/consumer.ts';
import {
  consumerChangeRequest,
  consumerParams,
  consumerRequest,
  consumerSchema,
  countAnswer,
  replayRequest,
} from '../../protocol/delivery.ts';
import { pageOf, shortListQuery } from '../../protocol/page.ts';
import type { Scope } from '../../protocol/scope.ts';
import { secretRotateRequest } from '../../protocol/trigger.ts';
import type { RouteParts } from '../parts.ts';
import { presentConsumer } from '../present/delivery.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { shortList } from '../short-list.ts';

type Parts = Pick<RouteParts, 'consumers' | 'deliveries' | 'store'>;

const BASE = '/api/v1/consumers';
const common = { tag: 'Consumers', access: 'lifecycles:manage' } as const;
const one = { ...common, params: consumerParams, notFound: 'CONSUMER_NOT_FOUND' } as const;

export function consumerRoutes(deps: Parts): RouteSpec[] {
  const { consumers, deliveries, store } = deps;
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: BASE,
      summary: 'Register a consumer, or change the one with this code; only this answer contains a generated secret',
      body: consumerRequest,
      responses: { 200: consumerSchema, 201: consumerSchema },
      async handle({ body: { tenantId: _checked, ...request }, caller, by }) {
        const { consumer, secret, created } = await consumers.register(caller.tenantId, request, by);
        return { status: created ? 201 : 200, body: presentConsumer(consumer, secret) };
      },
    }),
    listRoute(deps, BASE, 'workflows:read'),
    listRoute(deps, '/api/v1/admin/consumers', 'admin'),
    defineRoute({
      ...one,
      access: 'workflows:read',
      method: 'GET',
      path: `${BASE}/:code`,
      summary: 'A consumer and its backlog',
      responses: { 200: consumerSchema },
      async handle({ params: { code }, caller: { tenantId } }) {
        const consumer = await consumers.get(tenantId, code);
        const backlogs = await store.consumerBacklogs({ tenantId });
        const backlog = backlogs.find((each) => each.code === code) ?? null;
        return { status: 200, body: presentConsumer(consumer, null, backlog) };
      },
    }),
    defineRoute({
      ...one,
      method: 'PATCH',
      path: `${BASE}/:code`,
      summary: 'Change a consumer; fields that are left out stay as they are',
      body: consumerChangeRequest,
      responses: { 200: consumerSchema },
      async handle({ params: { code }, body: { tenantId: _checked, ...request }, caller, by }) {
        const { consumer, secret } = await consumers.change(caller.tenantId, code, request, by);
        return { status: 200, body: presentConsumer(consumer, secret) };
      },
    }),
    defineRoute({
      ...one,
      method: 'DELETE',
      path: `${BASE}/:code`,
      summary: 'Remove a consumer and its open deliveries',
      responses: { 204: null },
      async handle({ params: { code }, caller, by }) {
        await consumers.remove(caller.tenantId, code, by);
        return { status: 204 };
      },
    }),
    switchRoute(deps, 'pause', 'Send it nothing more for now; what comes meanwhile waits'),
    switchRoute(deps, 'resume', 'Go on sending'),
    defineRoute({
      ...one,
      method: 'POST',
      path: `${BASE}/:code/rotate-secret`,
      summary: 'Create a new secret for a webhook; the previous one keeps signing until the next rotation',
      body: secretRotateRequest,
      responses: { 200: consumerSchema },
      async handle({ params: { code }, body: { secret: given, keepPrevious }, caller, by }) {
        const rotation = { secret: given, keepPrevious };
        const { consumer, secret } = await consumers.rotateSecret(caller.tenantId, code, rotation, by);
        return { status: 200, body: presentConsumer(consumer, secret) };
      },
    }),
    defineRoute({
      ...one,
      method: 'POST',
      path: `${BASE}/:code/replay`,
      summary: 'Send everything of a time range again, with the same ackGuid and bytes',
      body: replayRequest,
      responses: { 202: countAnswer },
      async handle({ params: { code }, body: { from, until }, caller, by }) {
        const range = { from: Date.parse(from), until: until === undefined ? Date.now() : Date.parse(until) };
        return { status: 202, body: { count: await deliveries.replay(caller.tenantId, code, range, by) } };
      },
    }),
  ];
}

function listRoute({ consumers, store }: Parts, path: string, access: Scope): RouteSpec {
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

function switchRoute({ consumers }: Parts, verb: 'pause' | 'resume', summary: string): RouteSpec {
  return defineRoute({
    ...one,
    method: 'POST',
    path: `${BASE}/:code/${verb}`,
    summary,
    responses: { 200: consumerSchema },
    handle: async ({ params: { code }, caller, by }) => shown(await consumers[verb](caller.tenantId, code, by)),
  });
}

const shown = (consumer: ConsumerView) => ({ status: 200, body: presentConsumer(consumer) });
