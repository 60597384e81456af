// Pipelines of HTTP calls, sleeps and webhooks. Shape only: pipeline.ts checks that a task has exactly one type, and what names
// refer to.

import { z } from 'zod';
import { MAX_DURATION_MS } from '../duration/duration.ts';
import {
  DEFAULT_MAX_ITEMS,
  DEFAULT_MAX_ROUNDS,
  DEFAULT_PARALLEL,
  PIPELINE_MAX_DURATION_SECONDS,
  PIPELINE_RETRIES,
  PIPELINE_STEP_TIMEOUT_MS,
} from './defaults.ts';
import { connectionName, eventSources, milliseconds, tolerate } from './graph-schema.ts';
import { MAX_ID_LENGTH, MAX_ITEMS, MAX_PARALLEL, MAX_ROUNDS } from './limits.ts';
import { webhookSchema } from './webhook-schema.ts';

const duration = z.union([z.number().min(0), z.string()], {
  error: 'must be a duration: text, or seconds as a number',
});

const method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

const needs = z.union(
  [
    z.array(z.string()),
    z.strictObject({
      first: z.int().min(1).meta({ description: 'How many of them are enough.' }),
      of: z.array(z.string()).min(1),
      cancel_rest: z
        .boolean()
        .optional()
        .meta({ description: 'Cancel those that nothing else needs.', default: false }),
    }),
  ],
  { error: 'must be a list of tasks, or { "first": 1, "of": […] }' },
);

const retries = z.union(
  [
    z.int().min(0),
    z.strictObject({
      times: z.int().min(0).optional().meta({ default: PIPELINE_RETRIES }),
      on: z
        .array(z.union([z.int().min(100).max(599), z.string().min(1)]))
        .min(1)
        .optional()
        .meta({
          description: 'Only these: statuses, "timeout", "network", or codes of errors. Default: what is transient.',
        }),
      delay: duration.optional().meta({ description: 'Before the second try; it doubles from there.', default: '2s' }),
    }),
  ],
  { error: 'must be a whole number of at least 0, or { "times": 5, "on": [503], "delay": "3s" }' },
);

const end = z.union(
  [
    z.literal(true),
    z.strictObject({
      status: z.enum(['completed', 'failed']).optional().meta({ default: 'completed' }),
      outputs: z.record(z.string(), z.unknown()).optional().meta({ description: 'May hold {{ expressions }}.' }),
      error: z.strictObject({ code: z.string().min(1), message: z.string().optional() }).optional(),
    }),
  ],
  { error: 'must be true, or { "status": "failed", "error": { "code": "…" } }' },
);

const task = z.strictObject({
  needs: needs.optional().meta({
    description: 'Tasks that must end before this one; or { "first": 1, "of": […] } to start after the first of them.',
  }),
  if: z.string().min(1).optional().meta({ description: 'Runs only if this holds, whatever became of its needs.' }),
  url: z.string().min(1).optional().meta({ description: 'Makes this an HTTP task. May hold {{ expressions }}.' }),
  method: method.optional().meta({ default: 'POST' }),
  headers: z.record(z.string(), z.string()).optional().meta({ description: 'Values may hold {{ expressions }}.' }),
  body: z.unknown().optional().meta({ description: 'Any JSON, or text. Strings may hold {{ expressions }}.' }),
  connection: connectionName.optional().meta({ description: 'The connection whose credential the request carries.' }),
  retries: retries.optional().meta({ description: 'Tries after the first.', default: PIPELINE_RETRIES }),
  timeout: milliseconds(1)
    .optional()
    .meta({ description: 'Per try: milliseconds, or a duration.', default: PIPELINE_STEP_TIMEOUT_MS }),
  for_each: z
    .union([z.string().min(1), z.array(z.unknown())], {
      error: 'must be a {{ template }} that gives a list, or a list',
    })
    .optional()
    .meta({ description: 'Sends the request for each item of a list; `item` and `index` can be read in it.' }),
  parallel: z
    .int()
    .min(1)
    .max(MAX_PARALLEL)
    .optional()
    .meta({ description: 'Of for_each.', default: DEFAULT_PARALLEL }),
  max_items: z.int().min(1).max(MAX_ITEMS).optional().meta({ description: 'Of for_each.', default: DEFAULT_MAX_ITEMS }),
  tolerate: tolerate.optional().meta({ description: 'Of for_each: how many items may fail.', default: 0 }),
  until: z.string().min(1).optional().meta({
    description: 'Sends the request again until this holds; `output` is the last answer, `round` counts from 0.',
  }),
  every: duration.optional().meta({ description: 'Of until: how long it rests between two rounds.', default: 0 }),
  max_rounds: z.int().min(1).max(MAX_ROUNDS).optional().meta({ description: 'Of until.', default: DEFAULT_MAX_ROUNDS }),
  collect: z.string().min(1).optional().meta({ description: 'Of until: a list of each answer; all are joined.' }),
  sleep: duration.optional().meta({
    description: 'Makes this a sleep: "30s", "5m", "2h", "1d", or seconds as a number.',
  }),
  wait_for_webhook: z
    .strictObject({
      timeout: duration.optional().meta({ description: 'As for sleep. Without it, the wait has no end.' }),
    })
    .optional()
    .meta({ description: 'Makes this a wait until its callback URL is called.' }),
  undo: z
    .strictObject({
      url: z.string().min(1),
      method: method.optional().meta({ default: 'POST' }),
      headers: z.record(z.string(), z.string()).optional(),
      body: z.unknown().optional(),
      retries: retries.optional(),
      timeout: z.int().min(1).optional(),
    })
    .optional()
    .meta({
      description: 'The request that undoes this one, when the run ends as failed, cancelled or timeout after it.',
    }),
  wait_for: z
    .strictObject({
      webhook: z.boolean().optional().meta({ description: 'A call of its URL ends the wait.', default: false }),
      events: eventSources.optional(),
      timeout: duration.optional().meta({ description: 'Without it, the wait has no end.' }),
      on_timeout: z.enum(['fail', 'continue']).optional().meta({ default: 'fail' }),
      count: z.int().min(1).max(1_000).optional().meta({ default: 1 }),
      until: z.string().min(1).optional(),
    })
    .optional()
    .meta({ description: 'Makes this a wait for a webhook, an event or a timeout, whichever comes first.' }),
  end: end.optional().meta({ description: 'Makes this the end: what still runs is cancelled, and the run is over.' }),
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
    payload: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'What every run of the cron expression gets as its body, beside `scheduledFor`.' }),
    webhook: webhookSchema
      .optional()
      .meta({ description: 'How requests prove their sender, if the trigger is webhook.' }),
    max_duration_seconds: z
      .int()
      .min(1)
      .max(MAX_DURATION_MS / 1_000)
      .optional()
      .meta({ default: PIPELINE_MAX_DURATION_SECONDS }),
    outputs: z.record(z.string(), z.unknown()).optional().meta({
      description: 'What the run returns to whoever started it; strings may hold {{ expressions }}.',
    }),
    finally: z.array(z.string()).optional().meta({
      description: 'Tasks without needs that run at the end, one after the other, whatever the outcome.',
    }),
    enabled: z.boolean().optional().meta({ default: true }),
    driver: z.enum(['native', 'temporal', 'conductor']).optional().meta({
      description: 'What runs it. By default what the environment or the installation says.',
    }),
    tasks: z.record(z.string(), task),
  })
  .meta({ title: 'Pawl pipeline' });
