// Instances of lifecycles: trigger an event, see where one is and how it came there, note what the application does.

import type { Json } from '../../core/json/json.ts';
import {
  activityAnswer,
  activityRequest,
  instanceListQuery,
  instanceParams,
  instanceRequest,
  instanceSchema,
  lifecycleParams,
  lifecycleTriggerAnswer,
  lifecycleTriggerRequest,
  stateCountSchema,
  timelineEntrySchema,
  timelineQuery,
} from '../../protocol/lifecycle.ts';
import { pageOf } from '../../protocol/page.ts';
import { actorFor } from '../auth/principal.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { presentInstance, presentTimelineEntry } from '../present/lifecycle.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/lifecycles/:env/:name';
const common = { tag: 'Lifecycles', params: lifecycleParams, notFound: 'LIFECYCLE_NOT_FOUND' } as const;
const one = { ...common, params: instanceParams, notFound: 'INSTANCE_NOT_FOUND' } as const;

export function instanceRoutes({ lifecycles, store }: Pick<RouteParts, 'lifecycles' | 'store'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      access: 'lifecycles:trigger',
      method: 'POST',
      path: `${BASE}/trigger`,
      summary: 'Trigger an event; the first one creates the instance, and the same requestId is applied once',
      body: lifecycleTriggerRequest,
      responses: { 200: lifecycleTriggerAnswer },
      async handle({ params: { env, name }, body: { tenantId: _checked, payload, ...body }, caller }) {
        const said = { ...body, actor: actorFor(caller, body.actor), payload: payload as Json | undefined };
        const request = { env, definition: name, ...said };
        return { status: 200, body: await lifecycles.trigger(caller.tenantId, request) };
      },
    }),
    defineRoute({
      ...common,
      access: 'workflows:read',
      method: 'GET',
      path: `${BASE}/counts`,
      summary: 'The number of instances in each state, counted up to 10,000',
      responses: { 200: pageOf(stateCountSchema) },
      async handle({ params, caller: { tenantId } }) {
        await lifecycles.get(tenantId, params);
        return { status: 200, body: { data: await store.stateCounts({ tenantId, ...params }) } };
      },
    }),
    defineRoute({
      ...common,
      access: 'workflows:read',
      method: 'GET',
      path: `${BASE}/instances`,
      summary: 'List instances by externalRef, optionally in one state',
      query: instanceListQuery,
      responses: { 200: pageOf(instanceSchema) },
      async handle({ params, query: { state = null, prefix = '', after, cursor, limit }, caller }) {
        const from = cursor === undefined ? (after ?? '') : placeOf(cursor);
        return page(
          limit,
          (limit) => lifecycles.instances(caller.tenantId, params, { state, prefix, after: from, limit }),
          ({ externalRef }) => cursorAfter(externalRef),
          (instances) => instances.map(presentInstance),
        );
      },
    }),
    defineRoute({
      ...common,
      access: 'lifecycles:trigger',
      method: 'POST',
      path: `${BASE}/instances`,
      summary: 'Create an instance in its initial state without an event; an existing instance is returned as it is',
      body: instanceRequest,
      responses: { 200: instanceSchema, 201: instanceSchema },
      async handle({ params, body: { externalRef, actor, payload }, caller }) {
        const made = { externalRef, actor: actorFor(caller, actor), payload: payload as Json | undefined };
        const { instance, created } = await lifecycles.create(caller.tenantId, params, made);
        return { status: created ? 201 : 200, body: presentInstance(instance) };
      },
    }),
    defineRoute({
      ...one,
      access: 'workflows:read',
      method: 'GET',
      path: `${BASE}/instances/:externalRef`,
      summary: 'The current state of an instance, since when, and when its timeout is due',
      responses: { 200: instanceSchema },
      async handle({ params: { externalRef, ...place }, caller }) {
        return { status: 200, body: presentInstance(await lifecycles.instance(caller.tenantId, place, externalRef)) };
      },
    }),
    defineRoute({
      ...one,
      access: 'workflows:read',
      method: 'GET',
      path: `${BASE}/instances/:externalRef/timeline`,
      summary: 'The timeline of an instance, oldest first: time, actor, payload and reason of each entry',
      query: timelineQuery,
      responses: { 200: pageOf(timelineEntrySchema) },
      handle: ({ params: { externalRef, ...place }, query: { limit, cursor }, caller }) =>
        page(
          limit,
          (limit) => lifecycles.timeline(caller.tenantId, place, externalRef, { after: cursor ?? null, limit }),
          (last) => last.cursor,
          (entries) => entries.map(presentTimelineEntry),
        ),
    }),
    defineRoute({
      ...one,
      access: 'lifecycles:trigger',
      method: 'POST',
      path: `${BASE}/instances/:externalRef/activities`,
      summary: 'Add a note to the timeline of an instance; it has no other effect',
      body: activityRequest,
      responses: { 201: activityAnswer },
      async handle({ params: { externalRef, ...place }, body, caller }) {
        const { activity, status, payload } = body;
        const actor = actorFor(caller, body.actor);
        const note = {
          activity,
          status,
          ...(actor === undefined ? {} : { actor }),
          ...(payload === undefined ? {} : { payload: payload as Json }),
        };
        return { status: 201, body: await lifecycles.addActivity(caller.tenantId, place, externalRef, note) };
      },
    }),
  ];
}
