// Pipelines on the wire (docs/pipelines.md): snake_case, everything inside `data`, `wf_…` and `run_…` ids.

import { z } from 'zod';
import { executionRef, timestamp, workflowId } from './identifier.ts';
import { pageQuery, queryChoices } from './page.ts';
import { workflowSchema } from './workflow.ts';

const RUN_STATUSES = ['running', 'completed', 'failed', 'cancelled', 'timeout'] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const TASK_STATUSES = [
  'pending',
  'running',
  'success',
  'failed',
  'timeout',
  'skipped',
  'sleeping',
  'waiting',
  'template_error',
  /** The run was cancelled while the task ran. */
  'cancelled',
] as const;
export type TaskStatus = (typeof TASK_STATUSES)[number];

export const dataOf = <Item extends z.ZodType>(item: Item) => z.object({ data: item });

export const pipelineSchema = z
  .object({
    id: z.string().describe('wf_…'),
    name: z.string(),
    description: z.string().optional(),
    trigger: z.enum(['api', 'cron', 'webhook']),
    cron_expression: z.string().optional(),
    task_count: z.int(),
    enabled: z.boolean(),
    version: z.int().optional(),
    inserted_at: timestamp,
    updated_at: timestamp,
    last_run: z
      .object({ id: z.string(), status: z.enum(RUN_STATUSES), started_at: timestamp })
      .optional()
      .describe('the newest run'),
    next_run_at: timestamp.optional().describe('of a schedule'),
    webhook_url: z.string().optional().describe('where to send what starts a run'),
    webhook_secret: z.string().optional().describe('what to sign it with: shown when it is made and never again'),
  })
  .meta({ id: 'Pipeline' });

/** A pipeline among workflows of other formats: the common fields and its own. */
export const listedPipelineSchema = workflowSchema
  .omit({ id: true, definition: true })
  .extend(pipelineSchema.shape)
  .meta({ id: 'ListedPipeline' });

export const pipelineDefinitionSchema = pipelineSchema
  .extend({
    max_duration_seconds: z.int().optional(),
    timezone: z.string().optional(),
    catch_up: z.string().optional(),
    payload: z.record(z.string(), z.unknown()).optional(),
    outputs: z.record(z.string(), z.unknown()).optional(),
    finally: z.array(z.string()).optional(),
    driver: z.string().optional(),
    webhook: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('how requests prove their sender, without the secret'),
    tasks: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'PipelineWithTasks' });

export const runStartedSchema = z
  .object({
    run_id: z.string(),
    workflow_id: z.string(),
    status: z.enum(RUN_STATUSES),
    started_at: timestamp,
    planned_start_at: timestamp.optional().describe('a rate limit lets it start then'),
  })
  .meta({ id: 'PipelineRunStarted' });

export const runSchema = z
  .object({
    id: z.string().describe('run_…'),
    workflow_id: z.string(),
    status: z.enum(RUN_STATUSES),
    started_at: timestamp,
    finished_at: timestamp.optional(),
    task_failures: z.int().optional().describe('of a completed run: tasks that failed or timed out, if there are any'),
  })
  .meta({ id: 'PipelineRun' });

export const taskResultSchema = z
  .object({
    status: z.enum(TASK_STATUSES),
    status_code: z.int().nullable(),
    duration_ms: z.int().optional(),
    started_at: timestamp.optional(),
    finished_at: timestamp.optional(),
    attempt: z.int().optional(),
    is_truncated: z.boolean().optional(),
    error_message: z.string().optional(),
    skip_reason: z.string().optional(),
    wake_at: timestamp.optional().describe('until when it sleeps, or waits for its webhook'),
    response_headers: z.record(z.string(), z.string()).optional().describe('with `include=body`'),
    response_body: z.unknown().optional().describe('with `include=body`'),
  })
  .meta({ id: 'PipelineTaskResult' });

export const runDetailSchema = runSchema
  .extend({
    error_message: z.string().optional(),
    expires_at: timestamp.optional().describe('when it times out: started_at and max_duration_seconds'),
    trigger_body: z.unknown().describe('what it was started with'),
    tasks: z.record(z.string(), taskResultSchema),
  })
  .meta({ id: 'PipelineRunDetail' });

/** `run_…`, or the execution's own id. */
export const runParams = z.object({ workflowId, runId: executionRef });

export const runListQuery = z.object({
  limit: pageQuery.limit,
  cursor: executionRef.optional(),
  status: queryChoices(RUN_STATUSES).optional(),
});
export const runQuery = z.object({ include: z.literal('body').optional() });
