// Rows of lifecycles, messages and deliveries in the simulated database.

import type { ConsumerRow, DeliveryStage, NewMessageRow, NoticeRow } from '../../../src/store/delivery-port.ts';
import type { InstanceRow, LifecycleVersion, Reaction, TimelineEntry } from '../../../src/store/lifecycle-port.ts';

export interface MessagingTables {
  generation: number;
  /** By tenant, env and name: version n is at n − 1. */
  readonly lifecycles: Map<string, Omit<LifecycleVersion, 'newestVersion'>[]>;
  readonly instances: Map<string, Mutable<InstanceRow>>;
  /** By instance, oldest first. */
  readonly timelines: Map<
    string,
    (Omit<TimelineEntry, 'kind'> & {
      readonly kind: TimelineEntry['kind'] | 'no-op';
      readonly revision: number | null;
      readonly activityId: string | null;
    })[]
  >;
  readonly reactions: Map<string, Reaction & { dueAt: number }>;
  readonly consumers: Map<string, Mutable<ConsumerRow>>;
  readonly messages: Map<string, MessageRow>;
  /** By `ackGuid consumerId`. */
  readonly deliveries: Map<string, DeliveryRecord>;
  leader: { readonly leaderId: string; readonly expiresAt: number } | null;
  readonly notices: NoticeRow[];
}

type Mutable<Row> = { -readonly [Field in keyof Row]: Row[Field] };

export interface MessageRow extends NewMessageRow {
  openConsumers: number;
  failures: number;
  readonly createdAt: number;
}

export interface DeliveryRecord {
  readonly ackGuid: string;
  readonly consumerId: string;
  readonly subjectId: string;
  readonly seq: number;
  stage: DeliveryStage;
  attempts: number;
  reminders: number;
  /** How often the delivery was processed; a replay does not count again. */
  processed: number;
  nextAttemptAt: number | null;
  /** The time at which the consumer asked to get the message again. */
  retryAt: number | null;
  deliveredAt: number | null;
  endedAt: number | null;
  outcome: 'succeeded' | 'failed' | null;
  message: string | null;
}

export function createMessagingTables(): MessagingTables {
  return {
    generation: 0,
    lifecycles: new Map(),
    instances: new Map(),
    timelines: new Map(),
    reactions: new Map(),
    consumers: new Map(),
    messages: new Map(),
    deliveries: new Map(),
    leader: null,
    notices: [],
  };
}

export const deliveryKey = (ackGuid: string, consumerId: string): string => `${ackGuid} ${consumerId}`;

export const isOpen = ({ stage }: DeliveryRecord): boolean => stage !== 'Processed' && stage !== 'Dead';
