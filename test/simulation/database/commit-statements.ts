// The commit, and the other statements that end an execution. All or nothing under one fence row (I3, I4, I13, I17). See
// execution_commit in src/store/postgres/execution/execution.sql, and operation.sql.

import type { DeadLetter } from '../../../src/store/operation-port.ts';
import type { CommitBatch } from '../../../src/store/port.ts';
import { StoreError } from '../../../src/store/store-error.ts';
import { checkBatch, checkEvent, checkMessage, checkOutcome, readable } from './column.ts';
import { addExecution, requestKey } from './execution-statements.ts';
import { ownedBy } from './runner-statements.ts';
import { addBatch, type EventRow, liveRunner, putMail, readClock, type Statements, type Tables } from './tables.ts';

type CommitStatements = Pick<Statements, 'executionCommit' | 'deadLetterAdd' | 'deadLetterNote' | 'executionUndoing'>;

export function commitStatements(tables: Tables): CommitStatements {
  return {
    executionCommit(batch) {
      checkBatch(batch);
      const applied = liveRunner(tables, batch.slotId) !== null;
      if (applied) {
        checkKeys(tables, batch);
        write(tables, batch);
      }
      return { applied, at: readClock(tables) };
    },
    deadLetterNote({ slotId, tenantId, executionId, reason, payload, attempts, lastError }) {
      if (!ownedBy(tables, slotId, executionId)) return { applied: false };
      noteLetter(tables, { tenantId, executionId, reason, payload, attempts, lastError });
      return { applied: true };
    },
    executionUndoing: ({ slotId, executionId }) => ({ applied: ownedBy(tables, slotId, executionId) }),
    deadLetterAdd({ slotId, sent = [], keepLetter = true, ...burial }) {
      const { outcome, event } = burial;
      checkOutcome(outcome);
      sent.forEach(checkMessage);
      if (event !== undefined) checkEvent(event);
      if (!ownedBy(tables, slotId, outcome.executionId)) return { applied: false };
      keepLetterOf(tables, { ...burial, sent, keepLetter });
      return { applied: true };
    },
  };
}

/** A letter about an execution that goes on; there is one letter for each execution. */
export function noteLetter(tables: Tables, letter: Omit<Parameters<Statements['deadLetterNote']>[0], 'slotId'>): void {
  const { executionId, tenantId, payload, attempts } = letter;
  if ([...tables.deadLetters.values()].some((other) => other.executionId === executionId)) return;
  const id = String(tables.nextId++);
  const enqueuedAt = readClock(tables);
  const about = { id, executionId, triggerId: null, requestId: null, enqueuedAt, payload, attempts };
  const words = { reason: readable(letter.reason), lastError: readable(letter.lastError) };
  tables.deadLetters.set(id, { ...about, ...words, tenantId });
}

type Letter = Required<Omit<Parameters<Statements['deadLetterAdd']>[0], 'slotId' | 'event'>> & {
  readonly event?: EventRow | undefined;
};

/** Ends the execution and keeps its dead letter. */
export function keepLetterOf(
  tables: Tables,
  { outcome, reason, payload, attempts, lastError, event, sent, keepLetter }: Letter,
): void {
  const { executionId, tenantId } = outcome;
  if (event !== undefined && hasEvent(tables, event)) throw new StoreError('alreadyApplied', 'execution_events_pkey');
  tables.queue.delete(executionId);
  if (!tables.outcomes.has(executionId)) tables.outcomes.set(executionId, { ...outcome });
  const id = String(tables.nextId++);
  const words = { reason: readable(reason), lastError: readable(lastError) };
  const letter: DeadLetter = {
    id,
    executionId,
    triggerId: null,
    requestId: null,
    enqueuedAt: readClock(tables),
    payload,
    attempts,
    ...words,
  };
  const isKnown = [...tables.deadLetters.values()].some((other) => other.executionId === executionId);
  if (keepLetter && !isKnown) tables.deadLetters.set(id, { ...letter, tenantId });
  if (event !== undefined) {
    addEvent(tables, event);
    addBatch(tables, [event]);
  }
  for (const message of sent) putMail(tables, message);
}

type Rows = Omit<CommitBatch, 'slotId'>;

