// Puts Pawl together, part by part. `createPawl` embeds the engine in your own process; the server and the CLI are built on it.

import packageJson from '../../package.json' with { type: 'json' };
import { createRenderPool } from '../action/core/render-pool.ts';
import { systemTimers } from '../clock/system-timers.ts';
import { type Config, type ConfigInput, resolveConfig } from '../config/config.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import { chooseDriver, type DriverOptions, type DriverWish } from '../driver/driver-choice.ts';
import type { EngineMetric } from '../engine/environment.ts';
import type { Runner } from '../engine/runner/runner.ts';
import type { OutsideTurns } from '../engine/turn/outside-turn.ts';
import type { ExecutionQueries } from '../execution/execution-queries.ts';
import { Executions } from '../execution/executions.ts';
import { StuckWatch } from '../execution/stuck-watch.ts';
import type { Quotas } from '../quota/quotas.ts';
import type { AnswerMcp } from '../server/route/mcp-routes.ts';
import { type RunningServer, startServer } from '../server/server.ts';
import type { Statistics } from '../statistics/statistics.ts';
import type { Store } from '../store/port.ts';
import { inTransactionOf, type TransactionClient } from '../store/postgres/start-in-transaction.ts';
import type { Triggering } from '../trigger/triggering.ts';
import { compileKnown, PlanCache } from '../workflow/plan-cache.ts';
import { SchemaCheck } from '../workflow/schema-check.ts';
import type { Pipelines } from '../workflow/workflow-pipeline.ts';
import type { Workflows } from '../workflow/workflows.ts';
import { createDriving } from './driving.ts';
import { type Closers, type Foundation, type FoundationOptions, newId, openFoundation } from './foundation.ts';
import { inProcess, type Messaging, openMessaging, type PawlLifecycles } from './messaging.ts';
import { remotePlans } from './plan-transport.ts';
import { createAttempts, createRunner } from './running.ts';
import { createAuthorization, tokensInEnvironment } from './secrecy.ts';
import { comingBackIn, createServices, type Services } from './services.ts';
import { createSwitchboard } from './switchboard.ts';
import { createWorking } from './task-queues.ts';
import { openProbe } from './telemetry.ts';

