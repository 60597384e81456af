// Consumers, deliveries and notices as the API shows them: absent rather than null, times as ISO text, stored JSON as JSON.

import type { z } from 'zod';
import type { ConsumerView } from '../../delivery/consumer.ts';
import type { DeliveryView, MessageView } from '../../delivery/deliveries.ts';
import type { NoticeView } from '../../delivery/notices.ts';
import type { consumerSchema, deliverySchema, messageSchema, noticeSchema } from '../../protocol/delivery.ts';
import type { DeliveryStage, ListedDelivery } from '../../store/delivery-port.ts';
import type { ConsumerBacklog } from '../../store/overview-port.ts';
import { isoTime, parsed, present } from './field.ts';

type ConsumerJson = z.input<typeof consumerSchema>;

export function presentConsumer(
  view: ConsumerView,
  secret: string | null = null,
  backlog: ConsumerBacklog | null = null,
): ConsumerJson {
  const { code, ordering, concurrency, options, isPaused, validSecrets } = view;
  return present<ConsumerJson>({
    code,
    // The built-in ones are in no list.
    kind: view.kind as ConsumerJson['kind'],
    url: view.url ?? undefined,
    subscriptions: view.subscriptions as ConsumerJson['subscriptions'],
    ordering,
    concurrency,
    options,
    connection: view.connection ?? undefined,
    isPaused,
    validSecrets,
    createdAt: isoTime(view.createdAt),
    updatedAt: isoTime(view.updatedAt)!,
    secret: secret ?? undefined,
    backlog: backlog === null ? undefined : presentBacklog(backlog),
  });
}

const presentBacklog = ({ pending, failed, dead, oldestAt, lastError }: ConsumerBacklog) =>
  present<NonNullable<ConsumerJson['backlog']>>({
    ...{ pending, failed, dead },
    oldestAt: isoTime(oldestAt),
    lastError: lastError ?? undefined,
  });

interface DeliveryState {
  consumer: string;
  stage: DeliveryStage;
  attempts: number;
  reminders: number;
  nextAttemptAt?: string;
  deliveredAt?: string;
  endedAt?: string;
  outcome?: 'succeeded' | 'failed';
  message?: string;
}

function presentState(view: DeliveryView): DeliveryState {
  return present<DeliveryState>({
    consumer: view.consumer,
    stage: view.stage,
    attempts: view.attempts,
    reminders: view.reminders,
    nextAttemptAt: isoTime(view.nextAttemptAt),
    deliveredAt: isoTime(view.deliveredAt),
    endedAt: isoTime(view.endedAt),
    outcome: view.outcome ?? undefined,
    message: view.message ?? undefined,
  });
}

export function presentDelivery(
  view: DeliveryView & Omit<ListedDelivery, 'consumerId' | 'cursor'>,
): z.input<typeof deliverySchema> {
  const { ackGuid, kind, subjectId, source, event, createdAt } = view;
  const instance = present({ env: view.env ?? undefined, externalRef: view.externalRef ?? undefined });
  return {
    ackGuid,
    ...presentState(view),
    kind,
    subjectId,
    ...instance,
    source,
    event,
    createdAt: isoTime(createdAt),
  };
}

export function presentMessage(view: MessageView): z.input<typeof messageSchema> {
  const { ackGuid, kind, subjectId, source, event, createdAt, body, deliveries } = view;
  const message = parsed(body) as Record<string, unknown>;
  const shown = { ackGuid, kind, subjectId, source, event, createdAt: isoTime(createdAt), message };
  return { ...shown, deliveries: deliveries.map(presentState) };
}

export function presentNotice({ id, at, kind, message, details }: NoticeView): z.input<typeof noticeSchema> {
  return { id, at: isoTime(at)!, kind, message, details };
}
