// Deliveries on PostgreSQL: what is due, claimed, acknowledged, asked again. What runs by itself uses the engine's plans.

import type {
  ClaimedDelivery,
  DeadDelivery,
  DeliveryRow,
  DeliveryStore,
  MessageHead,
  MessageKind,
  MonitorLook,
  NewMessageRow,
  StoredMessage,
} from '../../delivery-port.ts';
import type { JsonText, Timestamp } from '../../port.ts';
import { type Column, encodeColumns, int4, uuid, uuidArray } from '../array-parameter.ts';
import type { Database } from '../database.ts';
import { statement } from '../statement.ts';
import { consumerStore, sweepDeliveries } from './consumer-store.ts';
import { acknowledge, promote } from './delivery-ack.ts';
import { blockingStages, stageName, stageNumber } from './delivery-stage.ts';
import { noticeStore } from './notice-store.ts';
import { outboxStore } from './outbox-store.ts';

const CLAIM = statement('delivery_claim');
const GET_MESSAGE = statement('message_get');
const GET_DELIVERIES = statement('message_deliveries');
const LIST = statement('delivery_list');
const LIST_NEWEST = statement('delivery_list_newest');
const LIST_OF = statement('delivery_list_of');
const REQUEUE = statement('delivery_requeue');
const PURGE_DEAD = statement('delivery_purge_dead');
const REPLAY = statement('delivery_replay');
const LIST_MESSAGES = statement('message_list');
const PURGE_MESSAGES = statement('message_purge');
const PURGE_NOTICES = statement('notice_purge');
const LOOK = statement('monitor_look');

const DEAD = stageNumber('Dead');

type Item = { ackGuid: string; consumerId: string };
const ITEM_COLUMNS: readonly Column<Item>[] = [uuid((item) => item.ackGuid), int4((item) => Number(item.consumerId))];

export function deliveryStore(engine: Database, reader: Database): DeliveryStore {
  return {
    ...consumerStore(engine, reader),
    ...outboxStore(engine),
    ...noticeStore(engine, reader),

    deliveryClaim: (params) => claimDeliveries(engine, params),
    deliveryAck: ({ acks, remindMs }) => acknowledge(engine, acks, remindMs),
    async monitorLook({ consumerIds }) {
      const [row] = await engine.run<MonitorLook>(LOOK, [consumerIds]);
      return row!;
    },

    async deliveryGet({ tenantId, ackGuid }) {
      const [message] = await reader.run<MessageRow>(GET_MESSAGE, [tenantId, ackGuid]);
      if (message === undefined) return null;
      const rows = await reader.run<Row>(GET_DELIVERIES, [ackGuid]);
      return { ...storedMessage(message), deliveries: rows.map(deliveryRow) };
    },
    async deliveryList({ tenantId, consumerId, stage, ackGuids, newestFirst = false, after, limit }) {
      const filters = [consumerId, stage === null ? null : stageNumber(stage)];
      const [guid, consumer] = after?.split('.') ?? [null, null];
      const values = [tenantId, ...filters, guid, consumer, limit];
      const rows = await (ackGuids === undefined
        ? reader.run<ListedRow>(newestFirst ? LIST_NEWEST : LIST, values)
        : reader.run<ListedRow>(LIST_OF, [...values, uuidArray(ackGuids)]));
      return rows.map((row) => ({
        ...deliveryRow(row),
        kind: row.kind,
        subjectId: row.subjectId,
        env: row.env,
        externalRef: row.externalRef,
        source: row.source,
        event: row.event,
        createdAt: row.createdAt,
        cursor: `${row.ackGuid}.${row.consumerId}`,
      }));
    },
    deliveryRequeue: async ({ tenantId, items }) =>
      (await reader.run(REQUEUE, [tenantId, ...encodeColumns(ITEM_COLUMNS, items)])).length,
    deliveryPurgeDead: async ({ tenantId, items }) =>
      (await reader.run(PURGE_DEAD, [tenantId, ...encodeColumns(ITEM_COLUMNS, items)])).length,
    async deliveryReplay({ tenantId, consumerId, ackGuids, missing }) {
      const values = [tenantId, consumerId, uuidArray(ackGuids), uuidArray(missing)];
      const [row] = await reader.run<{ replayed: number }>(REPLAY, values);
      return row!.replayed;
    },
    async messageList({ tenantId, from, until, after, limit }) {
      const [at, guid] = after?.split('.') ?? [null, null];
      const since = at === null ? null : new Date(Number(at));
      const values = [tenantId, new Date(from), new Date(until), since, guid, limit];
      return (await reader.run<HeadRow>(LIST_MESSAGES, values)).map(messageHead);
    },
    async messagePurge({ before, limit }) {
      await sweepDeliveries(engine);
      await engine.run(PURGE_NOTICES, [limit]);
      return (await engine.run(PURGE_MESSAGES, [new Date(before), limit])).length;
    },
  };
}

