// Which field of a row goes to which array of the statements in sql/: the order here is the order of the parameters there.

import type {
  ActionLogRow,
  AttemptRow,
  CommitBatch,
  NewExecution,
  NewMessage,
  OutcomeRow,
  ResourceLinkRow,
} from '../port.ts';
import { type Column, int2, int4, json, text, timestamp, uuid } from './array-parameter.ts';

/** `text` cannot hold U+0000, which is harmless in what people read. Keys are never changed: there it is an error. */
export const readable = (value: string): string => value.replaceAll('\u0000', '\uFFFD');
const readableOrNull = (value: string | null): string | null => (value === null ? null : readable(value));

export const EXECUTION_COLUMNS: readonly Column<NewExecution>[] = [
  uuid((row) => row.executionId),
  text((row) => row.tenantId),
  text((row) => row.workflowId),
  int4((row) => row.version),
  text((row) => row.format),
  int2((row) => row.priority),
  int2((row) => row.behaviour ?? 1),
  json((row) => row.trigger),
  json((row) => row.spec),
  json((row) => row.principal),
  text((row) => row.correlationId),
  text((row) => row.requestId),
  uuid((row) => row.parentId),
  text((row) => row.parentNode),
  int2((row) => row.depth),
  text((row) => row.projectId),
  text((row) => row.environmentId),
  timestamp((row) => row.createdAt),
  text((row) => row.traceparent ?? null),
];

export const EVENT_COLUMNS: readonly Column<CommitBatch['events'][number]>[] = [
  uuid((row) => row.executionId),
  int4((row) => row.seq),
  timestamp((row) => row.at),
  json((row) => row.facts),
  json((row) => row.inputs),
];

export const ATTEMPT_COLUMNS: readonly Column<AttemptRow>[] = [
  uuid((row) => row.executionId),
  text((row) => row.nodeId),
  int2((row) => row.attempt),
  text((row) => row.actionType),
  text((row) => row.status),
  int4((row) => row.startedSeq),
  json((row) => row.outputs),
  json((row) => row.error),
  timestamp((row) => row.startedAt),
  timestamp((row) => row.endedAt),
];

export const OUTCOME_COLUMNS: readonly Column<OutcomeRow>[] = [
  uuid((row) => row.executionId),
  text((row) => row.tenantId),
  text((row) => row.status),
  json((row) => row.outputs),
  json((row) => row.error),
  json((row) => row.contextSnapshot),
  timestamp((row) => row.startedAt),
  timestamp((row) => row.endedAt),
];

export const MESSAGE_COLUMNS: readonly Column<NewMessage>[] = [
  uuid((row) => row.id),
  uuid((row) => row.executionId),
  text((row) => row.kind),
  text((row) => row.key),
  json((row) => row.body),
];

export const LINK_COLUMNS: readonly Column<ResourceLinkRow>[] = [
  text((row) => row.tenantId),
  text((row) => row.system),
  text((row) => row.resourceType),
  text((row) => row.resourceId),
  uuid((row) => row.executionId),
  text((row) => row.nodeId),
  int2((row) => row.attempt),
  text((row) => readableOrNull(row.url)),
];

export const LOG_COLUMNS: readonly Column<ActionLogRow>[] = [
  uuid((row) => row.executionId),
  text((row) => row.nodeId),
  int2((row) => row.attempt),
  timestamp((row) => row.at),
  text((row) => row.level),
  text((row) => readable(row.message)),
  json((row) => row.data),
];
