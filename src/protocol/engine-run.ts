// Runs of execution plans (004 §2.1, §3.1, §8.1).

import { z } from 'zod';
import { executionId, timestamp } from './identifier.ts';

export const planRefSchema = z
  .object({
    uri: z.string().min(1).max(2_000),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hexadecimal digits')
      .describe('of the bytes at the uri'),
    schemaVersion: z.string(),
    planId: z.string(),
    planVersion: z.string(),
    sizeBytes: z.int().min(1).optional(),
    compression: z.enum(['gzip', 'none']).optional(),
    expiresAt: timestamp.optional(),
  })
  .strict()
  .meta({ id: 'PlanRef' });

export type PlanRef = z.infer<typeof planRefSchema>;

export const runId = z.string().regex(/^[A-Za-z0-9][\w.:-]{0,199}$/, 'must be letters, digits, ".", "_", ":" or "-"');

const context = z
  .object({
    runId: runId.optional().describe('the same runId gives the same run'),
    projectId: z.string().min(1).max(200).optional(),
    environmentId: z.string().min(1).max(200).optional(),
  })
  .strict();

export const startRunRequest = z
  .object({
    plan: z.record(z.string(), z.unknown()).optional(),
    planRef: planRefSchema.optional(),
    context: context.default({}),
    inputs: z.unknown().optional(),
    tenantId: z.string().optional(),
  })
  .strict()
  .refine(({ plan, planRef }) => (plan === undefined) !== (planRef === undefined), 'give either `plan` or `planRef`')
  .meta({ id: 'StartRunRequest' });

export const engineRunRefSchema = z.object({ provider: z.literal('native'), executionId });

export const startRunAnswer = z
  .object({ runId: z.string(), engineRunRef: engineRunRefSchema, statusUrl: z.string() })
  .meta({ id: 'StartRunAnswer' });

export const runDebugSchema = z.object({
  runId: z.string(),
  engineRunRef: engineRunRefSchema,
  planId: z.string(),
  planVersion: z.string(),
  status: z.string(),
  tenantId: z.string(),
  projectId: z.string(),
  environmentId: z.string(),
  lastSeq: z.int(),
});

export const stepLogsSchema = z.object({
  runId: z.string(),
  stepId: z.string(),
  pointers: z.array(z.string()),
  lines: z.array(z.unknown()),
});
