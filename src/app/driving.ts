// The outside engines of an installation, and this process's part in them: handing executions over, taking their turns, and
// running their attempts.

import { randomInt } from 'node:crypto';
import type { RunAttempt } from '../action/attempt.ts';
import { systemTimers } from '../clock/system-timers.ts';
import { type Config, type ConfigInput, referencedSecret, resolveConfig } from '../config/config.ts';
import { ConductorEngine } from '../driver/conductor/conductor-engine.ts';
import { ConductorInstances } from '../driver/conductor/conductor-instances.ts';
import { ConductorWorkers } from '../driver/conductor/conductor-workers.ts';
import { TURN_TASK } from '../driver/conductor/lane-definition.ts';
import type { RunPlace } from '../driver/driver.ts';
import { Drivers, type DriversDeps, type OutsideDriving } from '../driver/drivers.ts';
import { HandOver } from '../driver/hand-over.ts';
import { NativeEngine } from '../driver/native/native-engine.ts';
import type { RunCommands } from '../driver/run-commands.ts';
import { namespaceOf, retentionOf } from '../driver/temporal/namespace.ts';
import { loadActivitySdk } from '../driver/temporal/sdk.ts';
import { setUpNamespace } from '../driver/temporal/setup.ts';
import { temporalActivities } from '../driver/temporal/temporal-activities.ts';
import { TemporalConnections } from '../driver/temporal/temporal-connection.ts';
import { TemporalEngine } from '../driver/temporal/temporal-engine.ts';
import type { SetupReport, TemporalOptions } from '../driver/temporal/temporal-options.ts';
import { TemporalWorkers } from '../driver/temporal/temporal-workers.ts';
import { OutsideTurns } from '../engine/turn/outside-turn.ts';
import { callbackToken } from '../execution/callback-token.ts';
import type { Executions } from '../execution/executions.ts';
import { parseRef } from '../protocol/driver.ts';
import type { OutsideDriver } from '../store/external-port.ts';
import { TriggerCheck } from '../workflow/trigger-check.ts';
import type { Foundation } from './foundation.ts';

