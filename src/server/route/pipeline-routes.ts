// What pipelines have beyond other workflows (002 "API Design"): replace, trigger, runs. `/trigger` and the runs work on every
// format; only what is shown is 002's.

import { z } from 'zod';
import { detectFormat } from '../../core/definition/compile.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { requestInvalid } from '../../core/error/request-invalid.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import type { Executions } from '../../execution/executions.ts';
import { pipelineShape } from '../../protocol/definition.ts';
import { tenantId } from '../../protocol/identifier.ts';
import { pageOf } from '../../protocol/page.ts';
import {
  dataOf,
  pipelineSchema,
  runDetailSchema,
  runListQuery,
  runParams,
  runQuery,
  runSchema,
  runStartedSchema,
} from '../../protocol/pipeline.ts';
import { resultWait } from '../../protocol/wait.ts';
import { prefixedId, workflowParams, workflowRef } from '../../protocol/workflow.ts';
import type { Actor } from '../../store/audit-port.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import type { WorkflowIdentity } from '../../store/workflow-port.ts';
import type { Pipelines } from '../../workflow/workflow-pipeline.ts';
import type { WorkflowQueries } from '../../workflow/workflow-queries.ts';
import { wrongState } from '../../workflow/workflows.ts';
import { principalFor } from '../auth/principal.ts';
import type { Caller } from '../caller.ts';
import { traceOf } from '../correlation.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { WorkflowThrottle } from '../rate-limit.ts';
import { resultWithin } from '../result-wait.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { triggerOf } from './pipeline-trigger.ts';
import {
  executionStatuses,
  type FirstSecretOf,
  pipelineView,
  runDetailView,
  runStatus,
  runView,
} from './pipeline-view.ts';
import { isoTime } from './workflow-view.ts';

export interface PipelineDeps {
  readonly workflowQueries: WorkflowQueries;
  readonly pipelines: Pipelines;
  readonly executions: Executions;
  /** Where webhooks come in: the id of their trigger follows. */
  readonly webhookBase: () => string;
  readonly firstSecretOf?: FirstSecretOf;
  /** Null: workflows may be started as often as anybody likes. */
  readonly throttle: WorkflowThrottle | null;
}

const common = { tag: 'Pipelines', notFound: 'WORKFLOW_NOT_FOUND' } as const;

export function pipelineRoutes(deps: PipelineDeps): RouteSpec[] {
  return [replaceRoute(deps), triggerRoute(deps), runsRoute(deps), runRoute(deps), cancelRoute(deps)];
}

function replaceRoute({ workflowQueries, pipelines, webhookBase, firstSecretOf }: PipelineDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:manage',
    method: 'PUT',
    path: '/api/v1/workflows/:workflowId',
    summary: 'Replace the tasks of a pipeline; runs in flight keep theirs',
    params: workflowParams,
    body: z.unknown(),
    bodyShape: pipelineShape,
    onlyShown: ['task_count', 'version', 'inserted_at', 'updated_at', 'webhook_url', 'webhook_secret'],
    responses: { 200: dataOf(pipelineSchema) },
    async handle({ params, body, caller, by }) {
      const existing = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      if (existing.format !== 'pipeline') {
        throw wrongState(existing, `it is a ${existing.format} and not a pipeline: change it through a draft`);
      }
      const replaced = await pipelines.replace(caller.tenantId, existing, withoutId(body as Json, existing), by);
      const secret = await firstSecretOf?.(caller.tenantId, replaced);
      return { status: 200, body: { data: pipelineView(replaced, webhookBase(), secret) } };
    },
  });
}

/** `onlyShown` cannot tell whether an `id` is the right one: the address may name the pipeline. */
function withoutId(body: Json, { uid }: WorkflowIdentity): Json {
  if (!isJsonObject(body) || !('id' in body) || detectFormat(body) !== 'pipeline') return body;
  const { id, ...definition } = body;
  if (id === null || id === prefixedId('wf', uid)) return definition;
  throw requestInvalid([{ code: 'CANNOT_CHANGE', path: '/id', message: "is another pipeline's, and cannot change" }]);
}

