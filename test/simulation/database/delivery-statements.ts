// Deliveries and notices. See src/store/postgres/delivery/delivery.sql and notice.sql. Where PostgreSQL needs two statements,
// because a snapshot is one moment, there is one here: every statement of this database sees everything before it.

import type { AckItem, AckResult, DeliveryStore } from '../../../src/store/delivery-port.ts';
import { readable } from './column.ts';
import { addDeliveries, fresh, nextTimeout } from './message-rows.ts';
import { type DeliveryRecord, deliveryKey, isOpen, type MessageRow } from './messaging-tables.ts';
import { readClock, type Statements, type Tables } from './tables.ts';

type DeliveryStatements = Omit<Pick<Statements, keyof DeliveryStore>, `${'outbox' | 'consumer'}${string}`>;

const DAY_MS = 86_400_000;

export function deliveryStatements(tables: Tables): DeliveryStatements {
  return {
    ...questionStatements(tables),
    ...operatorStatements(tables),
    deliveryClaim: (params) => claim(tables, params),
    deliveryAck: ({ acks, remindMs }) => acks.map((item) => acknowledge(tables, item, remindMs[0] ?? null)),
    noticeAdd({ notices }) {
      return notices.map((notice) => {
        const id = String(tables.nextId++);
        tables.messaging.notices.push({ ...notice, id });
        return id;
      });
    },
    noticeGet: ({ noticeIds }) => tables.messaging.notices.filter(({ id }) => noticeIds.includes(id)),
    noticeList({ tenantId, afterId, limit }) {
      const mine = tables.messaging.notices.filter((notice) => notice.tenantId === tenantId);
      return afterId === null
        ? mine.slice(-limit)
        : mine.filter(({ id }) => Number(id) > Number(afterId)).slice(0, limit);
    },
  };
}

function questionStatements(
  tables: Tables,
): Pick<Statements, 'monitorLook' | 'deliveryGet' | 'deliveryList' | 'messageList'> {
  const { messaging } = tables;
  const dueConsumers = (consumerIds: readonly string[]) => {
    const now = tables.clock();
    return consumerIds.filter((id) => isRunning(tables, id) && ofConsumer(tables, id).some((row) => isDue(row, now)));
  };
  return {
    monitorLook: ({ consumerIds }) => ({
      at: readClock(tables),
      generation: String(messaging.generation),
      dueConsumerIds: dueConsumers(consumerIds),
      nextDeliveryAt: earliest(
        consumerIds.filter((id) => isRunning(tables, id)).flatMap((id) => ofConsumer(tables, id)),
        tables.clock(),
      ),
      nextTimeoutAt: nextTimeout(tables),
      hasReactions: [...messaging.reactions.values()].some(({ dueAt }) => dueAt <= tables.clock()),
      hasOutbox: tables.batches.size > 0,
    }),
    deliveryGet({ tenantId, ackGuid }) {
      const message = messaging.messages.get(ackGuid);
      if (message === undefined || message.tenantId !== tenantId) return null;
      const rows = [...messaging.deliveries.values()].filter((row) => row.ackGuid === ackGuid);
      const deliveries = rows.sort((a, b) => Number(a.consumerId) - Number(b.consumerId)).map(shown);
      return { ...stored(message), deliveries };
    },
    deliveryList: ({ tenantId, consumerId, stage, ackGuids, newestFirst = false, after, limit }) =>
      [...messaging.deliveries.values()]
        .filter(({ ackGuid }) => ackGuids === undefined || ackGuids.includes(ackGuid))
        .map((row) => ({
          row,
          message: messaging.messages.get(row.ackGuid)!,
          cursor: `${row.ackGuid}.${row.consumerId}`,
        }))
        .filter(
          ({ row, message }) => message.tenantId === tenantId && (consumerId ?? row.consumerId) === row.consumerId,
        )
        .filter(({ row }) => (stage ?? row.stage) === row.stage)
        .sort((a, b) => (a.cursor < b.cursor === newestFirst ? 1 : -1))
        .filter(({ cursor }) => after === null || (newestFirst ? cursor < after : cursor > after))
        .slice(0, limit)
        .map(({ row, message: { kind, subjectId, env, source, event, createdAt }, cursor }) => ({
          ...shown(row),
          kind,
          subjectId,
          env,
          externalRef: messaging.instances.get(subjectId)?.externalRef ?? null,
          source,
          event,
          createdAt,
          cursor,
        })),
    messageList: ({ tenantId, from, until, after, limit }) =>
      [...messaging.messages.values()]
        .filter((message) => message.tenantId === tenantId && message.createdAt >= from && message.createdAt < until)
        .map(stored)
        .sort((a, b) => a.createdAt - b.createdAt || (a.ackGuid < b.ackGuid ? -1 : 1))
        .filter(({ cursor }) => after === null || cursor > after)
        .slice(0, limit)
        .map(({ ackGuid, kind, env, source, event, createdAt, cursor }) => ({
          ...{ ackGuid, kind, env, source, event, createdAt, cursor },
        })),
  };
}

