// The hot path: what many executions did, in one statement and one round trip under one fence row (I3, I4, I13, I17).

import type { CommitBatch, Timestamp } from '../port.ts';
import { StoreError } from '../store-error.ts';
import { encodeColumns, encodeRow, uuidArray } from './array-parameter.ts';
import type { Database } from './database.ts';
import {
  ATTEMPT_COLUMNS,
  EVENT_COLUMNS,
  EXECUTION_COLUMNS,
  LINK_COLUMNS,
  LOG_COLUMNS,
  MESSAGE_COLUMNS,
  OUTCOME_COLUMNS,
} from './execution-columns.ts';
import { violatedConstraint } from './sqlstate.ts';
import { type Statement, statement } from './statement.ts';

const COMMIT = statement('execution_commit');
const COMMIT_PLAIN = statement('execution_commit_plain');
const COMMIT_PROGRESS = statement('execution_commit_progress');
const COMMIT_STEP = statement('execution_commit_step');
const ATTEMPT_KEY = 'action_executions_pkey';

export async function commitExecutions(
  engine: Database,
  batch: CommitBatch,
): Promise<{ applied: boolean; at: Timestamp }> {
  const { command, parameters } = commandFor(batch);
  try {
    const [row] = await engine.run<{ applied: boolean; at: Timestamp }>(command, parameters);
    return row!;
  } catch (error) {
    // Late results have no journal row: the attempt's own key tells that they were written before.
    if (batch.events.length === 0 && violatedConstraint(error) === ATTEMPT_KEY) {
      throw new StoreError('alreadyApplied', (error as Error).message, { cause: error });
    }
    throw error;
  }
}

/** Depends on nothing but the batch, so that the same batch is always the same statement (I18). */
function commandFor(batch: CommitBatch): { command: Statement; parameters: unknown[] } {
  if (!isPlain(batch)) return { command: COMMIT, parameters: fullParameters(batch) };
  const endsNothing = batch.outcomes.length + batch.ended.length === 0;
  if (endsNothing && batch.events.length === 1 && batch.attempts.length === 1) {
    return { command: COMMIT_STEP, parameters: stepParameters(batch) };
  }
  if (endsNothing) return { command: COMMIT_PROGRESS, parameters: progressParameters(batch) };
  return { command: COMMIT_PLAIN, parameters: plainParameters(batch) };
}

/** It only advances and ends executions. */
function isPlain({ children, consumed, sent, links, logs, crashResets, paused, resumed }: CommitBatch): boolean {
  const rest = [children, consumed, sent, links, logs, crashResets ?? [], paused ?? [], resumed ?? []];
  return rest.every((rows) => rows.length === 0);
}

/** In the order of the statement's numbers; so below. */
function stepParameters({ slotId, events, attempts }: CommitBatch): unknown[] {
  return [slotId, ...encodeRow(EVENT_COLUMNS, events[0]!), ...encodeRow(ATTEMPT_COLUMNS, attempts[0]!)];
}

function progressParameters(batch: CommitBatch): unknown[] {
  return [
    batch.slotId,
    ...encodeColumns(EVENT_COLUMNS, batch.events),
    ...encodeColumns(ATTEMPT_COLUMNS, batch.attempts),
  ];
}

function plainParameters(batch: CommitBatch): unknown[] {
  return [
    batch.slotId,
    ...encodeColumns(EVENT_COLUMNS, batch.events),
    ...encodeColumns(OUTCOME_COLUMNS, batch.outcomes),
    uuidArray(batch.ended),
    ...encodeColumns(ATTEMPT_COLUMNS, batch.attempts),
  ];
}

function fullParameters(batch: CommitBatch): unknown[] {
  return [
    batch.slotId,
    ...encodeColumns(EVENT_COLUMNS, batch.events),
    ...encodeColumns(LOG_COLUMNS, batch.logs),
    ...encodeColumns(LINK_COLUMNS, batch.links),
    ...encodeColumns(MESSAGE_COLUMNS, batch.sent),
    uuidArray(batch.consumed),
    ...encodeColumns(EXECUTION_COLUMNS, batch.children),
    ...encodeColumns(OUTCOME_COLUMNS, batch.outcomes),
    uuidArray(batch.crashResets ?? []),
    uuidArray(batch.ended),
    ...encodeColumns(ATTEMPT_COLUMNS, batch.attempts),
    uuidArray(batch.paused ?? []),
    uuidArray(batch.resumed ?? []),
  ];
}
