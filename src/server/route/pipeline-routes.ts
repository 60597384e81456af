// The routes that only pipelines document: replace, trigger, runs (docs/pipelines.md). `/trigger` and the runs work on every
// format; their answers have the shape of the pipeline API.

import { z } from 'zod';
import { detectFormat } from '../../core/definition/compile.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { requestInvalid } from '../../core/error/request-invalid.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
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
import { wrongState } from '../../workflow/workflows.ts';
import { principalFor } from '../auth/principal.ts';
import type { Caller } from '../caller.ts';
import { traceOf } from '../correlation.ts';
import { page } from '../cursor.ts';
import { idempotencyKeyOf } from '../idempotency-key.ts';
import type { RouteParts } from '../parts.ts';
import { isoTime } from '../present/field.ts';
import {
  executionStatuses,
  presentPipeline,
  presentRunDetail,
  presentRunSummary,
  runStatus,
} from '../present/pipeline.ts';
import { resultWithin } from '../result-wait.ts';
import { defineRoute, type RouteSpec } from '../route.ts';
import { triggerOf } from './pipeline-trigger.ts';

type Parts = Pick<RouteParts, 'executions' | 'pipelines' | 'throttle' | 'triggers' | 'webhookBase' | 'workflowQueries'>;

const common = { tag: 'Pipelines', notFound: 'WORKFLOW_NOT_FOUND' } as const;

export function pipelineRoutes(deps: Parts): RouteSpec[] {
  const { executions, triggers, pipelines, throttle, webhookBase, workflowQueries } = deps;
  return [
    defineRoute({
      ...common,
      access: 'workflows:manage',
      method: 'PUT',
      path: '/api/v1/workflows/:workflowId',
      summary: 'Replace the tasks of a pipeline; running executions keep theirs',
      params: workflowParams,
      body: z.unknown(),
      bodyShape: pipelineShape,
      onlyShown: [
        'task_count',
        'version',
        'inserted_at',
        'updated_at',
        'last_run',
        'next_run_at',
        'webhook_url',
        'webhook_secret',
      ],
      responses: { 200: dataOf(pipelineSchema) },
      async handle({ params, body, caller, by }) {
        const existing = await workflowQueries.find(caller.tenantId, workflowRef(params.workflowId));
        if (existing.format !== 'pipeline') {
          throw wrongState(existing, `it is a ${existing.format} and not a pipeline: change it through a draft`);
        }
        const replaced = await pipelines.replace(caller.tenantId, existing, withoutId(body as Json, existing), by);
        const secret = await triggers.firstSecretOf(caller.tenantId, replaced);
        return { status: 200, body: { data: presentPipeline(replaced, webhookBase(), secret) } };
      },
    }),
    defineRoute({
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
        const hold = await throttle?.spend(start);
        const started = await executions.start({
          ...start,
          hold,
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
          ...(started.isNew && hold?.policy === 'DELAY'
            ? { planned_start_at: isoTime(started.createdAt + hold.waitMs) }
            : {}),
        };
        return { status: started.isNew ? 201 : 200, body: { data: run } };
      },
    }),
    defineRoute({
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
        return page(
          limit,
          (limit) => workflowQueries.runs(caller.tenantId, workflow, { before, statuses, limit }),
          (run) => presentRunSummary(workflow, run).id,
          (runs) => runs.map((run) => presentRunSummary(workflow, run)),
        );
      },
    }),
    defineRoute({
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
    }),
    defineRoute({
      ...common,
      access: 'workflows:execute',
      method: 'POST',
      path: '/api/v1/workflows/:workflowId/runs/:runId/cancel',
      summary: 'Cancel a run: attempts in flight are aborted, nothing new starts',
      notFound: 'EXECUTION_NOT_FOUND',
      params: runParams,
      responses: { 202: dataOf(runSchema), 200: dataOf(runSchema) },
      async handle({ params, caller, by }) {
        const { workflow } = await findRun(deps, caller, params);
        const { repeated, view } = await cancelRun(deps, caller, params.runId, by);
        return { status: repeated ? 200 : 202, body: { data: presentRunSummary(workflow, view) } };
      },
    }),
  ];
}

/** `onlyShown` cannot tell whether an `id` is the right one: the address may name the pipeline. */
function withoutId(body: Json, { uid }: WorkflowIdentity): Json {
  if (!isJsonObject(body) || !('id' in body) || detectFormat(body) !== 'pipeline') return body;
  const { id, ...definition } = body;
  if (id === null || id === prefixedId('wf', uid)) return definition;
  throw requestInvalid([{ code: 'CANNOT_CHANGE', path: '/id', message: "is another pipeline's, and cannot change" }]);
}

async function detailOf(
  { executions }: Parts,
  { tenantId: owner }: Caller,
  workflow: WorkflowIdentity,
  view: ExecutionView,
  withBodies = false,
) {
  const inspection = await executions.inspect(owner, view.executionId).catch(onlyMissing);
  return presentRunDetail(workflow, view, inspection, withBodies);
}

async function cancelRun({ executions }: Parts, { tenantId }: Caller, runId: string, by: Actor) {
  try {
    const { repeated } = await executions.cancel(tenantId, runId, undefined, by);
    // The run ends as cancelled once the attempts in flight have stopped, so the answer waits for that a little.
    return { repeated, view: await executions.cancelledSoon(tenantId, runId) };
  } catch (error) {
    if (!(error instanceof PawlError) || error.code !== 'WFENG002') throw error;
    const { status } = await executions.get(tenantId, runId);
    throw new PawlError('WFENG002', `the run has already ended as ${runStatus(status)}`);
  }
}

async function findRun(
  { workflowQueries, executions }: Parts,
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
