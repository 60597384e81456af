// Changing workflows: create, draft, publish, archive, reactivate, enable, delete. `POST /workflows` speaks two dialects: a
// body with `tasks` is a pipeline, live at once and answered as 002 has it; anything else is a draft.

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
import type { Pipelines } from '../../workflow/workflow-pipeline.ts';
import type { WorkflowQueries } from '../../workflow/workflow-queries.ts';
import type { Workflows } from '../../workflow/workflows.ts';
import type { Caller } from '../caller.ts';
import { type Answer, defineRoute, type RouteSpec } from '../route.ts';
import { type FirstSecretOf, pipelineView } from './pipeline-view.ts';
import { etagOf, workflowView } from './workflow-view.ts';

export interface WorkflowManageDeps {
  readonly workflows: Workflows;
  readonly workflowQueries: WorkflowQueries;
  readonly pipelines: Pipelines;
  /** Where webhooks come in: the id of their trigger follows. */
  readonly webhookBase: () => string;
  readonly firstSecretOf?: FirstSecretOf;
}

const common = { access: 'workflows:manage', tag: 'Workflows', notFound: 'WORKFLOW_NOT_FOUND' } as const;
const ofWorkflow = { ...common, params: workflowParams } as const;
const eitherSchema = z.union([workflowSchema, dataOf(pipelineSchema)]);

export function workflowManageRoutes(deps: WorkflowManageDeps): RouteSpec[] {
  return [
    saveRoute(deps),
    validateRoute(deps),
    patchRoute(deps),
    deleteRoute(deps),
    publishRoute(deps),
    ...draftRoutes(deps),
    ...statusRoutes(deps),
  ];
}

function saveRoute({
  workflows,
  workflowQueries,
  pipelines,
  webhookBase,
  firstSecretOf,
}: WorkflowManageDeps): RouteSpec {
  return defineRoute({
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
        const secret = await firstSecretOf?.(caller.tenantId, pipeline);
        return { status: 201, body: { data: pipelineView(pipeline, webhookBase(), secret) } };
      }
      const saved = await workflows.save(caller.tenantId, definition, ifMatchOf(headers));
      const { workflow, created, checksum } = saved;
      const text = JSON.stringify(definition);
      const warnings = [...saved.warnings, ...(await workflowQueries.notices(text))];
      const shown = workflowView(workflow, text, warnings, checksum);
      return { status: created ? 201 : 200, headers: etagOf(checksum), body: shown };
    },
  });
}

function validateRoute({ workflows }: WorkflowManageDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:read',
    orScope: 'workflows:manage',
    method: 'POST',
    path: '/api/v1/workflows/validate',
    summary: 'Everything that publishing this definition would say; nothing is kept',
    body: z.unknown(),
    responses: { 200: validationSchema },
    async handle({ body, caller }) {
      const { ok, problems } = await workflows.validate(caller.tenantId, body as Json);
      const format = detectFormat(body);
      return { status: 200, body: { ok, ...(format === null ? {} : { format }), problems } };
    },
  });
}

/** The checksum that `If-Match` asks for; `*` is any draft, so nothing is asked. */
function ifMatchOf(headers: IncomingHttpHeaders): string | undefined {
  const given = headers['if-match'];
  return given === undefined || given === '*' ? undefined : given.replace(/^W\//, '').replace(/^"|"$/g, '');
}

function draftRoutes({ workflows, workflowQueries }: WorkflowManageDeps): RouteSpec[] {
  const path = '/api/v1/workflows/:workflowId/draft';
  return [
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
        const shown = workflowView(workflow, definition, await workflowQueries.notices(definition), checksum);
        return { status: opened ? 201 : 200, headers: etagOf(checksum), body: shown };
      },
    }),
    defineRoute({
      ...ofWorkflow,
      method: 'DELETE',
      path,
      summary: 'Drop the draft; the active version stays',
      responses: { 204: null },
      async handle({ params, caller }) {
        const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        await workflows.dropDraft(caller.tenantId, workflow);
        return { status: 204 };
      },
    }),
  ];
}

function publishRoute({ workflows, workflowQueries }: WorkflowManageDeps): RouteSpec {
  return defineRoute({
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
  });
}

/** Both are answered the same when the workflow is there already. */
function statusRoutes({ workflows, workflowQueries }: WorkflowManageDeps): RouteSpec[] {
  const moves = [
    {
      name: 'archive',
      summary: 'Archive: nothing new starts, what runs goes on, what is pending fails, triggers are disabled',
      move: (caller: Caller, workflow: WorkflowRecord, by: Actor) => workflows.archive(caller.tenantId, workflow, by),
      status: 'Archived',
    },
    {
      name: 'reactivate',
      summary: 'Make an archived workflow active again, with the triggers that archiving disabled',
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

function patchRoute({ workflows, workflowQueries, webhookBase }: WorkflowManageDeps): RouteSpec {
  return defineRoute({
    ...ofWorkflow,
    method: 'PATCH',
    path: '/api/v1/workflows/:workflowId',
    summary: 'Enable or disable',
    body: workflowPatch,
    responses: { 200: eitherSchema },
    async handle({ params, body, caller, by }) {
      const found = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      await workflows.setEnabled(caller.tenantId, found, (body.isEnabled ?? body.enabled) === true, by);
      const workflow = await workflowQueries.find(caller.tenantId, found);
      const isPipeline = workflow.format === 'pipeline';
      const shown = isPipeline ? { data: pipelineView(workflow, webhookBase()) } : workflowView(workflow);
      return { status: 200, body: shown };
    },
  });
}

function deleteRoute({ workflows, workflowQueries }: WorkflowManageDeps): RouteSpec {
  return defineRoute({
    ...ofWorkflow,
    method: 'DELETE',
    path: '/api/v1/workflows/:workflowId',
    summary: 'Delete a draft, or a pipeline; runs in flight go on',
    responses: { 204: null },
    async handle({ params, caller, by }) {
      const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      await workflows.delete(caller.tenantId, workflow, by);
      return { status: 204 };
    },
  });
}
