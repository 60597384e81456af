// Quotas of tenants on the wire, and their presets.

import { z } from 'zod';
import { anyOfFields } from './choice.ts';
import { tenantId, timestamp } from './identifier.ts';

const MAX_COUNT = 1_000_000_000;

const count = z.int().min(0).max(MAX_COUNT).nullable();

const limitFields = {
  workflows: count.describe('that are not archived'),
  tasksPerWorkflow: count,
  concurrentRuns: count,
  executionsPerMonth: count.describe('HTTP steps in a UTC month; retries are free'),
  cron: z.boolean().describe('whether schedules may start runs'),
  httpStepsAtOnce: z.int().min(1).max(100_000).nullable(),
};

/** null: not limited. */
const limitsSchema = z.object(limitFields);
export type QuotaLimits = z.infer<typeof limitsSchema>;

const number = z.int().optional();

/** The quota as it is shown; an absent limit means unlimited. */
const shownLimitsSchema = z
  .object({
    workflows: number,
    tasksPerWorkflow: number,
    concurrentRuns: number,
    executionsPerMonth: number,
    cron: z.boolean(),
    httpStepsAtOnce: number,
  })
  .meta({ id: 'QuotaLimits' });

export const NO_LIMITS: QuotaLimits = {
  workflows: null,
  tasksPerWorkflow: null,
  concurrentRuns: null,
  executionsPerMonth: null,
  cron: true,
  httpStepsAtOnce: null,
};

export const QUOTA_PRESETS = {
  free: {
    workflows: 3,
    tasksPerWorkflow: 5,
    concurrentRuns: 1,
    executionsPerMonth: 10_000,
    cron: false,
    httpStepsAtOnce: 5,
  },
  pro: {
    workflows: null,
    tasksPerWorkflow: 20,
    concurrentRuns: 10,
    executionsPerMonth: 1_000_000,
    cron: true,
    httpStepsAtOnce: 5,
  },
} as const satisfies Record<string, QuotaLimits>;

export type QuotaPreset = keyof typeof QUOTA_PRESETS;

const preset = z.enum(['free', 'pro']);

export const quotaRequest = z
  .strictObject({
    preset: preset.nullable().optional().describe('null: none'),
    limits: z.strictObject(limitFields).partial().optional().describe('instead of what the preset says'),
  })
  .refine(
    (body) => Object.keys(body).length > 0,
    'say `preset`, `limits` or both; `{ "preset": null }` lifts the quota',
  )
  .meta({ id: 'QuotaRequest', ...anyOfFields(['preset', 'limits'], ['preset']) });

export type QuotaRequest = z.infer<typeof quotaRequest>;

export const quotaParams = z.object({ tenantId });

export const quotaSchema = z
  .object({
    tenantId: z.string(),
    preset: preset.optional(),
    limits: shownLimitsSchema,
    usage: z.object({
      workflows: z.int(),
      concurrentRuns: z.int(),
      executionsThisMonth: z.int(),
      resetsAt: timestamp.describe('when the month is over'),
    }),
  })
  .meta({ id: 'Quota' });

export type QuotaJson = z.infer<typeof quotaSchema>;

export function limitsOf({ preset: name, limits = {} }: QuotaRequest): QuotaLimits {
  const base = name === undefined || name === null ? NO_LIMITS : QUOTA_PRESETS[name];
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  return { ...base, ...(Object.fromEntries(given) as Partial<QuotaLimits>) };
}

/** How requests are counted against a rate limit. */
export const RATE_ALGORITHMS = ['token-bucket', 'fixed-window', 'sliding-log'] as const;
export type RateAlgorithm = (typeof RATE_ALGORITHMS)[number];
