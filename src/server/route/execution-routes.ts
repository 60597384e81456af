// Reading executions.

import { z } from 'zod';
import type { ExecutionQueries } from '../../engine/execution/execution-queries.ts';
import type { WorkflowQueries } from '../../engine/workflow/workflow-queries.ts';
import {
  eventQuery,
  eventSchema,
  executionListQuery,
  executionPageSchema,
  executionQuery,
  executionWithIncludesSchema,
  graphSchema,
  hierarchySchema,
} from '../../protocol/execution.ts';
import { executionId, executionRef } from '../../protocol/identifier.ts';
import { pageOf } from '../../protocol/page.ts';
import { badCursor } from '../cursor.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS, eventStream, resumeAfter, wantsEventStream } from '../event-stream.ts';
import {
  presentAttempt,
  presentEvent,
  presentExecution,
  presentGraph,
  presentHierarchy,
  presentLink,
} from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export interface ExecutionRoutesDeps {
  readonly queries: ExecutionQueries;
  readonly workflowQueries: WorkflowQueries;
}

const BASE = '/api/v1/executions';
const params = z.object({ executionId: executionRef });
const common = { tag: 'Executions', access: 'workflows:read', notFound: 'EXECUTION_NOT_FOUND' } as const;
const one = { ...common, method: 'GET', params } as const;

export function executionRoutes(deps: ExecutionRoutesDeps): RouteSpec[] {
  return [listRoute(deps), getRoute(deps), eventsRoute(deps), graphRoute(deps), hierarchyRoute(deps)];
}

function listRoute({ queries, workflowQueries }: ExecutionRoutesDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: BASE,
    summary: 'List executions, newest first',
    query: executionListQuery,
    responses: { 200: executionPageSchema },
    async handle({ query, caller }) {
      const { limit, cursor, error, createdAfter, createdBefore, count = false, ...rest } = query;
      if (cursor !== undefined && !executionId.safeParse(cursor).success) throw badCursor();
      const filter = {
        ...rest,
        workflowId: await workflowQueries.nameIn(caller.tenantId, rest.workflowId),
        tenantId: caller.tenantId,
        beforeId: cursor ?? null,
        limit: limit + 1,
        errorText: error,
        createdAfter: timeOf(createdAfter),
        createdBefore: timeOf(createdBefore),
      };
      const [rows, total] = await Promise.all([queries.list(filter), count ? queries.count(filter) : null]);
      const data = rows.slice(0, limit).map(presentExecution);
      const last = data.at(-1);
      const next = rows.length > limit && last !== undefined ? { nextCursor: last.executionId } : {};
      return { status: 200, body: { data, ...next, ...(total === null ? {} : { total }) } };
    },
  });
}

function getRoute({ queries }: ExecutionRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    path: `${BASE}/:executionId`,
    summary: 'One execution, with what `include` names',
    query: executionQuery,
    responses: { 200: executionWithIncludesSchema },
    async handle({ params: { executionId: id }, query: { include, limit, offset }, caller }) {
      const view = await queries.get(caller.tenantId, id);
      const body: Record<string, unknown> = { ...presentExecution(view) };
      const page = <Item>(items: readonly Item[]) => items.slice(offset, offset + limit);
      if (include.includes('actions')) body.actions = page(await queries.attempts(view)).map(presentAttempt);
      if (include.includes('resources')) body.resources = page(await queries.links(view)).map(presentLink);
      if (include.includes('children')) body.children = page(await queries.children(view)).map(presentExecution);
      if (include.includes('events')) {
        const { events } = await queries.events(view, { afterSeq: -1, limit: offset + limit });
        body.events = page(events).map(presentEvent);
      }
      return { status: 200, body };
    },
  });
}

function eventsRoute({ queries }: ExecutionRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    path: `${BASE}/:executionId/events`,
    summary: 'Events after a seq; with `Accept: text/event-stream`, as they happen until the end',
    query: eventQuery,
    unlimited: true,
    responses: { 200: pageOf(eventSchema) },
    sends: EVENT_STREAM,
    async handle({ params: { executionId: id }, query: { after = -1, cursor = after, limit }, caller, ...request }) {
      const view = await queries.get(caller.tenantId, id);
      if (wantsEventStream(request.headers)) {
        const { headers, signal } = request;
        const pages = queries.follow(view, resumeAfter(headers, cursor), signal);
        return { status: 200, headers: EVENT_STREAM_HEADERS, stream: eventStream(pages, signal) };
      }
      const { events, more } = await queries.events(view, { afterSeq: cursor, limit });
      const next = more ? { nextCursor: String(events.at(-1)!.seq) } : {};
      return { status: 200, body: { data: events.map(presentEvent), ...next } };
    },
  });
}

function graphRoute({ queries }: ExecutionRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    path: `${BASE}/:executionId/graph`,
    summary: 'Every node and edge, with its status',
    responses: { 200: graphSchema },
    handle: async ({ params: { executionId: id }, caller }) => ({
      status: 200,
      body: presentGraph(await queries.inspect(caller.tenantId, id)),
    }),
  });
}

function hierarchyRoute({ queries }: ExecutionRoutesDeps): RouteSpec {
  return defineRoute({
    ...one,
    path: `${BASE}/:executionId/hierarchy`,
    summary: 'The execution and all its subworkflows, as a tree',
    responses: { 200: hierarchySchema },
    handle: async ({ params: { executionId: id }, caller }) => ({
      status: 200,
      body: presentHierarchy(await queries.tree(caller.tenantId, id)),
    }),
  });
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));
