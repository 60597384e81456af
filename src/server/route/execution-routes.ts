// Reading one execution. Lists are in execution-list-routes.ts, the journal in journal-routes.ts.

import { z } from 'zod';
import {
  eventQuery,
  eventSchema,
  executionQuery,
  executionWithIncludesSchema,
  graphSchema,
  hierarchySchema,
} from '../../protocol/execution.ts';
import { executionRef } from '../../protocol/identifier.ts';
import { pageOf } from '../../protocol/page.ts';
import { EVENT_STREAM, EVENT_STREAM_HEADERS, eventStream, resumeAfter, wantsEventStream } from '../event-stream.ts';
import type { RouteParts } from '../parts.ts';
import {
  presentAttempts,
  presentEvent,
  presentExecution,
  presentGraph,
  presentHierarchy,
  presentLink,
  presentStanding,
} from '../present/execution.ts';
import { resultWithin } from '../result-wait.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/executions';
const params = z.object({ executionId: executionRef });
const common = { tag: 'Executions', access: 'workflows:read', notFound: 'EXECUTION_NOT_FOUND' } as const;
const one = { ...common, method: 'GET', params } as const;

export function executionRoutes({
  executions,
  lists,
  queries,
  placeWait,
}: Pick<RouteParts, 'executions' | 'lists' | 'queries' | 'placeWait'>): RouteSpec[] {
  return [
    defineRoute({
      ...one,
      path: `${BASE}/:executionId`,
      summary: 'One execution; `include` adds parts, `wait` answers when it ends or the time is up',
      query: executionQuery,
      responses: { 200: executionWithIncludesSchema },
      async handle(request) {
        const { caller, query, params: path } = request;
        const { include, limit, offset } = query;
        const id = path.executionId;
        const ended = await resultWithin(executions, request, id);
        const view = ended ?? (await queries.get(caller.tenantId, id));
        const standing = view.endedAt === null ? await lists.standing(id) : null;
        const body: Record<string, unknown> = { ...presentExecution(view), ...presentStanding(standing) };
        const waitingForPlace = view.endedAt === null ? (placeWait?.(caller.tenantId, id) ?? null) : null;
        if (waitingForPlace !== null) body.waitingForPlace = waitingForPlace;
        const engineError = await queries.engineError(view);
        if (engineError !== undefined) body.engineError = engineError;
        const page = <Item>(items: readonly Item[]) => items.slice(offset, offset + limit);
        if (include.includes('actions'))
          body.actions = presentAttempts(await queries.attempts(view, { offset, limit }));
        if (include.includes('resources'))
          body.resources = (await queries.links(view, { offset, limit })).map(presentLink);
        if (include.includes('children'))
          body.children = (await queries.children(view, { offset, limit })).map(presentExecution);
        if (include.includes('events')) {
          const { events } = await queries.events(view, { afterSeq: -1, limit: offset + limit });
          body.events = page(events).map(presentEvent);
        }
        return { status: 200, body };
      },
    }),
    defineRoute({
      ...one,
      path: `${BASE}/:executionId/events`,
      summary: 'Events after a seq; with `Accept: text/event-stream`, a live stream until the execution ends',
      query: eventQuery,
      unlimited: 'streams',
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
    }),
    defineRoute({
      ...one,
      path: `${BASE}/:executionId/graph`,
      summary: 'Every node and edge, with its status',
      responses: { 200: graphSchema },
      handle: async ({ params: { executionId: id }, caller }) => ({
        status: 200,
        body: presentGraph(await queries.graph(caller.tenantId, id)),
      }),
    }),
    defineRoute({
      ...one,
      path: `${BASE}/:executionId/hierarchy`,
      summary: 'The execution and all its subworkflows, as a tree',
      responses: { 200: hierarchySchema },
      handle: async ({ params: { executionId: id }, caller }) => ({
        status: 200,
        body: presentHierarchy(await queries.tree(caller.tenantId, id)),
      }),
    }),
  ];
}
