// Messages to consumers, and how far each delivery got. A message is written once and its bytes never change; there is one
// delivery per message and consumer, which goes Pending → Delivered → Processed, or ends as Failed or Dead. Part of the one
// door to storage (port.ts).
//
// Whoever sends takes the delivery first (deliveryClaim): its next attempt is then a while away, so that a sender that dies
// leaves it due again, and what is acknowledged meanwhile is never sent again (I19). Order is kept per subject (an instance
// or an execution) and consumer: a claim gives only what nothing older is still in the way of.

import type { ConsumerKind } from '../protocol/consumer-kind.ts';
import type { OutsideDriver } from './external-port.ts';
import type { JsonText, Timestamp } from './port.ts';

export type DeliveryStage = 'Pending' | 'Delivered' | 'Processed' | 'Failed' | 'Dead';
/** `workflow` and `trigger` are ours: starting a workflow, feeding event triggers. They are in no list. */
export type MessageKind = 'transition' | 'hook' | 'execution';

export interface DeliveryStore {
  /** Creates it, or changes what is given; raises the generation of lifecycle-port.ts. */
  consumerPut(params: ConsumerChange): Promise<ConsumerRow>;
  consumerGet(params: { tenantId: string; code: string }): Promise<ConsumerRow | null>;
  /** All of a tenant, or of every tenant (null): few rows, kept in memory by whoever decides. */
  consumerList(params: { tenantId: string | null }): Promise<ConsumerRow[]>;
  /** Its open deliveries go with the next sweep. */
  consumerRemove(params: { tenantId: string; code: string }): Promise<boolean>;
  /** Removes the open and dead deliveries of consumers that are no more; hooks that wait for an answer to them have failed. */
  consumerSweep(): Promise<SweptConsumer[]>;

  /**
   * Due deliveries of one consumer, oldest first, of different subjects where order holds them back. Each one counts an
   * attempt and is due again after `resendMs[attempts so far]` (the last one from there on); `remindMs` for those that are
   * Delivered already, by the number of reminders.
   */
  deliveryClaim(params: {
    consumerId: string;
    ordering: 'delivered' | 'processed';
    limit: number;
    resendMs: number[];
    remindMs: number[];
    /** After so many attempts it is Dead instead; null: never. */
    maxAttempts: number | null;
  }): Promise<{ claimed: ClaimedDelivery[]; dead: DeadDelivery[]; at: Timestamp }>;
  /** Idempotent; a late or repeated one changes nothing. One answer per item, in order. */
  deliveryAck(params: { acks: AckItem[]; remindMs: number[] }): Promise<AckResult[]>;
  deliveryGet(params: { tenantId: string; ackGuid: string }): Promise<MessageDetail | null>;
  /** Oldest first, or newest first; of certain messages, always oldest first. */
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
  /** Those of these messages that this consumer was or would have been sent, again: same ackGuid, same bytes. */
  deliveryReplay(params: {
    tenantId: string;
    consumerId: string;
    ackGuids: string[];
    /** Which of them match its subscriptions: sent also when there was no delivery of them to it. */
    missing: string[];
  }): Promise<number>;
  /** Messages of the range, by pages, without their bodies. */
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
   * Everything a monitor wants to know, in one statement, so that a quiet system costs one query per look: each answer is one
   * probe of an index. Of the deliveries, those to the given consumers.
   */
  monitorLook(params: { consumerIds: string[] }): Promise<MonitorLook>;

  // ── Outbox of executions (commit_batches) ──
  /** One leader publishes at a time; false: somebody else does. A row with a lease: held while it is renewed by asking again. */
  outboxLead(params: { leaderId: string; leaseMs: number }): Promise<boolean>;
  /** In id order. `facts` are those of exactly these batches' journal rows. */
  outboxRead(params: { limit: number; withFacts: boolean }): Promise<OutboxBatch[]>;
  /** Every transition of one execution. */
  outboxAgain(params: { tenantId: string; executionId: string }): Promise<OutboxRow[]>;
  /** Writes messages and their deliveries, all or none. */
  outboxTell(params: { messages: NewMessageRow[]; deliveries: NewDelivery[] }): Promise<void>;
  /** Tenants with an enabled event trigger of one of these types. */
  outboxListeners(params: { eventTypes: string[] }): Promise<{ tenantId: string; eventType: string }[]>;
  /** Deletes the batches and writes what came of them, in one statement: both or neither. */
  outboxPublish(params: {
    leaderId: string;
    batchIds: string[];
    messages: NewMessageRow[];
    deliveries: NewDelivery[];
  }): Promise<{ applied: boolean }>;

