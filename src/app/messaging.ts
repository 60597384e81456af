// Puts lifecycles and delivery together. Every process has all of it; claims in the database keep the processes apart.

import { randomBytes } from 'node:crypto';
import type { ResolveCredential } from '../action/credential.ts';
import type { HttpClient } from '../action/http-client.ts';
import { createClock } from '../clock/clock.ts';
import { systemTimers } from '../clock/system-timers.ts';
import type { Config } from '../config/config.ts';
import type { Json, JsonObject } from '../core/json/json.ts';
import type { Handler } from '../delivery/channel/process.ts';
import type { HandInEvent } from '../delivery/channel/trigger.ts';
import type { StartWorkflow } from '../delivery/channel/workflow.ts';
import type { AckRequest, Deliveries } from '../delivery/deliveries.ts';
import { createDelivering, type Delivering, type DeliveringDeps } from '../delivery/delivering.ts';
import type { RaisedNotice } from '../delivery/notices.ts';
import { InstanceTriggers, type TriggerAnswer } from '../lifecycle/instance/instance-triggers.ts';
import {
  type InstanceView,
  Lifecycles,
  type NewInstance,
  type TriggerRequest,
} from '../lifecycle/instance/lifecycles.ts';
import { MachineBook } from '../lifecycle/instance/machine-book.ts';
import { react } from '../lifecycle/instance/reactions.ts';
import { fireTimeouts } from '../lifecycle/instance/timeouts.ts';
import type { TimelineEntry } from '../store/lifecycle-port.ts';
import type { Store } from '../store/port.ts';
import type { PlanSource } from '../workflow/plan-cache.ts';
import type { Telemetry } from './telemetry.ts';

export interface MessagingDeps {
  readonly config: Config;
  readonly store: Store;
  readonly http: HttpClient;
  readonly credentials: { readonly resolve: ResolveCredential };
  readonly telemetry: Telemetry;
  readonly plans: PlanSource;
  readonly newId: () => string;
  readonly startWorkflow: StartWorkflow;
  readonly handInEvent: HandInEvent;
  readonly tell: NonNullable<DeliveringDeps['tell']>;
}

export interface Messaging extends Delivering {
  readonly lifecycles: Lifecycles;
  start(): Promise<void>;
  /** Deliveries in flight finish; due ones are left to other processes (I23). */
  stop(): Promise<void>;
}

const CACHED_INSTANCES = 50_000;
const DEFAULT_TENANT = 'default';

export async function openMessaging(deps: MessagingDeps): Promise<Messaging> {
  const { config, store, telemetry, newId } = deps;
  const timers = systemTimers;
  const clock = createClock(timers);
  clock.observe(await store.now());
  const machines = new MachineBook(store);
  const { warn } = telemetry;
  const { leaseMs: claimMs } = config.monitor;
  const delivering = createDelivering({
    ...{ store, timers, newId, randomBytes, http: deps.http, credential: deps.credentials.resolve },
    wallClockMs: () => Date.now(),
    observer: {
      warn,
      publishFailed: (bus) => telemetry.publishFailed(bus),
      buried: (bus) => telemetry.buried(bus),
    },
    random: Math.random,
    logNotice: (notice) => telemetry.noticed(notice),
    strict: !config.auth.allowLooseAuth,
    startWorkflow: deps.startWorkflow,
    handInEvent: deps.handInEvent,
    tell: deps.tell,
    planOf: (version) => planOf(deps.plans, version),
    fireTimeouts: async () => (await fireTimeouts({ store, machines, triggers, clock, warn, claimMs })).fired,
    react: async () => (await react({ store, triggers, warn, claimMs })).reacted,
    options: config.delivery,
    monitor: config.monitor,
  });
  const { book: directory, dispatcher, monitor, notices, consumers } = delivering;
  const triggers = new InstanceTriggers({
    ...{ store, machines, directory, timers, clock, newId },
    raise(tenantId, { env, definition, externalRef }, notice) {
      notices.raise(tenantId, [{ ...notice, details: { env, definition, externalRef, ...notice.details } }]);
    },
    wake: (consumerIds) => dispatcher.wake(consumerIds),
    cacheLimit: CACHED_INSTANCES,
  });
  const lifecycles = new Lifecycles({ store, machines, directory, triggers, newId, clock });
  return {
    ...delivering,
    lifecycles,
    async start() {
      await directory.refresh();
      for (const { tenantId = DEFAULT_TENANT, ...consumer } of config.delivery.consumers) {
        await consumers.register(tenantId, consumer as JsonObject);
      }
      dispatcher.start();
      monitor.start();
    },
    async stop() {
      await monitor.stop();
      await dispatcher.stop();
      await notices.flush();
    },
  };
}

