// Triggers on PostgreSQL. Whatever runs by itself or for every webhook uses the engine's plans; lists use the other pool.

import { GroupWrite, type Waiting } from '../../group-write.ts';
import type {
  ClaimedSchedule,
  FiringRecord,
  NewFiring,
  SettledSchedule,
  TriggerChange,
  TriggerRecord,
  TriggerStore,
} from '../../trigger-port.ts';
import { type Column, encodeColumns, int4, json, text, timestamp, uuid } from '../array-parameter.ts';
import { readable } from '../column-list.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';

const ADD = statement('trigger_add');
const CHANGE = statement('trigger_change');
const REMOVE = statement('trigger_remove');
const GET = statement('trigger_get');
const LIST = statement('trigger_list');
const GET_WEBHOOK = statement('webhook_get');
const ADD_SECRET = statement('webhook_secret_add');
const EVENT_STAMP = statement('event_trigger_stamp');
const LIST_EVENT = statement('event_trigger_list');
const CLAIM = statement('schedule_claim');
const ADD_FIRINGS = statement('firing_add');
const STARTED = statement('firing_started');
const LIST_FIRINGS = statement('firing_list');
const PURGE_FIRINGS = statement('firing_purge');

const SETTLE_COLUMNS: readonly Column<SettledSchedule>[] = [
  uuid((row) => row.triggerId),
  int4((row) => row.revision),
  timestamp((row) => row.settledThrough),
  timestamp((row) => row.dueAt),
];

const FIRING_COLUMNS: readonly Column<NewFiring>[] = [
  uuid((row) => row.triggerId),
  text((row) => row.requestId),
  timestamp((row) => row.slot),
  text((row) => row.outcome),
  uuid((row) => row.executionId),
  text((row) => (row.reason === null ? null : readable(row.reason))),
  text((row) => row.refused?.code ?? null),
  json((row) => row.refused?.payload ?? null),
];

export function triggerStore(engine: Database, reader: Database): TriggerStore {
  // Events and webhooks come in bursts: what comes together is recorded together.
  const recording = new GroupWrite<NewFiring[], Started[]>({
    timers: { soon: (callback) => void setImmediate(callback) },
    maxInFlight: MAX_IN_FLIGHT,
    split: nextFirings,
    write: (batch) => recordAll(engine, batch),
  });
  return {
    triggerCreate: (trigger) =>
      reader.transaction(async (session) => {
        const { triggerId, tenantId, workflowId, triggerType, isEnabled, config, eventType, secrets } = trigger;
        const values = [triggerId, tenantId, workflowId, triggerType, isEnabled, config];
        await session.run(ADD, [...values, trigger.activationCondition, eventType, secrets]);
        return one(await session.run<Row>(GET, [tenantId, triggerId]));
      }),
    triggerUpdate: (change) =>
      reader.transaction(async (session) => {
        await session.run(CHANGE, changeValues(change));
        return one(await session.run<Row>(GET, [change.tenantId, change.triggerId]));
      }),
    triggerDelete: async ({ tenantId, triggerId }) => (await reader.run(REMOVE, [tenantId, triggerId])).length > 0,
    triggerGet: async ({ tenantId, triggerId }) => one(await reader.run<Row>(GET, [tenantId, triggerId])),
    async triggerList({ tenantId, afterId, workflowId, triggerType, isEnabled, limit }) {
      const filters = [workflowId ?? null, triggerType ?? null, isEnabled ?? null];
      return (await reader.run<Row>(LIST, [tenantId, afterId, ...filters, limit])).map(triggerRecord);
    },

    async webhookGet({ triggerId }) {
      const [row] = await engine.run<Row & { secrets: string[] }>(GET_WEBHOOK, [triggerId]);
      if (row === undefined) return null;
      const { secrets, ...trigger } = row;
      return { trigger: triggerRecord(trigger), secrets };
    },
    async webhookSecretAdd({ tenantId, triggerId, secret, keepPrevious, onlyFirst = false }) {
      return (await reader.run(ADD_SECRET, [tenantId, triggerId, secret, keepPrevious, onlyFirst])).length > 0;
    },
    async eventTriggerStamp({ tenantId, eventType }) {
      const [row] = await engine.run<{ stamp: string }>(EVENT_STAMP, [tenantId, eventType]);
      return row!.stamp;
    },
    async eventTriggerList({ tenantId, eventType, afterId, limit }) {
      return (await engine.run<Row>(LIST_EVENT, [tenantId, eventType, afterId, limit])).map(triggerRecord);
    },

    async scheduleClaim({ at, leaseMs, limit }) {
      const now = at === undefined ? null : new Date(at);
      const rows = await engine.run<ClaimRow>(CLAIM, [now, leaseMs / 1000, limit]);
      const [first] = rows;
      const claimed = rows.filter(({ id }) => id !== null).map(claimedSchedule);
      return { claimed, at: first!.at, nextDueAt: first!.nextDueAt };
    },
    async scheduleSettle({ items, firings }) {
      await engine.run(ADD_FIRINGS, firingValues(firings, items));
    },

    firingAdd: ({ firings }) => recording.submit(firings),
    async firingList({ tenantId, triggerId, beforeId, limit }) {
      return await reader.run<FiringRecord>(LIST_FIRINGS, [tenantId, triggerId, beforeId, limit]);
    },
    firingPurge: async ({ olderThanMs, limit }) =>
      (await reader.run(PURGE_FIRINGS, [olderThanMs / 1000, limit])).length,
  };
}