function operatorStatements(
  tables: Tables,
): Pick<Statements, 'deliveryRequeue' | 'deliveryPurgeDead' | 'deliveryReplay' | 'messagePurge'> {
  const { messaging } = tables;
  const theirs = (tenantId: string, { ackGuid, consumerId }: { ackGuid: string; consumerId: string }) =>
    messaging.consumers.get(consumerId)?.tenantId === tenantId
      ? messaging.deliveries.get(deliveryKey(ackGuid, consumerId))
      : undefined;
  return {
    deliveryRequeue({ tenantId, items }) {
      const rows = items.flatMap((item) => theirs(tenantId, item) ?? []);
      const again = rows.filter(({ stage }) => stage === 'Dead' || stage === 'Failed');
      for (const row of again) Object.assign(row, fresh(tables));
      return again.length;
    },
    deliveryPurgeDead({ tenantId, items }) {
      const dead = items.flatMap((item) => theirs(tenantId, item) ?? []).filter(({ stage }) => stage === 'Dead');
      for (const { ackGuid, consumerId } of dead) messaging.deliveries.delete(deliveryKey(ackGuid, consumerId));
      return dead.length;
    },
    deliveryReplay({ tenantId, consumerId, ackGuids, missing }) {
      if (messaging.consumers.get(consumerId)?.tenantId !== tenantId) return 0;
      const given = new Set(ackGuids);
      const again = ofConsumer(tables, consumerId).filter(
        ({ ackGuid, stage }) => stage !== 'Pending' && given.has(ackGuid),
      );
      for (const row of again) Object.assign(row, fresh(tables));
      const added = missing
        .flatMap((ackGuid) => messaging.messages.get(ackGuid) ?? [])
        .filter(
          (message) =>
            message.tenantId === tenantId && !messaging.deliveries.has(deliveryKey(message.ackGuid, consumerId)),
        );
      addDeliveries(
        tables,
        added.map(({ ackGuid, subjectId, seq }) => ({ ackGuid, consumerId, subjectId, seq })),
      );
      return again.length + added.length;
    },
    messagePurge({ before, limit }) {
      const kept = messaging.notices.filter(({ at }) => at >= tables.clock() - DAY_MS);
      messaging.notices.splice(0, messaging.notices.length, ...kept);
      const open = new Set(
        [...messaging.deliveries.values()].filter(({ stage }) => stage !== 'Processed').map(({ ackGuid }) => ackGuid),
      );
      const doomed = [...messaging.messages.values()]
        .filter(({ createdAt, ackGuid }) => createdAt < before && !open.has(ackGuid))
        .slice(0, limit);
      for (const { ackGuid } of doomed) {
        messaging.messages.delete(ackGuid);
        for (const [key, row] of messaging.deliveries) if (row.ackGuid === ackGuid) messaging.deliveries.delete(key);
      }
      return doomed.length;
    },
  };
}

const ofConsumer = ({ messaging }: Tables, consumerId: string): DeliveryRecord[] =>
  [...messaging.deliveries.values()].filter((row) => row.consumerId === consumerId);

const isRunning = ({ messaging }: Tables, consumerId: string): boolean =>
  messaging.consumers.get(consumerId)?.isPaused === false;

const isDue = ({ nextAttemptAt }: DeliveryRecord, now: number): boolean =>
  nextAttemptAt !== null && nextAttemptAt <= now;

function earliest(rows: readonly DeliveryRecord[], after: number): number | null {
  const times = rows.flatMap(({ nextAttemptAt: at }) => (at !== null && at > after ? [at] : []));
  return times.length === 0 ? null : Math.floor(Math.min(...times));
}

const shown = ({
  processed: _processed,
  retryAt: _asked,
  subjectId: _subjectId,
  seq: _seq,
  ...row
}: DeliveryRecord) => ({
  ...row,
  nextAttemptAt: row.nextAttemptAt === null ? null : Math.floor(row.nextAttemptAt),
});

const stored = ({ openConsumers: _open, failures: _failures, ...message }: MessageRow) => ({
  ...message,
  cursor: `${message.createdAt}.${message.ackGuid}`,
});

