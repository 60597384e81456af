// Pipelines and their runs in the shape of the pipeline API, with its status names: a received webhook is `success`, a run whose tasks are
// all done is `completed` whatever became of them.

import type { z } from 'zod';
import { isFinal, type NodeState } from '../../core/decider/state.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json/json.ts';
import type { Step } from '../../core/plan/plan.ts';
import type { Inspection } from '../../execution/inspection.ts';
import { EXECUTION_STATUSES } from '../../protocol/execution.ts';
import type {
  pipelineDefinitionSchema,
  pipelineSchema,
  RunStatus,
  runDetailSchema,
  runSchema,
  TaskStatus,
  taskResultSchema,
} from '../../protocol/pipeline.ts';
import { prefixedId } from '../../protocol/workflow.ts';
import type { ExecutionView } from '../../store/reader-port.ts';
import type { RunRow, WorkflowActivity, WorkflowIdentity, WorkflowRecord } from '../../store/workflow-port.ts';
import { isoTime } from './field.ts';

/** The new secret of a pipeline's webhook; null: it needs none, or already has one. */

export function presentPipeline(
  workflow: WorkflowRecord,
  webhookBase: string,
  secret: string | null = null,
): z.input<typeof pipelineSchema> {
  const { trigger, taskCount, webhookTriggerId } = workflow.pipeline!;
  return {
    id: prefixedId('wf', workflow.uid),
    name: workflow.workflowId,
    ...(workflow.description === null ? {} : { description: workflow.description }),
    trigger: trigger.type,
    ...(trigger.cronExpression === null ? {} : { cron_expression: trigger.cronExpression }),
    task_count: taskCount,
    enabled: workflow.isEnabled,
    ...(workflow.currentVersion === null ? {} : { version: workflow.currentVersion }),
    inserted_at: isoTime(workflow.createdAt),
    updated_at: isoTime(workflow.updatedAt),
    ...(webhookTriggerId === null ? {} : { webhook_url: `${webhookBase}/${webhookTriggerId}` }),
    ...(secret === null ? {} : { webhook_secret: secret }),
  };
}

/** The newest run, and when the next one starts. */
export const presentPipelineActivity = ({ lastExecution, nextFireAt }: WorkflowActivity) => ({
  ...(lastExecution === null
    ? {}
    : {
        last_run: {
          id: prefixedId('run', lastExecution.executionId),
          status: runStatus(lastExecution.status),
          started_at: isoTime(lastExecution.createdAt),
        },
      }),
  ...(nextFireAt === null ? {} : { next_run_at: isoTime(nextFireAt) }),
});

/** Fields of a pipeline without a column of their own, so that a client can edit the answer and send it back without losing any. */
const KEPT_FIELDS = [
  'max_duration_seconds',
  'timezone',
  'catch_up',
  'payload',
  'webhook',
  'outputs',
  'finally',
  'driver',
] as const;

export function presentPipelineDefinition(
  workflow: WorkflowRecord,
  webhookBase: string,
  definition: string,
): z.input<typeof pipelineDefinitionSchema> {
  const { tasks, ...stored } = JSON.parse(definition) as JsonObject;
  const own = KEPT_FIELDS.filter((name) => stored[name] !== undefined && stored[name] !== null);
  return {
    ...presentPipeline(workflow, webhookBase),
    ...Object.fromEntries(own.map((name) => [name, stored[name]])),
    tasks: tasks as JsonObject,
  };
}

// ── Runs ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function runStatus(status: string): RunStatus {
  switch (status) {
    case 'Succeeded':
      return 'completed';
    case 'Failed':
      return 'failed';
    case 'Cancelled':
      return 'cancelled';
    case 'TimedOut':
      return 'timeout';
    default:
      return 'running';
  }
}

/** The stored statuses that are shown as one of these. */
export function executionStatuses(shown: readonly RunStatus[]): string[] {
  return EXECUTION_STATUSES.filter((status) => shown.includes(runStatus(status)));
}

type RunTimes = Pick<RunRow, 'executionId' | 'status' | 'createdAt' | 'endedAt'> & { readonly failedNodes?: number };

export function presentRunSummary({ uid }: WorkflowIdentity, run: RunTimes): z.input<typeof runSchema> {
  return {
    id: prefixedId('run', run.executionId),
    workflow_id: prefixedId('wf', uid),
    status: runStatus(run.status),
    // The pipeline API has no pending run: a run starts when it is triggered, and every answer says the same.
    started_at: isoTime(run.createdAt),
    ...(run.endedAt === null ? {} : { finished_at: isoTime(run.endedAt) }),
    ...(run.failedNodes ? { task_failures: run.failedNodes } : {}),
  };
}

/** A run completes whatever the outcome of its tasks; failed ones must be visible. */
const failuresAmong = ({ status }: ExecutionView, tasks: Record<string, TaskResult>): number =>
  status !== 'Succeeded' ? 0 : Object.values(tasks).filter((task) => FAILURES.has(task.status)).length;