const MAX_FIRINGS = 256;
const MAX_IN_FLIGHT = 2;

type Started = Awaited<ReturnType<TriggerStore['firingAdd']>>[number];
type Recording = Waiting<NewFiring[], Started[]>;

const keyOf = ({ triggerId, requestId }: Pick<NewFiring, 'triggerId' | 'requestId'>) => `${triggerId} ${requestId}`;

/** As many as one statement should carry. It cannot write a row twice, so a repetition waits for the next one. */
function nextFirings(waiting: Recording[]): [next: Recording[], left: Recording[]] {
  const keys = new Set<string>();
  const next: Recording[] = [];
  const left: Recording[] = [];
  for (const one of waiting) {
    const own = one.item.map(keyOf);
    const fits = keys.size + own.length <= MAX_FIRINGS && !own.some((key) => keys.has(key));
    if (next.length > 0 && !fits) left.push(one);
    else {
      next.push(one);
      for (const key of own) keys.add(key);
    }
  }
  return [next, left];
}

async function recordAll(engine: Database, batch: readonly Recording[]): Promise<void> {
  // In one order, so that two batches with the same firings cannot deadlock.
  const firings = batch.flatMap(({ item }) => item).sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
  const values = firingValues(firings, []);
  const recorded = await engine.run<Pick<NewFiring, 'triggerId' | 'requestId'>>(ADD_FIRINGS, values);
  const isComplete = recorded.length === firings.length || firings.every(({ outcome }) => outcome === 'started');
  const rows = isComplete ? [] : await engine.run<Started & { requestId: string }>(STARTED, [values[0], values[1]]);
  const before = new Map(rows.map((row) => [keyOf(row), row]));
  for (const { item, resolve } of batch) {
    resolve(item.map((firing) => before.get(keyOf(firing))).filter((row) => row !== undefined));
  }
}

const firingValues = (firings: NewFiring[], settled: SettledSchedule[]): Buffer[] => [
  ...encodeColumns(FIRING_COLUMNS, firings),
  ...encodeColumns(SETTLE_COLUMNS, settled),
];

function changeValues(change: TriggerChange): unknown[] {
  const { tenantId, triggerId, isEnabled, config, eventType, activationCondition } = change;
  const condition = [activationCondition !== undefined, activationCondition ?? null];
  return [tenantId, triggerId, isEnabled ?? null, config ?? null, eventType ?? null, ...condition];
}

const one = ([row]: Row[]): TriggerRecord | null => (row === undefined ? null : triggerRecord(row));

const triggerRecord = ({ id, ...row }: Row): TriggerRecord => ({ ...row, triggerId: id });

function claimedSchedule({ at: _, nextDueAt: __, revision, settledThrough, ...row }: ClaimRow): ClaimedSchedule {
  return { trigger: triggerRecord(row), revision, settledThrough };
}

interface ClaimRow extends Row {
  at: number;
  revision: number;
  settledThrough: number;
  nextDueAt: number | null;
}

type Row = Omit<TriggerRecord, 'triggerId'> & { id: string };
