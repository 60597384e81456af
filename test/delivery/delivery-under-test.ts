// Delivery on a real database. Everything is real but the clock of the deliveries: a test says that time has passed, and then
// every delivery with a due time is due now. Messages are written as the publisher writes them.

import { randomBytes, randomUUID } from 'node:crypto';
import { createHttpClient } from '../../src/action/http/client.ts';
import { systemTimers } from '../../src/clock/system-timers.ts';
import { uuidV7 } from '../../src/core/id/id.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { WorkflowStart } from '../../src/delivery/channel/workflow.ts';
import type { ConsumerRequest } from '../../src/delivery/consumer.ts';
import { createDelivering, type Delivering, type DeliveringDeps } from '../../src/delivery/delivering.ts';
import type { RaisedNotice } from '../../src/delivery/notices.ts';
import type { MessageKind, NewDelivery, NewMessageRow } from '../../src/store/delivery-port.ts';
import type { Store } from '../../src/store/port.ts';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';

export const TENANT = 'acme';

export interface Posted {
  readonly to: readonly string[];
  readonly subject?: string;
  readonly seq?: number;
  readonly kind?: MessageKind;
  readonly event?: string;
  readonly body?: JsonObject;
}

export interface DeliveryUnderTest extends Delivering {
  readonly store: Store;
  readonly notices: Delivering['notices'];
  readonly raised: RaisedNotice[];
  readonly warnings: string[];
  readonly failedBuses: string[];
  readonly buried: string[];
  readonly started: WorkflowStart[];
  register(request: ConsumerRequest): Promise<string>;
  /** Writes a message and wakes its consumers. Returns its ackGuid. */
  post(message: Posted): Promise<string>;
  /** Writes many messages in one statement. */
  postAll(messages: readonly Posted[]): Promise<string[]>;
  /** Makes every delivery with a due time due now, and sends it. */
  timePasses(): Promise<void>;
  stageOf(ackGuid: string, code: string): Promise<string>;
  stop(): Promise<void>;
}

export interface World {
  readonly database: TestDatabase;
  /** Another process on the same database. */
  process(changes?: Partial<DeliveringDeps>): Promise<DeliveryUnderTest>;
  close(): Promise<void>;
}

const newId = () => uuidV7(Date.now(), randomBytes(16));

export async function deliveryWorld(): Promise<World> {
  const database = await testDatabase();
  const stops: (() => Promise<void>)[] = [];
  return {
    database,
    async process(changes = {}) {
      const started = await openProcess(database, changes);
      stops.push(started.stop);
      return started;
    },
    async close() {
      for (const stop of stops) await stop();
      await database.drop();
    },
  };
}

async function openProcess(database: TestDatabase, changes: Partial<DeliveringDeps>): Promise<DeliveryUnderTest> {
  const store = createPostgresStore({ connectionString: database.connectionString });
  const http = createHttpClient({ allowLoopback: true });
  const seen = {
    raised: [] as RaisedNotice[],
    warnings: [] as string[],
    failedBuses: [] as string[],
    buried: [] as string[],
  };
  const started: WorkflowStart[] = [];
  const delivering = createDelivering({
    store,
    timers: systemTimers,
    wallClockMs: () => Date.now(),
    newId,
    randomBytes,
    http,
    observer: {
      warn: (event, details) => void seen.warnings.push(`${event}: ${JSON.stringify(details)}`),
      publishFailed: (bus) => void seen.failedBuses.push(bus),
      buried: (bus) => void seen.buried.push(bus),
    },
    strict: false,
    startWorkflow: async (start) => void started.push(start),
    handInEvent: async () => {},
    planOf: async () => null,
    fireTimeouts: async () => 0,
    react: async () => 0,
    ...changes,
    options: { retentionMs: 0, natsServers: [], ...changes.options },
    monitor: { intervalMs: 1_000, leaseMs: 10_000, ...changes.monitor },
  });
  const { book, dispatcher, notices, consumers } = delivering;
  notices.onNotice((notice) => void seen.raised.push(notice));
  await book.refresh();
  dispatcher.start();
  const postAll = async (messages: readonly Posted[]) => {
    const ackGuids = await write(store, (code) => book.idOf(TENANT, code)!, messages);
    dispatcher.wake(new Set(messages.flatMap(({ to }) => to.map((code) => book.idOf(TENANT, code)!))));
    return ackGuids;
  };
  let stopped: Promise<void> | null = null;
  const stop = async () => {
    await delivering.monitor.stop();
    await dispatcher.stop();
    await notices.flush();
    await http.close();
    await store.close();
  };
  return {
    ...delivering,
    ...seen,
    store,
    started,
    register: async (request) => (await consumers.register(TENANT, request)).consumer.code,
    post: async (message) => (await postAll([message]))[0]!,
    postAll,
    async timePasses() {
      await withClient(database.connectionString, (client) =>
        client.query('update deliveries set next_attempt_at = now() where next_attempt_at is not null'),
      );
      await book.refresh();
      dispatcher.wake([...book.all()].map(({ consumerId }) => consumerId));
      await dispatcher.settled();
    },
    async stageOf(ackGuid, code) {
      const { deliveries } = await delivering.deliveries.get(TENANT, ackGuid);
      return deliveries.find(({ consumer }) => consumer === code)?.stage ?? 'none';
    },
    stop: () => (stopped ??= stop()),
  };
}

async function write(store: Store, idOf: (code: string) => string, posted: readonly Posted[]): Promise<string[]> {
  const messages: NewMessageRow[] = [];
  const deliveries: NewDelivery[] = [];
  for (const {
    to,
    subject: subjectId = randomUUID(),
    seq = 1,
    kind = 'transition',
    event = 'submit',
    body,
  } of posted) {
    const ackGuid = newId();
    const about = { ackGuid, tenantId: TENANT, kind, subjectId, seq, env: 'prod', source: 'loan', event };
    const owed = { onSucceeded: null, onFailed: null, consumers: to.length };
    messages.push({ ...about, ...owed, body: JSON.stringify({ ackGuid, kind, ...body }) });
    deliveries.push(...to.map((code) => ({ ackGuid, consumerId: idOf(code), subjectId, seq })));
  }
  await store.outboxLead({ leaderId: 'test', leaseMs: 60_000 });
  const { applied } = await store.outboxPublish({ leaderId: 'test', batchIds: [], messages, deliveries });
  if (!applied) throw new Error('the messages were not written');
  return messages.map(({ ackGuid }) => ackGuid);
}
