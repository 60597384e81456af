// Reading workflows of every format: lists, single workflows, versions and their differences. A pipeline is shown in the shape of
// the pipeline API; in a list with other formats it also has their common fields.

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
import type { WorkflowRecord } from '../../store/workflow-port.ts';
import { cursorAfter, page, placeOf } from '../cursor.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import { presentPipeline, presentPipelineActivity, presentPipelineDefinition } from '../present/pipeline.ts';
import { etagOf, presentActivity, presentWorkflow } from '../present/workflow.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { presentPoint } from './statistics-routes.ts';

const MAX_VERSION = 2 ** 31 - 1;
const common = { access: 'workflows:read', tag: 'Workflows', notFound: 'WORKFLOW_NOT_FOUND' } as const;

export function workflowReadRoutes({
  statistics,
  webhookBase,
  workflowQueries,
}: Pick<RouteParts, 'statistics' | 'webhookBase' | 'workflowQueries'>): RouteSpec[] {
  return [
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/workflows',
      summary: 'List workflows; with `format=pipeline`, pipelines in their own shape',
      query: workflowListQuery,
      responses: { 200: pageOf(z.union([listedPipelineSchema, workflowSchema, pipelineSchema])) },
      async handle({ query, caller }) {
        const { status = null, isEnabled = null, format = null, search = null, limit, cursor, include } = query;
        const filter = { status, isEnabled, format, search };
        const present = async (workflows: readonly WorkflowRecord[]) => {
          const ids = workflows.map(({ workflowId }) => workflowId);
          const activities = await workflowQueries.activity(caller.tenantId, ids);
          const activityOf = new Map(activities.map((activity) => [activity.workflowId, activity]));
          const points = include.includes('stats') ? await statistics.lastDay(caller.tenantId, ids, Date.now()) : null;
          const pointsOf = points === null ? null : Map.groupBy(points, ({ key }) => key);
          const statsOf = (id: string) =>
            pointsOf === null ? {} : { stats: (pointsOf.get(id) ?? []).map(presentPoint) };
          return workflows.map((workflow) => {
            const found = activityOf.get(workflow.workflowId);
            const activity = { ...(found && presentActivity(found)), ...statsOf(workflow.workflowId) };
            if (workflow.format !== 'pipeline') return { ...presentWorkflow(workflow), ...activity };
            const pipeline = {
              ...presentPipeline(workflow, webhookBase()),
              ...(found && presentPipelineActivity(found)),
            };
            return format === 'pipeline' ? pipeline : { ...presentWorkflow(workflow), ...activity, ...pipeline };
          });
        };
        return page(
          limit,
          (limit) => workflowQueries.list(caller.tenantId, filter, { afterId: placeOf(cursor), limit }),
          ({ workflowId }) => cursorAfter(workflowId),
          present,
        );
      },
    }),
    defineRoute({
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
        const [activity] = await workflowQueries.activity(caller.tenantId, [workflow.workflowId]);
        if (workflow.format === 'pipeline') {
          const shown = presentPipelineDefinition(workflow, webhookBase(), definition);
          return {
            status: 200,
            headers,
            body: { data: { ...shown, ...(activity && presentPipelineActivity(activity)) } },
          };
        }
        const warnings = await workflowQueries.notices(definition);
        const shown = presentWorkflow(workflow, definition, warnings, checksum);
        return {
          status: 200,
          headers,
          body: { ...shown, ...(activity === undefined ? {} : presentActivity(activity)) },
        };
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/workflows/:workflowId/versions',
      summary: 'Published versions, newest first',
      params: workflowParams,
      query: versionListQuery,
      responses: { 200: pageOf(versionSchema) },
      async handle({ params, query: { limit, cursor }, caller }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        const before = cursor ?? MAX_VERSION;
        return page(
          limit,
          (limit) => workflowQueries.versions(caller.tenantId, workflow, { before, limit }),
          ({ version }) => String(version),
          async (versions) => {
            const liveOf = await workflowQueries.versionsLive(caller.tenantId, workflow);
            return versions.map(({ version, checksum, createdAt }) => {
              const isCurrent = version === workflow.currentVersion;
              return { version, checksum, isCurrent, live: liveOf.get(version) ?? 0, createdAt: isoTime(createdAt) };
            });
          },
        );
      },
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: '/api/v1/workflows/:workflowId/diff',
      summary: 'The differences between two versions, field by field',
      params: workflowParams,
      query: diffQuery,
      responses: { 200: diffSchema },
      async handle({ params, query, caller }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        const { from = workflow.currentVersion ?? 'draft', to = 'draft' } = query;
        const changes = await workflowQueries.diff(caller.tenantId, workflow, from, to);
        return { status: 200, body: { workflowId: workflow.workflowId, from, to, changes } };
      },
    }),
  ];
}
