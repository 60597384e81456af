// Actions on many executions: order, look, stop.

import { z } from 'zod';
import { PawlError } from '../../core/error/pawl-error.ts';
import type { BulkSelection } from '../../execution/bulk-actions.ts';
import { type BulkJson, bulkAnswer, bulkRequest, bulkSchema } from '../../protocol/bulk.ts';
import { executionId } from '../../protocol/identifier.ts';
import { pageOf, pageQuery, uuidCursor } from '../../protocol/page.ts';
import { SIGNAL_ROLES } from '../../protocol/signal-role.ts';
import type { BulkRecord } from '../../store/bulk-port.ts';
import type { Caller } from '../caller.ts';
import { page } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const BASE = '/api/v1/bulk';
const common = { tag: 'Bulk', notFound: 'BULK_NOT_FOUND' } as const;
const one = { ...common, params: z.object({ bulkId: executionId }) } as const;

export function bulkRoutes({ bulk, workflowQueries }: Pick<RouteParts, 'bulk' | 'workflowQueries'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: BASE,
      access: 'executions:signal',
      summary:
        'Cancel, retry, pause, resume or replay many executions: 202 when it is new, 200 when the requestId is known or in a dry run',
      body: bulkRequest,
      responses: { 200: bulkAnswer, 202: bulkAnswer },
      async handle({ body, caller, by }) {
        requireRight(caller, body.action);
        const { tenantId } = caller;
        const selection = await selectionOf(body, (name) => workflowQueries.nameIn(tenantId, name));
        if (body.dryRun === true) return { status: 200, body: await bulk.count(tenantId, selection) };
        const { requestId, action, reason, version = null } = body;
        const { bulk: made, isNew } = await bulk.order(tenantId, { requestId, action, reason, version, selection }, by);
        const { id: bulkId, count, isCapped } = made;
        const headers = { location: `${BASE}/${bulkId}` };
        return { status: isNew ? 202 : 200, headers, body: { bulkId, count, isCapped } };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: BASE,
      access: 'workflows:read',
      summary: 'Bulk actions, newest first',
      query: z.object({ limit: pageQuery.limit, cursor: uuidCursor.optional() }),
      responses: { 200: pageOf(bulkSchema) },
      handle: ({ query: { limit, cursor }, caller: { tenantId } }) =>
        page(
          limit,
          (limit) => bulk.list(tenantId, { beforeId: cursor ?? null, limit }),
          ({ id }) => id,
          (bulks) => bulks.map(presentBulk),
        ),
    }),
    defineRoute({
      ...one,
      method: 'GET',
      path: `${BASE}/:bulkId`,
      access: 'workflows:read',
      summary: 'The progress of a bulk action',
      responses: { 200: bulkSchema },
      handle: async ({ params, caller }) => ({
        status: 200,
        body: presentBulk(await bulk.get(caller.tenantId, params.bulkId)),
      }),
    }),
    defineRoute({
      ...one,
      method: 'DELETE',
      path: `${BASE}/:bulkId`,
      access: 'executions:signal',
      summary: 'Stop a bulk action; finished work is not undone',
      responses: { 200: bulkSchema },
      handle: async ({ params, caller, by }) => ({
        status: 200,
        body: presentBulk(await bulk.halt(caller.tenantId, params.bulkId, by)),
      }),
    }),
  ];
}

async function selectionOf(
  { ids, filter }: z.output<typeof bulkRequest>,
  nameOf: (name: string | undefined) => Promise<string | undefined>,
): Promise<BulkSelection> {
  if (filter === undefined) return { ids: ids! };
  const { error, createdAfter, createdBefore, olderThan, workflowId, ...rest } = filter;
  const before = [
    ...(createdBefore === undefined ? [] : [Date.parse(createdBefore)]),
    ...(olderThan === undefined ? [] : [Date.now() - olderThan]),
  ];
  return {
    filter: {
      ...rest,
      workflowId: await nameOf(workflowId),
      errorText: error,
      createdAfter: createdAfter === undefined ? undefined : Date.parse(createdAfter),
      createdBefore: before.length === 0 ? undefined : Math.min(...before),
    },
  };
}

/** A bulk action needs the same rights as the action on one execution. */
function requireRight({ scopes, roles }: Caller, action: 'cancel' | 'retry' | 'pause' | 'resume' | 'replay'): void {
  if (action === 'cancel' || action === 'replay') {
    if (!scopes.has('workflows:execute'))
      throw new PawlError('FORBIDDEN', `${action} needs the scope \`workflows:execute\``);
    return;
  }
  const allowed = SIGNAL_ROLES[action === 'retry' ? 'RETRY_STEP' : action === 'pause' ? 'PAUSE' : 'RESUME'];
  if (!allowed.some((role) => roles.has(role))) {
    throw new PawlError('FORBIDDEN', `${action} needs the role ${allowed.join(' or ')}`);
  }
}

const presentBulk = (bulk: BulkRecord): BulkJson =>
  present<BulkJson>({
    bulkId: bulk.id,
    action: bulk.action as BulkJson['action'],
    state: bulk.state,
    count: bulk.count,
    isCapped: bulk.isCapped,
    done: bulk.done,
    failed: bulk.failed,
    skipped: bulk.skipped,
    lastError: bulk.lastError ?? undefined,
    reason: bulk.reason,
    by: bulk.actor,
    createdAt: isoTime(bulk.createdAt),
    endedAt: isoTime(bulk.endedAt),
  });
