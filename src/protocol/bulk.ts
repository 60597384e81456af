// A bulk action on executions, on the wire: its filter, action, reason and progress.

import { z } from 'zod';
import { anyOfFields, oneOfFields } from './choice.ts';
import { EXECUTION_STATUSES, WHY } from './execution.ts';
import { duration } from './execution-list.ts';
import { executionId, label, tenantId, timestamp, versionNumber, workflowId } from './identifier.ts';

export const BULK_ACTIONS = ['cancel', 'retry', 'pause', 'resume', 'replay'] as const;
const MAX_IDS = 1_000;

const filterFields = {
  workflowId: workflowId.optional(),
  version: versionNumber(0).optional(),
  status: z.array(z.enum(EXECUTION_STATUSES)).min(1).optional(),
  format: z.enum(['graph', 'pipeline', 'plan']).optional(),
  parentExecutionId: executionId.optional(),
  createdAfter: timestamp.optional(),
  createdBefore: timestamp.optional(),
  olderThan: duration.optional(),
  error: label(200).optional(),
  why: z.enum(WHY).optional(),
  triggerId: z.guid('must be a uuid').optional(),
  projectId: label(200).optional(),
  environmentId: label(200).optional(),
};

/** The filters that choose executions. At least one is required. */
export const bulkFilterSchema = z
  .strictObject(filterFields)
  .refine((filter) => Object.values(filter).some((value) => value !== undefined), {
    error: 'must not be empty: it would choose every execution there is',
  })
  .meta(anyOfFields(Object.keys(filterFields)));

export const bulkRequest = z
  .strictObject({
    requestId: label(200).describe('the same requestId is the same bulk action'),
    action: z.enum(BULK_ACTIONS),
    ids: z.array(executionId).min(1).max(MAX_IDS).optional(),
    filter: bulkFilterSchema.optional(),
    version: versionNumber(1).optional().describe('of a replay: by default the current version'),
    reason: label(500),
    dryRun: z.boolean().optional().describe('true: only count'),
    tenantId: tenantId.optional(),
  })
  .refine(({ ids, filter }) => (ids === undefined) !== (filter === undefined), {
    error: 'say `ids` or `filter`, one of them',
  })
  .meta({ id: 'BulkRequest', ...oneOfFields('ids', 'filter') });

export const bulkAnswer = z.object({
  bulkId: z.string().optional().describe('absent in a dry run'),
  count: z.int(),
  isCapped: z.boolean().describe('there are more'),
});

export const bulkSchema = z
  .object({
    bulkId: z.string(),
    action: z.enum(BULK_ACTIONS),
    state: z.enum(['running', 'done', 'stopped']),
    count: z.int(),
    isCapped: z.boolean(),
    done: z.int(),
    failed: z.int(),
    skipped: z.int().describe('the action did not apply, e.g. it had ended already'),
    lastError: z.string().optional(),
    reason: z.string(),
    by: z.string(),
    createdAt: timestamp,
    endedAt: timestamp.optional(),
  })
  .meta({ id: 'Bulk' });

export type BulkJson = z.infer<typeof bulkSchema>;
export type BulkRequest = z.input<typeof bulkRequest>;
export type BulkAnswerJson = z.infer<typeof bulkAnswer>;
