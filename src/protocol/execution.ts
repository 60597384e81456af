// Executions on the wire: camelCase, times in ISO 8601 UTC, absent rather than null. Lists are in execution-list.ts.

import { z } from 'zod';
import { driverSchema, engineRunRefSchema } from './driver.ts';
import { executionId, label, storedText, tenantId, timestamp, versionNumber } from './identifier.ts';
import { cursorOf, pageQuery, queryChoices, queryNumber } from './page.ts';
import { resultWait } from './wait.ts';

export const EXECUTION_STATUSES = [
  'Pending',
  'Running',
  'Paused',
  'Succeeded',
  'Failed',
  'Cancelled',
  'TimedOut',
] as const;

export const principalSchema = z
  .strictObject({ userId: label(200), displayName: label(200).optional(), email: label(320).nullable().optional() })
  .meta({ id: 'Principal' });

export const executeRequest = z
  .object({
    requestId: label(200).optional().describe('the same requestId gives the same execution'),
    principal: principalSchema.optional(),
    trigger: z.unknown().optional(),
    priority: z.int().min(0).max(9).optional(),
    tenantId: tenantId.optional(),
    spec: z.unknown().optional(),
    version: versionNumber(0).optional().describe('by default the current one; 0: the draft, where drafts may be run'),
    projectId: label(200).optional(),
    environmentId: label(200).optional(),
    driver: driverSchema
      .optional()
      .describe('what runs it; by default what the workflow, its environment or the installation says'),
  })
  .strict()
  .meta({ id: 'ExecuteRequest' });

export const executeAnswer = z
  .object({
    executionId,
    status: z.enum(EXECUTION_STATUSES),
    statusUrl: z.string(),
    plannedStartAt: timestamp.optional().describe('a rate limit lets it start then'),
  })
  .meta({ id: 'ExecuteAnswer' });

export const executionErrorSchema = z.object({
  code: z.string(),
  message: z.string(),
  nodeId: z.string().optional(),
});

export const attemptSchema = z
  .object({
    nodeId: z.string(),
    actionType: z.string(),
    attempt: z.int(),
    retryCount: z.int(),
    status: z.enum(['Running', 'Succeeded', 'Failed', 'RetriableFailure', 'Skipped', 'Cancelled']),
    reason: z.string().optional(),
    parameters: z.unknown().optional(),
    outputs: z.unknown().optional(),
    error: executionErrorSchema.optional(),
    startedAt: timestamp.optional(),
    completedAt: timestamp.optional(),
    truncated: z
      .literal(true)
      .optional()
      .describe(
        'parameters and outputs would make the answer too large; they are at `/executions/{id}/nodes/{nodeId}`',
      ),
  })
  .meta({ id: 'Attempt' });

export const eventSchema = z
  .object({
    seq: z.int(),
    ts: timestamp,
    level: z.string(),
    category: z.string(),
    type: z.string(),
    nodeId: z.string().optional(),
    data: z.unknown(),
  })
  .meta({ id: 'ExecutionEvent' });

export const resourceSchema = z
  .object({
    system: z.string(),
    resourceType: z.string(),
    resourceId: z.string(),
    url: z.string().optional(),
    nodeId: z.string(),
  })
  .meta({ id: 'Resource' });

/** A resource with the execution that made or found it. */
export const linkedResourceSchema = resourceSchema
  .extend({ executionId, createdAt: timestamp })
  .meta({ id: 'LinkedResource' });
export type LinkedResourceJson = z.infer<typeof linkedResourceSchema>;

export const resourceListQuery = z.object({
  limit: pageQuery.limit,
  // Ids of other systems may be long.
  cursor: cursorOf(/^after\.(?:[0-9a-f]{2}){0,5000}$/).optional(),
  system: storedText(200).min(1).optional().describe('the other system, such as `slack`'),
  resourceType: storedText(200).min(1).optional().describe('such as `message`'),
  resourceId: storedText(1_000).min(1).optional().describe('the id that the other system gave the resource'),
});

/** Why a live execution is not running at the moment. */
export const WHY = [
  'queued',
  'noWorker',
  'needsNewerRunner',
  'running',
  'retrying',
  'waiting',
  'sleeping',
  'paused',
  'compensating',
  'delayed',
] as const;
export type Why = (typeof WHY)[number];

export const executionFields = {
  executionId,
  workflowId: z.string(),
  version: z.int(),
  format: z.enum(['graph', 'pipeline', 'plan']),
  status: z.enum(EXECUTION_STATUSES),
  tenantId: z.string(),
  trigger: z.unknown(),
  spec: z.unknown().optional(),
  principal: z.unknown(),
  priority: z.int(),
  correlationId: z.string(),
  requestId: z.string().optional(),
  parentExecutionId: executionId.optional(),
  projectId: z.string(),
  environmentId: z.string(),
  driver: driverSchema,
  engineRunRef: engineRunRefSchema.optional().describe('of what another engine runs, when it was handed over'),
  createdAt: timestamp,
  startedAt: timestamp.optional(),
  completedAt: timestamp.optional(),
  error: executionErrorSchema.optional(),
  outputs: z.unknown().optional(),
  contextSnapshot: z.unknown().optional(),
  compensation: z
    .object({ status: z.string(), nodes: z.array(z.object({ nodeId: z.string(), status: z.string() })) })
    .optional()
    .describe('how undoing and `finally` went, of an ended execution that had some'),
  why: z.enum(WHY).optional().describe('of a live execution: what it is waiting for'),
};

