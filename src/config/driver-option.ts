// The options of the engines: which one runs executions, and where Temporal and Conductor are.

import { z } from 'zod';
import { DRIVERS } from '../protocol/driver.ts';
import { atLeast, flag, limits, parsedIfText } from './option-form.ts';

const temporalTls = z.strictObject({
  caFile: z.string().optional(),
  certFile: z.string().optional(),
  keyFile: z.string().optional(),
  serverName: z.string().optional(),
});

const secretReference = z.strictObject({ provider: z.enum(['env', 'file']), key: z.string().min(1) });

export const DRIVER_SECTIONS = {
  stuck: z.strictObject({
    watchMs: atLeast(0, 60_000).describe(
      'how often a runner looks for executions that stand still: an attempt open for twice its timeout, or an execution that takes three times as long as 99 of 100 others; 0 = never',
    ),
    recover: flag(false).describe(
      'an attempt that stands still on another engine counts as timed out, and its step is retried by force (RETRY_STEP)',
    ),
  }),
  driver: z.strictObject({
    default: z
      .enum(DRIVERS)
      .default('native')
      .describe('the driver of executions whose workflow and environment name none'),
    byEnvironment: z
      .preprocess(parsedIfText, z.record(z.string(), z.enum(DRIVERS)))
      .default({})
      .describe('the driver by environmentId: {"prod": "temporal"}'),
    whenDown: z
      .enum(['queue', 'reject'])
      .default('queue')
      .describe(
        'while the engine of new executions cannot be reached, they either wait as Pending or are refused with 503',
      ),
    lostRun: z
      .enum(['close', 'again'])
      .default('close')
      .describe(
        'when the run of an execution was terminated or deleted in its engine, the execution either fails or is handed over again',
      ),
  }),
  temporal: z.strictObject({
    address: z
      .string()
      .regex(/^[^\s/]+:\d+$/, 'expected host:port')
      .optional()
      .describe('where Temporal answers (host:port); by default 127.0.0.1:7233 where a driver is temporal'),
    namespaceTemplate: z
      .string()
      .regex(/^([^{}]|\{(environment|tenant|project)\})+$/, 'only {environment}, {tenant} and {project} are filled in')
      .default('{environment}-{tenant}')
      .describe(
        'the namespace of a run: {environment}, {tenant} and {project} are filled in; a name without braces is one for all',
      ),
    tls: z
      .preprocess(parsedIfText, z.union([z.boolean(), temporalTls]))
      .default(false)
      .describe('true, or {"caFile": "…", "certFile": "…", "keyFile": "…", "serverName": "…"}: files in PEM'),
    apiKey: z
      .preprocess(parsedIfText, z.union([z.string(), secretReference]))
      .optional()
      .describe(
        'for Temporal Cloud: the key, or where it is: {"provider": "env", "key": "TEMPORAL_API_KEY"}, {"provider": "file", "key": "/run/secrets/temporal"}',
      ),
    autoSetup: flag(true).describe(
      'make namespaces and search attributes that are missing, when they are first needed',
    ),
    retentionDays: atLeast(1, 30).describe(
      'how long Temporal keeps the history of a run, in namespaces that Pawl makes',
    ),
    retentionDaysByEnvironment: limits.describe('the same by environmentId: {"prod": 90}'),
    heartbeatMs: atLeast(1_000, 10_000).describe(
      'how long a worker may be silent before its attempt is given to another',
    ),
    longestAttemptMs: atLeast(1_000, 24 * 3_600_000).describe('how long an attempt without a timeout may take'),
    maxEvents: atLeast(20, 4_000).describe('how many events a history may have before a new run continues it'),
    maxCachedWorkflows: atLeast(1, 600).describe('runs that a worker keeps in memory between their tasks'),
  }),
  conductor: z
    .strictObject({
      url: z
        .url()
        .optional()
        .describe('where Conductor answers; by default http://127.0.0.1:8080 where a driver is conductor'),
      instances: z
        .preprocess(parsedIfText, z.record(z.string(), z.url()))
        .default({})
        .describe('further Conductor servers by name: {"eu": "https://conductor.eu.example"}'),
      byEnvironment: z
        .preprocess(parsedIfText, z.record(z.string(), z.string()))
        .default({})
        .describe('the server of new runs by environmentId: {"prod": "eu"}; all other environments use conductor.url'),
    })
    .superRefine(instancesExist),
};

function instancesExist(
  { instances, byEnvironment }: { instances: Record<string, string>; byEnvironment: Record<string, string> },
  context: z.RefinementCtx,
): void {
  const known = Object.keys(instances).join(', ') || 'none';
  for (const [environmentId, name] of Object.entries(byEnvironment)) {
    if (Object.hasOwn(instances, name)) continue;
    const message = `there is no instance "${name}" in conductor.instances (${known})`;
    context.addIssue({ code: 'custom', path: ['byEnvironment', environmentId], message });
  }
}
