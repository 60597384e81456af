// The hot path: the changes of many executions in one statement and one round trip under one fence row (I3, I4, I13, I17).

import type { CommitBatch, Timestamp } from '../../port.ts';
import { StoreError } from '../../store-error.ts';
import { encodeColumns, encodeRow, uuidArray } from '../array-parameter.ts';
import { ATTEMPT, EVENT, EXECUTION, LINK, LOG, MESSAGE, OUTCOME } from '../column-list.ts';
import type { Database } from '../database.ts';
import { violatedConstraint } from '../sqlstate.ts';
import { type Statement, statement, type Values } from '../statement.ts';

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
    // Late results have no journal row: the attempt's own key shows that they were written before.
    if (batch.events.length === 0 && violatedConstraint(error) === ATTEMPT_KEY) {
      throw new StoreError('alreadyApplied', (error as Error).message, { cause: error });
    }
    throw error;
  }
}

/** Depends only on the batch, so that the same batch is always the same statement (I18). */
function commandFor(batch: CommitBatch): { command: Statement; parameters: Values } {
  const { slotId, events, attempts, outcomes, ended } = batch;
  if (!isPlain(batch)) return { command: COMMIT, parameters: fullParameters(batch) };
  const endsNothing = outcomes.length + ended.length === 0;
  if (endsNothing && events.length === 1 && attempts.length === 1) {
    const rows = { event: encodeRow(EVENT, events[0]!), attempt: encodeRow(ATTEMPT, attempts[0]!) };
    return { command: COMMIT_STEP, parameters: { slotId, ...rows } };
  }
  const progress = { slotId, events: encodeColumns(EVENT, events), attempts: encodeColumns(ATTEMPT, attempts) };
  if (endsNothing) return { command: COMMIT_PROGRESS, parameters: progress };
  const ends = { outcomes: encodeColumns(OUTCOME, outcomes), ended: uuidArray(ended) };
  return { command: COMMIT_PLAIN, parameters: { ...progress, ...ends } };
}

/** It only advances and ends executions. */
function isPlain({ children, consumed, sent, links, logs, crashResets, paused, resumed }: CommitBatch): boolean {
  const rest = [children, consumed, sent, links, logs, crashResets ?? [], paused ?? [], resumed ?? []];
  return rest.every((rows) => rows.length === 0);
}

const fullParameters = ({ crashResets = [], paused = [], resumed = [], ...batch }: CommitBatch): Values => ({
  slotId: batch.slotId,
  ...rowParameters(batch),
  crashResets: uuidArray(crashResets),
  paused: uuidArray(paused),
  resumed: uuidArray(resumed),
});

/** The rows that a commit writes, under whichever fence. */
export const rowParameters = (rows: Omit<CommitBatch, 'slotId'>) => ({
  events: encodeColumns(EVENT, rows.events),
  logs: encodeColumns(LOG, rows.logs),
  links: encodeColumns(LINK, rows.links),
  sent: encodeColumns(MESSAGE, rows.sent),
  consumed: uuidArray(rows.consumed),
  children: encodeColumns(EXECUTION, rows.children),
  outcomes: encodeColumns(OUTCOME, rows.outcomes),
  ended: uuidArray(rows.ended),
  attempts: encodeColumns(ATTEMPT, rows.attempts),
});