export interface Driving {
  readonly drivers: Drivers;
  /** Takes the turns of executions that other engines run. */
  readonly turns: OutsideTurns;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface DrivingDeps {
  readonly foundation: Foundation;
  readonly executions: () => Executions;
  readonly publicUrl: () => string;
  readonly run: RunAttempt;
  /** false: this process accepts and inspects, but runs nothing. */
  readonly works: boolean;
  /** Only attempts of these task queues; empty: all of them, and the turns. */
  readonly taskQueues: readonly string[];
}

/** How often new tenants and environments without a worker here are looked for. */
const PLACES_MS = 5_000;

export function createDriving(deps: DrivingDeps): Driving {
  const { foundation } = deps;
  const { config, store } = foundation;
  const commands = runCommands(deps);
  const native = new NativeEngine({ store, commands });
  const outside = new Map<OutsideDriver, OutsideDriving>();
  const turns = createTurns(deps, (executionId) => drivers.mailCame(executionId));
  const parts: Part[] = [];
  if (isWanted(config, 'temporal')) parts.push(temporalPart({ ...deps, commands, turns, outside }));
  if (isWanted(config, 'conductor')) parts.push(conductorPart({ ...deps, commands, turns, outside }));
  const planOf: DriversDeps['planOf'] = async (version) => {
    const found = await foundation.shared.plans.plan(version);
    return found !== null && 'plan' in found ? found.plan : null;
  };
  const drivers = new Drivers({ options: config.driver, native, outside, planOf });
  return {
    drivers,
    turns,
    async start() {
      for (const part of parts) await part.start();
    },
    async stop() {
      for (const part of parts) await part.stop();
      await drivers.stop();
    },
  };
}

interface Part {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A driver is loaded if the configuration names it or gives its address. */
function isWanted({ driver, temporal, conductor }: Config, name: OutsideDriver): boolean {
  if (driver.default === name || Object.values(driver.byEnvironment).includes(name)) return true;
  if (name === 'temporal') return temporal.address !== undefined;
  return conductor.url !== undefined || Object.keys(conductor.instances).length > 0;
}

/** Commands for a run. The tenant comes from its execution. */
function runCommands({ foundation, executions }: DrivingDeps): RunCommands {
  const tenantOf = async (executionId: string) => (await foundation.store.executionTenant({ executionId })) ?? '';
  return {
    async cancel(executionId, reason) {
      await executions().cancel(await tenantOf(executionId), executionId, reason);
    },
    async signal(executionId, signal) {
      return executions().signal(await tenantOf(executionId), executionId, signal);
    },
  };
}

function createTurns(
  { foundation, executions, publicUrl, run }: DrivingDeps,
  mailSent: (executionId: string) => void,
): OutsideTurns {
  const { config, store, telemetry, callbackKey, shared, schemas } = foundation;
  const triggers = new TriggerCheck(store, schemas);
  return new OutsideTurns({
    ...shared,
    observer: {
      ...telemetry,
      ended(ended) {
        executions().tellEnd(ended);
        telemetry.ended(ended);
      },
    },
    tracing: telemetry.tracing,
    plans: shared.plans,
    options: { ...config.engine, expressionLimits: config.expression, templateStyle: config.templates },
    newSeed: () => randomInt(2 ** 31),
    callbackUrl: (executionId, nodeId) => `${publicUrl()}/wh/${callbackToken(callbackKey, { executionId, nodeId })}`,
    checkTrigger: (...given) => triggers.check(...given),
    mailSent,
    run,
  });
}

interface PartDeps extends DrivingDeps {
  readonly commands: RunCommands;
  readonly turns: OutsideTurns;
  readonly outside: Map<OutsideDriver, OutsideDriving>;
}

function temporalPart({ foundation, commands, turns, outside, works, taskQueues }: PartDeps): Part {
  const { config, store, telemetry } = foundation;
  const { warn } = telemetry;
  const options = temporalOptions(config);
  const connections = new TemporalConnections(options);
  let workers: TemporalWorkers | null = null;
  const engine = new TemporalEngine({
    options,
    connections,
    commands,
    monotonicMs: systemTimers.monotonicMs,
    warn,
    workAt: (places) => workers?.workAt(places) ?? Promise.resolve(),
  });
  const handOver = new HandOver({
    driver: 'temporal',
    engine,
    store,
    ...systemTimers,
    warn,
    lostRun: config.driver.lostRun,
    whenDown: config.driver.whenDown,
    advance: (run) => turns.advance(run),
    look: (run) => turns.look(run),
    close: (run, error) => turns.close(run, error),
  });
  outside.set('temporal', { engine, handOver });
  let cancelLook = () => {};
  const lookForPlaces = async () => {
    const places = await store.externalPlaces({ driver: 'temporal' }).catch(() => []);
    void workers?.workAt(places).catch(() => undefined);
    cancelLook = systemTimers.after(PLACES_MS, () => void lookForPlaces());
  };
  return {
    async start() {
      if (works) {
        const { heartbeatMs } = options;
        workers = new TemporalWorkers({
          options,
          connections,
          activities: temporalActivities({ sdk: await loadActivitySdk(), turns, store, commands, heartbeatMs }),
          taskQueues,
          maxParallelActions: config.engine.maxParallelActions,
          drainMs: config.engine.drainMs,
          warn,
          setUp: (namespace, environmentId) => engine.setUp(namespace, environmentId),
        });
        void workers.workAt([DEFAULT_PLACE]);
        await lookForPlaces();
      }
      handOver.start();
    },
    async stop() {
      cancelLook();
      await handOver.stop();
      await workers?.stop();
    },
  };
}

function conductorPart({ foundation, commands, turns, outside, works, taskQueues }: PartDeps): Part {
  const { config, store, telemetry, shared } = foundation;
  const { warn } = telemetry;
  const instances = new ConductorInstances(config.conductor);
  const advance = (run: { executionId: string; epoch: number }) => turns.advance(run);
  const { monotonicMs } = systemTimers;
  const loops = { turn: 0, step: 0 };
  const workers = new Map(
    instances.all.map((client) => [
      client,
      new ConductorWorkers({
        client,
        turns,
        loops,
        ownerOf: async (executionId, epoch) => {
          const run = await store.externalGet({ executionId });
          return run === null || run.epoch !== epoch || run.ref === null ? null : parseRef(run.ref).workflowId;
        },
        statusOf: async (executionId) => {
          const tenantId = await store.executionTenant({ executionId });
          return tenantId === null ? null : ((await store.executionGet({ tenantId, executionId }))?.status ?? null);
        },
        timers: systemTimers,
        wallClockMs: () => Date.now(),
        environments: async () =>
          (await store.externalPlaces({ driver: 'conductor' })).map(({ environmentId }) => environmentId),
        taskQueues,
        maxParallelActions: config.engine.maxParallelActions,
        warn,
      }),
    ]),
  );
  const engine = new ConductorEngine({
    instances,
    plans: shared.plans,
    commands,
    monotonicMs,
    wallClockMs: () => Date.now(),
    advance,
    started: (client) => workers.get(client)?.hint(TURN_TASK),
  });
  const handOver = new HandOver({
    driver: 'conductor',
    engine,
    store,
    ...systemTimers,
    warn,
    lostRun: config.driver.lostRun,
    whenDown: config.driver.whenDown,
    advance,
    look: (run) => turns.look(run),
    close: (run, error) => turns.close(run, error),
  });
  outside.set('conductor', { engine, handOver });
  return {
    async start() {
      if (works) for (const each of workers.values()) await each.start();
      handOver.start();
    },
    async stop() {
      await handOver.stop();
      if (works) await Promise.all([...workers.values()].map((each) => each.stop()));
    },
  };
}

const DEFAULT_PLACE = { tenantId: 'default', projectId: 'default', environmentId: 'default' };

/** Creates the namespaces that these places need. */
export async function setUpTemporal(
  input: ConfigInput,
  places: readonly RunPlace[],
): Promise<{ address: string; namespaces: SetupReport[] }> {
  const options = temporalOptions(resolveConfig(input));
  const { address } = options;
  const connections = new TemporalConnections(options);
  const wanted = new Map(
    places.map((place) => [namespaceOf(options.namespaceTemplate, place), retentionOf(options, place.environmentId)]),
  );
  const namespaces: SetupReport[] = [];
  try {
    for (const [namespace, retentionDays] of wanted) {
      namespaces.push(await setUpNamespace(connections, { namespace, retentionDays, address }));
    }
  } finally {
    await connections.close();
  }
  return { address, namespaces };
}

function temporalOptions({ temporal, driver }: Config): TemporalOptions {
  const { tls, apiKey, address = '127.0.0.1:7233', ...rest } = temporal;
  const key = typeof apiKey === 'object' ? referencedSecret(apiKey) : apiKey;
  return {
    ...rest,
    address,
    lostRun: driver.lostRun,
    tls: typeof tls === 'boolean' ? { enabled: tls } : { enabled: true, ...tls },
    ...(key === undefined ? {} : { apiKey: key }),
  };
}