  // ── Notices ──
  /** Returns their ids. */
  noticeAdd(params: { notices: NewNotice[] }): Promise<string[]>;
  /** Of any tenant: for listeners in this very process. */
  noticeGet(params: { noticeIds: readonly string[] }): Promise<NoticeRow[]>;
  /** Newest last. After the given id (null: the last `limit`). */
  noticeList(params: { tenantId: string; afterId: string | null; limit: number }): Promise<NoticeRow[]>;
}

/** One delivery in a list, with what it is about. */
export interface ListedDelivery extends DeliveryRow {
  kind: MessageKind;
  subjectId: string;
  /** Of an instance: the environment of its lifecycle, and what its owner calls it. */
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
  /** Becomes the newest; the one before it stays (rotation), unless it is not to be kept. Another kind leaves all behind. */
  newSecret?: string | undefined;
  keepPrevious?: boolean | undefined;
  subscriptions?: JsonText | undefined;
  ordering?: 'delivered' | 'processed' | undefined;
  concurrency?: number | undefined;
  options?: JsonText | undefined;
  isPaused?: boolean | undefined;
  /** One that exists already stays as it is. */
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
  /** The hooks that failed for want of its answer. */
  ackGuids: string[];
}

/** `body` is what consumers get, byte for byte, on every attempt. */
export interface NewMessageRow {
  ackGuid: string;
  tenantId: string;
  kind: MessageKind;
  /** The instance or execution that order is kept within. */
  subjectId: string;
  /** Its place in the subject's order. */
  seq: number;
  /** env, definition and event of a lifecycle; workflow and event type of an execution: what subscriptions filter by. */
  env: string | null;
  source: string;
  event: string;
  body: JsonText;
  /** Events to trigger when all its consumers are done; null: none. */
  onSucceeded: string | null;
  onFailed: string | null;
  /** How many deliveries it has: those to be awaited before onSucceeded. */
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
  /** This one included. */
  attempts: number;
  /** Reminders of a delivered one, this one included. */
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
  /** The payload of the event that the hook triggers when this one ends it. */
  result: JsonText | null;
  /** With a failure: when to send it again; a time that has passed: at once. Without: the failure is final. */
  retryAt: Timestamp | null;
}

export interface AckResult {
  /** False: no such delivery of this tenant and consumer. */
  known: boolean;
  /** False: it was there already. */
  changed: boolean;
  stage: DeliveryStage;
  /** True: its hook is done, and an event waits to be triggered (reactionClaim of lifecycle-port.ts). */
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

/** What subscriptions are compared with. */
export type MessageHead = Pick<StoredMessage, 'ackGuid' | 'kind' | 'env' | 'source' | 'event' | 'createdAt' | 'cursor'>;

export interface MessageDetail extends StoredMessage {
  deliveries: DeliveryRow[];
}

export interface MonitorLook {
  at: Timestamp;
  /** That of lifecycle-port.ts. */
  generation: string;
  /** Consumers that have something due now. */
  dueConsumerIds: string[];
  /** When the next delivery that is not due yet will be, and the next timeout of an instance; null: none. */
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

/** One transition of one execution, and what is needed to tell about it. */
export interface OutboxRow {
  executionId: string;
  /** What whoever started it calls it: of an execution plan the caller's `runId`, otherwise the execution's id. */
  runId: string;
  seq: number;
  at: Timestamp;
  tenantId: string;
  workflowId: string;
  version: number;
  projectId: string;
  environmentId: string;
  correlationId: string;
  /** Of a row that ends the execution: how often it had been reopened by then. 0 of every other. */
  reopens: number;
  /** What runs it; null: the native engine. */
  driver: OutsideDriver | null;
  /** As it is known when the row is read; null: native, or not handed over yet. */
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
