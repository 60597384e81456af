// Reading workflows of every format: lists, one of them, its versions and what changed between two. A pipeline is shown as 002
// has it; among workflows of other formats it also has what they have in common.

import { z } from 'zod';
import { pageOf } from '../../protocol/page.ts';
import { dataOf, listedPipelineSchema, pipelineDefinitionSchema, pipelineSchema } from '../../protocol/pipeline.ts';
import {
  diffQuery,
  diffSchema,
  versionListQuery,
  versionQuery,
  versionSchema,
  workflowListQuery,
  workflowParams,
  workflowRef,
  workflowSchema,
} from '../../protocol/workflow.ts';
import type { Statistics } from '../../statistics/statistics.ts';
import type { WorkflowQueries } from '../../workflow/workflow-queries.ts';
import { cursorAfter, placeOf } from '../cursor.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { pipelineDefinitionView, pipelineView } from './pipeline-view.ts';
import { presentPoint } from './statistics-routes.ts';
import { activityView, etagOf, isoTime, workflowView } from './workflow-view.ts';

export interface WorkflowReadDeps {
  readonly workflowQueries: WorkflowQueries;
  /** Where webhooks come in: the id of their trigger follows. */
  readonly webhookBase: () => string;
  readonly statistics: Statistics;
}

const MAX_VERSION = 2 ** 31 - 1;
const common = { access: 'workflows:read', tag: 'Workflows', notFound: 'WORKFLOW_NOT_FOUND' } as const;

export function workflowReadRoutes(deps: WorkflowReadDeps): RouteSpec[] {
  return [listRoute(deps), getRoute(deps), versionsRoute(deps), diffRoute(deps)];
}

function listRoute({ workflowQueries, webhookBase, statistics }: WorkflowReadDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/workflows',
    summary: 'List workflows; with `format=pipeline`, pipelines in their own shape',
    query: workflowListQuery,
    responses: { 200: pageOf(z.union([listedPipelineSchema, workflowSchema, pipelineSchema])) },
    async handle({ query, caller }) {
      const { status = null, isEnabled = null, format = null, search = null, limit, cursor, include } = query;
      const filter = { status, isEnabled, format, search };
      const found = await workflowQueries.list(caller.tenantId, filter, { afterId: placeOf(cursor), limit: limit + 1 });
      const page = found.slice(0, limit);
      const ids = page.map(({ workflowId }) => workflowId);
      const activities = format === 'pipeline' ? [] : await workflowQueries.activity(caller.tenantId, ids);
      const activityOf = new Map(activities.map((activity) => [activity.workflowId, activityView(activity)]));
      const points = include.includes('stats') ? await statistics.lastDay(caller.tenantId, ids, Date.now()) : null;
      const pointsOf = points === null ? null : Map.groupBy(points, ({ key }) => key);
      const statsOf = (id: string) => (pointsOf === null ? {} : { stats: (pointsOf.get(id) ?? []).map(presentPoint) });
      const data = page.map((workflow) => {
        const activity = { ...activityOf.get(workflow.workflowId), ...statsOf(workflow.workflowId) };
        if (workflow.format !== 'pipeline') return { ...workflowView(workflow), ...activity };
        const pipeline = pipelineView(workflow, webhookBase());
        return format === 'pipeline' ? pipeline : { ...workflowView(workflow), ...activity, ...pipeline };
      });
      const nextCursor = found.length > limit ? { nextCursor: cursorAfter(page.at(-1)!.workflowId) } : {};
      return { status: 200, body: { data, ...nextCursor } };
    },
  });
}

function getRoute({ workflowQueries, webhookBase }: WorkflowReadDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/workflows/:workflowId',
    summary: 'A workflow with its definition: the current version, another, or the draft',
    params: workflowParams,
    query: versionQuery,
    responses: { 200: z.union([workflowSchema, dataOf(pipelineDefinitionSchema)]) },
    async handle({ params, query, caller }) {
      const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      const { definition, checksum } = await workflowQueries.definition(caller.tenantId, workflow, query.version);
      const headers = etagOf(checksum);
      if (workflow.format === 'pipeline') {
        return { status: 200, headers, body: { data: pipelineDefinitionView(workflow, webhookBase(), definition) } };
      }
      const warnings = await workflowQueries.notices(definition);
      const [activity] = await workflowQueries.activity(caller.tenantId, [workflow.workflowId]);
      const shown = workflowView(workflow, definition, warnings, checksum);
      return { status: 200, headers, body: { ...shown, ...(activity === undefined ? {} : activityView(activity)) } };
    },
  });
}

function versionsRoute({ workflowQueries }: WorkflowReadDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/workflows/:workflowId/versions',
    summary: 'Published versions, newest first',
    params: workflowParams,
    query: versionListQuery,
    responses: { 200: pageOf(versionSchema) },
    async handle({ params, query: { limit, cursor }, caller }) {
      const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      const wanted = { before: cursor ?? MAX_VERSION, limit: limit + 1 };
      const found = await workflowQueries.versions(caller.tenantId, workflow, wanted);
      const page = found.slice(0, limit);
      const liveOf = await workflowQueries.versionsLive(caller.tenantId, workflow);
      const data = page.map(({ version, checksum, createdAt }) => {
        const isCurrent = version === workflow.currentVersion;
        return { version, checksum, isCurrent, live: liveOf.get(version) ?? 0, createdAt: isoTime(createdAt) };
      });
      const nextCursor = found.length > limit ? { nextCursor: String(page.at(-1)!.version) } : {};
      return { status: 200, body: { data, ...nextCursor } };
    },
  });
}

function diffRoute({ workflowQueries }: WorkflowReadDeps): RouteSpec {
  return defineRoute({
    ...common,
    method: 'GET',
    path: '/api/v1/workflows/:workflowId/diff',
    summary: 'What changed between two versions, place by place',
    params: workflowParams,
    query: diffQuery,
    responses: { 200: diffSchema },
    async handle({ params, query, caller }) {
      const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      const { from = workflow.currentVersion ?? 'draft', to = 'draft' } = query;
      const changes = await workflowQueries.diff(caller.tenantId, workflow, from, to);
      return { status: 200, body: { workflowId: workflow.workflowId, from, to, changes } };
    },
  });
}
