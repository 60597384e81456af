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
} from '../delivery-port.ts';
import type { JsonText, Timestamp } from '../port.ts';
import { type Column, encodeColumns, int4, uuid, uuidArray } from './array-parameter.ts';
import { consumerStore, sweepDeliveries } from './consumer-store.ts';
import type { Database } from './database.ts';
import { acknowledge, promote } from './delivery-ack.ts';
import { blockingStages, stageName, stageNumber } from './delivery-stage.ts';
import { noticeStore } from './notice-store.ts';
import { outboxStore } from './outbox-store.ts';
import { statement } from './statement.ts';

const CLAIM = statement('delivery_claim');
const GET_MESSAGE = statement('message_get');
const GET_DELIVERIES = statement('message_deliveries');
const LIST = statement('delivery_list');
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
      const [row] = await engine.run<LookRow>(LOOK, [consumerIds]);
      return monitorLook(row!);
    },

    async deliveryGet({ tenantId, ackGuid }) {
      const [message] = await reader.run<MessageRow>(GET_MESSAGE, [tenantId, ackGuid]);
      if (message === undefined) return null;
      const rows = await reader.run<Row>(GET_DELIVERIES, [ackGuid]);
      return { ...storedMessage(message), deliveries: rows.map(deliveryRow) };
    },
    async deliveryList({ tenantId, consumerId, stage, after, limit }) {
      const filters = [consumerId, stage === null ? null : stageNumber(stage)];
      const [guid, consumer] = after?.split('.') ?? [null, null];
      const rows = await reader.run<ListedRow>(LIST, [tenantId, ...filters, guid, consumer, limit]);
      return rows.map((row) => ({
        ...deliveryRow(row),
        kind: row.kind,
        subjectId: row.subject_id,
        createdAt: row.created_at,
        cursor: `${row.ack_guid}.${row.consumer_id}`,
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

/** Again, as long as all that was looked at was in nobody's turn: what is due behind it must not wait for that. */
async function claimDeliveries(engine: Database, params: Parameters<DeliveryStore['deliveryClaim']>[0]): Claim {
  const { consumerId, limit } = params;
  const result: Awaited<Claim> = { claimed: [], dead: [], at: 0 };
  for (;;) {
    const wanted = limit - result.claimed.length;
    const rows = await engine.run<ClaimRow>(CLAIM, claimValues(params, wanted));
    const [{ at, looked }] = rows as [ClaimRow];
    const taken = rows.filter(({ ack_guid: guid }) => guid !== null);
    const dead = taken.filter(({ stage }) => stage === DEAD);
    await promote(
      engine,
      dead.map((row) => ({ consumer_id: Number(consumerId), ...row, hasEnded: true })),
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
  ackGuid: row.ack_guid,
  consumerId,
  tenantId: row.tenant_id,
  attempts: row.attempts,
});

const claimedDelivery = (row: ClaimRow, consumerId: string): ClaimedDelivery => ({
  ackGuid: row.ack_guid,
  consumerId,
  tenantId: row.tenant_id,
  kind: row.kind,
  subjectId: row.subject_id,
  source: row.source,
  event: row.event,
  body: row.body,
  stage: stageName(row.stage) as ClaimedDelivery['stage'],
  attempts: row.attempts,
  reminders: row.reminders,
  createdAt: row.created_at,
});

const deliveryRow = (row: Row): DeliveryRow => ({
  ackGuid: row.ack_guid,
  consumerId: String(row.consumer_id),
  stage: stageName(row.stage),
  attempts: row.attempts,
  reminders: row.reminders,
  nextAttemptAt: row.next_attempt_at,
  deliveredAt: row.delivered_at,
  endedAt: row.ended_at,
  outcome: row.outcome,
  message: row.message,
});

type HeadRow = Pick<MessageRow, 'ack_guid' | 'kind' | 'env' | 'source' | 'event' | 'created_at'>;

const messageHead = (row: HeadRow): MessageHead => ({
  ackGuid: row.ack_guid,
  kind: row.kind,
  env: row.env,
  source: row.source,
  event: row.event,
  createdAt: row.created_at,
  cursor: `${row.created_at}.${row.ack_guid}`,
});

const storedMessage = (row: MessageRow): StoredMessage => ({
  ...messageHead(row),
  tenantId: row.tenant_id,
  subjectId: row.subject_id,
  seq: row.seq,
  body: row.body,
  onSucceeded: row.on_succeeded,
  onFailed: row.on_failed,
  consumers: row.consumers,
});

const monitorLook = (row: LookRow): MonitorLook => ({
  at: row.at,
  generation: row.generation,
  dueConsumerIds: row.due_consumer_ids,
  nextDeliveryAt: row.next_delivery_at,
  nextTimeoutAt: row.next_timeout_at,
  hasReactions: row.has_reactions,
  hasOutbox: row.has_outbox,
});

interface ClaimRow {
  at: Timestamp;
  looked: number;
  ack_guid: string;
  tenant_id: string;
  kind: MessageKind;
  subject_id: string;
  seq: number;
  source: string;
  event: string;
  body: JsonText;
  stage: number;
  attempts: number;
  reminders: number;
  created_at: Timestamp;
}

interface Row {
  ack_guid: string;
  consumer_id: number;
  stage: number;
  attempts: number;
  reminders: number;
  next_attempt_at: Timestamp | null;
  delivered_at: Timestamp | null;
  ended_at: Timestamp | null;
  outcome: DeliveryRow['outcome'];
  message: string | null;
}

interface ListedRow extends Row {
  kind: MessageKind;
  subject_id: string;
  created_at: Timestamp;
}

interface MessageRow {
  ack_guid: string;
  tenant_id: string;
  kind: MessageKind;
  subject_id: string;
  seq: number;
  env: string | null;
  source: string;
  event: string;
  body: JsonText;
  on_succeeded: NewMessageRow['onSucceeded'];
  on_failed: NewMessageRow['onFailed'];
  consumers: number;
  created_at: Timestamp;
}

interface LookRow {
  at: Timestamp;
  generation: string;
  due_consumer_ids: string[];
  next_delivery_at: Timestamp | null;
  next_timeout_at: Timestamp | null;
  has_reactions: boolean;
  has_outbox: boolean;
}
