// Executions that another engine runs: look, commit a turn, hand over, give up. Each method is one statement.

import type { ExternalLook, ExternalRun, ExternalStore, ExternalTurn, OutsideDriver } from '../../external-port.ts';
import type { InboxMessage, JsonText, Timestamp } from '../../port.ts';
import { StoreError } from '../../store-error.ts';
import { encodeColumns } from '../array-parameter.ts';
import { EVENT, MESSAGE, readable } from '../column-list.ts';
import type { Database } from '../database.ts';
import { rowParameters } from '../execution/execution-commit.ts';
import { violatedConstraint } from '../sqlstate.ts';
import { statement } from '../statement.ts';

const LOOK = statement('external_look');
const COMMIT = statement('external_commit');
const DUE = statement('external_due');
const GET = statement('external_get');
const NOTE = statement('external_note');
const MAIL = statement('external_mail');
const PLACES = statement('external_places');
const GIVE_UP = statement('external_give_up');
const LETTER = statement('external_letter');
const AGAIN = statement('external_again');

const KIND = { head: 0, journal: 2, attempt: 3, message: 4 } as const;
/** Whoever meets one of these keys comes second: another turn has written what this one wanted to write. */
const OVERTAKEN_KEYS: ReadonlySet<string | undefined> = new Set(['action_executions_pkey', 'execution_outcomes_pkey']);

export function externalStore(engine: Database): ExternalStore {
  return {
    async externalLook({ executionId, epoch, afterSeq }) {
      return lookOf(await engine.run<LookRow>(LOOK, { executionId, epoch, afterSeq }));
    },
    externalCommit: (turn) => commitTurn(engine, turn),
    externalDue: (params) => engine.run<ExternalRun>(DUE, params),
    async externalGet(params) {
      const [run] = await engine.run<ExternalRun>(GET, params);
      return run ?? null;
    },
    async externalNote({ executionId, epoch, ref, error, lookAfterMs }) {
      const said = error === undefined ? null : readable(error);
      const rows = await engine.run(NOTE, { executionId, epoch, ref, error: said, lookAfterMs });
      return { noted: rows.length > 0 };
    },
    externalMail: (params) => engine.run<ExternalRun>(MAIL, params),
    externalPlaces: (params) => engine.run(PLACES, params),
    async externalGiveUp({ outcome, reason, lastError, event, sent, ...params }) {
      const [row] = await engine.run<{ applied: boolean }>(GIVE_UP, {
        ...params,
        ...outcome,
        startedAt: new Date(outcome.startedAt),
        endedAt: new Date(outcome.endedAt),
        reason: readable(reason),
        lastError: readable(lastError),
        events: encodeColumns(EVENT, event === undefined ? [] : [event]),
        sent: encodeColumns(MESSAGE, sent),
      });
      return row!;
    },
    async externalLetter({ reason, lastError, ...params }) {
      const words = { reason: readable(reason), lastError: readable(lastError) };
      const [row] = await engine.run<{ applied: boolean }>(LETTER, { ...params, ...words });
      return row!;
    },
    async externalAgain(params) {
      const [row] = await engine.run<{ again: boolean }>(AGAIN, params);
      return row!;
    },
  };
}

async function commitTurn(engine: Database, turn: ExternalTurn): Promise<{ applied: boolean; at: Timestamp }> {
  try {
    const { executionId, epoch, dueAt, waits, isPaused, childHandOverMs } = turn;
    const [row] = await engine.run<{ applied: boolean; at: Timestamp }>(COMMIT, {
      ...{ executionId, epoch, waits, isPaused, childHandOverMs },
      dueAt: dueAt === null ? null : new Date(dueAt),
      ...rowParameters(turn),
    });
    return row!;
  } catch (error) {
    if (OVERTAKEN_KEYS.has(violatedConstraint(error))) {
      throw new StoreError('alreadyApplied', (error as Error).message, { cause: error });
    }
    throw error;
  }
}

function lookOf(rows: readonly LookRow[]): ExternalLook | null {
  const head = rows.find(({ kind }) => kind === KIND.head);
  if (head === undefined) return null;
  const ofKind = (wanted: number) => rows.filter(({ kind }) => kind === wanted);
  return {
    driver: head.name as OutsideDriver,
    at: head.at,
    journal: ofKind(KIND.journal).map(({ seq, at, body }) => ({ seq, at, facts: body })),
    attempts: ofKind(KIND.attempt).map(({ name, seq, body }) => ({ nodeId: name, attempt: seq, outputs: body })),
    inbox: ofKind(KIND.message).map(({ messageId, name, key, body }) => ({
      id: messageId,
      kind: name as InboxMessage['kind'],
      key,
      body,
    })),
  };
}

/** Which of these are null depends on `kind`. */
interface LookRow {
  kind: number;
  seq: number;
  at: Timestamp;
  messageId: string;
  name: string;
  key: string;
  body: JsonText;
}