/** Repeats while none of the rows could be sent yet, so that due rows behind them need not wait. */
async function claimDeliveries(engine: Database, params: Parameters<DeliveryStore['deliveryClaim']>[0]): Claim {
  const { consumerId, limit } = params;
  const result: Awaited<Claim> = { claimed: [], dead: [], at: 0 };
  for (;;) {
    const wanted = limit - result.claimed.length;
    const rows = await engine.run<ClaimRow>(CLAIM, claimValues(params, wanted));
    const [{ at, looked }] = rows as [ClaimRow];
    const taken = rows.filter(({ ackGuid: guid }) => guid !== null);
    const dead = taken.filter(({ stage }) => stage === DEAD);
    await promote(
      engine,
      dead.map((row) => ({ consumerId: Number(consumerId), ...row, hasEnded: true })),
    );
    result.at = at;
    result.claimed.push(...taken.filter(({ stage }) => stage !== DEAD).map((row) => claimedDelivery(row, consumerId)));
    result.dead.push(...dead.map((row) => deadDelivery(row, consumerId)));
    if (result.claimed.length >= limit || looked < wanted + LOOKED_AT_BESIDES) return result;
  }
}

/** As in delivery_claim. */
const LOOKED_AT_BESIDES = 100;

type Claim = ReturnType<DeliveryStore['deliveryClaim']>;

function claimValues(params: Parameters<DeliveryStore['deliveryClaim']>[0], limit: number): unknown[] {
  const { consumerId, ordering, resendMs, remindMs, maxAttempts } = params;
  return [consumerId, blockingStages(ordering), limit, resendMs, remindMs, maxAttempts];
}

const deadDelivery = (row: ClaimRow, consumerId: string): DeadDelivery => ({
  ackGuid: row.ackGuid,
  consumerId,
  tenantId: row.tenantId,
  attempts: row.attempts,
});

const claimedDelivery = (row: ClaimRow, consumerId: string): ClaimedDelivery => ({
  ackGuid: row.ackGuid,
  consumerId,
  tenantId: row.tenantId,
  kind: row.kind,
  subjectId: row.subjectId,
  source: row.source,
  event: row.event,
  body: row.body,
  stage: stageName(row.stage) as ClaimedDelivery['stage'],
  attempts: row.attempts,
  reminders: row.reminders,
  createdAt: row.createdAt,
});

const deliveryRow = (row: Row): DeliveryRow => ({
  ackGuid: row.ackGuid,
  consumerId: String(row.consumerId),
  stage: stageName(row.stage),
  attempts: row.attempts,
  reminders: row.reminders,
  nextAttemptAt: row.nextAttemptAt,
  deliveredAt: row.deliveredAt,
  endedAt: row.endedAt,
  outcome: row.outcome,
  message: row.message,
});

type HeadRow = Pick<MessageRow, 'ackGuid' | 'kind' | 'env' | 'source' | 'event' | 'createdAt'>;

const messageHead = (row: HeadRow): MessageHead => ({
  ackGuid: row.ackGuid,
  kind: row.kind,
  env: row.env,
  source: row.source,
  event: row.event,
  createdAt: row.createdAt,
  cursor: `${row.createdAt}.${row.ackGuid}`,
});

const storedMessage = (row: MessageRow): StoredMessage => ({
  ...messageHead(row),
  tenantId: row.tenantId,
  subjectId: row.subjectId,
  seq: row.seq,
  body: row.body,
  onSucceeded: row.onSucceeded,
  onFailed: row.onFailed,
  consumers: row.consumers,
});

interface ClaimRow {
  at: Timestamp;
  looked: number;
  ackGuid: string;
  tenantId: string;
  kind: MessageKind;
  subjectId: string;
  seq: number;
  source: string;
  event: string;
  body: JsonText;
  stage: number;
  attempts: number;
  reminders: number;
  createdAt: Timestamp;
}

interface Row {
  ackGuid: string;
  consumerId: number;
  stage: number;
  attempts: number;
  reminders: number;
  nextAttemptAt: Timestamp | null;
  deliveredAt: Timestamp | null;
  endedAt: Timestamp | null;
  outcome: DeliveryRow['outcome'];
  message: string | null;
}

interface ListedRow extends Row {
  kind: MessageKind;
  subjectId: string;
  env: string | null;
  externalRef: string | null;
  source: string;
  event: string;
  createdAt: Timestamp;
}

interface MessageRow {
  ackGuid: string;
  tenantId: string;
  kind: MessageKind;
  subjectId: string;
  seq: number;
  env: string | null;
  source: string;
  event: string;
  body: JsonText;
  onSucceeded: NewMessageRow['onSucceeded'];
  onFailed: NewMessageRow['onFailed'];
  consumers: number;
  createdAt: Timestamp;
}
