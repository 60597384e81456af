// Puts Pawl together: the only file that knows every layer. `createPawl` is the engine inside your own process, and what
// the server and the CLI are built on.

import { randomBytes, randomInt } from 'node:crypto';
import type { ActionDefinition } from './action/action.ts';
import { createRenderPool } from './action/core/render-pool.ts';
import { environmentCredentials } from './action/credentials.ts';
import { createHttpClient } from './action/http/client.ts';
import { OVER_WHEN_THEY_ANSWER, openCatalog } from './catalog.ts';
import { definitionSettings, publishOptions } from './config/definition-setting.ts';
import { type Config, type ConfigInput, mistypedVariables, resolveConfig } from './config.ts';
import { uuidV7 } from './core/id/id.ts';
import type { Json } from './core/json/json.ts';
import { createActionAttempts } from './engine/attempt/action-attempt.ts';
import { withOrigin } from './engine/attempt/attempt-origin.ts';
import { DisabledActions } from './engine/attempt/disabled-actions.ts';
import type { EngineMetric } from './engine/environment.ts';
import { callbackToken } from './engine/execution/callback-token.ts';
import { DeadLetters, type DeadLettersDeps } from './engine/execution/dead-letters.ts';
import { ExecutionQueries } from './engine/execution/execution-queries.ts';
import { Executions } from './engine/execution/executions.ts';
import { PlanRuns } from './engine/execution/plan-runs.ts';
import type { Lifecycles } from './engine/lifecycle/lifecycles.ts';
import { QuotaBook } from './engine/quota/quota-book.ts';
import { Quotas } from './engine/quota/quotas.ts';
import { HTTP_STEP, UsageMeter } from './engine/quota/usage-meter.ts';
import { Runner } from './engine/runner/runner.ts';
import { createSwitchboard, type Switchboard } from './engine/runner/switchboard.ts';
import { SchemaCheck } from './engine/start/schema-check.ts';
import { TriggerCheck } from './engine/start/trigger-check.ts';
import { systemTimers } from './engine/system-timers.ts';
import { WorkflowTemplates } from './engine/template/workflow-templates.ts';
import { compileStored, PlanCache } from './engine/workflow/plan-cache.ts';
import { Pipelines } from './engine/workflow/workflow-pipeline.ts';
import { Workflows } from './engine/workflow/workflows.ts';
import { inProcess, type Messaging, type MessagingDeps, openMessaging, type PawlLifecycles } from './messaging.ts';
import type { Metrics } from './server/metrics.ts';
import { type RunningServer, startServer } from './server/server.ts';
import { openStorage } from './storage.ts';
import type { Hint } from './store/hint-port.ts';
import type { Store } from './store/port.ts';
import { openHints } from './store/postgres/hints.ts';
import { leaseThreads } from './store/postgres/lease-thread.ts';
import { inTransactionOf, type TransactionClient } from './store/postgres/start-in-transaction.ts';
import { openProbe, openTelemetry, type TelemetryOptions } from './telemetry.ts';
import { createTriggering, type Triggering } from './trigger/triggering.ts';
import { cronProblem } from './trigger/triggers.ts';

export type { ActionContext, ActionDefinition, ActionResult } from './action/action.ts';
export { defineAction } from './action/action.ts';
export { guardedFetch } from './action/guarded-fetch.ts';
export { passThroughHeaders } from './action/pass-through.ts';
export { errorOfAnswer, readAnswer, requireToken } from './action/remote-failure.ts';
export { loadUserActions } from './action/user/user-actions.ts';
export type { ConfigInput } from './config.ts';
export { RetryableError, TerminalError } from './core/error/error.ts';
export { PawlError } from './core/error/pawl-error.ts';
export type { Handler, HandlerAnswer, Work } from './delivery/channel/process.ts';
export { startEmbedded } from './store/embedded/embedded.ts';
export { migrateDown, migrateUp, migrationStatus } from './store/migrate/migrate.ts';
export { inspectDatabase } from './store/postgres/database-inspection.ts';
export { connectionProblem } from './store/postgres/sqlstate.ts';