function triggerRoute(deps: PipelineDeps): RouteSpec {
  const { workflowQueries, executions, throttle } = deps;
  return defineRoute({
    ...common,
    access: 'workflows:execute',
    method: 'POST',
    path: '/api/v1/workflows/:workflowId/trigger',
    summary:
      'Start a run with any JSON; with an Idempotency-Key, once; with `wait`, 200 with the finished run if it ends in time',
    params: workflowParams,
    query: z.object({ wait: resultWait, tenantId: tenantId.optional() }),
    body: z.unknown(),
    bodyIsPayload: true,
    responses: { 201: dataOf(runStartedSchema), 200: dataOf(runDetailSchema.or(runStartedSchema)) },
    async handle(request) {
      const { params, body, headers, caller, givenCorrelationId } = request;
      const workflow = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
      const requestId = idempotencyKeyOf(headers);
      const start = {
        tenantId: caller.tenantId,
        workflowId: workflow.workflowId,
        ...(requestId === undefined ? {} : { requestId }),
      };
      await throttle?.spend(start);
      const started = await executions.start({
        ...start,
        trigger: triggerOf(workflow.format, body as Json, headers),
        ...traceOf(headers),
        principal: principalFor(caller, undefined) as unknown as Json,
        ...(givenCorrelationId === undefined ? {} : { correlationId: givenCorrelationId }),
      });
      const known = started.isNew ? null : await executions.get(caller.tenantId, started.executionId);
      if (known !== null && !(await workflowQueries.isRunOf(caller.tenantId, workflow, known))) {
        throw new PawlError(
          'WFENG001',
          'the Idempotency-Key was used for a workflow of this name that was deleted since',
        );
      }
      const { executionId } = started;
      const ended = await resultWithin(executions, request, executionId);
      if (ended !== null) return { status: 200, body: { data: await detailOf(deps, caller, workflow, ended) } };
      const run = {
        run_id: prefixedId('run', started.executionId),
        workflow_id: prefixedId('wf', workflow.uid),
        status: known === null ? 'running' : runStatus(known.status),
        started_at: isoTime(started.isNew ? started.createdAt : known!.createdAt),
      };
      return { status: started.isNew ? 201 : 200, body: { data: run } };
    },
  });
}

function runsRoute({ workflowQueries }: PipelineDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:read',
    method: 'GET',
    path: '/api/v1/workflows/:workflowId/runs',
    summary: 'Runs of a workflow, newest first; `status` narrows them down',
    params: workflowParams,
    query: runListQuery,
    responses: { 200: pageOf(runSchema) },
    async handle({ params, query: { limit, cursor, status }, caller }) {
      const workflow = await workflowQueries.findForRuns(caller.tenantId, workflowRef(params.workflowId));
      const before = cursor ?? null;
      const statuses = status === undefined ? null : executionStatuses(status);
      const found = await workflowQueries.runs(caller.tenantId, workflow, { before, statuses, limit: limit + 1 });
      const page = found.slice(0, limit);
      const data = page.map((run) => runView(workflow, run));
      return { status: 200, body: { data, ...(found.length > limit ? { nextCursor: data.at(-1)!.id } : {}) } };
    },
  });
}

function runRoute(deps: PipelineDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:read',
    method: 'GET',
    path: '/api/v1/workflows/:workflowId/runs/:runId',
    summary: 'A run with the result of every task',
    notFound: 'EXECUTION_NOT_FOUND',
    params: runParams,
    query: runQuery,
    responses: { 200: dataOf(runDetailSchema) },
    async handle({ params, query, caller }) {
      const { workflow, view } = await findRun(deps, caller, params);
      return { status: 200, body: { data: await detailOf(deps, caller, workflow, view, query.include === 'body') } };
    },
  });
}

async function detailOf(
  { executions }: PipelineDeps,
  { tenantId: owner }: Caller,
  workflow: WorkflowIdentity,
  view: ExecutionView,
  withBodies = false,
) {
  const inspection = await executions.inspect(owner, view.executionId).catch(onlyMissing);
  return runDetailView(workflow, view, inspection, withBodies);
}

function cancelRoute(deps: PipelineDeps): RouteSpec {
  return defineRoute({
    ...common,
    access: 'workflows:execute',
    method: 'POST',
    path: '/api/v1/workflows/:workflowId/runs/:runId/cancel',
    summary: 'Cancel a run: what is in flight is aborted, nothing new starts',
    notFound: 'EXECUTION_NOT_FOUND',
    params: runParams,
    responses: { 202: dataOf(runSchema), 200: dataOf(runSchema) },
    async handle({ params, caller, by }) {
      const { workflow } = await findRun(deps, caller, params);
      const { repeated, view } = await cancelRun(deps, caller, params.runId, by);
      return { status: repeated ? 200 : 202, body: { data: runView(workflow, view) } };
    },
  });
}

async function cancelRun({ executions }: PipelineDeps, { tenantId }: Caller, runId: string, by: Actor) {
  try {
    const { repeated } = await executions.cancel(tenantId, runId, undefined, by);
    // 002 marks the run as cancelled right here; ours is, as soon as what is in flight has let go.
    return { repeated, view: await executions.cancelledSoon(tenantId, runId) };
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'WFENG002') throw error;
    const { status } = await executions.get(tenantId, runId);
    throw new PawlError('WFENG002', `the run has already ended as ${runStatus(status)}`);
  }
}

async function findRun(
  { workflowQueries, executions }: PipelineDeps,
  { tenantId }: Caller,
  { workflowId, runId }: { workflowId: string; runId: string },
): Promise<{ workflow: WorkflowIdentity; view: ExecutionView }> {
  const workflow = await workflowQueries.findForRuns(tenantId, workflowRef(workflowId));
  const view = await executions.get(tenantId, runId);
  if (await workflowQueries.isRunOf(tenantId, workflow, view)) return { workflow, view };
  throw new PawlError('EXECUTION_NOT_FOUND', `no run ${prefixedId('run', runId)} of workflow "${workflow.workflowId}"`);
}

/** A run whose definition cannot be read any more has failed for that reason; it is shown without its tasks. */
function onlyMissing(error: unknown): null {
  if (error instanceof PawlError && error.code === 'EXECUTION_NOT_FOUND') return null;
  throw error;
}