async function planOf(plans: PlanSource, version: Parameters<PlanSource['plan']>[0]) {
  const loaded = await plans.plan(version);
  return loaded !== null && 'plan' in loaded ? loaded.plan : null;
}

/** Lifecycles inside your own process. Without a tenant everything is the default tenant's. */
export interface PawlLifecycles {
  /** Machine and policies, as JSON. The same import twice is a no-op. */
  import(
    input: { readonly definition: Json; readonly policies?: Json },
    options?: TenantOption,
  ): ReturnType<Lifecycles['import']>;
  trigger(request: TriggerRequest, options?: TenantOption): Promise<TriggerAnswer>;
  /** Creates an instance in its initial state, without an event. An existing instance is returned as it is. */
  create(
    at: InstanceAddress & Omit<NewInstance, 'externalRef'>,
    options?: TenantOption,
  ): ReturnType<Lifecycles['create']>;
  instance(at: InstanceAddress, options?: TenantOption): Promise<InstanceView>;
  timeline(
    at: InstanceAddress,
    page?: { readonly after?: string; readonly limit?: number },
    options?: TenantOption,
  ): Promise<TimelineEntry[]>;
  /** Confirms a message; for consumers of every kind. */
  ack(request: AckRequest, options?: TenantOption): ReturnType<Deliveries['ack']>;
  /**
   * Registers a consumer of this process. A handler that returns has taken the message; `{ stage: 'Processed' }` means that
   * it is done; after a throw the message comes again. Returns a function that removes the handler.
   */
  onWork(
    consumer: { readonly consumer: string; readonly subscriptions?: Json; readonly tenantId?: string },
    handler: Handler,
  ): Promise<() => void>;
  /** Notices of all processes; those of this one arrive at once. */
  onNotice(listener: (notice: RaisedNotice) => void): () => void;
}

interface TenantOption {
  readonly tenantId?: string;
}

interface InstanceAddress {
  readonly env: string;
  readonly definition: string;
  readonly externalRef: string;
}

const TIMELINE_PAGE = 100;

export function inProcess({ lifecycles, deliveries, consumers, notices, processChannel }: Messaging): PawlLifecycles {
  return {
    import: (input, { tenantId = DEFAULT_TENANT } = {}) => lifecycles.import(tenantId, input),
    trigger: (request, { tenantId = DEFAULT_TENANT } = {}) => lifecycles.trigger(tenantId, request),
    create: ({ env, definition, ...made }, { tenantId = DEFAULT_TENANT } = {}) =>
      lifecycles.create(tenantId, { env, name: definition }, made),
    instance: ({ env, definition, externalRef }, { tenantId = DEFAULT_TENANT } = {}) =>
      lifecycles.instance(tenantId, { env, name: definition }, externalRef),
    timeline: ({ env, definition, externalRef }, page = {}, { tenantId = DEFAULT_TENANT } = {}) => {
      const { after = null, limit = TIMELINE_PAGE } = page;
      return lifecycles.timeline(tenantId, { env, name: definition }, externalRef, { after, limit });
    },
    ack: (request, { tenantId = DEFAULT_TENANT } = {}) => deliveries.ack(tenantId, request),
    async onWork({ consumer: code, subscriptions, tenantId = DEFAULT_TENANT }, handler) {
      await consumers.register(tenantId, { code, kind: 'process', subscriptions });
      return processChannel.handle(tenantId, code, handler);
    },
    onNotice: (listener) => notices.onNotice(listener),
  };
}
