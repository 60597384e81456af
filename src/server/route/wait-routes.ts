// Open callbacks: a list of the waiting nodes, and an answer by hand.

import { z } from 'zod';
import type { Json } from '../../core/json/json.ts';
import { shownVersion } from '../../core/plan/shown-version.ts';
import type { OpenWait } from '../../execution/execution-lists.ts';
import { executionRef } from '../../protocol/identifier.ts';
import { type WaitJson, waitListQuery, waitSchema } from '../../protocol/open-wait.ts';
import { pageOf } from '../../protocol/page.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function waitRoutes({
  lists,
  executions,
  workflowQueries,
}: Pick<RouteParts, 'executions' | 'lists' | 'workflowQueries'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/waits',
      tag: 'Executions',
      access: 'workflows:read',
      summary:
        'Open callbacks, newest execution first; a wait appears once its execution is parked (engine.parkAfterMs)',
      query: waitListQuery,
      responses: { 200: pageOf(waitSchema) },
      async handle({ query: { limit, cursor, workflowId }, caller: { tenantId } }) {
        const named = await workflowQueries.nameIn(tenantId, workflowId);
        const filter = { tenantId, beforeId: cursor ?? null, limit: limit + 1, workflowId: named };
        const { waits, page } = await lists.waits(filter);
        const next = page.ids.length > limit ? page.ids[limit - 1] : (page.searchedTo ?? undefined);
        const more = next === undefined ? {} : { nextCursor: next };
        return { status: 200, body: { data: waits.map(presentWait), ...more } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/executions/:executionId/nodes/:nodeId/callback',
      tag: 'Executions',
      access: 'executions:signal',
      summary: 'Answer an open callback by hand: the body is the payload; 410 when the node no longer waits',
      notFound: 'EXECUTION_NOT_FOUND',
      params: z.object({ executionId: executionRef, nodeId: z.string().min(1).max(300) }),
      body: z.unknown(),
      bodyIsPayload: true,
      responses: { 202: z.object({ received: z.literal(true) }) },
      async handle({ params, body, caller: { tenantId }, by }) {
        await executions.continueWait({ tenantId, ...params }, (body ?? {}) as Json, by);
        return { status: 202, body: { received: true } };
      },
    }),
  ];
}

const presentWait = ({ view, nodeId, since, until }: OpenWait): WaitJson =>
  present<WaitJson>({
    executionId: view.executionId,
    workflowId: view.workflowId,
    version: shownVersion(view.version),
    nodeId,
    since: isoTime(since)!,
    until: isoTime(until),
    requestId: view.requestId ?? undefined,
    createdAt: isoTime(view.createdAt),
  });
