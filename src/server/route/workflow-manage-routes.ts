// Changing workflows: create, draft, publish, archive, reactivate, enable, delete. `POST /workflows` speaks two dialects: a
// body with `tasks` is a pipeline, live at once and answered in the pipeline API's shape; anything else is a draft.

import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import { detectFormat } from '../../core/definition/compile.ts';
import type { Json } from '../../core/json/json.ts';
import { definitionShape } from '../../protocol/definition.ts';
import { dataOf, pipelineSchema } from '../../protocol/pipeline.ts';
import {
  publicationSchema,
  publishQuery,
  validationSchema,
  workflowParams,
  workflowPatch,
  workflowRef,
  workflowSchema,
  workflowStateSchema,
} from '../../protocol/workflow.ts';
import type { Actor } from '../../store/audit-port.ts';
import type { WorkflowRecord } from '../../store/workflow-port.ts';
import type { Caller } from '../caller.ts';
import type { RouteParts } from '../parts.ts';
import { presentPipeline } from '../present/pipeline.ts';
import { etagOf, presentWorkflow } from '../present/workflow.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';

type Parts = Pick<RouteParts, 'pipelines' | 'triggers' | 'webhookBase' | 'workflowQueries' | 'workflows'>;

const common = { access: 'workflows:manage', tag: 'Workflows', notFound: 'WORKFLOW_NOT_FOUND' } as const;
const ofWorkflow = { ...common, params: workflowParams } as const;
const eitherSchema = z.union([workflowSchema, dataOf(pipelineSchema)]);

export function workflowManageRoutes(deps: Parts): RouteSpec[] {
  const { triggers, pipelines, webhookBase, workflowQueries, workflows } = deps;
  const path = '/api/v1/workflows/:workflowId/draft';
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: '/api/v1/workflows',
      summary: 'Create a graph workflow as a draft, edit its draft, or create a pipeline',
      body: z.unknown(),
      bodyShape: definitionShape,
      responses: { 201: eitherSchema, 200: workflowSchema },
      async handle({ body, caller, by, headers }): Promise<Answer> {
        const definition = body as Json;
        if (detectFormat(definition) === 'pipeline') {
          const pipeline = await pipelines.create(caller.tenantId, definition, by);
          const secret = await triggers.firstSecretOf(caller.tenantId, pipeline);
          return { status: 201, body: { data: presentPipeline(pipeline, webhookBase(), secret) } };
        }
        const saved = await workflows.save(caller.tenantId, definition, ifMatchOf(headers));
        const { workflow, created, checksum } = saved;
        const text = JSON.stringify(definition);
        const warnings = [...saved.warnings, ...(await workflowQueries.notices(text))];
        const shown = presentWorkflow(workflow, text, warnings, checksum);
        return { status: created ? 201 : 200, headers: etagOf(checksum), body: shown };
      },
    }),
    defineRoute({
      ...common,
      access: 'workflows:read',
      orScope: 'workflows:manage',
      method: 'POST',
      path: '/api/v1/workflows/validate',
      summary: 'Check a definition as publishing would, without storing it',
      body: z.unknown(),
      responses: { 200: validationSchema },
      async handle({ body, caller }) {
        const { ok, problems } = await workflows.validate(caller.tenantId, body as Json);
        const format = detectFormat(body);
        return { status: 200, body: { ok, ...(format === null ? {} : { format }), problems } };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'PATCH',
      path: '/api/v1/workflows/:workflowId',
      summary: 'Enable or disable a workflow',
      body: workflowPatch,
      responses: { 200: eitherSchema },
      async handle({ params, body, caller, by }) {
        const found = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        await workflows.setEnabled(caller.tenantId, found, (body.isEnabled ?? body.enabled) === true, by);
        const workflow = await workflowQueries.find(caller.tenantId, found);
        const isPipeline = workflow.format === 'pipeline';
        const shown = isPipeline ? { data: presentPipeline(workflow, webhookBase()) } : presentWorkflow(workflow);
        return { status: 200, body: shown };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'DELETE',
      path: '/api/v1/workflows/:workflowId',
      summary: 'Delete a draft or a pipeline; running executions continue',
      responses: { 204: null },
      async handle({ params, caller, by }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        await workflows.delete(caller.tenantId, workflow, by);
        return { status: 204 };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'POST',
      path: '/api/v1/workflows/:workflowId/publish',
      summary: 'Publish the draft as an immutable version',
      query: publishQuery,
      responses: { 200: publicationSchema },
      async handle({ params, query, caller, by }) {
        const { tenantId } = caller;
        const { workflowId } = await workflowQueries.find(tenantId, workflowRef(params.workflowId));
        const published = await workflows.publish({ tenantId, workflowId }, { activate: query.autoActivate, by });
        const { warnings, ...publication } = published;
        return { status: 200, body: { ...publication, ...(warnings.length === 0 ? {} : { warnings }) } };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'POST',
      path,
      summary: 'Open a draft beside the active version',
      responses: { 201: workflowSchema, 200: workflowSchema },
      async handle({ params, caller }) {
        const found = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        const { opened } = await workflows.openDraft(caller.tenantId, found);
        const { definition, checksum } = await workflowQueries.definition(caller.tenantId, found, 'draft');
        const workflow = await workflowQueries.find(caller.tenantId, found);
        const shown = presentWorkflow(workflow, definition, await workflowQueries.notices(definition), checksum);
        return { status: opened ? 201 : 200, headers: etagOf(checksum), body: shown };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'DELETE',
      path,
      summary: 'Discard the draft; the active version stays',
      responses: { 204: null },
      async handle({ params, caller }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        await workflows.dropDraft(caller.tenantId, workflow);
        return { status: 204 };
      },
    }),
    ...statusRoutes(deps),
  ];
}

/** The checksum of `If-Match`; `*` means any draft, so nothing is compared. */
function ifMatchOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['if-match'];
  return given === undefined || given === '*' ? undefined : given.replace(/^W\//, '').replace(/^"|"$/g, '');
}

/** Both answer the same when the workflow is already in that state. */
function statusRoutes({ workflows, workflowQueries }: Parts): RouteSpec[] {
  const moves = [
    {
      name: 'archive',
      summary: 'Archive: nothing new starts, running executions finish, pending ones fail, triggers are disabled',
      move: (caller: Caller, workflow: WorkflowRecord, by: Actor) => workflows.archive(caller.tenantId, workflow, by),
      status: 'Archived',
    },
    {
      name: 'reactivate',
      summary: 'Reactivate an archived workflow, with the triggers that archiving disabled',
      move: (caller: Caller, workflow: WorkflowRecord, by: Actor) =>
        workflows.reactivate(caller.tenantId, workflow, by),
      status: 'Active',
    },
  ];
  return moves.map(({ name, summary, move, status }) =>
    defineRoute({
      ...ofWorkflow,
      method: 'POST',
      path: `/api/v1/workflows/:workflowId/${name}`,
      summary,
      responses: { 200: workflowStateSchema },
      async handle({ params, caller, by }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        await move(caller, workflow, by);
        return { status: 200, body: { workflowId: workflow.workflowId, status } };
      },
    }),
  );
}