export const executionSchema = z.object(executionFields).meta({ id: 'Execution' });

export const executionWithIncludesSchema = z
  .object({
    ...executionFields,
    dueAt: timestamp
      .optional()
      .describe('of a live execution: when a sleep, a retry or a timeout is due, or its start is planned'),
    owner: z.string().optional().describe('of a live execution: the runner that has it in memory'),
    engineError: z
      .string()
      .optional()
      .describe('why it could not be handed over to its engine yet, or why nobody knows how its run is'),
    taskQueues: z
      .array(z.string())
      .optional()
      .describe('of a live execution: task queues in which attempts wait for workers, or are with them'),
    waitingForPlace: z
      .object({ attempts: z.int(), longestMs: z.int(), heldByTenant: z.int(), places: z.int() })
      .optional()
      .describe(
        'of a live execution in the process that answers: attempts that wait for a free place (engine.maxParallelActions), how long the first has waited, and how many of all places its own tenant holds',
      ),
    actions: z.array(attemptSchema).optional(),
    events: z.array(eventSchema).optional(),
    resources: z.array(resourceSchema).optional(),
    children: z.array(executionSchema).optional(),
  })
  .meta({ id: 'ExecutionWithIncludes' });

export type ExecutionJson = z.infer<typeof executionSchema>;
export type AttemptJson = z.infer<typeof attemptSchema>;
export type EventJson = z.infer<typeof eventSchema>;

export interface HierarchyJson {
  executionId: string;
  workflowId: string;
  status: string;
  parentExecutionId?: string | undefined;
  nodeId?: string | undefined;
  children: HierarchyJson[];
}

export const hierarchySchema: z.ZodType<HierarchyJson> = z
  .object({
    executionId,
    workflowId: z.string(),
    status: z.string(),
    parentExecutionId: executionId.optional().describe('of the one that was asked for, if it has a parent'),
    nodeId: z.string().optional().describe('the node of the parent that started it'),
    get children() {
      return z.array(hierarchySchema);
    },
  })
  .meta({ id: 'Hierarchy' });

export const NODE_STATUSES = [
  'Pending',
  'Running',
  'Retrying',
  'Sleeping',
  'Waiting',
  'Succeeded',
  'Failed',
  'Skipped',
  'Cancelled',
  'TimedOut',
] as const;

export const graphSchema = z
  .object({
    status: z.string(),
    nodes: z.array(
      z.object({
        id: z.string(),
        type: z.string(),
        status: z.enum(NODE_STATUSES),
        attempts: z.int(),
        reason: z.string().optional(),
        startedAt: timestamp.optional(),
        completedAt: timestamp.optional(),
        error: z.object({ code: z.string(), message: z.string() }).optional(),
        until: timestamp.optional().describe('when a sleep or a retry is due'),
        childExecutionId: executionId.optional(),
        items: z
          .object({ count: z.int(), succeeded: z.int(), failed: z.int(), running: z.array(z.int()) })
          .optional()
          .describe('of a forEach: how far it is, and the indexes of the items that run'),
        rounds: z.int().optional().describe('of a repeat: how many rounds have begun'),
        waits: z.string().optional().describe('of a node that waits: for what, in words'),
        undoes: z.string().optional().describe('the node that this one undoes'),
        isFinally: z.boolean().optional().describe('it runs at the end, whatever the outcome'),
      }),
    ),
    edges: z.array(
      z.object({
        from: z.string(),
        to: z.string(),
        when: z.enum(['success', 'failure', 'always']),
        condition: z.string().optional(),
        state: z.enum(['pending', 'satisfied', 'unsatisfied']),
      }),
    ),
  })
  .meta({ id: 'ExecutionGraph' });

export type GraphJson = z.infer<typeof graphSchema>;

export const INCLUDES = ['actions', 'resources', 'events', 'children'] as const;
const MAX_INCLUDED = 1_000;

export const executionQuery = z.object({
  include: queryChoices(INCLUDES).default([]),
  limit: queryNumber(1, MAX_INCLUDED).default(100),
  offset: queryNumber(0, 1_000_000).default(0),
  wait: resultWait,
  tenantId: tenantId.optional(),
});

export const eventQuery = z.object({
  after: queryNumber(-1, 999_999_999).optional().describe('events with a higher seq; -1 is before the first'),
  cursor: queryNumber(0, 999_999_999).optional().describe('the same, as `nextCursor` gives it'),
  limit: queryNumber(1, MAX_INCLUDED).default(200),
  tenantId: tenantId.optional(),
});

export const cancelRequest = z
  .object({
    reason: label(500).optional(),
    terminate: z.boolean().optional().describe('true: nothing is undone, and what is being undone stops'),
    tenantId: tenantId.optional(),
  })
  .strict();

export const acceptedAnswer = z.object({ executionId, status: z.string() });

export const retryAnswer = z.object({ executionId, nodes: z.array(z.string()) });
