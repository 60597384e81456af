// All options: unit in the name, default, and purpose. docs/configuration.md is generated from this.

import { z } from 'zod';
import { DEFINITION_DEFAULTS } from '../core/definition/defaults.ts';
import { MAX_NODES } from '../core/definition/limits.ts';
import { DEFAULT_LIMITS } from '../core/expression/evaluation.ts';
import { INFERRED_QUEUES } from '../core/plan/task-queue.ts';
import { DEFAULT_ENGINE_OPTIONS } from '../engine/environment.ts';
import { tenantId } from '../protocol/identifier.ts';
import { DRIVER_SECTIONS } from './driver-option.ts';
import { atLeast, flag, fraction, headers, limits, list, parsedIfText, wholeNumber } from './option-form.ts';
import { rateLimitSection } from './rate-limit-option.ts';
import { secretSection } from './secret-option.ts';

const engine = DEFAULT_ENGINE_OPTIONS;
const defaults = DEFINITION_DEFAULTS;

const retryPolicy = z
  .strictObject({
    maxAttempts: z.int().min(0),
    baseDelayMs: z.int().min(0),
    backoffFactor: z.number().min(1),
    maxDelayMs: z.int().min(0).nullable(),
    jitter: z.boolean(),
  })
  .partial();

/** Registration checks a consumer; only its tenant must be known here. */
const configuredConsumer = z.looseObject({
  tenantId: tenantId.optional(),
});

/** A lease is renewed every third of it. With a margin of more than half the lease, a runner would silently start nothing. */
function marginWithinLease(
  { leaseMs, leaseMarginMs = 0 }: { leaseMs: number; leaseMarginMs?: number | undefined },
  context: z.core.$RefinementCtx,
): void {
  const most = Math.floor(leaseMs / 2);
  if (leaseMarginMs <= most) return;
  const message = `at most ${most}, half of engine.leaseMs (no action would start)`;
  context.addIssue({ code: 'custom', path: ['leaseMarginMs'], message });
}

