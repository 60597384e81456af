// Changes to the rows of messages and deliveries that several statements share.

import type { NewDelivery, NewMessageRow } from '../../../src/store/delivery-port.ts';
import { deliveryKey } from './messaging-tables.ts';
import { readClock, type Tables } from './tables.ts';

export function addMessages(tables: Tables, messages: readonly NewMessageRow[]): void {
  for (const message of messages) {
    const row = { ...message, openConsumers: message.consumers, failures: 0, createdAt: readClock(tables) };
    tables.messaging.messages.set(message.ackGuid, row);
  }
}

export function addDeliveries(tables: Tables, deliveries: readonly NewDelivery[]): void {
  for (const { ackGuid, consumerId, subjectId, seq } of deliveries) {
    const key = deliveryKey(ackGuid, consumerId);
    tables.messaging.deliveries.set(key, { ackGuid, consumerId, subjectId, seq, processed: 0, ...fresh(tables) });
  }
}

/** As if the message had never been sent. */
export const fresh = (tables: Tables) => ({
  stage: 'Pending' as const,
  attempts: 0,
  reminders: 0,
  nextAttemptAt: tables.clock(),
  retryAt: null,
  deliveredAt: null,
  endedAt: null,
  outcome: null,
  message: null,
});

export function nextTimeout({ messaging }: Tables): number | null {
  const times = [...messaging.instances.values()].flatMap(({ dueAt }) => (dueAt === null ? [] : [dueAt]));
  return times.length === 0 ? null : Math.min(...times);
}
