// Every option of Pawl, resolved once from flags, the environment and defaults, and the only reader of the environment.
// An option's environment variable is PAWL_ and its path in upper case: engine.leaseMs is PAWL_ENGINE_LEASE_MS. Units are
// in the names. Errors name the option, what was expected and what came, all of them at once.

import { z } from 'zod';
import { DEFAULT_ENGINE_OPTIONS } from './engine/environment.ts';

const wholeNumber = z.coerce.number().int();
const atLeast = (minimum: number, value: number) => wholeNumber.min(minimum).default(value);
const flag = (value: boolean) =>
  z
    .union([z.boolean(), z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1')])
    .default(value);
const list = z
  .union([z.array(z.string()), z.string().transform((text) => text.split(',').map((part) => part.trim()))])
  .default([]);

/** What is not JSON is left as it is, for the schema to refuse. */
function parsedIfText(value: unknown): unknown {
  try {
    return typeof value === 'string' ? JSON.parse(value) : value;
  } catch {
    return value;
  }
}

const limits = z.preprocess(parsedIfText, z.record(z.string(), wholeNumber.min(1))).default({});

/** `a=1,b=2`, as OpenTelemetry's own variables have it, or JSON. */
function pairsIfText(value: unknown): unknown {
  if (typeof value !== 'string' || value.trimStart().startsWith('{')) return parsedIfText(value);
  const pairs = value.split(',').filter((pair) => pair.trim() !== '');
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/s, 2).map((part) => part.trim())));
}

const headerRecord = z.preprocess(pairsIfText, z.record(z.string(), z.string())).default({});

const engine = DEFAULT_ENGINE_OPTIONS;