/** `met`: the meaning of an attempt that already exists. */
export function checkKeys(tables: Tables, batch: Rows, met?: 'alreadyApplied'): void {
  const keys = new Set<string>();
  const once = (key: string, isKnown: boolean, failure: 'data' | 'alreadyApplied') => {
    if (isKnown || keys.has(key)) throw new StoreError(failure, `duplicate key ${key}`);
    keys.add(key);
  };
  for (const event of batch.events) {
    once(`event ${event.executionId} ${event.seq}`, hasEvent(tables, event), 'alreadyApplied');
  }
  const late = met ?? (batch.events.length === 0 ? 'alreadyApplied' : 'data');
  for (const { executionId, attempt, nodeId } of batch.attempts) {
    const isKnown = tables.attempts.get(executionId)?.has(`${attempt}:${nodeId}`) === true;
    once(`attempt ${executionId} ${attempt}:${nodeId}`, isKnown, late);
  }
  for (const { executionId } of batch.outcomes) {
    once(`outcome ${executionId}`, tables.outcomes.has(executionId), 'alreadyApplied');
  }
  for (const { executionId, tenantId, requestId } of met === undefined ? batch.children : []) {
    once(`execution ${executionId}`, tables.executions.has(executionId), 'data');
    if (requestId === null) continue;
    const key = requestKey(tenantId, requestId);
    once(`request ${key}`, tables.requests.has(key), 'data');
  }
}

export function write(tables: Tables, batch: Rows): void {
  for (const event of batch.events) addEvent(tables, event);
  addBatch(tables, batch.events);
  for (const attempt of batch.attempts) {
    const rows = tables.attempts.get(attempt.executionId) ?? new Map();
    tables.attempts.set(attempt.executionId, rows.set(`${attempt.attempt}:${attempt.nodeId}`, { ...attempt }));
  }
  for (const outcome of batch.outcomes) tables.outcomes.set(outcome.executionId, { ...outcome });
  for (const executionId of batch.ended) tables.queue.delete(executionId);
  for (const executionId of batch.crashResets ?? []) {
    const row = tables.queue.get(executionId);
    if (row !== undefined) row.crashes = 0;
  }
  for (const executionId of batch.paused ?? []) setPaused(tables, executionId, true);
  for (const executionId of batch.resumed ?? []) setPaused(tables, executionId, false);
  for (const child of batch.children) addExecution(tables, child);
  consume(tables, batch.consumed);
  for (const message of batch.sent) putMail(tables, message);
  for (const link of batch.links) {
    const key = linkKey(link);
    if (!tables.links.has(key)) tables.links.set(key, { ...link });
  }
  for (const log of batch.logs) {
    const lines = tables.logs.get(log.executionId) ?? [];
    lines.push({ ...log, message: readable(log.message) });
    tables.logs.set(log.executionId, lines);
  }
}

function setPaused(tables: Tables, executionId: string, paused: boolean): void {
  const row = tables.queue.get(executionId);
  if (row !== undefined) row.paused = paused;
}

function consume(tables: Tables, ids: readonly string[]): void {
  if (ids.length === 0) return;
  for (const [executionId, mail] of tables.inbox) {
    const rest = mail.filter(({ id }) => !ids.includes(id));
    if (rest.length === 0) tables.inbox.delete(executionId);
    else tables.inbox.set(executionId, rest);
  }
}

function hasEvent(tables: Tables, { executionId, seq }: EventRow): boolean {
  return tables.events.get(executionId)?.some((row) => row.seq === seq) === true;
}

function addEvent(tables: Tables, event: EventRow): void {
  const rows = tables.events.get(event.executionId) ?? [];
  const later = rows.findIndex(({ seq }) => seq > event.seq);
  rows.splice(later < 0 ? rows.length : later, 0, { ...event });
  tables.events.set(event.executionId, rows);
}

export function linkKey({
  tenantId,
  system,
  resourceType,
  resourceId,
}: Pick<Parameters<Statements['resourceFind']>[0], 'tenantId' | 'system' | 'resourceType' | 'resourceId'>): string {
  return JSON.stringify([tenantId, system, resourceType, resourceId]);
}
