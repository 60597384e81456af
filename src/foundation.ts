// What everything else of an installation stands on: its database, its actions, whoever is told what happens, and what the engine's
// parts share. Nothing of it accepts or runs anything yet.

import { randomBytes } from 'node:crypto';
import type { ActionDefinition } from './action/action.ts';
import { openCatalog } from './catalog.ts';
import { definitionSettings } from './config/definition-setting.ts';
import { type Config, mistypedVariables } from './config.ts';
import { uuidV7 } from './core/id/id.ts';
import { DisabledActions } from './engine/attempt/disabled-actions.ts';
import type { Lifecycles } from './engine/lifecycle/lifecycles.ts';
import { QuotaBook } from './engine/quota/quota-book.ts';
import { SchemaCheck } from './engine/start/schema-check.ts';
import { systemTimers } from './engine/system-timers.ts';
import { compileStored, PlanCache } from './engine/workflow/plan-cache.ts';
import { openStorage } from './storage.ts';
import { openTelemetry, type TelemetryOptions } from './telemetry.ts';

export interface FoundationOptions extends TelemetryOptions {
  /** Your own actions, beside the built-in ones. */
  readonly actions?: readonly ActionDefinition[];
  readonly onProgress?: (step: string) => void;
}

/** What is to be closed, the last first. */
export type Closers = (() => Promise<unknown>)[];

export type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** `trigger`: how actions trigger lifecycles, which are not there yet. */
export async function openFoundation(
  options: FoundationOptions,
  config: Config,
  closers: Closers,
  trigger: Lifecycles['trigger'],
) {
  const storage = await openStorage(config, closers, options.onProgress);
  const { store } = storage;
  const telemetry = await openTelemetry(options, config, store);
  closers.push(() => telemetry.close());
  const { warn } = telemetry;
  for (const mistyped of mistypedVariables())
    warn('there is no such option: the variable means nothing', { ...mistyped });
  const catalog = await openCatalog(options.actions ?? [], config, { store, closers, telemetry, trigger });
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
  return { config, ...storage, ...catalog, telemetry, callbackKey, shared, book, disabled, schemas };
}

export const newId = () => uuidV7(Date.now(), randomBytes(16));
