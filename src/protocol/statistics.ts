// Statistics on the wire: numbers over time, and failures by cause.

import { z } from 'zod';
import { executionId, tenantId, timestamp, workflowId } from './identifier.ts';

export const statQuery = z.object({
  from: timestamp.optional().describe('by default an hour, a day or thirty days ago, by the bucket'),
  until: timestamp.optional().describe('by default now'),
  bucket: z.enum(['minute', 'hour', 'day']).default('minute').describe('minutes are kept for 2 days, hours for 90'),
  by: z.enum(['workflow', 'version', 'action']).default('workflow'),
  workflowId: workflowId.optional(),
  action: z.string().min(1).max(200).optional().describe('with `by=action`: only this one'),
  tenantId: tenantId.optional(),
});

export const statPointSchema = z
  .object({
    at: timestamp.describe('when the bucket begins'),
    key: z.string().describe('the workflow, `workflow@version`, or the action'),
    started: z.int(),
    succeeded: z.int(),
    failed: z.int(),
    timedOut: z.int(),
    cancelled: z.int(),
    p50Ms: z.number().optional(),
    p95Ms: z.number().optional(),
    waitP95Ms: z.number().optional().describe('from the start request to the first decision'),
  })
  .meta({ id: 'StatPoint' });

export type StatPointJson = z.infer<typeof statPointSchema>;

export const failureQuery = z.object({
  since: timestamp.optional().describe('by default a day ago'),
  workflowId: workflowId.optional(),
  tenantId: tenantId.optional(),
});

export const failureGroupSchema = z
  .object({
    fingerprint: z.string().describe('of workflow, node, code and message without digits'),
    workflowId: z.string(),
    nodeId: z.string().optional().describe('absent: the execution itself, e.g. its timeout'),
    code: z.string(),
    message: z.string(),
    count: z.int(),
    firstAt: timestamp,
    lastAt: timestamp,
    sampleId: executionId.describe('the latest execution that failed so'),
  })
  .meta({ id: 'FailureGroup' });

export type FailureGroupJson = z.infer<typeof failureGroupSchema>;
