// Lists of executions, whole or as rows of a table.

import { timeOfId } from '../../core/id/id.ts';
import type { WantedExecutions } from '../../execution/execution-lists.ts';
import { executionListQuery, executionPageSchema, MAX_ROWS_WITH_NODES } from '../../protocol/execution-list.ts';
import type { RouteParts } from '../parts.ts';
import { presentExecution, presentRow } from '../present/execution.ts';
import { isoTime } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

export function executionListRoutes({
  lists,
  workflowQueries,
}: Pick<RouteParts, 'lists' | 'workflowQueries'>): RouteSpec[] {
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
        const [page, total] = await Promise.all([lists.page(wanted), count ? lists.count(wanted) : null]);
        const ids = page.ids.slice(0, limit);
        const data =
          view === 'row'
            ? (await lists.rows(ids, { withNodes })).map(presentRow)
            : (await lists.full(ids)).map(presentExecution);
        const isCut = data.length < ids.length && data.length > 0;
        const last = page.ids.length > limit ? ids.at(-1) : (page.searchedTo ?? undefined);
        const next = isCut ? data.at(-1)!.executionId : last;
        const searchedTo = page.searchedTo === null ? {} : { searchedTo: isoTime(timeOfId(page.searchedTo)) };
        const more = { ...(next === undefined ? {} : { nextCursor: next }), ...searchedTo };
        return { status: 200, body: { data, ...more, ...(total === null ? {} : { total }) } };
      },
    }),
  ];
}

const timeOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text));

function beforeBoth(createdBefore: number | undefined, olderThanMs: number | undefined): number | undefined {
  if (olderThanMs === undefined) return createdBefore;
  return Math.min(createdBefore ?? Number.POSITIVE_INFINITY, Date.now() - olderThanMs);
}
