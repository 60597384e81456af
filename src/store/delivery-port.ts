// Messages to consumers, and the progress of each delivery. A message is written once and its bytes never change. There is one
// delivery per message and consumer, which goes Pending → Delivered → Processed, or ends as Failed or Dead. Part of the storage
// port (port.ts).
//
// A sender claims the delivery first (deliveryClaim), which moves its next attempt into the future: a sender that dies leaves it
// due again, and an acknowledged delivery is never sent again (I19). Order is kept per subject (an instance or an execution) and
// consumer: a claim returns only deliveries without an older one in the way.

import type { ConsumerKind } from '../protocol/consumer-kind.ts';
import type { OutsideDriver } from './external-port.ts';
import type { JsonText, Timestamp } from './port.ts';

export type DeliveryStage = 'Pending' | 'Delivered' | 'Processed' | 'Failed' | 'Dead';
/** `workflow` and `trigger` are built in: starting a workflow, firing event triggers. They are not listed. */
export type MessageKind = 'transition' | 'hook' | 'execution';

export interface DeliveryStore {
  /** Creates it or changes the given fields; raises the generation of lifecycle-port.ts. */
  consumerPut(params: ConsumerChange): Promise<ConsumerRow>;
  consumerGet(params: { tenantId: string; code: string }): Promise<ConsumerRow | null>;
  /** Of a tenant, or of all tenants (null): few rows, which decision makers keep in memory. */
  consumerList(params: { tenantId: string | null }): Promise<ConsumerRow[]>;
  /** Its open deliveries are removed by the next sweep. */
  consumerRemove(params: { tenantId: string; code: string }): Promise<boolean>;
  /** Removes the open and dead deliveries of removed consumers; hooks that wait for their answers have failed. */
  consumerSweep(): Promise<SweptConsumer[]>;

  /**
   * Due deliveries of one consumer, oldest first, of different subjects where order applies. Each counts an attempt and is
   * due again after `resendMs[attempts so far]` (the last value repeats); `remindMs` for Delivered ones, by the number of
   * reminders.
   */
  deliveryClaim(params: {
    consumerId: string;
    ordering: 'delivered' | 'processed';
    limit: number;
    resendMs: number[];
    remindMs: number[];
    /** After this many attempts it is Dead instead; null: never. */
    maxAttempts: number | null;
  }): Promise<{ claimed: ClaimedDelivery[]; dead: DeadDelivery[]; at: Timestamp }>;
  /** Idempotent: a late or repeated acknowledgement changes nothing. One answer per item, in order. */
  deliveryAck(params: { acks: AckItem[]; remindMs: number[] }): Promise<AckResult[]>;
  deliveryGet(params: { tenantId: string; ackGuid: string }): Promise<MessageDetail | null>;
  /** Oldest or newest first; for given messages always oldest first. */
  deliveryList(params: {
    tenantId: string;
    consumerId: string | null;
    stage: DeliveryStage | null;
    ackGuids?: string[] | undefined;
    newestFirst?: boolean | undefined;
    after: string | null;
    limit: number;
  }): Promise<ListedDelivery[]>;
  /** Dead or Failed → Pending, due now. Returns how many. */
  deliveryRequeue(params: { tenantId: string; items: { ackGuid: string; consumerId: string }[] }): Promise<number>;
  deliveryPurgeDead(params: { tenantId: string; items: { ackGuid: string; consumerId: string }[] }): Promise<number>;
  /** Sends those of these messages again that the consumer was or would have been sent: same ackGuid, same bytes. */
  deliveryReplay(params: {
    tenantId: string;
    consumerId: string;
    ackGuids: string[];
    /** The ones that match its subscriptions: sent even without an earlier delivery. */
    missing: string[];
  }): Promise<number>;
  /** Messages of the range, by page, without their bodies. */
  messageList(params: {
    tenantId: string;
    from: Timestamp;
    until: Timestamp;
    after: string | null;
    limit: number;
  }): Promise<MessageHead[]>;
  /** Messages older than this whose deliveries have all ended well. */
  messagePurge(params: { before: Timestamp; limit: number }): Promise<number>;