const FAILURES: ReadonlySet<TaskStatus> = new Set(['failed', 'timeout', 'template_error']);

export function presentRunDetail(
  workflow: WorkflowIdentity,
  view: ExecutionView,
  inspection: Inspection | null,
  withBodies: boolean,
): z.input<typeof runDetailSchema> {
  // The inspection came later: the run may have ended in between.
  const latest = inspection?.view ?? view;
  const error = latest.error === null ? undefined : (JSON.parse(latest.error) as { message?: string }).message;
  const tasks = inspection === null ? {} : taskViews(inspection, withBodies);
  const trigger = JSON.parse(latest.trigger) as Json;
  const deadline = inspection?.state.deadline ?? null;
  return {
    ...presentRunSummary(workflow, { ...latest, failedNodes: failuresAmong(latest, tasks) }),
    ...(error === undefined ? {} : { error_message: error }),
    ...(deadline === null || latest.endedAt !== null ? {} : { expires_at: isoTime(deadline) }),
    trigger_body: isJsonObject(trigger) ? (trigger.body ?? null) : trigger,
    tasks,
  };
}

type TaskResult = z.input<typeof taskResultSchema>;

function taskViews({ view, state, outputs }: Inspection, withBodies: boolean): Record<string, TaskResult> {
  const views = state.plan.nodes.map(({ id, step }, index): [string, TaskResult] => {
    return [id, taskView(asLeft(state.nodes[index]!, view), step, outputs.get(id), withBodies)];
  });
  return Object.fromEntries(views);
}

/** A run that the engine gave up keeps its node states for a retry, but none is running. */
function asLeft(node: NodeState, { endedAt, error }: ExecutionView): NodeState {
  if (endedAt === null || error === null || isFinal(node.status)) return node;
  if (node.status === 'Pending') return { ...node, status: 'Skipped', endedAt, reason: 'the run failed' };
  return { ...node, status: 'Failed', endedAt, error: JSON.parse(error) as NonNullable<NodeState['error']> };
}

function taskView(node: NodeState, step: Step, outputs: Json | undefined, withBody: boolean): TaskResult {
  const response = step.kind === 'action' && isJsonObject(outputs) ? outputs : {};
  const { status_code: code } = response;
  const hasBody = typeof code === 'number' || (step.kind === 'webhook' && node.status === 'Succeeded');
  const status = taskStatus(node);
  // The pipeline API has no attempts: a task starts with its first one.
  const startedAt = node.firstStartedAt ?? node.startedAt;
  return {
    status,
    status_code: typeof code === 'number' ? code : null,
    ...durationOf(node, response),
    ...(startedAt === null ? {} : { started_at: isoTime(startedAt) }),
    ...(node.endedAt === null || status === 'running' ? {} : { finished_at: isoTime(node.endedAt) }),
    ...(node.attempts === 0 ? {} : { attempt: node.attempts }),
    ...(hasBody ? { is_truncated: response.is_truncated === true || node.truncated } : {}),
    ...(node.error === null || status === 'success' ? {} : { error_message: node.error.message }),
    ...(node.status === 'Skipped' && node.reason !== null ? { skip_reason: node.reason } : {}),
    ...((status === 'sleeping' || status === 'waiting') && node.until !== null ? { wake_at: isoTime(node.until) } : {}),
    ...(withBody ? bodyOf(step, response, outputs) : {}),
  };
}

/** For an HTTP call the time of its last try; otherwise from start to end. */
function durationOf(node: NodeState, { duration_ms: measured }: JsonObject): { duration_ms?: number } {
  if (typeof measured === 'number') return { duration_ms: measured };
  return node.startedAt === null || node.endedAt === null ? {} : { duration_ms: node.endedAt - node.startedAt };
}

function bodyOf(step: Step, response: JsonObject, outputs: Json | undefined): Partial<TaskResult> {
  const body = step.kind === 'webhook' ? outputs : response.body;
  const { headers } = response;
  return {
    ...(isJsonObject(headers) ? { response_headers: headers as Record<string, string> } : {}),
    ...(body === undefined ? {} : { response_body: body }),
  };
}

function taskStatus({ status, error }: NodeState): TaskStatus {
  switch (status) {
    case 'Pending':
      return 'pending';
    case 'Running':
    case 'Retrying':
      return 'running';
    case 'Sleeping':
      return 'sleeping';
    case 'Waiting':
      return 'waiting';
    case 'Succeeded':
      return 'success';
    case 'Failed':
      return error?.code === 'TEMPLATE_ERROR' ? 'template_error' : 'failed';
    case 'TimedOut':
      return 'timeout';
    case 'Skipped':
      return 'skipped';
    case 'Cancelled':
      return 'cancelled';
  }
}
