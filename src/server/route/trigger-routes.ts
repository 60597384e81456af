// Managing triggers: create, change, delete, list, their secrets, and what became of their firings.

import type { Json } from '../../core/json/json.ts';
import { pageOf } from '../../protocol/page.ts';
import {
  firingListQuery,
  firingSchema,
  secretRotateRequest,
  triggerCreateRequest,
  triggerListQuery,
  triggerParams,
  triggerSchema,
  triggerUpdateRequest,
} from '../../protocol/trigger.ts';
import type { TriggerAnswer, Triggers } from '../../trigger/triggers.ts';
import type { WorkflowQueries } from '../../workflow/workflow-queries.ts';
import type { Caller } from '../caller.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';
import { firingView, lastFiringsView, triggerView } from './trigger-view.ts';

export interface TriggerRoutesDeps {
  readonly triggers: Triggers;
  readonly workflowQueries: WorkflowQueries;
  /** Where webhooks come in: the id of their trigger follows. */
  readonly webhookBase: () => string;
}

const PATH = '/api/v1/triggers';
const common = { access: 'triggers:manage', tag: 'Triggers' } as const;
/** Reads are for whoever reads workflows: no secret is among what they show. */
const reading = { access: 'workflows:read', orScope: 'triggers:manage' } as const;
const ofTrigger = { ...common, notFound: 'TRIGGER_NOT_FOUND', params: triggerParams } as const;

export function triggerRoutes(deps: TriggerRoutesDeps): RouteSpec[] {
  return [
    listRoute(deps),
    createRoute(deps),
    getRoute(deps),
    updateRoute(deps),
    deleteRoute(deps),
    rotateRoute(deps),
    firingsRoute(deps),
  ];
}

const keyOf = (caller: Caller, { triggerId }: { triggerId: string }) => ({ tenantId: caller.tenantId, triggerId });

function shown({ webhookBase }: TriggerRoutesDeps, status: number, { trigger, secret }: TriggerAnswer): Answer {
  return { status, body: triggerView(trigger, { webhookBase: webhookBase(), now: Date.now(), secret }) };
}

function listRoute({ triggers, workflowQueries, webhookBase }: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    ...reading,
    method: 'GET',
    path: PATH,
    summary: 'List triggers',
    query: triggerListQuery,
    responses: { 200: pageOf(triggerSchema) },
    async handle({ query: { limit, cursor, tenantId: _checked, ...filter }, caller }) {
      const page = { afterId: cursor ?? null, limit: limit + 1 };
      const { tenantId } = caller;
      const workflowId = await workflowQueries.nameIn(tenantId, filter.workflowId);
      const found = await triggers.list({ ...filter, workflowId, tenantId }, page);
      const context = { webhookBase: webhookBase(), now: Date.now() };
      const listed = found.slice(0, limit);
      const last = await triggers.lastOf(tenantId, listed);
      const data = listed.map((trigger) => ({
        ...triggerView(trigger, context),
        ...lastFiringsView(last.get(trigger.triggerId)),
      }));
      return { status: 200, body: { data, ...(found.length > limit ? { nextCursor: data.at(-1)!.id } : {}) } };
    },
  });
}

function createRoute(deps: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'POST',
    path: PATH,
    summary: 'Create a trigger; a generated secret is in this answer and in no other',
    body: triggerCreateRequest,
    responses: { 201: triggerSchema },
    async handle({ body, caller, by }) {
      const { tenantId: _checked, config, ...request } = body;
      const wanted = { ...request, config: config as Json | undefined };
      const created = await deps.triggers.create(caller.tenantId, wanted, by);
      return shown(deps, 201, created);
    },
  });
}

function getRoute(deps: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTrigger,
    ...reading,
    method: 'GET',
    path: `${PATH}/:triggerId`,
    summary: 'A trigger; of a schedule with its next times, of a webhook with its address',
    responses: { 200: triggerSchema },
    async handle({ params, caller }) {
      const trigger = await deps.triggers.get(keyOf(caller, params));
      const last = await deps.triggers.lastOf(caller.tenantId, [trigger]);
      const { status, body } = shown(deps, 200, { trigger, secret: null });
      return { status, body: { ...(body as object), ...lastFiringsView(last.get(trigger.triggerId)) } };
    },
  });
}

function updateRoute(deps: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTrigger,
    method: 'PUT',
    path: `${PATH}/:triggerId`,
    summary: 'Change a trigger; what is not mentioned stays',
    body: triggerUpdateRequest,
    onlyShown: ['id', 'lastFiring', 'missed', 'webhookUrl', 'hasSecret', 'nextFireTimes', 'createdAt', 'updatedAt'],
    responses: { 200: triggerSchema },
    async handle({ params, body, caller, by }) {
      const { tenantId: _checked, config, ...request } = body;
      const change = { ...request, config: config as Json | undefined };
      return shown(deps, 200, await deps.triggers.update(keyOf(caller, params), change, by));
    },
  });
}

function deleteRoute({ triggers }: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTrigger,
    method: 'DELETE',
    path: `${PATH}/:triggerId`,
    summary: 'Delete a trigger, and the records of its firings',
    responses: { 204: null },
    async handle({ params, caller, by }) {
      await triggers.delete(keyOf(caller, params), by);
      return { status: 204 };
    },
  });
}

function rotateRoute(deps: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTrigger,
    method: 'POST',
    path: `${PATH}/:triggerId/rotate-secret`,
    summary: 'Give a webhook a new secret; the one before it stays valid until the next rotation',
    body: secretRotateRequest,
    responses: { 200: triggerSchema },
    async handle({ params, body: { secret, keepPrevious }, caller, by }) {
      const key = keyOf(caller, params);
      return shown(deps, 200, await deps.triggers.rotateSecret(key, { secret, keepPrevious }, by));
    },
  });
}

function firingsRoute({ triggers }: TriggerRoutesDeps): RouteSpec {
  return defineRoute({
    ...ofTrigger,
    ...reading,
    method: 'GET',
    path: `${PATH}/:triggerId/firings`,
    summary: 'What became of its firings, newest first',
    query: firingListQuery,
    responses: { 200: pageOf(firingSchema) },
    async handle({ params, query: { limit, cursor }, caller }) {
      const page = { beforeId: cursor ?? null, limit: limit + 1 };
      const found = await triggers.firings(keyOf(caller, params), page);
      const data = found.slice(0, limit);
      const next = found.length > limit ? { nextCursor: data.at(-1)!.id } : {};
      return { status: 200, body: { data: data.map(firingView), ...next } };
    },
  });
}