  /**
   * Everything that a monitor needs to know in one statement, so that a quiet system costs one query per look: each answer is
   * one index probe. Deliveries only of the given consumers.
   */
  monitorLook(params: { consumerIds: string[] }): Promise<MonitorLook>;

  // ── Outbox of executions (commit_batches) ──
  /** One leader publishes at a time; false: another process does. A row with a lease, renewed by asking again. */
  outboxLead(params: { leaderId: string; leaseMs: number }): Promise<boolean>;
  /** In id order. `facts` belong to exactly these batches' journal rows. */
  outboxRead(params: { limit: number; withFacts: boolean }): Promise<OutboxBatch[]>;
  /** Every transition of one execution. */
  outboxAgain(params: { tenantId: string; executionId: string }): Promise<OutboxRow[]>;
  /** Writes messages and their deliveries, all or none. */
  outboxTell(params: { messages: NewMessageRow[]; deliveries: NewDelivery[] }): Promise<void>;
  /** Tenants with an enabled event trigger of one of these types. */
  outboxListeners(params: { eventTypes: string[] }): Promise<{ tenantId: string; eventType: string }[]>;
  /** Deletes the batches and writes the resulting messages in one statement: both or neither. */
  outboxPublish(params: {
    leaderId: string;
    batchIds: string[];
    messages: NewMessageRow[];
    deliveries: NewDelivery[];
  }): Promise<{ applied: boolean }>;

  // ── Notices ──
  /** Returns their ids. */
  noticeAdd(params: { notices: NewNotice[] }): Promise<string[]>;
  /** Of any tenant, for listeners in this process. */
  noticeGet(params: { noticeIds: readonly string[] }): Promise<NoticeRow[]>;
  /** Newest last. After the given id (null: the last `limit`). */
  noticeList(params: { tenantId: string; afterId: string | null; limit: number }): Promise<NoticeRow[]>;
}

/** One delivery in a list, with its subject. */
export interface ListedDelivery extends DeliveryRow {
  kind: MessageKind;
  subjectId: string;
  /** For an instance: the lifecycle's environment, and the owner's reference. */
  env: string | null;
  externalRef: string | null;
  /** The lifecycle or workflow. */
  source: string;
  event: string;
  createdAt: Timestamp;
  cursor: string;
}

export interface ConsumerChange {
  tenantId: string;
  code: string;
  kind: ConsumerKind;
  url?: string | null | undefined;
  /** Becomes the newest; the previous one stays (rotation) unless it is dropped. A change of kind drops all. */
  newSecret?: string | undefined;
  keepPrevious?: boolean | undefined;
  subscriptions?: JsonText | undefined;
  ordering?: 'delivered' | 'processed' | undefined;
  concurrency?: number | undefined;
  options?: JsonText | undefined;
  isPaused?: boolean | undefined;
  /** An existing one stays as it is. */
  onlyNew?: boolean | undefined;
}

export interface ConsumerRow {
  consumerId: string;
  tenantId: string;
  code: string;
  kind: ConsumerKind;
  url: string | null;
  /** Newest first, at most two. */
  secrets: string[];
  subscriptions: JsonText;
  ordering: 'delivered' | 'processed';
  concurrency: number;
  options: JsonText;
  isPaused: boolean;
  createdAt: Timestamp;
  updatedAt: Timestamp;
}

export interface SweptConsumer {
  consumerId: string;
  /** Hooks that failed because its answer is missing. */
  ackGuids: string[];
}