function claim(
  tables: Tables,
  params: Parameters<Statements['deliveryClaim']>[0],
): ReturnType<Statements['deliveryClaim']> {
  const { consumerId, ordering, limit, resendMs, remindMs, maxAttempts } = params;
  const now = tables.clock();
  const mine = ofConsumer(tables, consumerId);
  const result: ReturnType<Statements['deliveryClaim']> = { claimed: [], dead: [], at: readClock(tables) };
  if (!isRunning(tables, consumerId)) return result;
  const blocks = ordering === 'delivered' ? ['Pending', 'Failed'] : ['Pending', 'Failed', 'Delivered'];
  const isBlocked = ({ subjectId, seq }: DeliveryRecord) =>
    mine.some((other) => other.subjectId === subjectId && other.seq < seq && blocks.includes(other.stage));
  const due = mine
    .filter((row) => isDue(row, now) && (row.stage === 'Delivered' || !isBlocked(row)))
    .sort((a, b) => a.nextAttemptAt! - b.nextAttemptAt! || a.seq - b.seq);
  for (const row of due) {
    const { ackGuid, attempts } = row;
    const { tenantId, kind, subjectId, source, event, body, createdAt } = tables.messaging.messages.get(ackGuid)!;
    if (row.stage !== 'Delivered' && maxAttempts !== null && attempts >= maxAttempts) {
      const message = row.message ?? `not delivered after ${attempts} attempts`;
      Object.assign(row, { stage: 'Dead', nextAttemptAt: null, endedAt: readClock(tables), message });
      count(tables, row);
      result.dead.push({ ackGuid, consumerId, tenantId, attempts });
      continue;
    }
    if (result.claimed.length === limit) continue;
    if (row.stage === 'Delivered') {
      row.reminders++;
      row.nextAttemptAt =
        remindMs.length === 0 ? null : tables.clock() + remindMs[Math.min(row.reminders, remindMs.length - 1)]!;
    } else {
      row.stage = 'Pending';
      row.nextAttemptAt = tables.clock() + resendMs[Math.min(row.attempts, resendMs.length - 1)]!;
      row.attempts++;
    }
    const { stage, reminders } = row;
    result.claimed.push({
      ackGuid,
      consumerId,
      tenantId,
      kind,
      subjectId,
      source,
      event,
      body,
      stage,
      attempts: row.attempts,
      reminders,
      createdAt,
    });
  }
  return result;
}

function acknowledge(tables: Tables, item: AckItem, remindMs: number | null): AckResult {
  const { tenantId, ackGuid, consumerId, outcome, retryAt } = item;
  const row = tables.messaging.deliveries.get(deliveryKey(ackGuid, consumerId));
  if (row === undefined || tables.messaging.consumers.get(consumerId)?.tenantId !== tenantId) {
    return { known: false, changed: false, stage: 'Pending', reacted: false };
  }
  const goal = outcome === 'succeeded' ? item.stage : retryAt === null ? 'Dead' : 'Failed';
  if (goal === 'Delivered' && row.stage === 'Delivered' && remindMs !== null) {
    row.nextAttemptAt = tables.clock() + remindMs;
    row.reminders = 0;
  }
  if (!mayGo(row, goal, retryAt)) return { known: true, changed: false, stage: row.stage, reacted: false };
  const now = readClock(tables);
  row.stage = goal;
  row.message = item.message === null ? null : readable(item.message);
  row.outcome = goal === 'Delivered' ? null : outcome;
  row.endedAt = isOpen(row) ? null : now;
  row.nextAttemptAt = null;
  if (goal === 'Delivered' && remindMs !== null) row.nextAttemptAt = tables.clock() + remindMs;
  if (goal === 'Failed') row.nextAttemptAt = Math.max(retryAt!, tables.clock());
  if (goal === 'Failed') row.retryAt = retryAt;
  if (goal === 'Delivered') row.reminders = 0;
  if (goal === 'Delivered' || goal === 'Processed') row.deliveredAt ??= now;
  if (goal === 'Processed') row.processed++;
  return { known: true, changed: true, stage: goal, reacted: count(tables, row, item.result) };
}

function mayGo(
  { stage, outcome, retryAt: asked }: DeliveryRecord,
  goal: DeliveryRecord['stage'],
  retryAt: number | null,
): boolean {
  if (goal === 'Delivered') return stage === 'Pending';
  if (goal === 'Processed' && stage === 'Dead') return outcome === null;
  if (goal === 'Failed' && asked === retryAt) return false;
  return stage !== 'Processed' && stage !== 'Dead';
}

/** True: the hook is done, and an event must be triggered. */
function count(tables: Tables, { ackGuid, stage, processed }: DeliveryRecord, result: string | null = null): boolean {
  const message = tables.messaging.messages.get(ackGuid)!;
  if (message.onSucceeded === null && message.onFailed === null) return false;
  if (stage === 'Processed' && processed === 1) {
    message.openConsumers--;
    return message.openConsumers === 0 && message.onSucceeded !== null && react(tables, message, 'succeeded', result);
  }
  if (stage !== 'Dead') return false;
  message.failures++;
  return message.failures === 1 && message.onFailed !== null && react(tables, message, 'failed', result);
}

export function react(
  tables: Tables,
  message: MessageRow,
  outcome: 'succeeded' | 'failed',
  payload: string | null = null,
): boolean {
  const { instances, reactions } = tables.messaging;
  const { ackGuid, subjectId, onSucceeded, onFailed } = message;
  if ([...reactions.values()].some((row) => row.ackGuid === ackGuid && row.outcome === outcome)) return false;
  const { instanceId, tenantId, env, definition, externalRef } = instances.get(subjectId)!;
  const reactionId = String(tables.nextId++);
  const event = (outcome === 'succeeded' ? onSucceeded : onFailed)!;
  const key = { tenantId, env, definition, externalRef };
  reactions.set(reactionId, {
    ...key,
    reactionId,
    instanceId,
    event,
    ackGuid,
    outcome,
    payload,
    dueAt: tables.clock(),
  });
  return true;
}