export const SECTIONS = {
  database: z.strictObject({
    url: z.string().optional().describe('PostgreSQL to use; without it an embedded one is started in dataDir'),
    directUrl: z
      .string()
      .optional()
      .describe(
        'PostgreSQL itself, where `url` leads through a transaction pooler (PgBouncer): for leases, notifications and migrations',
      ),
    schema: z.string().default('public').describe('schema that holds the tables'),
    allowAsyncCommit: flag(false).describe(
      'leave synchronous_commit as the server or the role has it; false: it is on, so that what was acknowledged is kept',
    ),
    rowSecurity: z
      .string()
      .optional()
      .describe(
        'a role without login under which requests of a tenant read and write: row-level security shows it the rows of that tenant alone; made if the role of `url` may make it',
      ),
    queryTimeoutMs: atLeast(1_000, 60_000).describe('how long a statement may take before its connection is given up'),
    dataDir: z.string().default('.pawl').describe('folder of the embedded PostgreSQL'),
    engineConnections: atLeast(5, 10).describe('connections of the engine: claims, commits, mail'),
    readConnections: atLeast(1, 5).describe('connections of queries that people ask'),
    maxConnections: wholeNumber(8)
      .optional()
      .describe(
        'all connections of this process: two are kept for the lease and for notifications, and the pools above shrink to the rest; absent: no further limit',
      ),
  }),
  server: z.strictObject({
    host: z.string().default('127.0.0.1').describe('address to listen on'),
    port: wholeNumber(0, 65_535).default(7295).describe('port to listen on; 7295 is P-A-W-L on a phone'),
    publicUrl: z.string().optional().describe('base of callback URLs; by default the address it listens on'),
    bodyLimitBytes: atLeast(1_024, 1024 * 1024).describe('largest body of a request'),
    stopDelayMs: atLeast(0, 2_000).describe(
      'how long the server reports "not ready" after SIGTERM and still serves, so that load balancers stop sending requests first',
    ),
    shutdownMs: atLeast(0, 10_000).describe('how long a stopping server waits for requests in progress'),
    databaseTimeoutMs: atLeast(100, 4_000).describe(
      'how long the database may be silent before requests are refused with 503, until it answers again',
    ),
    logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info').describe('of the JSON log'),
    checkAnswers: flag(false).describe(
      'treat an answer that does not match its declared schema as an error (for tests)',
    ),
    planFolder: z.string().optional().describe('folder that `file:` plan references may point into'),
    planBuckets: list.describe('buckets that `s3:` plan references may point into'),
    maxPlanBytes: atLeast(1_024, 16 * 1024 * 1024).describe('largest plan behind a reference'),
    planCacheMs: wholeNumber(0, 3_600_000)
      .default(3_600_000)
      .describe('how long a plan behind a reference stays in the cache, at most until its `expiresAt`; 0 = no cache'),
  }),
  probe: z.strictObject({
    host: z
      .string()
      .default('127.0.0.1')
      .describe('address of a second listener that serves health and metrics without a token'),
    port: wholeNumber(0, 65_535).optional().describe('its port; absent: there is no second listener'),
  }),
  auth: z.strictObject({
    allowLooseAuth: flag(false).describe(
      'accept requests without a token; the request then names its tenant (on in dev)',
    ),
    requirePrincipalForExecute: flag(false).describe('require a principal in every execute request'),
    validateDownstreamPermissions: flag(false).describe(
      "people act with a credential of their own: the tenant's connection does not stand in for them",
    ),
    issuer: z.string().optional().describe('`iss` that tokens must have'),
    audience: z.string().optional().describe('`aud` that tokens must have'),
    jwksUrl: z.url().optional().describe('key set that tokens are verified with'),
    jwksFile: z.string().optional().describe('the same, as a file'),
    secret: z.string().min(32).optional().describe('shared secret that tokens are verified with, instead of a key set'),
    clockToleranceSeconds: atLeast(0, 5).describe('how far clocks may differ when expiry is checked'),
  }),
  rateLimit: rateLimitSection,
  http: z.strictObject({
    allowLoopback: flag(false).describe('let outbound requests reach this machine (on in dev)'),
    allow: list.describe('addresses, ranges and hosts that outbound requests may reach although they are private'),
  }),
  secret: secretSection,
  engine: z
    .strictObject({
      name: z.string().default(engine.name).describe('name of this runner in lists'),
      leaseMs: atLeast(500, engine.leaseMs).describe(
        'how long a runner may go without renewing its lease before others may declare it dead',
      ),
      leaseMarginMs: wholeNumber(0)
        .optional()
        .describe(
          'no external call starts within this time before the lease ends; absent: a fifth of the lease, at most 2,000; never more than half of it',
        ),
      maxParallelActions: atLeast(1, engine.maxParallelActions).describe(
        'attempts that run at once; they are promises, not threads',
      ),
      maxParallelPerTenant: atLeast(0, engine.maxParallelPerTenant).describe(
        'attempts of one tenant that run at once in this runner; 0 = no limit of its own',
      ),
      maxParallelPerAction: limits.describe('attempts of one action type that run at once: {"slack.post-message": 5}'),
      maxResident: atLeast(1, engine.maxResident).describe('executions that may be in memory at once'),
      maxResidentBytes: atLeast(1, engine.maxResidentBytes).describe(
        'bytes of payloads, parameters and outputs in memory, at most a quarter of the heap; further executions wait in the database',
      ),
      parkAfterMs: atLeast(0, engine.parkAfterMs).describe(
        'an execution that only waits, for longer than this, leaves memory',
      ),
      abortGraceMs: atLeast(0, engine.abortGraceMs).describe('how long a stopping execution waits for its attempts'),
      pollMs: atLeast(10, engine.pollMs).describe('how often the runner polls the queue when no notification comes'),
      inboxPollMs: atLeast(10, engine.inboxPollMs).describe(
        'how often the runner polls for mail when no notification comes',
      ),
      drainMs: atLeast(0, engine.drainMs).describe('how long a graceful stop waits for running attempts'),
      maxNestingDepth: atLeast(0, engine.maxNestingDepth).describe('how many levels of subworkflows are allowed'),
      allowRecursion: flag(engine.allowRecursion).describe(
        'allow a workflow to start itself, directly or through its subworkflows',
      ),
      maxPoisonRetries: atLeast(1, engine.maxPoisonRetries).describe(
        'crashes after which an execution runs alone in its runner; one more then proves that it is the cause, and it is dead-lettered',
      ),
      poisonDelayMs: atLeast(0, engine.poisonDelayMs).describe(
        'how long an execution that was there at several crashes waits before it runs again; 0: it runs beside few others, so it need not wait',
      ),
      deadLetters: flag(engine.deadLetters).describe(
        'keep an execution that the engine gave up on as a dead letter, to look at and to requeue; false: it only becomes Failed',
      ),
      commitSlots: atLeast(1, engine.commitSlots).describe('how many connections commit at the same time'),
      retentionMs: atLeast(0, engine.retentionMs).describe('how long an ended execution is kept; 0 = for ever'),
    })
    .superRefine(marginWithinLease),
  ...DRIVER_SECTIONS,
  taskQueue: z.strictObject({
    serve: list
      .default([...INFERRED_QUEUES])
      .describe(
        'task queues whose attempts a runner runs itself; `*` at the end stands for anything. Attempts of all others wait for workers',
      ),
    isolatedTenants: list.describe(
      'tenants whose attempts wait in `tq-isolation-{tenant}-{environment}`, unless their plan names a queue',
    ),
    leaseMs: atLeast(1_000, 30_000).describe(
      'how long a worker of `pawl runner --task-queue` may be silent before it loses its attempts',
    ),
    pollMs: atLeast(50, 1_000).describe('how often such a worker polls for attempts when no notification comes'),
    workerPool: z
      .string()
      .min(1)
      .optional()
      .describe('such a worker takes only attempts that ask for this pool, or for none'),
    runtime: z.string().min(1).optional().describe('the same for the runtime that a step asks for'),
    resourceClass: z.string().min(1).optional().describe('the same for the resource class that a step asks for'),
  }),
  definition: z.strictObject({
    actionTimeoutMs: atLeast(1, defaults.attemptTimeoutMs).describe('timeout of an attempt whose node names none'),
    workflowTimeoutMs: atLeast(1, defaults.graphTimeoutMs).describe('timeout of an execution whose graph names none'),
    childTimeoutMs: wholeNumber(1)
      .optional()
      .describe('timeout of a node that waits for a subworkflow and names none; absent: as long as the child may take'),
    retryMaxAttempts: atLeast(0, defaults.retry.maxAttempts).describe(
      'how many attempts a node has in all, unless it says otherwise',
    ),
    retryInitialDelayMs: atLeast(0, defaults.retry.baseDelayMs).describe('delay before the second attempt'),
    retryBackoffFactor: fraction(1, 1_000, defaults.retry.backoffFactor).describe(
      'factor by which each delay is longer than the one before',
    ),
    retryJitter: flag(defaults.retry.jitter).describe('spread retries, so that they do not come back all at once'),
    retryPolicies: z
      .preprocess(parsedIfText, z.record(z.string(), retryPolicy))
      .default({})
      .describe('policies that `retryPolicyRef` of execution plans may name: {"slow": {"maxAttempts": 10}}'),
    maxNodes: atLeast(1, MAX_NODES).describe('how many nodes a published workflow may have'),
    maxContextSizeBytes: atLeast(1, defaults.snapshot.maxContextSizeBytes).describe(
      'bytes of the outputs of all nodes of one execution',
    ),
    overflowBehavior: z
      .enum(['Fail', 'AutoPruneOldest', 'DropOversize'])
      .default(defaults.snapshot.overflowBehavior)
      .describe('what happens to an execution whose outputs exceed that'),
    snapshotMode: z
      .enum(['Full', 'SummaryOnly', 'KeysOnly'])
      .default(defaults.snapshot.mode)
      .describe('what the context snapshot of an ended execution holds'),
    snapshotKeys: list.describe('nodes whose outputs the snapshot holds under `KeysOnly`'),
  }),
  expression: z.strictObject({
    maxSteps: atLeast(1, DEFAULT_LIMITS.maxSteps).describe('steps of one evaluation, wherever the expression stands'),
    maxDepth: atLeast(1, DEFAULT_LIMITS.maxDepth).describe('how deep expressions may be nested'),
    maxBytes: atLeast(1, DEFAULT_LIMITS.maxBytes).describe(
      'bytes that one evaluation may build, and that the parameters of one node may have',
    ),
    maxRenderedBytes: atLeast(1, DEFAULT_LIMITS.maxRenderedBytes).describe(
      'bytes of the parameters of all nodes of one execution',
    ),
  }),
  catalog: z.strictObject({
    autoRegisterActions: flag(true).describe('list the actions of this process in the catalog when it starts'),
    allowDraftExecution: flag(false).describe('run workflows that were never published, as version 0'),
  }),
  publish: z.strictObject({
    validateParameterTemplates: flag(false).describe('render every parameter once when a workflow is published'),
  }),
  trigger: z.strictObject({
    webhookBasePath: z
      .string()
      .regex(/^(\/[A-Za-z0-9_-]+)+$/, 'expected a path such as /hooks')
      .default('/api/v1/triggers')
      .describe('where webhooks come in; the id of the trigger follows'),
    enableWebhooks: flag(true).describe('accept webhooks'),
    enableSchedules: flag(true).describe('fire schedules in processes that run executions'),
    enableEvents: flag(true).describe('accept events'),
    pollMs: atLeast(10, 2_000).describe('how often the scheduler polls when it knows of nothing due sooner'),
    leaseMs: atLeast(1_000, 30_000).describe(
      'how long a scheduler owns a slot; when it dies, another one fires the slot after this time',
    ),
    graceMs: atLeast(0, 60_000).describe('how late a slot may fire before it counts as missed'),
    firingRetentionMs: atLeast(0, 30 * 24 * 3_600_000).describe('how long records of firings are kept; 0 = for ever'),
  }),
  delivery: z.strictObject({
    deliveredAfterMs: atLeast(10, 30_000).describe(
      'how long to wait for a consumer to confirm delivery before the message is sent again',
    ),
    processedAfterMs: atLeast(10, 300_000).describe(
      'how long to wait for a consumer to process a delivered message before a reminder is sent',
    ),
    resendCapMs: atLeast(10, 300_000).describe(
      'the longest pause between two attempts; pauses grow from the eleventh attempt on',
    ),
    maxAttempts: atLeast(0, 0).describe('how many attempts a delivery has before it is dead; 0 = no limit'),
    busMaxAttempts: atLeast(0, 20).describe('the same for a bus (nats), where `maxAttempts` is 0'),
    concurrency: atLeast(1, 16).describe(
      'messages that are on their way to one consumer at the same time, unless the consumer says otherwise',
    ),
    timeoutMs: atLeast(10, 15_000).describe('how long a webhook or bus may take to answer'),
    drainMs: atLeast(0, 10_000).describe('how long a graceful stop waits for messages on their way'),
    retentionMs: atLeast(0, 7 * 24 * 3_600_000).describe('how long a finished message is kept'),
    natsServers: list.describe('servers that consumers of kind nats may name (host:port); in dev they may name any'),
    consumers: z
      .preprocess(parsedIfText, z.array(configuredConsumer))
      .default([])
      .describe(
        'consumers to register at the start, for the tenant `default` unless they name one: [{"tenantId": "acme", "code": "kyc", "kind": "webhook", "url": "https://…"}]',
      ),
  }),
  monitor: z.strictObject({
    intervalMs: atLeast(10, 1_000).describe('how often the monitor polls when it knows of nothing due sooner'),
    leaseMs: atLeast(1_000, 10_000).describe(
      'how long a process owns the work it took (publishing, a timeout, the outcome of a hook) before another may take it over',
    ),
  }),
  templates: z.strictObject({
    nullText: z
      .string()
      .default('')
      .describe('the text for null inside a longer text, in parameters and documents; pipelines write nothing'),
    strict: flag(true).describe(
      'treat a missing value as an error, in parameters and documents; false: it counts as null; pipelines are always strict',
    ),
    allowLoops: flag(false).describe('document templates may use `for` and `tablerow`'),
    timeoutMs: atLeast(10, 2_000).describe('how long one document may take'),
    memoryMb: atLeast(16, 64).describe('memory of one rendering process'),
    outputLimitBytes: atLeast(1, 1024 * 1024).describe('largest document'),
    processes: atLeast(1, 2).describe('documents rendered at the same time'),
  }),
  cost: z.strictObject({
    usdPerAttempt: fraction(0, Number.MAX_SAFE_INTEGER, 0).describe(
      'what one attempt costs, for `engine_tenant_cost_usd`',
    ),
    usdPerAttemptHour: fraction(0, Number.MAX_SAFE_INTEGER, 0).describe('what an hour of attempts costs, for the same'),
    usdPerUnit: fraction(0, Number.MAX_SAFE_INTEGER, 0).describe(
      'what one of the `costUnits` costs that steps report, for the same',
    ),
  }),
  trace: z.strictObject({
    endpoint: z
      .url()
      .optional()
      .describe('where OpenTelemetry spans go: http://localhost:4318/v1/traces; absent: none'),
    headers: headers.describe('headers sent with the spans: {"authorization": "…"}, or `name=value` pairs with commas'),
    serviceName: z.string().default('pawl').describe('`service.name` of the spans'),
    sampleRatio: fraction(0, 1, 1).describe(
      'share of executions that are recorded; a caller that sends `traceparent` decides for its own',
    ),
    exportIntervalMs: atLeast(1, 2_000).describe('how long spans are collected before they are sent'),
  }),
  action: z.strictObject({
    folder: z.string().optional().describe('folder with your own actions'),
    outputLimitBytes: atLeast(1, 1024 * 1024).describe('largest result of one attempt'),
  }),
  artifact: z.strictObject({
    folder: z
      .string()
      .optional()
      .describe('folder of artifacts, seen by every process; by default `artifacts` beside the embedded database'),
    s3Bucket: z.string().optional().describe('bucket of artifacts, instead of a folder'),
    s3Prefix: z.string().default('').describe('prefix of every key in the bucket, such as `pawl/`'),
    s3Region: z.string().default('us-east-1').describe('region of the bucket, also of buckets with plans'),
    s3Endpoint: z.url().optional().describe('URL of an S3-compatible server; by default AWS in the region'),
    s3AccessKeyId: z.string().optional().describe('access key id for S3'),
    s3SecretAccessKey: z.string().optional().describe('the secret key of s3AccessKeyId'),
    logDays: wholeNumber(0).default(14).describe('how many days log bundles are kept; 0 = as long as their execution'),
    resultDays: wholeNumber(0).default(90).describe('the same for manifests, run results and artifacts of your own'),
    sampleDays: wholeNumber(0).default(7).describe('the same for samples of data'),
  }),
  dbt: z.strictObject({
    command: z
      .string()
      .optional()
      .describe('the dbt program; by default the one of `npm run servers`, else `dbt` of the PATH'),
    folder: list.describe(
      'folders that hold dbt projects; `pawl dev` takes the one it runs in, `pawl run` also that of its file',
    ),
  }),
  plugin: z.strictObject({
    folder: z.string().optional().describe('folder of plugins for execution plans: <pluginId>/<version>/plugin.json'),
    allowNetwork: flag(false).describe('plugins that ask for a network share that of the runner'),
    allowWithoutNamespace: flag(false).describe(
      'run plugins also where the system gives them no network namespace: they can then reach the network of the runner',
    ),
  }),
  connectors: z.strictObject({
    slackBaseUrl: z.url().optional().describe("Slack's Web API; by default https://slack.com/api/"),
    mondayBaseUrl: z.url().optional().describe("Monday's GraphQL API; by default https://api.monday.com/v2"),
    confluenceBaseUrl: z.url().optional().describe('where Confluence is: https://example.atlassian.net/wiki'),
    confluenceEdition: z.enum(['cloud', 'data-center']).optional().describe('by default told from the base URL'),
    emailSmtpUrl: z.string().optional().describe('mail server, without the password: smtp://user@mail.example.com:587'),
    emailFrom: z.string().optional().describe('sender of messages that name none'),
  }),
};

export type Sections = typeof SECTIONS;
export type SectionName = keyof Sections;

/** Never shown in a message: secrets, and URLs that may contain a password (S6). */
export const CONFIDENTIAL: ReadonlySet<string> = new Set([
  'database.url',
  'database.directUrl',
  'auth.secret',
  'trace.headers',
  'temporal.apiKey',
  'delivery.consumers',
]);
