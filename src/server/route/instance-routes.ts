// Instances of lifecycles: trigger an event, see where one is and how it came there, note what the application does.

import type { Json } from '../../core/json/json.ts';
import type { Lifecycles } from '../../lifecycle/instance/lifecycles.ts';
import {
  activityAnswer,
  activityRequest,
  instanceListQuery,
  instanceParams,
  instanceSchema,
  lifecycleParams,
  lifecycleTriggerAnswer,
  lifecycleTriggerRequest,
  stateCountSchema,
  timelineEntrySchema,
  timelineQuery,
} from '../../protocol/lifecycle.ts';
import { pageOf } from '../../protocol/page.ts';
import type { OverviewStore } from '../../store/overview-port.ts';
import { actorFor } from '../auth/principal.ts';
import { cursorAfter, placeOf } from '../cursor.ts';
import { presentInstance, presentTimelineEntry } from '../present/lifecycle.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export interface InstanceRoutesDeps {
  readonly lifecycles: Lifecycles;
  readonly store: Pick<OverviewStore, 'stateCounts'>;
}

const BASE = '/api/v1/lifecycles/:env/:name';
const common = { tag: 'Lifecycles', params: lifecycleParams, notFound: 'LIFECYCLE_NOT_FOUND' } as const;
const one = { ...common, params: instanceParams, notFound: 'INSTANCE_NOT_FOUND' } as const;

export function instanceRoutes(deps: InstanceRoutesDeps): RouteSpec[] {
  return [
    triggerRoute(deps),
    countsRoute(deps),
    listRoute(deps),
    getRoute(deps),
    timelineRoute(deps),
    activityRoute(deps),
  ];
}

function triggerRoute({ lifecycles }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
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
  });
}

function countsRoute({ lifecycles, store }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:read',
    method: 'GET',
    path: `${BASE}/counts`,
    summary: 'How many instances are in each state, each counted up to 10,000',
    responses: { 200: pageOf(stateCountSchema) },
    async handle({ params, caller: { tenantId } }) {
      await lifecycles.get(tenantId, params);
      return { status: 200, body: { data: await store.stateCounts({ tenantId, ...params }) } };
    },
  });
}

function listRoute({ lifecycles }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:read',
    method: 'GET',
    path: `${BASE}/instances`,
    summary: 'List instances by externalRef, of one state if you name it',
    query: instanceListQuery,
    responses: { 200: pageOf(instanceSchema) },
    async handle({ params, query: { state = null, prefix = '', after, cursor, limit }, caller }) {
      const from = cursor === undefined ? (after ?? '') : placeOf(cursor);
      const found = await lifecycles.instances(caller.tenantId, params, {
        state,
        prefix,
        after: from,
        limit: limit + 1,
      });
      const page = found.slice(0, limit);
      const next = found.length > limit ? { nextCursor: cursorAfter(page.at(-1)!.externalRef) } : {};
      return { status: 200, body: { data: page.map(presentInstance), ...next } };
    },
  });
}

function getRoute({ lifecycles }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    access: 'workflows:read',
    method: 'GET',
    path: `${BASE}/instances/:externalRef`,
    summary: 'Where an instance is, since when, and when its timeout is due',
    responses: { 200: instanceSchema },
    async handle({ params: { externalRef, ...place }, caller }) {
      return { status: 200, body: presentInstance(await lifecycles.instance(caller.tenantId, place, externalRef)) };
    },
  });
}

function timelineRoute({ lifecycles }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    access: 'workflows:read',
    method: 'GET',
    path: `${BASE}/instances/:externalRef/timeline`,
    summary: 'What happened to an instance, oldest first: when, by whom, with which payload, and why',
    query: timelineQuery,
    responses: { 200: pageOf(timelineEntrySchema) },
    async handle({ params: { externalRef, ...place }, query: { limit, cursor }, caller }) {
      const page = { after: cursor ?? null, limit: limit + 1 };
      const found = await lifecycles.timeline(caller.tenantId, place, externalRef, page);
      const data = found.slice(0, limit);
      const next = found.length > limit ? { nextCursor: data.at(-1)!.cursor } : {};
      return { status: 200, body: { data: data.map(presentTimelineEntry), ...next } };
    },
  });
}

function activityRoute({ lifecycles }: InstanceRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    access: 'lifecycles:trigger',
    method: 'POST',
    path: `${BASE}/instances/:externalRef/activities`,
    summary: 'Note what the application does with an instance: shown in its timeline, and nothing else',
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
  });
}
