// Lists of executions on the wire. `view=row` has everything a table shows, without payloads, which may be a megabyte per row.

import { z } from 'zod';
import { DURATION, DURATION_FORMS, MAX_DURATION_MS, parseDuration } from '../core/duration/duration.ts';
import {
  EXECUTION_STATUSES,
  executionErrorSchema,
  executionFields,
  executionSchema,
  NODE_STATUSES,
  WHY,
} from './execution.ts';
import { executionId, label, tenantId, timestamp, workflowId } from './identifier.ts';
import { pageOf, pageQuery, queryChoices, queryFlag, queryNumber, uuidCursor } from './page.ts';

const MAX_IDS = 100;
/** The nodes of each row need a journal to be read and folded. */
export const MAX_ROWS_WITH_NODES = 50;

const { trigger, spec, outputs, contextSnapshot, ...rowFields } = executionFields;

export const executionRowSchema = z
  .object({
    ...rowFields,
    error: executionErrorSchema.optional().describe('its message is cut after 500 characters'),
    dueAt: timestamp.optional().describe('when a sleep, a retry or a timeout is due'),
    owner: z.string().optional().describe('the runner that has it in memory'),
    taskQueues: z
      .array(z.string())
      .optional()
      .describe('of a live execution: task queues in which attempts wait for workers, or are with them'),
    last: z
      .object({ nodeId: z.string(), code: z.string(), attempt: z.int() })
      .optional()
      .describe('the last attempt that failed'),
    failedNodes: z.int().optional().describe('of a pipeline that has succeeded: tasks that failed all the same'),
    nodes: z.partialRecord(z.enum(NODE_STATUSES), z.int()).optional().describe('nodes by status (`include=nodes`)'),
  })
  .meta({ id: 'ExecutionRow' });

export type ExecutionRowJson = z.infer<typeof executionRowSchema>;

/** `total`: where it was asked for. */
export const executionPageSchema = pageOf(z.union([executionSchema, executionRowSchema])).extend({
  total: z.object({ count: z.int(), isCapped: z.boolean().describe('there are more') }).optional(),
  searchedTo: timestamp
    .optional()
    .describe('the page is short because it has looked at 50,000 executions; `nextCursor` goes on from this time'),
});

const resource = z
  .string()
  .max(1_000)
  .regex(/^[^/]+\/[^/]+\/.+$/, 'must be system/resourceType/resourceId')
  .transform((text) => {
    const [system, resourceType, ...rest] = text.split('/');
    return { system: system!, resourceType: resourceType!, resourceId: rest.join('/') };
  });

/** In milliseconds. A longer duration counts as the maximum. */
export const duration = z
  .string()
  .regex(DURATION, `must be a duration such as ${DURATION_FORMS}`)
  .transform((text) => parseDuration(text) ?? MAX_DURATION_MS);

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

export const idList = z
  .string()
  .regex(
    new RegExp(`^${UUID}(,${UUID}){0,${MAX_IDS - 1}}$`),
    `must be lower-case uuids, comma separated, at most ${MAX_IDS}`,
  )
  .transform((text) => text.split(','));

/** The filters of lists. The same fields choose the executions of a bulk action. */
export const executionFilterFields = {
  workflowId: workflowId.optional(),
  version: queryNumber(0, 1_000_000_000).optional(),
  status: queryChoices(EXECUTION_STATUSES).optional(),
  format: z.enum(['graph', 'pipeline', 'plan']).optional(),
  parentExecutionId: executionId.optional(),
  createdAfter: timestamp.optional(),
  createdBefore: timestamp.optional(),
  olderThan: duration.optional().describe('started at least so long ago, e.g. `1h`'),
  error: label(200).optional().describe("part of the error's code or message"),
  why: z.enum(WHY).optional().describe('what a live execution waits for'),
  requestId: label(200).optional(),
  triggerId: z.guid('must be a uuid').optional().describe('started by this trigger'),
  resource: resource.optional().describe('linked to this resource: system/resourceType/resourceId'),
  projectId: label(200).optional(),
  environmentId: label(200).optional(),
  taskFailures: queryFlag.optional().describe('true: pipelines that have succeeded although tasks of theirs failed'),
} as const;

export type ExecutionFilters = z.output<z.ZodObject<typeof executionFilterFields>>;

export const executionListQuery = z.object({
  limit: pageQuery.limit,
  cursor: uuidCursor.optional(),
  ...executionFilterFields,
  ids: idList.optional().describe('only these, comma separated'),
  view: z.enum(['full', 'row']).default('full').describe('row: without trigger, spec and outputs'),
  include: queryChoices(['nodes']).default([]).describe('nodes: rows with status counts, at most 50 a page'),
  count: queryFlag.optional().describe('true: also how many there are, up to a thousand'),
  tenantId: tenantId.optional(),
});
