// Runs of execution plans.

import { z } from 'zod';
import { ERROR_CATEGORIES } from '../core/error/category.ts';
import { oneOfFields } from './choice.ts';
import { driverSchema, engineRunRefSchema } from './driver.ts';
import { problemSchema } from './error.ts';
import {
  EXECUTION_STATUSES,
  eventSchema,
  executionErrorSchema,
  executionWithIncludesSchema,
  graphSchema,
} from './execution.ts';
import { tenantId, timestamp } from './identifier.ts';

export const planRefSchema = z
  .object({
    uri: z.string().min(1).max(2_000),
    fallbackUri: z
      .string()
      .min(1)
      .max(2_000)
      .optional()
      .describe('where the same bytes lie, should the uri not answer'),
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
    driver: driverSchema
      .optional()
      .describe('what runs it; by default what the plan, its environment or the installation says'),
  })
  .strict();

export const startRunRequest = z
  .object({
    plan: z.record(z.string(), z.unknown()).optional(),
    planRef: planRefSchema.optional(),
    context: context.default({}),
    inputs: z.unknown().optional(),
    tenantId: tenantId.optional(),
  })
  .strict()
  .refine(({ plan, planRef }) => (plan === undefined) !== (planRef === undefined), 'give either `plan` or `planRef`')
  .meta({ id: 'StartRunRequest', ...oneOfFields('plan', 'planRef') });

export const startRunAnswer = z
  .object({
    runId: z.string(),
    driver: driverSchema,
    engineRunRef: engineRunRefSchema.optional().describe('absent: it was accepted, and waits to be handed over'),
    statusUrl: z.string(),
    plannedStartAt: timestamp.optional().describe('a rate limit lets it start then'),
    warnings: z.array(problemSchema).optional().describe('what of the plan is not as its planner may think'),
  })
  .meta({ id: 'StartRunAnswer' });

export const reconcileAnswer = z
  .object({
    executionId: z.uuid(),
    buses: z.array(z.string()).describe('codes of the event buses that are told'),
    events: z.int().describe('how many events are sent again, each under its own idempotencyKey'),
  })
  .meta({ id: 'ReconcileAnswer' });

/** The states of a run at the engine boundary; a timeout is a failure there. */
export const RUN_STATES = {
  Pending: 'PENDING',
  Running: 'RUNNING',
  Paused: 'PAUSED',
  Succeeded: 'COMPLETED',
  Failed: 'FAILED',
  TimedOut: 'FAILED',
  Cancelled: 'CANCELLED',
} as const satisfies Record<(typeof EXECUTION_STATUSES)[number], string>;

export const cancelRunRequest = z
  .object({
    reason: z.string().max(1_000).optional(),
    terminate: z
      .boolean()
      .default(false)
      .describe('also end the run in its engine at once, without waiting for its attempts'),
    tenantId: tenantId.optional(),
  })
  .strict()
  .meta({ id: 'CancelRunRequest' });

/** The engine's status of a run, which may differ from the status in our store. */
const engineStatusSchema = z.object({
  state: z.enum(['running', 'ended', 'absent', 'foreign', 'unknown']),
  providerStatus: z.string(),
  reason: z.string().optional(),
});

export const runDebugSchema = z.object({
  runId: z.string(),
  driver: driverSchema,
  engineRunRef: engineRunRefSchema.optional().describe('absent: it was accepted, and waits to be handed over'),
  planId: z.string(),
  planVersion: z.string().describe("the plan's own"),
  workflowId: z.string().describe('what the plan is here'),
  version: z.int(),
  status: z.enum(EXECUTION_STATUSES),
  providerStatus: z.enum([...new Set(Object.values(RUN_STATES))]),
  tenantId: z.string(),
  projectId: z.string(),
  environmentId: z.string(),
  error: executionErrorSchema
    .extend({ category: z.enum(ERROR_CATEGORIES) })
    .optional()
    .describe('what it ended with'),
  lastSeq: z.int(),
});

/** A pointer to data too large for an output. Extra fields of the step are kept. */
export const artifactRefSchema = z.looseObject({
  uri: z.string(),
  kind: z.string().optional().describe('dbt-manifest, dbt-run-results, log-bundle, dataset-sample, custom'),
  sha256: z.string().optional(),
  sizeBytes: z.number().optional(),
  contentType: z.string().optional(),
  expiresAt: z.string().optional(),
});

export const runInspectionSchema = z.object({
  run: runDebugSchema.omit({ lastSeq: true }).extend({ engineStatus: engineStatusSchema.optional() }),
  execution: executionWithIncludesSchema,
  graph: graphSchema,
  artifacts: z.array(artifactRefSchema.extend({ stepId: z.string() })),
});

export const stepLogsSchema = z.object({
  runId: z.string(),
  stepId: z.string(),
  pointers: z.array(z.string()),
  lines: z.array(eventSchema),
});
