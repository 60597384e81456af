// Pipelines of HTTP calls, sleeps and webhooks (002). Shape only: that a task is of exactly one type, and what names
// refer to, is checked in pipeline.ts.

import { z } from 'zod';
import { MAX_DURATION_MS } from '../duration/duration.ts';
import { PIPELINE_MAX_DURATION_SECONDS, PIPELINE_RETRIES, PIPELINE_STEP_TIMEOUT_MS } from './defaults.ts';
import { MAX_ID_LENGTH } from './limits.ts';

const duration = z.union([z.number().min(0), z.string()], {
  error: 'must be a duration: text, or seconds as a number',
});

const task = z.strictObject({
  needs: z.array(z.string()).optional().meta({ description: 'Tasks that must end before this one.' }),
  if: z.string().min(1).optional().meta({ description: 'Runs only if this holds, whatever became of its needs.' }),
  url: z.string().min(1).optional().meta({ description: 'Makes this an HTTP task. May hold {{ expressions }}.' }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']).optional().meta({ default: 'POST' }),
  headers: z.record(z.string(), z.string()).optional().meta({ description: 'Values may hold {{ expressions }}.' }),
  body: z.unknown().optional().meta({ description: 'Any JSON, or text. Strings may hold {{ expressions }}.' }),
  retries: z.int().min(0).optional().meta({ description: 'Tries after the first.', default: PIPELINE_RETRIES }),
  timeout: z.int().min(1).optional().meta({ description: 'Milliseconds per try.', default: PIPELINE_STEP_TIMEOUT_MS }),
  sleep: duration.optional().meta({
    description: 'Makes this a sleep: "30s", "5m", "2h", "1d", or seconds as a number.',
  }),
  wait_for_webhook: z
    .strictObject({
      timeout: duration.optional().meta({ description: 'As for sleep. Without it, the wait has no end.' }),
    })
    .optional()
    .meta({ description: 'Makes this a wait until its callback URL is called.' }),
});

export const pipelineSchema = z
  .strictObject({
    $schema: z.string().optional(),
    name: z
      .string()
      .max(MAX_ID_LENGTH)
      .regex(/^[a-z0-9-]+$/, { error: 'must be lower-case letters, digits and hyphens' }),
    description: z.string().optional(),
    trigger: z.enum(['api', 'cron', 'webhook']).optional().meta({ default: 'api' }),
    cron_expression: z.string().optional().meta({ description: 'Required if, and only if, the trigger is cron.' }),
    timezone: z
      .string()
      .optional()
      .meta({ description: 'Of the cron expression, e.g. "Europe/Berlin".', default: 'UTC' }),
    catch_up: z
      .enum(['skip', 'latest', 'all'])
      .optional()
      .meta({ description: 'Which slots of the cron expression are made good after downtime.', default: 'latest' }),
    max_duration_seconds: z
      .int()
      .min(1)
      .max(MAX_DURATION_MS / 1_000)
      .optional()
      .meta({ default: PIPELINE_MAX_DURATION_SECONDS }),
    enabled: z.boolean().optional().meta({ default: true }),
    tasks: z.record(z.string(), task),
  })
  .meta({ title: 'Pawl pipeline' });
