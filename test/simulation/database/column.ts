// Values that PostgreSQL refuses for a column: bad data, found before anything is written.

import { isUuid } from '../../../src/core/id/id.ts';
import type { NewDelivery, NewMessageRow } from '../../../src/store/delivery-port.ts';
import type { LifecycleMove } from '../../../src/store/lifecycle-port.ts';
import type { AttemptRow, CommitBatch, NewExecution, NewMessage, OutcomeRow } from '../../../src/store/port.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import type { EventRow } from './tables.ts';

const OUTCOMES = ['Succeeded', 'Failed', 'Cancelled', 'TimedOut'];
const ATTEMPT_STATUSES = [...OUTCOMES, 'RetriableFailure'];
const KINDS = ['webhook', 'event', 'signal', 'cancel', 'child', 'attemptResult'];
const FORMATS = ['graph', 'pipeline', 'plan'];

export function refuse(problem: string): never {
  throw new StoreError('data', problem);
}

/** `text` cannot hold U+0000, so readable text gets U+FFFD instead, which does no harm there. */
export const readable = (value: string): string => value.replaceAll('\u0000', '\uFFFD');

export function checkFormat(format: string): void {
  if (!FORMATS.includes(format)) refuse(`format ${format}`);
}

export function checkExecution(row: NewExecution): void {
  uuid(row.executionId);
  if (row.parentId !== null) uuid(row.parentId);
  if ((row.parentId === null) !== (row.parentNode === null)) refuse('half a parent');
  for (const value of [row.tenantId, row.workflowId, row.correlationId, row.requestId ?? '', row.parentNode ?? '']) {
    text(value);
  }
  for (const value of [row.trigger, row.principal, row.spec ?? 'null']) json(value);
  whole(row.priority, 0, 9);
  time(row.createdAt);
}

export function checkEvent(row: EventRow): void {
  uuid(row.executionId);
  whole(row.seq, 0, 2 ** 31 - 1);
  time(row.at);
  json(row.facts);
  if (row.inputs !== null) json(row.inputs);
}

export function checkOutcome(row: OutcomeRow): void {
  uuid(row.executionId);
  if (!OUTCOMES.includes(row.status)) refuse(`status ${row.status}`);
  for (const value of [row.outputs, row.error, row.contextSnapshot]) if (value !== null) json(value);
  time(row.startedAt);
  time(row.endedAt);
}

export function checkMessage(row: NewMessage): void {
  uuid(row.id);
  uuid(row.executionId);
  text(row.key);
  json(row.body);
  if (!KINDS.includes(row.kind)) refuse(`kind ${row.kind}`);
}

function checkAttempt(row: AttemptRow): void {
  uuid(row.executionId);
  text(row.nodeId);
  text(row.actionType);
  whole(row.attempt, 1, 32_767);
  if (!ATTEMPT_STATUSES.includes(row.status)) refuse(`status ${row.status}`);
  for (const value of [row.outputs, row.error]) if (value !== null) json(value);
  time(row.startedAt);
  time(row.endedAt);
}

export function checkBatch(batch: CommitBatch): void {
  batch.events.forEach(checkEvent);
  batch.attempts.forEach(checkAttempt);
  batch.outcomes.forEach(checkOutcome);
  batch.children.forEach(checkExecution);
  batch.sent.forEach(checkMessage);
  for (const { system, resourceType, resourceId } of batch.links) [system, resourceType, resourceId].forEach(text);
  for (const { at, data } of batch.logs) {
    time(at);
    if (data !== null) json(data);
  }
}

export function checkMove(row: LifecycleMove): void {
  uuid(row.instanceId);
  for (const value of [row.externalRef, row.requestId, row.event, row.fromState, row.toState]) text(value);
  for (const value of [row.cause, row.payload ?? 'null']) json(value);
  for (const value of [row.at, row.stateSince, row.dueAt ?? 0]) time(value);
}

export function checkSent(messages: readonly NewMessageRow[], deliveries: readonly NewDelivery[]): void {
  for (const { ackGuid, subjectId, body, seq } of messages) {
    uuid(ackGuid);
    uuid(subjectId);
    json(body);
    whole(seq, 0, 2 ** 31 - 1);
  }
  for (const { ackGuid, subjectId } of deliveries) [ackGuid, subjectId].forEach(uuid);
}

function uuid(value: string): void {
  if (!isUuid(value)) refuse(`"${value}" is not a uuid`);
}

function text(value: string): void {
  if (value.includes('\u0000')) refuse('U+0000 in a text');
}

export function json(value: string): void {
  try {
    JSON.parse(value);
  } catch {
    refuse('not json');
  }
}

function whole(value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max) refuse(`${value} is out of range`);
}

function time(value: number): void {
  if (!Number.isFinite(value)) refuse(`${value} is not a time`);
}
