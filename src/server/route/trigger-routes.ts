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
import type { TriggerAnswer } from '../../trigger/triggers.ts';
import type { Caller } from '../caller.ts';
import { page } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { presentFiring, presentLastFirings, presentTrigger } from '../present/trigger.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

type Parts = Pick<RouteParts, 'triggers' | 'webhookBase' | 'workflowQueries'>;

const PATH = '/api/v1/triggers';
const common = { access: 'triggers:manage', tag: 'Triggers' } as const;
/** Readers of workflows may read triggers: their view contains no secret. */
const reading = { access: 'workflows:read', orScope: 'triggers:manage' } as const;
const ofTrigger = { ...common, notFound: 'TRIGGER_NOT_FOUND', params: triggerParams } as const;

export function triggerRoutes(deps: Parts): RouteSpec[] {
  const { triggers, webhookBase, workflowQueries } = deps;
  return [
    defineRoute({
      ...common,
      ...reading,
      method: 'GET',
      path: PATH,
      summary: 'List triggers',
      query: triggerListQuery,
      responses: { 200: pageOf(triggerSchema) },
      async handle({ query: { limit, cursor, tenantId: _checked, ...filter }, caller }) {
        const { tenantId } = caller;
        const workflowId = await workflowQueries.nameIn(tenantId, filter.workflowId);
        const context = { webhookBase: webhookBase(), now: Date.now() };
        return page(
          limit,
          (limit) => triggers.list({ ...filter, workflowId, tenantId }, { afterId: cursor ?? null, limit }),
          ({ triggerId }) => triggerId,
          async (listed) => {
            const last = await triggers.lastOf(tenantId, listed);
            return listed.map((trigger) => ({
              ...presentTrigger(trigger, context),
              ...presentLastFirings(last.get(trigger.triggerId)),
            }));
          },
        );
      },
    }),
    defineRoute({
      ...common,
      method: 'POST',
      path: PATH,
      summary: 'Create a trigger; only this answer contains a generated secret',
      body: triggerCreateRequest,
      responses: { 201: triggerSchema },
      async handle({ body, caller, by }) {
        const { tenantId: _checked, config, ...request } = body;
        const wanted = { ...request, config: config as Json | undefined };
        const created = await deps.triggers.create(caller.tenantId, wanted, by);
        return shown(deps, 201, created);
      },
    }),
    defineRoute({
      ...ofTrigger,
      ...reading,
      method: 'GET',
      path: `${PATH}/:triggerId`,
      summary: 'A trigger: a schedule with its next times, a webhook with its address',
      responses: { 200: triggerSchema },
      async handle({ params, caller }) {
        const trigger = await deps.triggers.get(keyOf(caller, params));
        const last = await deps.triggers.lastOf(caller.tenantId, [trigger]);
        const { status, body } = shown(deps, 200, { trigger, secret: null });
        return { status, body: { ...(body as object), ...presentLastFirings(last.get(trigger.triggerId)) } };
      },
    }),
    defineRoute({
      ...ofTrigger,
      method: 'PUT',
      path: `${PATH}/:triggerId`,
      summary: 'Change a trigger; fields that are left out stay as they are',
      body: triggerUpdateRequest,
      onlyShown: ['id', 'lastFiring', 'missed', 'webhookUrl', 'hasSecret', 'nextFireTimes', 'createdAt', 'updatedAt'],
      responses: { 200: triggerSchema },
      async handle({ params, body, caller, by }) {
        const { tenantId: _checked, config, ...request } = body;
        const change = { ...request, config: config as Json | undefined };
        return shown(deps, 200, await deps.triggers.update(keyOf(caller, params), change, by));
      },
    }),
    defineRoute({
      ...ofTrigger,
      method: 'DELETE',
      path: `${PATH}/:triggerId`,
      summary: 'Delete a trigger and the records of its firings',
      responses: { 204: null },
      async handle({ params, caller, by }) {
        await triggers.delete(keyOf(caller, params), by);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...ofTrigger,
      method: 'POST',
      path: `${PATH}/:triggerId/rotate-secret`,
      summary: 'Create a new secret for a webhook; the previous one stays valid until the next rotation',
      body: secretRotateRequest,
      responses: { 200: triggerSchema },
      async handle({ params, body: { secret, keepPrevious }, caller, by }) {
        const key = keyOf(caller, params);
        return shown(deps, 200, await deps.triggers.rotateSecret(key, { secret, keepPrevious }, by));
      },
    }),
    defineRoute({
      ...ofTrigger,
      ...reading,
      method: 'GET',
      path: `${PATH}/:triggerId/firings`,
      summary: 'The firings of a trigger and their outcomes, newest first',
      query: firingListQuery,
      responses: { 200: pageOf(firingSchema) },
      handle: ({ params, query: { limit, cursor }, caller }) =>
        page(
          limit,
          (limit) => triggers.firings(keyOf(caller, params), { beforeId: cursor ?? null, limit }),
          ({ id }) => id,
          (firings) => firings.map(presentFiring),
        ),
    }),
  ];
}

const keyOf = (caller: Caller, { triggerId }: { triggerId: string }) => ({ tenantId: caller.tenantId, triggerId });

function shown({ webhookBase }: Parts, status: number, { trigger, secret }: TriggerAnswer): Answer {
  return { status, body: presentTrigger(trigger, { webhookBase: webhookBase(), now: Date.now(), secret }) };
}
