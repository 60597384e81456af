// Lists of executions, whole or as rows of a table.

import { timeOfId } from '../../core/id/id.ts';
import type { WantedExecutions } from '../../execution/execution-lists.ts';
import { linkedResourceSchema, resourceListQuery } from '../../protocol/execution.ts';
import { executionListQuery, executionPageSchema, MAX_ROWS_WITH_NODES } from '../../protocol/execution-list.ts';
import { pageOf } from '../../protocol/page.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { presentExecution, presentLink, presentRow } from '../present/execution.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function executionListRoutes({
  lists,
  store,
  workflowQueries,
}: Pick<RouteParts, 'lists' | 'store' | 'workflowQueries'>): RouteSpec[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/executions',
      tag: 'Executions',
      access: 'workflows:read',
      summary: 'List executions, newest first; `view=row` leaves payloads out',
      query: executionListQuery,
      responses: { 200: executionPageSchema },
      async handle({ query, caller }) {
        const {
          limit: wantedLimit,
          cursor,
          view: wantedView,
          include,
          count = false,
          error,
          createdAfter,
          createdBefore,
          olderThan,
          ...rest
        } = query;
        const withNodes = include.includes('nodes');
        const view = withNodes ? 'row' : wantedView;
        const limit = withNodes ? Math.min(wantedLimit, MAX_ROWS_WITH_NODES) : wantedLimit;
        const wanted: WantedExecutions = {
          ...rest,
          tenantId: caller.tenantId,
          workflowId: await workflowQueries.nameIn(caller.tenantId, rest.workflowId),
          beforeId: cursor ?? null,
          limit: limit + 1,
          errorText: error,
          createdAfter: timeOf(createdAfter),
          createdBefore: beforeBoth(timeOf(createdBefore), olderThan),
        };
        const [found, total] = await Promise.all([lists.page(wanted), count ? lists.count(wanted) : null]);
        const ids = found.ids.slice(0, limit);
        const data =
          view === 'row'
            ? (await lists.rows(ids, { withNodes })).map(presentRow)
            : (await lists.full(ids)).map(presentExecution);
        const isCut = data.length < ids.length && data.length > 0;
        const last = found.ids.length > limit ? ids.at(-1) : (found.searchedTo ?? undefined);
        const next = isCut ? data.at(-1)!.executionId : last;
        const searchedTo = found.searchedTo === null ? {} : { searchedTo: isoTime(timeOfId(found.searchedTo)) };
        const more = { ...(next === undefined ? {} : { nextCursor: next }), ...searchedTo };
        return { status: 200, body: { data, ...more, ...(total === null ? {} : { total }) } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/resources',
      tag: 'Executions',
      access: 'workflows:read',
      summary: 'Find resources of another system, and the execution that made or found each of them',
      query: resourceListQuery,
      responses: { 200: pageOf(linkedResourceSchema) },
      handle: ({ query, caller: { tenantId } }) => {
        const { limit, cursor, system = null, resourceType = null, resourceId = null } = query;
        const [afterSystem = '', afterType = '', ...afterId] = placeOf(cursor).split('\n');
        const after = { system: afterSystem, resourceType: afterType, resourceId: afterId.join('\n') };
        return page(
          limit,
          (most) => store.resourceList({ tenantId, system, resourceType, resourceId, after, limit: most }),
          (last) => cursorAfter(`${last.system}\n${last.resourceType}\n${last.resourceId}`),
          (rows) => rows.map((row) => ({ ...presentLink(row), createdAt: isoTime(row.createdAt) })),
        );
      },
    }),
  ];
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

function beforeBoth(createdBefore: number | undefined, olderThanMs: number | undefined): number | undefined {
  if (olderThanMs === undefined) return createdBefore;
  return Math.min(createdBefore ?? Number.POSITIVE_INFINITY, Date.now() - olderThanMs);
}
