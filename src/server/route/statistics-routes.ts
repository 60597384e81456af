// Numbers over time, and failures by cause.

import { pageOf } from '../../protocol/page.ts';
import {
  type FailureGroupJson,
  failureGroupSchema,
  failureQuery,
  type StatPointJson,
  statPointSchema,
  statQuery,
} from '../../protocol/statistics.ts';
import type { StatPoint } from '../../statistics/statistics.ts';
import type { FailureGroup } from '../../store/statistics-port.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime, present } from '../present/field.ts';
import { defineRoute, type RouteSpec } from '../route.ts';

const HOUR_MS = 3_600_000;
const BY_DEFAULT_MS = { minute: HOUR_MS, hour: 24 * HOUR_MS, day: 30 * 24 * HOUR_MS };
const common = { method: 'GET', tag: 'Statistics', access: 'workflows:read' } as const;

export function statisticsRoutes({
  statistics,
  workflowQueries,
}: Pick<RouteParts, 'statistics' | 'workflowQueries'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      path: '/api/v1/stats',
      summary: 'Statistics over time by workflow, version or action, updated every ten seconds',
      query: statQuery,
      responses: { 200: pageOf(statPointSchema) },
      async handle({ query: { bucket, by, ...query }, caller: { tenantId } }) {
        const until = query.until === undefined ? Date.now() : Date.parse(query.until);
        const from = query.from === undefined ? until - BY_DEFAULT_MS[bucket] : Date.parse(query.from);
        const key = by === 'action' ? query.action : await workflowQueries.nameIn(tenantId, query.workflowId);
        const keys = key === undefined ? null : [key];
        const found = await statistics.over({ tenantId, from, until, grain: bucket, by, keys });
        return { status: 200, body: { data: found.map(presentPoint) } };
      },
    }),
    defineRoute({
      ...common,
      path: '/api/v1/failures',
      summary: 'Failures by cause, the most frequent first',
      query: failureQuery,
      responses: { 200: pageOf(failureGroupSchema) },
      async handle({ query: { since, workflowId }, caller: { tenantId } }) {
        const from = since === undefined ? Date.now() - 24 * HOUR_MS : Date.parse(since);
        const named = (await workflowQueries.nameIn(tenantId, workflowId)) ?? null;
        const found = await statistics.failures(tenantId, from, named);
        return { status: 200, body: { data: found.map(presentGroup) } };
      },
    }),
  ];
}

export const presentPoint = ({ at, ...point }: StatPoint): StatPointJson =>
  present<StatPointJson>({ at: isoTime(at)!, ...point });

const presentGroup = (group: FailureGroup): FailureGroupJson =>
  present<FailureGroupJson>({
    ...group,
    nodeId: group.nodeId === '' ? undefined : group.nodeId,
    firstAt: isoTime(group.firstAt)!,
    lastAt: isoTime(group.lastAt)!,
  });