export interface PawlOptions extends ConfigInput, Omit<FoundationOptions, 'serve'> {
  /** False: accept and inspect executions, but run none in this process. */
  readonly runner?: boolean;
  /** True: answer HTTP on server.host and server.port. */
  readonly serve?: boolean;
  /** Run attempts of these task queues and nothing else, whichever engine runs the executions; absent: everything. */
  readonly taskQueues?: readonly string[];
  /** false: the probe's port stays closed. For short-lived programs beside a process that holds the port. */
  readonly isWatched?: boolean;
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
  readonly statistics: Statistics;
  readonly lifecycles: PawlLifecycles;
  readonly messaging: Messaging;
  readonly runner: Runner | null;
  /** The HTTP address; null when it does not serve. */
  readonly url: string | null;
  /** The address for probes and Prometheus; null without probe.port. */
  readonly probeUrl: string | null;
  readonly metrics: ReadonlyMap<EngineMetric, number>;
  readonly actionTypes: ReadonlySet<string>;
  /** Validates a definition of any format and makes it the workflow's active version. */
  publish(definition: Json | object, options?: { tenantId?: string }): ReturnType<Workflows['publishNow']>;
  start(
    workflowId: string,
    request?: Omit<Parameters<Executions['start']>[0], 'workflowId' | 'tenantId'> & { tenantId?: string },
  ): Promise<{ executionId: string; isNew: boolean }>;
  /** Waits for the end. */
  result(executionId: string, options?: { tenantId?: string }): Promise<ExecutionResult>;
  /** Reports "not ready" and serves on for server.stopDelayMs, so that load balancers can move on. Call close afterwards. */
  announceStop(): Promise<void>;
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
    // A failing closer must not keep the others from running; the database closes last.
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

/** A worker of task queues in your own process: it runs attempts with your actions, and needs nothing but the database. */
export function createWorker(
  options: Omit<PawlOptions, 'taskQueues' | 'runner' | 'serve'> & { readonly taskQueues: readonly string[] },
): Promise<Pick<Pawl, 'close'>> {
  return createPawl({ isWatched: false, ...options });
}

async function assemble(options: PawlOptions, config: Config, closers: Closers): Promise<Omit<Pawl, 'close'>> {
  // Actions are created before the services they call, so whatever runs actions starts last.
  let messaging: Messaging;
  const foundation = await openFoundation(options, config, closers, (...call) => messaging.lifecycles.trigger(...call));
  const { store, registry, telemetry, artifacts } = foundation;
  const board = createSwitchboard();
  const run = createAttempts(foundation, closers, (...lines) => services.heads.tellLines(...lines));
  const { taskQueues = [] } = options;
  const driving = createDriving({
    foundation,
    executions: () => services.executions,
    publicUrl: () => publicUrl(),
    run,
    works: options.runner !== false,
    taskQueues,
  });
  const services = createServices(foundation, board, driving.drivers);
  const tell = board.tell;
  messaging = await openMessaging({ ...foundation, ...foundation.shared, ...comingBackIn(services), tell });
  board.messaging = messaging;
  let server: RunningServer | null = null;
  const publicUrl = () =>
    config.server.publicUrl ?? server?.url ?? `http://${config.server.host}:${config.server.port}`;
  const isRunner = options.runner !== false && taskQueues.length === 0;
  const working = createWorking(foundation, board, run, options.runner === false ? [] : taskQueues);
  const forRunner = { ...services, released: board.released, routing: working.routing };
  const runner = isRunner ? createRunner(foundation, forRunner, publicUrl, run) : null;
  // Hints arrive as soon as the listener is open, so the runner must be set by then.
  board.runner = runner;
  const room = runner === null ? undefined : () => runner.room();
  const hints = await foundation.openHints({ receive: board.receive, room }, telemetry.warn);
  board.hints = hints;
  closers.push(...[() => hints.close(), () => messaging.stop()]);
  const { triggering } = services;
  // First nothing new comes in, then running work is finished.
  closers.push(async () => {
    await server?.close();
    await triggering.scheduler.stop();
    await services.bulk.stop();
    await driving.stop();
    await working.stop(() => runner?.stop());
  });
  const { metrics } = telemetry;
  const stopping = createStopping();
  const { drivers } = driving;
  const places = () => runner?.places() ?? null;
  const probed = { store, artifacts, actionTypes: registry.types, places, isStopping: stopping.isAnnounced, drivers };
  // Listens first, because the address is part of the callback URLs that the runner hands out.
  if (metrics !== null && options.serve === true) {
    const others = { metrics, publicUrl, placeWait: board.placeWait, taskQueues: working.door };
    const parts = { ...services, ...triggering, ...messaging, ...probed, ...others };
    server = await startServer(
      { ...parts, ...ownParts(foundation, publicUrl), mcp: answerAgents },
      { ...config, observer: telemetry.http, warn: telemetry.warn },
    );
  }
  const probe = options.isWatched === false ? null : await openProbe(telemetry, config, probed);
  if (probe !== null) closers.push(() => probe.close());
  await runner?.start();
  await driving.start();
  working.start(runner !== null || options.serve === true);
  await messaging.start();
  startBeside(foundation, { ...services, closers, turns: driving.turns }, isRunner, options.serve === true);
  return {
    config,
    store,
    actionTypes: registry.types,
    ...services,
    lifecycles: inProcess(messaging),
    messaging,
    runner,
    url: server?.url ?? null,
    probeUrl: probe?.url ?? null,
    metrics: telemetry.counts,
    announceStop: stopping.announcer(() => (server === null ? 0 : config.server.stopDelayMs)),
    ...operations(services),
  };
}

/** The background services of a runner or server: sweeping, bulk actions, schedules. */
function startBeside(
  foundation: Foundation,
  services: Services & { readonly closers: Closers; readonly turns: OutsideTurns },
  isRunner: boolean,
  isServed: boolean,
): void {
  const { artifacts, config } = foundation;
  const { bulk, triggering } = services;
  if (isRunner) watchStuck(foundation, services);
  if (isRunner) artifacts.start();
  if (isServed || isRunner) bulk.start();
  if (isRunner && config.trigger.enableSchedules) triggering.scheduler.start();
}

function watchStuck(
  { config, store, telemetry }: Foundation,
  { executions, statistics, turns, closers }: Parameters<typeof startBeside>[1],
): void {
  const wallClockMs = () => Date.now();
  const p99Ms = (tenantId: string, workflowId: string) => statistics.p99Ms(tenantId, workflowId, wallClockMs());
  const { warn, count } = telemetry;
  const options = config.stuck;
  const watch = new StuckWatch({
    ...{ store, executions, turns, p99Ms, wallClockMs, warn, count, options },
    timers: systemTimers,
  });
  closers.push(() => watch.stop());
  watch.start();
}

/** Whether a stop was announced, and how to announce it. */
function createStopping() {
  let isAnnounced = false;
  return {
    isAnnounced: () => isAnnounced,
    announcer: (delayMs: () => number) => (): Promise<void> => {
      isAnnounced = true;
      return new Promise((resolve) => {
        systemTimers.after(delayMs(), resolve);
      });
    },
  };
}

/** The parts of the foundation that the server uses directly. */
function ownParts(foundation: Foundation, publicUrl: () => string) {
  const { disabled, artifacts, connections, tableSecrets, secrets } = foundation;
  const authorization = createAuthorization(foundation, publicUrl);
  return {
    hasToken: tokensInEnvironment(foundation.config),
    disabled,
    artifacts,
    connections,
    tableSecrets,
    secrets,
    authorization,
    readRemote: remotePlans(foundation.config, foundation.http),
  };
}

/**
 * Starts an execution in your own transaction, on the client that has begun it. The execution exists when you commit, and
 * never did if you roll back. Runners find it at their next look (engine.pollMs). A refused start is refused before anything
 * is written, so your transaction can go on. The driver is the request's, else the workflow's, else the one of `drivers`:
 * your installation's `driver` section, if it has one.
 */
export function startInTransaction(
  client: TransactionClient,
  request: Omit<Parameters<Executions['start']>[0], 'tenantId'> & {
    tenantId?: string;
    schema?: string;
    drivers?: Partial<DriverOptions>;
  },
): Promise<{ executionId: string; isNew: boolean }> {
  const { schema, tenantId = DEFAULT_TENANT, drivers: given, ...rest } = request;
  // Starts a process only for a triggerSchema that needs one.
  const renderer = createRenderPool(resolveConfig({}, {}).templates);
  const schemas = new SchemaCheck(renderer);
  return inTransactionOf(client, schema, (store) => {
    const plans = new PlanCache(store, systemTimers, compileInTransaction);
    const nobody = { callbackKey: new Uint8Array(), workWanted() {}, mailArrived() {} };
    const clock = { timers: systemTimers, newId, wallClockMs: () => Date.now() };
    const limitsRuns = async () => (await store.quotaGet({ tenantId })) !== null;
    const options = { default: 'native' as const, byEnvironment: {}, ...given };
    const drivers = {
      choose(wish: DriverWish) {
        const driver = chooseDriver(options, wish);
        return driver === 'native' ? undefined : driver;
      },
      // The hand-over finds the execution once the transaction has committed.
      wanted() {},
    };
    const executions = new Executions({ store, plans, schemas, ...clock, ...nobody, limitsRuns, drivers });
    return executions.start({ ...rest, tenantId });
  }).finally(() => renderer.close());
}

/** A start in a transaction has a store and a plan cache of its own, so compiled plans are kept here for the next start. */
const compileInTransaction = compileKnown(16 * 1024 * 1024);

function operations({ workflows, executions }: Services): Pick<Pawl, 'publish' | 'start' | 'result'> {
  return {
    publish: (definition, { tenantId = DEFAULT_TENANT } = {}) => workflows.publishNow(tenantId, definition as Json),
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

// Answers `/mcp`. The protocol's package is an optional peer, loaded with the first call of an agent.

/** Agents give up after a minute; half of that leaves time for the answer. */
const WAIT_MS = 25_000;

const answerAgents: AnswerMcp = async (request) => {
  const { answerMcp } = await import('../mcp/mcp-server.ts').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new PawlError('UNAVAILABLE', 'to answer AI agents, install @modelcontextprotocol/sdk beside pawl');
  });
  return answerMcp({ ...request, version: packageJson.version, waitMs: WAIT_MS });
};
