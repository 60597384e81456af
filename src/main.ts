// Puts Pawl together, and is what a program imports. `createPawl` is the engine inside your own process, and what the server and
// the CLI are built on.

import { createRenderPool } from './action/core/render-pool.ts';
import { type Config, type ConfigInput, resolveConfig } from './config.ts';
import type { Json } from './core/json/json.ts';
import type { EngineMetric } from './engine/environment.ts';
import type { ExecutionQueries } from './engine/execution/execution-queries.ts';
import { Executions } from './engine/execution/executions.ts';
import type { Quotas } from './engine/quota/quotas.ts';
import type { Runner } from './engine/runner/runner.ts';
import { createSwitchboard } from './engine/runner/switchboard.ts';
import { SchemaCheck } from './engine/start/schema-check.ts';
import { systemTimers } from './engine/system-timers.ts';
import { PlanCache } from './engine/workflow/plan-cache.ts';
import type { Pipelines } from './engine/workflow/workflow-pipeline.ts';
import type { Workflows } from './engine/workflow/workflows.ts';
import { type Closers, type FoundationOptions, newId, openFoundation } from './foundation.ts';
import { inProcess, type Messaging, openMessaging, type PawlLifecycles } from './messaging.ts';
import { createRunner } from './running.ts';
import { type RunningServer, startServer } from './server/server.ts';
import { comingBackIn, createServices, type Services } from './services.ts';
import type { Store } from './store/port.ts';
import { inTransactionOf, type TransactionClient } from './store/postgres/start-in-transaction.ts';
import { openProbe } from './telemetry.ts';
import type { Triggering } from './trigger/triggering.ts';

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

export interface PawlOptions extends ConfigInput, Omit<FoundationOptions, 'serve'> {
  /** False: accept and inspect executions, but run none in this process. */
  readonly runner?: boolean;
  /** True: answer HTTP on server.host and server.port. */
  readonly serve?: boolean;
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
  const foundation = await openFoundation(options, config, closers, (...call) => messaging.lifecycles.trigger(...call));
  const { store, registry, telemetry } = foundation;
  const board = createSwitchboard();
  const services = createServices(foundation, board);
  messaging = await openMessaging({ ...foundation, ...foundation.shared, ...comingBackIn(services) });
  let server: RunningServer | null = null;
  const publicUrl = () =>
    config.server.publicUrl ?? server?.url ?? `http://${config.server.host}:${config.server.port}`;
  const runner = options.runner === false ? null : createRunner(foundation, services.executions, publicUrl, closers);
  // Hints come as soon as they are listened for: by then there must be somebody to tell.
  board.runner = runner;
  const hints = await foundation.openHints(board.receive, telemetry.warn);
  board.hints = hints;
  closers.push(() => hints.close());
  closers.push(() => messaging.stop());
  const { triggering } = services;
  // Nothing new comes in, then what is here is finished.
  closers.push(async () => {
    await server?.close();
    await triggering.scheduler.stop();
    await runner?.stop();
  });
  const { metrics } = telemetry;
  const probed = { store, actionTypes: registry.types };
  // Listening first: the address is part of every callback URL that the runner hands out.
  if (metrics !== null && options.serve === true) {
    const parts = { ...services, ...triggering, ...messaging, ...probed };
    const { disabled } = foundation;
    server = await startServer({ ...parts, disabled, metrics, publicUrl }, { ...config, observer: telemetry.http });
  }
  const probe = await openProbe(telemetry, config, probed);
  if (probe !== null) closers.push(() => probe.close());
  await runner?.start();
  await messaging.start();
  if (runner !== null && config.trigger.enableSchedules) triggering.scheduler.start();
  return {
    config,
    ...probed,
    ...services,
    lifecycles: inProcess(messaging),
    messaging,
    runner,
    url: server?.url ?? null,
    probeUrl: probe?.url ?? null,
    metrics: telemetry.counts,
    ...operations(services),
  };
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

function operations({ workflows, executions }: Services): Pick<Pawl, 'publish' | 'start' | 'result'> {
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
