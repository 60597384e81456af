// Puts Pawl together: the only file that knows every layer. `createPawl` is the engine inside your own process, and what
// the server and the CLI are built on.

import { randomBytes, randomInt } from 'node:crypto';
import type { ActionDefinition } from './action/action.ts';
import { coreActions, coreConnector } from './action/core/core-actions.ts';
import { environmentCredentials } from './action/credentials.ts';
import { createHttpClient } from './action/http/client.ts';
import { httpActions, httpConnector } from './action/http/http-actions.ts';
import { createRegistry } from './action/registry.ts';
import { loadUserActions } from './action/user/user-actions.ts';
import { type Config, type ConfigInput, resolveConfig } from './config.ts';
import { uuidV7 } from './core/id/id.ts';
import type { Json } from './core/json/json.ts';
import { createActionAttempts } from './engine/action-attempt.ts';
import { callbackToken } from './engine/callback-token.ts';
import type { EngineMetric, EngineObserver } from './engine/environment.ts';
import { Executions } from './engine/executions.ts';
import { PlanCache } from './engine/plan-cache.ts';
import { Runner } from './engine/runner.ts';
import { systemTimers } from './engine/system-timers.ts';
import { Pipelines } from './engine/workflow-pipeline.ts';
import { Workflows } from './engine/workflows.ts';
import { startEmbedded } from './store/embedded/embedded.ts';
import type { Hint } from './store/hint-port.ts';
import { migrateUp } from './store/migrate/migrate.ts';
import type { Store } from './store/port.ts';
import { openHints } from './store/postgres/hints.ts';
import { createPostgresStore } from './store/postgres/postgres-store.ts';

export type { ActionContext, ActionDefinition, ActionResult } from './action/action.ts';
export { defineAction } from './action/action.ts';
export { RetryableError, TerminalError } from './core/error/error.ts';
export { PawlError } from './core/error/pawl-error.ts';

export interface PawlOptions extends ConfigInput {
  /** Your own actions, beside the built-in ones. */
  readonly actions?: readonly ActionDefinition[];
  /** False: accept and inspect executions, but run none in this process. */
  readonly runner?: boolean;
  readonly onProgress?: (step: string) => void;
  readonly onWarning?: (event: string, details: Record<string, unknown>) => void;
}

export interface Pawl {
  readonly config: Config;
  readonly store: Store;
  readonly executions: Executions;
  readonly workflows: Workflows;
  readonly pipelines: Pipelines;
  readonly runner: Runner | null;
  readonly metrics: ReadonlyMap<EngineMetric, number>;
  readonly actionTypes: ReadonlySet<string>;
  /** Validates a definition of any format and makes it the workflow's active version. */
  publish(definition: Json, options?: { tenantId?: string }): Promise<{ workflowId: string; version: number }>;
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
const BUILT_IN = [...coreActions, ...httpActions];
const CONNECTORS = [coreConnector, httpConnector];

export async function createPawl(options: PawlOptions = {}): Promise<Pawl> {
  const config = resolveConfig(options);
  const closers: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return await assemble(options, config, closers, close);
  } catch (error) {
    await close();
    throw error;
  }
}

async function assemble(
  options: PawlOptions,
  config: Config,
  closers: (() => Promise<unknown>)[],
  close: () => Promise<void>,
): Promise<Pawl> {
  const { store, connectionString } = await openStore(options, config, closers);
  const userActions = config.action.folder === undefined ? [] : await loadUserActions(config.action.folder);
  const registry = createRegistry([...BUILT_IN, ...userActions, ...(options.actions ?? [])], CONNECTORS);
  await store.catalogUpsert(registry.catalog());
  const http = createHttpClient({ allowLoopback: config.http.allowLoopback, allow: config.http.allow });
  closers.push(() => http.close());
  const metrics = new Map<EngineMetric, number>();
  const callbackKey = await store.secretGet({ name: 'callback' });
  const shared = {
    store,
    plans: new PlanCache(store, systemTimers),
    timers: systemTimers,
    newId: () => uuidV7(Date.now(), randomBytes(16)),
  };
  const executions: Executions = new Executions({
    ...shared,
    callbackKey,
    allowDraftExecution: config.catalog.allowDraftExecution,
    wallClockMs: () => Date.now(),
    workWanted: () => tell({ kind: 'work' }),
    mailArrived: (executionId) => tell({ kind: 'mail', executionId }),
  });
  const runner = options.runner === false ? null : createRunner();
  await runner?.start();
  if (runner !== null) closers.push(() => runner.stop());
  const hints = await openHints({
    connectionString,
    receive,
    warn: (event, details) => options.onWarning?.(event, details),
  });
  closers.push(() => hints.close());
  const workflows = new Workflows({ store, options: config.publish });
  const pipelines = new Pipelines(store, workflows);
  const { start, publish, result } = operations(workflows, executions);
  return {
    config,
    store,
    executions,
    workflows,
    pipelines,
    runner,
    metrics,
    actionTypes: registry.types,
    start,
    publish,
    result,
    close,
  };

  function receive(hint: Hint): void {
    if (hint.kind === 'work') runner?.hint();
    else runner?.mailHint(hint.executionId);
  }

  /** The runner here, if it can use the hint; the others otherwise. */
  function tell(hint: Hint): void {
    const isOurs = runner !== null && (hint.kind === 'work' ? runner.hasRoom() : runner.holds(hint.executionId));
    if (isOurs) receive(hint);
    else hints.send(hint);
  }

  function createRunner(): Runner {
    const publicUrl = config.server.publicUrl ?? `http://${config.server.host}:${config.server.port}`;
    return new Runner({
      ...shared,
      observer: observerOf(options, metrics, executions),
      options: config.engine,
      newSeed: () => randomInt(2 ** 31),
      callbackUrl: (executionId, nodeId) => `${publicUrl}/wh/${callbackToken(callbackKey, { executionId, nodeId })}`,
      run: createActionAttempts({
        registry,
        store,
        http,
        credentials: environmentCredentials(config.connectorTokens),
        wallClockMs: () => Date.now(),
        outputLimitBytes: config.action.outputLimitBytes,
        abortGraceMs: config.engine.abortGraceMs,
      }),
    });
  }
}

async function openStore(
  options: PawlOptions,
  config: Config,
  closers: (() => Promise<unknown>)[],
): Promise<{ store: Store; connectionString: string }> {
  const { url, schema, dataDir, engineConnections, readConnections } = config.database;
  let connectionString = url;
  if (connectionString === undefined) {
    const onProgress = options.onProgress === undefined ? {} : { onProgress: options.onProgress };
    const embedded = await startEmbedded({ dataDir, ...onProgress });
    closers.push(() => embedded.stop());
    connectionString = embedded.connectionString;
  }
  await migrateUp({ connectionString, schema });
  const store = createPostgresStore({ connectionString, schema, engineConnections, readConnections });
  closers.push(() => store.close());
  return { store, connectionString };
}

function observerOf(options: PawlOptions, metrics: Map<EngineMetric, number>, executions: Executions): EngineObserver {
  return {
    warn: (event, details) => options.onWarning?.(event, details),
    count: (metric, by = 1) => metrics.set(metric, (metrics.get(metric) ?? 0) + by),
    ended: ({ execution }) => executions.ended(execution.executionId),
  };
}

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
