// Consumers. See src/store/postgres/delivery/consumer.sql.

import type { SweptConsumer } from '../../../src/store/delivery-port.ts';
import { react } from './delivery-statements.ts';
import type { MessageRow } from './messaging-tables.ts';
import { readClock, type Statements, type Tables } from './tables.ts';

export function consumerStatements(
  tables: Tables,
): Pick<Statements, 'consumerPut' | 'consumerGet' | 'consumerList' | 'consumerRemove' | 'consumerSweep'> {
  const { messaging } = tables;
  const find = (tenantId: string, code: string) =>
    [...messaging.consumers.values()].find((row) => row.tenantId === tenantId && row.code === code);
  return {
    consumerPut({ tenantId, code, kind, onlyNew = false, newSecret, keepPrevious = true, ...change }) {
      const existing = find(tenantId, code);
      if (existing !== undefined && onlyNew) return { ...existing };
      const now = readClock(tables);
      const defaults = {
        url: null,
        subscriptions: '[]',
        ordering: 'delivered',
        concurrency: 16,
        options: '{}',
        isPaused: false,
      } as const;
      const before = existing ?? {
        ...defaults,
        consumerId: String(tables.nextId++),
        tenantId,
        code,
        createdAt: now,
      };
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
      const kept = existing?.kind === kind ? existing.secrets : [];
      const secrets = newSecret === undefined ? kept : withNewest(newSecret, keepPrevious ? kept : []);
      const row = { ...before, ...given, kind, secrets, updatedAt: now };
      messaging.consumers.set(row.consumerId, row);
      messaging.generation++;
      return { ...row };
    },
    consumerGet({ tenantId, code }) {
      const row = find(tenantId, code);
      return row === undefined ? null : { ...row };
    },
    consumerList: ({ tenantId }) =>
      [...messaging.consumers.values()]
        .filter((row) => tenantId === null || row.tenantId === tenantId)
        .sort((a, b) => (JSON.stringify([a.tenantId, a.code]) < JSON.stringify([b.tenantId, b.code]) ? -1 : 1))
        .map((row) => ({ ...row })),
    consumerRemove({ tenantId, code }) {
      const row = find(tenantId, code);
      if (row === undefined) return false;
      messaging.consumers.delete(row.consumerId);
      messaging.generation++;
      return true;
    },
    consumerSweep() {
      const swept = new Map<string, SweptConsumer>();
      for (const [key, delivery] of messaging.deliveries) {
        const { consumerId, ackGuid, stage, outcome, processed } = delivery;
        if (messaging.consumers.has(consumerId) || stage === 'Processed') continue;
        messaging.deliveries.delete(key);
        if (!swept.has(consumerId)) swept.set(consumerId, { consumerId, ackGuids: [] });
        const isAnswered = processed > 0 || (stage === 'Dead' && outcome !== null);
        if (!isAnswered && fail(tables, messaging.messages.get(ackGuid)!))
          swept.get(consumerId)!.ackGuids.push(ackGuid);
      }
      return [...swept.values()];
    },
  };
}

function withNewest(secret: string, kept: readonly string[]): string[] {
  return [secret, ...kept.filter((other) => other !== secret).slice(0, 1)];
}

/** A hook fails when it waits for a consumer that no longer exists. False: nobody wants to know. */
function fail(tables: Tables, message: MessageRow): boolean {
  if (message.onSucceeded === null && message.onFailed === null) return false;
  message.failures++;
  if (message.failures === 1 && message.onFailed !== null) react(tables, message, 'failed');
  return true;
}
