// The base of an installation: its database, actions, telemetry, and the parts that the engine's services share. Nothing here
// accepts or runs anything yet.

import { randomBytes } from 'node:crypto';
import type { ActionDefinition } from '../action/action.ts';
import type { CredentialProvider } from '../action/credential.ts';
import { systemTimers } from '../clock/system-timers.ts';
import { type Config, mistypedVariables } from '../config/config.ts';
import { definitionSettings } from '../config/definition-setting.ts';
import { uuidV7 } from '../core/id/id.ts';
import { DisabledActions } from '../engine/attempt/disabled-actions.ts';
import type { Lifecycles } from '../lifecycle/instance/lifecycles.ts';
import { QuotaBook } from '../quota/quota-book.ts';
import { sealedStore } from '../secret/sealed-store.ts';
import type { SecretProvider } from '../secret/secret.ts';
import { StatisticsMeter } from '../statistics/statistics-meter.ts';
import { compileStored, PlanCache } from '../workflow/plan-cache.ts';
import { SchemaCheck } from '../workflow/schema-check.ts';
import { openArtifacts } from './artifacts.ts';
import { openCatalog } from './catalog.ts';
import { callbackKeyOf, openBox, openSecrecy } from './secrecy.ts';
import { openStorage } from './storage.ts';
import { openTelemetry, type Telemetry, type TelemetryOptions } from './telemetry.ts';

export interface FoundationOptions extends TelemetryOptions {
  /** Your own actions, beside the built-in ones. */
  readonly actions?: readonly ActionDefinition[];
  readonly runner?: boolean;
  readonly onProgress?: (step: string) => void;
  /** Stops waiting for another process that migrates the database. */
  readonly signal?: AbortSignal;
  /** Your own secret providers, beside the built-in ones. */
  readonly secrets?: readonly SecretProvider[];
  /** Your own source of connector tokens, asked before connections. */
  readonly credentials?: CredentialProvider;
}

/** The resources to close, in reverse order. */
export type Closers = (() => Promise<unknown>)[];

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** `trigger`: how actions trigger lifecycles, which are created later. */
export async function openFoundation(
  options: FoundationOptions,
  config: Config,
  closers: Closers,
  trigger: Lifecycles['trigger'],
) {
  const storage = await openStorage(config, closers, options);
  const opened = await openTelemetry(options, config, storage.store);
  closers.push(() => opened.close());
  const box = await openBox(config, storage.store, opened);
  const store = sealedStore(storage.store, box);
  const meter = new StatisticsMeter({ store, timers: systemTimers, wallClockMs: () => Date.now(), warn: opened.warn });
  closers.push(() => meter.stop());
  const telemetry = counting(opened, meter);
  const { warn } = telemetry;
  for (const mistyped of mistypedVariables())
    warn('unknown option: this environment variable is ignored', { ...mistyped });
  if (storage.isAsync) warn(ASYNC_COMMIT, { option: 'database.allowAsyncCommit' });
  const catalog = await openCatalog(options.actions ?? [], config, { store, closers, telemetry, trigger });
  const artifacts = openArtifacts(config, { store, telemetry, newId });
  closers.push(() => artifacts.stop());
  const secrecy = await openSecrecy(options, config, { box, store, closers, telemetry, newId, ...catalog });
  const callbackKey = await callbackKeyOf(store, options.serve === true || options.runner !== false);
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
  const own = { store, config, telemetry, meter, callbackKey, shared, artifacts, book, disabled, schemas };
  return { ...storage, ...catalog, ...secrecy, ...own };
}

/** Every event of an execution or attempt is also counted, whichever engine runs it. */
function counting(telemetry: Telemetry, meter: StatisticsMeter): Telemetry {
  return {
    ...telemetry,
    accepted(execution) {
      meter.accepted(execution);
      telemetry.accepted(execution);
    },
    ended(ended) {
      meter.ended(ended);
      telemetry.ended(ended);
    },
    observed: (run) => meter.measure(telemetry.observed(run)),
  };
}

const ASYNC_COMMIT =
  'synchronous_commit is off: what was acknowledged in the last moment before a crash of the database may be lost';

export const newId = () => uuidV7(Date.now(), randomBytes(16));