const SECTIONS = {
  database: z.strictObject({
    url: z.string().optional().describe('PostgreSQL to use; without it an embedded one is started in dataDir'),
    schema: z.string().default('public').describe('schema that holds the tables'),
    dataDir: z.string().default('.pawl').describe('folder of the embedded PostgreSQL'),
    engineConnections: atLeast(5, 10).describe('connections of the engine: claims, commits, mail'),
    readConnections: atLeast(1, 5).describe('connections of queries that people ask'),
  }),
  server: z.strictObject({
    host: z.string().default('127.0.0.1').describe('address to listen on'),
    port: wholeNumber.min(0).max(65_535).default(7295).describe('P-A-W-L on a phone'),
    publicUrl: z.string().optional().describe('base of callback URLs; by default the address it listens on'),
    bodyLimitBytes: atLeast(1_024, 1024 * 1024).describe('largest body of a request'),
    shutdownMs: atLeast(0, 10_000).describe('how long a stopping server waits for requests in progress'),
    logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info').describe('of the JSON log'),
    checkAnswers: flag(false).describe('an answer that does not match its declared schema is an error (for tests)'),
    planFolder: z.string().optional().describe('folder that `file:` plan references may point into'),
    maxPlanBytes: atLeast(1_024, 16 * 1024 * 1024).describe('largest plan behind a reference'),
  }),
  probe: z.strictObject({
    host: z.string().default('127.0.0.1').describe('address of the second door: health and metrics, without a token'),
    port: wholeNumber.min(0).max(65_535).optional().describe('its port; absent: there is no such door'),
  }),
  auth: z.strictObject({
    allowLooseAuth: flag(false).describe('no token needed; the tenant is the one that the request names (on in dev)'),
    requirePrincipalForExecute: flag(false).describe('an execute request must name its principal'),
    issuer: z.string().optional().describe('`iss` that tokens must have'),
    audience: z.string().optional().describe('`aud` that tokens must have'),
    jwksUrl: z.url().optional().describe('key set that tokens are verified with'),
    jwksFile: z.string().optional().describe('the same, as a file'),
    secret: z.string().min(32).optional().describe('shared secret that tokens are verified with, instead of a key set'),
    clockToleranceSeconds: atLeast(0, 5).describe('how far clocks may differ when expiry is checked'),
  }),
  rateLimit: z.strictObject({
    perTokenPerMinute: atLeast(1, 60).describe('requests that one token may make in a minute'),
    perTokenBurst: atLeast(1, 120).describe('requests that one token may make at once'),
    perWorkflowPerMinute: atLeast(0, 0).describe('executions of one workflow in a minute; 0: any number'),
  }),
  http: z.strictObject({
    allowLoopback: flag(false).describe('let outbound requests reach this machine (on in dev)'),
    allow: list.describe('addresses, ranges and hosts that outbound requests may reach although they are private'),
  }),
  engine: z.strictObject({
    name: z.string().default(engine.name).describe('name of this runner in lists'),
    leaseMs: atLeast(500, engine.leaseMs).describe('a runner that is silent for so long may be declared dead'),
    leaseMarginMs: atLeast(0, engine.leaseMarginMs).describe('no external call starts so close to the end of a lease'),
    maxParallelActions: atLeast(1, engine.maxParallelActions).describe('attempts at once: awaits, not threads'),
    maxParallelPerTenant: atLeast(1, engine.maxParallelPerTenant).describe(
      'attempts of one tenant at once in this runner',
    ),
    maxParallelPerAction: limits.describe('attempts of one action type at once: {"slack.post-message": 5}'),
    maxResident: atLeast(1, engine.maxResident).describe('executions in memory at once'),
    parkAfterMs: atLeast(0, engine.parkAfterMs).describe('what only waits longer than this leaves memory'),
    abortGraceMs: atLeast(0, engine.abortGraceMs).describe('how long a stopping execution waits for its attempts'),
    pollMs: atLeast(10, engine.pollMs).describe('how often the queue is asked when no hint comes'),
    inboxPollMs: atLeast(10, engine.inboxPollMs).describe('how often mail is asked for when no hint comes'),
    drainMs: atLeast(0, engine.drainMs).describe('how long a graceful stop waits for running attempts'),
    maxNestingDepth: atLeast(0, engine.maxNestingDepth).describe('levels of subworkflows'),
    allowRecursion: flag(engine.allowRecursion).describe('a workflow may be its own descendant'),
    maxPoisonRetries: atLeast(1, engine.maxPoisonRetries).describe('crashes before an execution is dead-lettered'),
    commitSlots: atLeast(1, engine.commitSlots).describe('connections that commit at the same time'),
    retentionMs: atLeast(0, engine.retentionMs).describe('executions that ended longer ago are forgotten; 0 = never'),
  }),
  catalog: z.strictObject({
    allowDraftExecution: flag(false).describe('run workflows that were never published, as version 0'),
  }),
  publish: z.strictObject({
    validateParameterTemplates: flag(false).describe('render every parameter once when a workflow is published'),
  }),
  trigger: z.strictObject({
    enableWebhooks: flag(true).describe('let webhooks in'),
    enableSchedules: flag(true).describe('fire schedules in processes that run executions'),
    enableEvents: flag(true).describe('let events in'),
    pollMs: atLeast(10, 1_000).describe('how often schedules are looked at when none is known to be due sooner'),
    leaseMs: atLeast(1_000, 30_000).describe('how late a slot is whose scheduler died while it was at it'),
    graceMs: atLeast(0, 60_000).describe('a slot that is not later than this was not missed'),
    firingRetentionMs: atLeast(0, 30 * 24 * 3_600_000).describe(
      'records of firings that are older are forgotten; 0 = never',
    ),
  }),
  delivery: z.strictObject({
    deliveredAfterMs: atLeast(10, 30_000).describe('what nobody confirmed as delivered is sent again after so long'),
    processedAfterMs: atLeast(10, 300_000).describe('what is delivered but not processed is reminded of after so long'),
    resendCapMs: atLeast(10, 300_000).describe('from the eleventh time on it takes longer each time, but never longer'),
    maxAttempts: atLeast(0, 0).describe('after so many attempts a delivery is dead; 0 = never'),
    concurrency: atLeast(1, 16).describe('messages on their way to one consumer at the same time, unless it says other'),
    timeoutMs: atLeast(10, 15_000).describe('how long a webhook or bus has for its answer'),
    drainMs: atLeast(0, 10_000).describe('how long a graceful stop waits for messages on their way'),
    retentionMs: atLeast(0, 7 * 24 * 3_600_000).describe('messages that are done with are forgotten so much later'),
    natsServers: list.describe('servers that consumers of kind nats may name (host:port); in dev they may name any'),
    consumers: z
      .preprocess(parsedIfText, z.array(z.record(z.string(), z.unknown())))
      .default([])
      .describe('registered when it starts: [{"code": "kyc", "kind": "webhook", "url": "https://…"}]'),
  }),
  monitor: z.strictObject({
    intervalMs: atLeast(10, 1_000).describe('how often it looks for what is due, when it knows of nothing sooner'),
    leaseMs: atLeast(1_000, 10_000).describe('so long is one process the publisher of execution events'),
  }),
  templates: z.strictObject({
    allowLoops: flag(false).describe('document templates may use `for` and `tablerow`'),
    timeoutMs: atLeast(10, 2_000).describe('how long one document may take'),
    memoryMb: atLeast(16, 64).describe('memory of one rendering process'),
    outputLimitBytes: atLeast(1, 1024 * 1024).describe('largest document'),
    processes: atLeast(1, 2).describe('documents rendered at the same time'),
  }),
  cost: z.strictObject({
    usdPerAttempt: z.coerce.number().min(0).default(0).describe('what one attempt costs, for `engine_tenant_cost_usd`'),
    usdPerAttemptHour: z.coerce.number().min(0).default(0).describe('what an hour of attempts costs, for the same'),
  }),
  trace: z.strictObject({
    endpoint: z
      .url()
      .optional()
      .describe('where OpenTelemetry spans go: http://localhost:4318/v1/traces; absent: none'),
    headers: headerRecord.describe('sent with them: {"authorization": "…"}, or `name=value` pairs with commas'),
    serviceName: z.string().default('pawl').describe('`service.name` of the spans'),
    sampleRatio: z.coerce
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe('share of executions that are recorded; a caller that sends `traceparent` decides for its own'),
    exportIntervalMs: atLeast(1, 2_000).describe('how long spans wait for others to be sent with'),
  }),
  action: z.strictObject({
    folder: z.string().optional().describe('folder with your own actions'),
    outputLimitBytes: atLeast(1, 1024 * 1024).describe('largest result of one attempt'),
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

type Sections = typeof SECTIONS;
export type Config = { readonly [K in keyof Sections]: z.output<Sections[K]> } & {
  /** CONNECTOR_*_TOKEN and nothing else. */
  readonly connectorTokens: Readonly<Record<string, string | undefined>>;
};

/** Options as a caller gives them: any part of any section. */
export type ConfigInput = { readonly [K in keyof Sections]?: Partial<z.input<Sections[K]>> | undefined };

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export function resolveConfig(input: ConfigInput = {}, environment: NodeJS.ProcessEnv = process.env): Config {
  const problems: string[] = [];
  const resolved: Record<string, unknown> = {};
  for (const [section, schema] of Object.entries(SECTIONS)) {
    const given = { ...fromEnvironment(section, Object.keys(schema.shape), environment), ...defined(input, section) };
    const parsed = schema.safeParse(given);
    if (parsed.success) resolved[section] = parsed.data;
    else problems.push(...parsed.error.issues.map((issue) => describe(section, issue, given)));
  }
  if (problems.length > 0) throw new ConfigError(`The configuration is not valid:\n${problems.join('\n')}`);
  const tokens = Object.entries(environment).filter(([name]) => /^CONNECTOR_.+_TOKEN$/.test(name));
  return { ...resolved, connectorTokens: Object.fromEntries(tokens) } as unknown as Config;
}

export interface OptionReference {
  readonly section: string;
  readonly option: string;
  readonly variable: string;
  /** As JSON; undefined = none. */
  readonly defaultValue: string | undefined;
  readonly description: string;
}

/** Every option as people look it up: docs/configuration.md is made from this. */
export function optionReference(): OptionReference[] {
  const defaults = resolveConfig({}, {}) as unknown as Record<string, Record<string, unknown>>;
  return Object.entries(SECTIONS).flatMap(([section, schema]) =>
    Object.entries(schema.shape).map(([option, field]) => ({
      section,
      option,
      variable: variableName(section, option),
      defaultValue: JSON.stringify(defaults[section]?.[option]),
      description: (field as z.ZodType).description ?? '',
    })),
  );
}

function fromEnvironment(section: string, options: readonly string[], environment: NodeJS.ProcessEnv) {
  const found: Record<string, string> = {};
  for (const option of options) {
    const value = environment[variableName(section, option)];
    if (value !== undefined) found[option] = value;
  }
  for (const { variable, name, value = (text: string) => text } of ALIASES) {
    const text = environment[variable];
    const [of, option] = name.split('.') as [string, string];
    if (of === section && text !== undefined && text !== '') found[option] ??= value(text);
  }
  return found;
}

/** The names that platforms and other tools have for options of ours. Ours counts first, then the first that is set. */
const ALIASES: readonly { variable: string; name: string; value?: (text: string) => string }[] = [
  { variable: 'DATABASE_URL', name: 'database.url' },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', name: 'trace.endpoint' },
  {
    variable: 'OTEL_EXPORTER_OTLP_ENDPOINT',
    name: 'trace.endpoint',
    value: (base) => `${base.replace(/\/+$/, '')}/v1/traces`,
  },
  { variable: 'OTEL_EXPORTER_OTLP_TRACES_HEADERS', name: 'trace.headers' },
  { variable: 'OTEL_EXPORTER_OTLP_HEADERS', name: 'trace.headers' },
  { variable: 'OTEL_SERVICE_NAME', name: 'trace.serviceName' },
];

function variableName(section: string, option: string): string {
  return `PAWL_${section}_${option.replace(/[A-Z]/g, (letter) => `_${letter}`)}`.toUpperCase();
}

function defined(input: ConfigInput, section: string): Record<string, unknown> {
  const given = input[section as keyof ConfigInput] ?? {};
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** Never in a message: secrets, and URLs that may hold a password (S6). */
const CONFIDENTIAL = new Set(['secret', 'url', 'headers']);

function describe(section: string, issue: z.core.$ZodIssue, given: Record<string, unknown>): string {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `- ${section}.${key}: there is no such option`).join('\n');
  }
  const option = String(issue.path[0] ?? '');
  const came = CONFIDENTIAL.has(option) ? '' : `; it is ${JSON.stringify(given[option])}`;
  return `- ${section}.${option} (${variableName(section, option)}): ${issue.message}${came}`;
}

/** How people like their terminal: the conventions of NO_COLOR, and PAWL_DEBUG=1 for the engine's warnings. */
export function terminalPreferences(
  stream: { readonly isTTY?: boolean },
  environment: NodeJS.ProcessEnv = process.env,
): { readonly colour: boolean; readonly debug: boolean } {
  return { colour: stream.isTTY === true && !environment.NO_COLOR, debug: Boolean(environment.PAWL_DEBUG) };
}

/** Which server the commands that talk to one mean, and as whom: PAWL_URL and PAWL_TOKEN. */
export function clientPreferences(environment: NodeJS.ProcessEnv = process.env): {
  readonly url: string;
  readonly token: string | undefined;
} {
  return { url: environment.PAWL_URL || 'http://127.0.0.1:7295', token: environment.PAWL_TOKEN || undefined };
}
