// The journal of an execution as it was recorded, and one node with its attempts.

import { z } from 'zod';
import { executionRef } from '../../protocol/identifier.ts';
import { itemQuery, itemSchema, journalQuery, journalSchema, nodeDetailSchema } from '../../protocol/journal.ts';
import { pageOf } from '../../protocol/page.ts';
import {
  EVENT_STREAM,
  EVENT_STREAM_HEADERS,
  resumeAfter,
  serverSent,
  transitionMessage,
  wantsEventStream,
} from '../event-stream.ts';
import type { RouteParts } from '../parts.ts';
import { presentItem, presentNode } from '../present/execution.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/executions/:executionId';
const common = { method: 'GET', tag: 'Executions', access: 'workflows:read' } as const;
const nodeId = z.string().min(1).max(300);

export function journalRoutes({ queries, journals }: Pick<RouteParts, 'journals' | 'queries'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      path: `${BASE}/journal`,
      summary:
        'The recorded facts, to fold; with `Accept: text/event-stream`, transitions as they are written until the end',
      notFound: 'EXECUTION_NOT_FOUND',
      params: z.object({ executionId: executionRef }),
      query: journalQuery,
      unlimited: 'streams',
      responses: { 200: journalSchema },
      sends: EVENT_STREAM,
      async handle({ params: { executionId }, query: { after, cursor = after, limit }, caller, ...request }) {
        const view = await queries.get(caller.tenantId, executionId);
        if (wantsEventStream(request.headers)) {
          const { headers, signal } = request;
          const pages = journals.follow(view, resumeAfter(headers, cursor ?? -1), signal);
          return { status: 200, headers: EVENT_STREAM_HEADERS, stream: serverSent(pages, transitionMessage, signal) };
        }
        const { plan, start } = cursor === undefined ? await journals.beginning(view) : { plan: null, start: null };
        const { transitions, waits, more } = await journals.page(executionId, { afterSeq: cursor ?? -1, limit });
        const beginning = { ...(plan === null ? {} : { plan }), ...(start === null ? {} : { start }) };
        const next = more ? { nextCursor: String(transitions.at(-1)!.seq) } : {};
        return { status: 200, body: { ...beginning, transitions, waits: [...waits], ...next } };
      },
    }),
    defineRoute({
      ...common,
      path: `${BASE}/nodes/:nodeId`,
      summary: 'One node: every attempt with its parameters, outputs, error and log lines',
      notFound: 'EXECUTION_NOT_FOUND',
      params: z.object({ executionId: executionRef, nodeId }),
      responses: { 200: nodeDetailSchema },
      async handle({ params: { executionId, nodeId }, caller }) {
        const view = await queries.get(caller.tenantId, executionId);
        return { status: 200, body: presentNode(await journals.node(view, nodeId)) };
      },
    }),
    defineRoute({
      ...common,
      path: `${BASE}/nodes/:nodeId/items`,
      summary: 'The finished items or rounds of a loop, by index',
      notFound: 'EXECUTION_NOT_FOUND',
      params: z.object({ executionId: executionRef, nodeId }),
      query: itemQuery,
      responses: { 200: pageOf(itemSchema) },
      async handle({ params: { executionId, nodeId }, query: { cursor: after = -1, limit }, caller }) {
        const view = await queries.get(caller.tenantId, executionId);
        const { items, next } = await journals.items(view, nodeId, { after, limit });
        return {
          status: 200,
          body: { data: items.map(presentItem), ...(next === null ? {} : { nextCursor: String(next) }) },
        };
      },
    }),
  ];
}