export interface PawlOptions extends ConfigInput, Omit<TelemetryOptions, 'serve'> {
  /** Your own actions, beside the built-in ones. */
  readonly actions?: readonly ActionDefinition[];
  /** False: accept and inspect executions, but run none in this process. */
  readonly runner?: boolean;
  /** True: answer HTTP on server.host and server.port. */
  readonly serve?: boolean;
  readonly onProgress?: (step: string) => void;
}

export interface Pawl {
  readonly config: Config;
  readonly store: Store;
  readonly executions: Executions;
  readonly workflows: Workflows;
  readonly pipelines: Pipelines;
  readonly quotas: Quotas;
  readonly triggering: Triggering;
  readonly queries: ExecutionQueries;
  readonly lifecycles: PawlLifecycles;
  readonly messaging: Messaging;
  readonly runner: Runner | null;
  /** Where it answers HTTP; null when it does not. */
  readonly url: string | null;
  /** Where it answers probes and Prometheus; null when it does not (probe.port). */
  readonly probeUrl: string | null;
  readonly metrics: ReadonlyMap<EngineMetric, number>;
  readonly actionTypes: ReadonlySet<string>;
  /** Validates a definition of any format and makes it the workflow's active version. */
  publish(definition: Json, options?: { tenantId?: string }): ReturnType<Workflows['publishNow']>;
  start(
    workflowId: string,
    request?: Omit<Parameters<Executions['start']>[0], 'workflowId' | 'tenantId'> & { tenantId?: string },
  ): Promise<{ executionId: string; isNew: boolean }>;
  /** Waits for the end. */
  result(executionId: string, options?: { tenantId?: string }): Promise<ExecutionResult>;
  close(): Promise<void>;
}

export interface ExecutionResult {
  readonly executionId: string;
  readonly status: 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';
  readonly outputs?: Json;
  readonly error?: { code: string; message: string; nodeId?: string };
}

const DEFAULT_TENANT = 'default';