/** `body` is sent byte for byte on every attempt. */
export interface NewMessageRow {
  ackGuid: string;
  tenantId: string;
  kind: MessageKind;
  /** The instance or execution within which order is kept. */
  subjectId: string;
  /** Its place in the subject's order. */
  seq: number;
  /**
   * env, definition and event of a lifecycle, or workflow and event type of an execution: the fields that subscriptions
   * filter by.
   */
  env: string | null;
  source: string;
  event: string;
  body: JsonText;
  /** Events to trigger when all its consumers are done; null: none. */
  onSucceeded: string | null;
  onFailed: string | null;
  /** The number of its deliveries, all awaited before onSucceeded. */
  consumers: number;
}

export interface NewDelivery {
  ackGuid: string;
  consumerId: string;
  subjectId: string;
  seq: number;
}

export interface ClaimedDelivery {
  ackGuid: string;
  consumerId: string;
  tenantId: string;
  kind: MessageKind;
  subjectId: string;
  source: string;
  event: string;
  body: JsonText;
  stage: 'Pending' | 'Delivered';
  /** Including this one. */
  attempts: number;
  /** Reminders of a delivered message, including this one. */
  reminders: number;
  createdAt: Timestamp;
}

export interface DeadDelivery {
  ackGuid: string;
  consumerId: string;
  tenantId: string;
  attempts: number;
}

export interface AckItem {
  tenantId: string;
  ackGuid: string;
  consumerId: string;
  stage: 'Delivered' | 'Processed';
  outcome: 'succeeded' | 'failed';
  message: string | null;
  /** The payload of the event that the hook triggers if this acknowledgement ends it. */
  result: JsonText | null;
  /** With a failure: when to send it again; a past time means at once. Without: the failure is final. */
  retryAt: Timestamp | null;
}

export interface AckResult {
  /** false: this tenant and consumer have no such delivery. */
  known: boolean;
  /** false: it already had this stage. */
  changed: boolean;
  stage: DeliveryStage;
  /** true: its hook is done, and an event waits to be triggered (reactionClaim of lifecycle-port.ts). */
  reacted: boolean;
}

export interface DeliveryRow {
  ackGuid: string;
  consumerId: string;
  stage: DeliveryStage;
  attempts: number;
  reminders: number;
  nextAttemptAt: Timestamp | null;
  deliveredAt: Timestamp | null;
  endedAt: Timestamp | null;
  outcome: 'succeeded' | 'failed' | null;
  message: string | null;
}

export interface StoredMessage extends NewMessageRow {
  createdAt: Timestamp;
  cursor: string;
}

/** The fields that subscriptions are compared with. */
export type MessageHead = Pick<StoredMessage, 'ackGuid' | 'kind' | 'env' | 'source' | 'event' | 'createdAt' | 'cursor'>;

export interface MessageDetail extends StoredMessage {
  deliveries: DeliveryRow[];
}

export interface MonitorLook {
  at: Timestamp;
  /** The generation of lifecycle-port.ts. */
  generation: string;
  /** Consumers with due deliveries. */
  dueConsumerIds: string[];
  /** When the next delivery and the next instance timeout will be due; null: none. */
  nextDeliveryAt: Timestamp | null;
  nextTimeoutAt: Timestamp | null;
  hasReactions: boolean;
  hasOutbox: boolean;
}

export interface OutboxBatch {
  batchId: string;
  at: Timestamp;
  rows: OutboxRow[];
}

/** One transition of one execution, with the data for its events. */
export interface OutboxRow {
  executionId: string;
  /** The caller's name for it: the `runId` of an execution plan, otherwise the execution's id. */
  runId: string;
  seq: number;
  at: Timestamp;
  tenantId: string;
  workflowId: string;
  version: number;
  projectId: string;
  environmentId: string;
  correlationId: string;
  /** For a row that ends the execution: how often it was reopened before; otherwise 0. */
  reopens: number;
  /** The driver; null: the native engine. */
  driver: OutsideDriver | null;
  /** As known at the time of reading; null: native, or not handed over yet. */
  engineRunRef: JsonText | null;
  facts: JsonText;
}

export interface NewNotice {
  tenantId: string;
  kind: string;
  body: JsonText;
  at: Timestamp;
}

export interface NoticeRow extends NewNotice {
  id: string;
}