export async function createPawl(options: PawlOptions = {}): Promise<Pawl> {
  const config = resolveConfig(options);
  const closers: Closers = [];
  const close = async () => {
    const failures: unknown[] = [];
    // One that fails must not keep the others from being closed, the database last of all.
    for (const closer of closers.splice(0).reverse()) await closer().catch((error) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    return { ...(await assemble(options, config, closers)), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

async function assemble(options: PawlOptions, config: Config, closers: Closers): Promise<Omit<Pawl, 'close'>> {
  // Actions are made before what they call: whoever runs one is started last.
  let messaging: Messaging;
  const base = await openBase(options, config, closers, (...call) => messaging.lifecycles.trigger(...call));
  const board = createSwitchboard();
  const services = createServices(base, board);
  messaging = await openMessaging({ ...base, ...base.shared, ...outward(services) });
  let server: RunningServer | null = null;
  const publicUrl = () =>
    config.server.publicUrl ?? server?.url ?? `http://${config.server.host}:${config.server.port}`;
  const runner = options.runner === false ? null : createRunner(base, services.executions, publicUrl, closers);
  // Hints come as soon as they are listened for: by then there must be somebody to tell.
  board.runner = runner;
  const hints = await openHints({ ...base, receive: board.receive });
  board.hints = hints;
  closers.push(() => hints.close());
  closers.push(() => messaging.stop());
  const { scheduler } = services.triggering;
  // Nothing new comes in, then what is here is finished.
  closers.push(async () => {
    await server?.close();
    await scheduler.stop();
    await runner?.stop();
  });
  // Listening first: the address is part of every callback URL that the runner hands out.
  const { metrics } = base.telemetry;
  if (metrics !== null && options.serve === true)
    server = await listen(base, metrics, { ...services, messaging }, board.tell, publicUrl);
  const probe = await openProbe(base.telemetry, config, { store: base.store, actionTypes: base.registry.types });
  if (probe !== null) closers.push(() => probe.close());
  await runner?.start();
  await messaging.start();
  if (runner !== null && config.trigger.enableSchedules) scheduler.start();
  const { store, telemetry, registry } = base;
  const urls = { url: server?.url ?? null, probeUrl: probe?.url ?? null };
  const parts = {
    config,
    store,
    ...services,
    lifecycles: inProcess(messaging),
    messaging,
    runner,
    ...urls,
    actionTypes: registry.types,
  };
  return { ...parts, metrics: telemetry.counts, ...operations(services.workflows, services.executions) };
}

type Closers = (() => Promise<unknown>)[];
type Base = Awaited<ReturnType<typeof openBase>>;
type Services = ReturnType<typeof createServices>;
type Tell = (hint: Hint) => void;

/** What everything else stands on: the store, the actions, and somebody to tell. */
async function openBase(options: PawlOptions, config: Config, closers: Closers, trigger: Lifecycles['trigger']) {
  const { store, connectionString } = await openStorage(config, closers, options.onProgress);
  const telemetry = await openTelemetry(options, config, store);
  closers.push(() => telemetry.close());
  const { warn } = telemetry;
  for (const mistyped of mistypedVariables())
    warn('there is no such option: the variable means nothing', { ...mistyped });
  const catalog = await openCatalog(options.actions ?? [], config, { store, closers, telemetry, trigger });
  const http = createHttpClient({ allowLoopback: config.http.allowLoopback, allow: config.http.allow });
  closers.push(() => http.close());
  const callbackKey = await store.secretGet({ name: 'callback' });
  const shared = {
    store,
    plans: new PlanCache(store, systemTimers, (definition) => compileStored(definition, definitionSettings(config))),
    timers: systemTimers,
    newId,
  };
  const book = new QuotaBook({ ...shared, observer: { warn } });
  await book.start();
  closers.push(async () => book.stop());
  const disabled = new DisabledActions(store, systemTimers);
  const schemas = new SchemaCheck(catalog.renderer);
  const parts = { ...catalog, http, telemetry, warn, callbackKey, shared, book, disabled, schemas };
  return { config, store, connectionString, ...parts };
}

function createServices(base: Base, { tell, adopt }: Pick<Switchboard, 'tell' | 'adopt'>) {
  const { config, store, shared, callbackKey, telemetry, book, documents, renderer, schemas } = base;
  const executions = new Executions({
    ...shared,
    callbackKey,
    schemas,
    allowDraftExecution: config.catalog.allowDraftExecution,
    limitsRuns: (tenantId) => book.limitsRuns(tenantId),
    wallClockMs: () => Date.now(),
    accepted: telemetry.accepted,
    adopt,
    workWanted: (lanes) => tell({ kind: 'work', lanes }),
    mailArrived: (executionId) => tell({ kind: 'mail', executionId }),
  });
  const quotas = new Quotas({ store, changed: () => book.runOnce() });
  const workflows = new Workflows({ store, quotas, schemas, options: publishOptions(config) });
  return {
    executions,
    workflows,
    quotas,
    queries: new ExecutionQueries({ ...shared, news: (executionId) => executions.news(executionId) }),
    pipelines: new Pipelines(store, workflows, cronProblem),
    documents,
    workflowTemplates: new WorkflowTemplates({ store, workflows, renderer }),
    triggering: createTriggering({
      ...shared,
      start: (request) => executions.start(request),
      admitCron: async (tenantId) => (book.isCounted(tenantId) ? quotas.checkCron(tenantId) : undefined),
      observer: telemetry,
      measure: telemetry.measure,
      expressionLimits: config.expression,
      randomBytes,
      strict: !config.auth.allowLooseAuth,
      deadLetters: config.engine.deadLetters,
      options: config.trigger,
    }),
  };
}

/** How messages come back in: routes start workflows, and our own events fire triggers. */
function outward({ executions, triggering }: Services): Pick<MessagingDeps, 'startWorkflow' | 'handInEvent'> {
  return {
    // A lifecycle's env is the environment of what it starts.
    startWorkflow: (start) => executions.start({ ...start, environmentId: String(start.trigger.env) }),
    handInEvent: (tenantId, event) => triggering.intake.event(tenantId, event, {}),
  };
}

function listen(
  { config, store, registry, telemetry, disabled }: Base,
  metrics: Metrics,
  { triggering, messaging, ...services }: Services & { messaging: Messaging },
  tell: Tell,
  publicUrl: () => string,
): Promise<RunningServer> {
  const { workflows } = services;
  const publish = (plan: Json, { tenantId }: { tenantId: string }) => workflows.publishNow(tenantId, plan);
  const runs = new PlanRuns({ ...services, publish });
  const fireAgain: DeadLettersDeps['fireAgain'] = (...firing) => triggering.intake.again(...firing);
  const deadLetters = new DeadLetters({ store, fireAgain, workWanted: () => tell({ kind: 'work' }) });
  const parts = {
    store,
    ...services,
    ...triggering,
    ...messaging,
    runs,
    deadLetters,
    metrics,
    actionTypes: registry.types,
    disabled,
    publicUrl,
  };
  return startServer(parts, { ...config, observer: telemetry.http });
}

function createRunner(base: Base, executions: Executions, publicUrl: () => string, closers: Closers): Runner {
  const { config, registry, store, http, telemetry, warn, callbackKey, shared, book, disabled, schemas } = base;
  const triggers = new TriggerCheck(store, schemas);
  const meter = new UsageMeter({ ...shared, observer: { warn }, isCounted: (tenantId) => book.isCounted(tenantId) });
  closers.push(() => meter.stop());
  const attempts = createActionAttempts({
    registry,
    store,
    http,
    credentials: environmentCredentials(config.connectorTokens),
    wallClockMs: () => Date.now(),
    outputLimitBytes: config.action.outputLimitBytes,
    abortGraceMs: config.engine.abortGraceMs,
    disabled,
  });
  return new Runner({
    ...shared,
    observer: {
      ...telemetry,
      ended(ended) {
        executions.ended(ended);
        telemetry.ended(ended);
      },
    },
    tracing: telemetry.tracing,
    openLeaseThread: leaseThreads({ connectionString: base.connectionString, schema: config.database.schema }),
    checkTrigger: (...given) => triggers.check(...given),
    options: { ...config.engine, expressionLimits: config.expression, templateStyle: config.templates },
    newSeed: () => randomInt(2 ** 31),
    callbackUrl: (executionId, nodeId) => `${publicUrl()}/wh/${callbackToken(callbackKey, { executionId, nodeId })}`,
    perTenantAction: (tenantId, type) =>
      type === HTTP_STEP ? book.httpStepsAtOnce(tenantId) : Number.POSITIVE_INFINITY,
    run: withOrigin(meter.measure(telemetry.observed(attempts)), OVER_WHEN_THEY_ANSWER),
  });
}

/**
 * Starts an execution in a transaction of yours, on the client that has begun it: the execution exists when you commit, and
 * never did if you roll back. Runners find it when they next look (engine.pollMs). What a start would refuse is refused here
 * before anything is written, so your transaction can go on.
 */
export function startInTransaction(
  client: TransactionClient,
  request: Omit<Parameters<Executions['start']>[0], 'tenantId'> & { tenantId?: string; schema?: string },
): Promise<{ executionId: string; isNew: boolean }> {
  const { schema, tenantId = DEFAULT_TENANT, ...rest } = request;
  // Starts a process only for a triggerSchema that needs one.
  const renderer = createRenderPool(resolveConfig({}, {}).templates);
  const schemas = new SchemaCheck(renderer);
  return inTransactionOf(client, schema, (store) => {
    const plans = new PlanCache(store, systemTimers);
    const nobody = { callbackKey: new Uint8Array(), workWanted() {}, mailArrived() {} };
    const clock = { timers: systemTimers, newId, wallClockMs: () => Date.now() };
    const limitsRuns = async () => (await store.quotaGet({ tenantId })) !== null;
    return new Executions({ store, plans, schemas, ...clock, ...nobody, limitsRuns }).start({ ...rest, tenantId });
  }).finally(() => renderer.close());
}

const newId = () => uuidV7(Date.now(), randomBytes(16));

function operations(workflows: Workflows, executions: Executions): Pick<Pawl, 'publish' | 'start' | 'result'> {
  return {
    publish: (definition, { tenantId = DEFAULT_TENANT } = {}) => workflows.publishNow(tenantId, definition),
    start: (workflowId, { tenantId = DEFAULT_TENANT, ...request } = {}) =>
      executions.start({ ...request, tenantId, workflowId }),
    async result(executionId, { tenantId = DEFAULT_TENANT } = {}) {
      const { status, outputs, error } = await executions.result(tenantId, executionId);
      return {
        executionId,
        status,
        ...(outputs === null ? {} : { outputs: JSON.parse(outputs) as Json }),
        ...(error === null ? {} : { error: JSON.parse(error) as { code: string; message: string } }),
      };
    },
  };
}
