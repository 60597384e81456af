// Executions that another engine runs. See src/store/postgres/external/external.sql.

import type { ExternalRun } from '../../../src/store/external-port.ts';
import { checkEvent, checkMessage, checkOutcome } from './column.ts';
import { checkKeys, keepLetterOf, noteLetter, write } from './commit-statements.ts';
import { EXTERNAL, mailOf, nextEpoch, readClock, type Statements, type Tables } from './tables.ts';

type ExternalStatements = Pick<
  Statements,
  | 'externalLook'
  | 'externalCommit'
  | 'externalDue'
  | 'externalGet'
  | 'externalNote'
  | 'externalMail'
  | 'externalPlaces'
  | 'externalGiveUp'
  | 'externalLetter'
  | 'externalAgain'
>;

const FIRST_EPOCH = 1;

export function externalStatements(tables: Tables): ExternalStatements {
  return {
    externalLook({ executionId, epoch, afterSeq }) {
      if (!isAt(tables, executionId, epoch)) return null;
      const journal = (tables.events.get(executionId) ?? []).filter(({ seq }) => seq > afterSeq);
      const from = journal[0]?.at ?? Number.POSITIVE_INFINITY;
      const attempts = [...(tables.attempts.get(executionId)?.values() ?? [])].filter(
        ({ outputs, status, endedAt }) =>
          outputs !== null && ['Succeeded', 'Failed', 'TimedOut'].includes(status) && endedAt >= from,
      );
      return {
        driver: tables.externalRuns.get(executionId)!.driver,
        at: readClock(tables),
        journal: journal.map(({ seq, at, facts }) => ({ seq, at, facts })),
        attempts: attempts.map(({ nodeId, attempt, outputs }) => ({ nodeId, attempt, outputs })),
        inbox: mailOf(tables, executionId).map(({ id, kind, key, body }) => ({ id, kind, key, body })),
      };
    },
    externalCommit(turn) {
      const { executionId, epoch, dueAt, waits, isPaused, childHandOverMs } = turn;
      const at = readClock(tables);
      if (!isAt(tables, executionId, epoch)) return { applied: false, at };
      checkKeys(tables, turn, 'alreadyApplied');
      const { driver } = tables.externalRuns.get(executionId)!;
      const fresh = turn.children.filter((child) => !tables.executions.has(child.executionId));
      write(tables, { ...turn, children: fresh.map((child) => ({ ...child, driver })) });
      for (const child of fresh) {
        tables.externalRuns.get(child.executionId)!.lookAt = tables.clock() + childHandOverMs;
      }
      for (const ended of turn.ended) tables.externalRuns.get(ended)!.lookAt = null;
      const row = tables.queue.get(executionId);
      if (row !== undefined) Object.assign(row, { epoch, dueAt, waits, paused: isPaused });
      return { applied: true, at };
    },
    externalDue({ driver, limit, holdMs }) {
      const now = tables.clock();
      const due = [...tables.externalRuns.entries()]
        .filter(([, run]) => run.driver === driver && run.lookAt !== null && run.lookAt <= now)
        .sort(([, a], [, b]) => a.lookAt! - b.lookAt!)
        .slice(0, limit);
      for (const [id, run] of due) run.lookAt = tables.queue.has(id) ? now + holdMs : null;
      return due.flatMap(([id]) => runOf(tables, id) ?? []);
    },
    externalGet: ({ executionId }) => runOf(tables, executionId),
    externalNote({ executionId, epoch, ref, error, lookAfterMs }) {
      const run = tables.externalRuns.get(executionId);
      const row = tables.queue.get(executionId);
      if (run === undefined || (row !== undefined && epochOf(row.epoch) !== epoch)) return { noted: false };
      if (ref === undefined) Object.assign(run, { failures: run.failures + 1, lastError: error ?? null });
      else Object.assign(run, { ref, refEpoch: epoch, failures: 0, lastError: null });
      if (row !== undefined) run.lookAt = tables.clock() + lookAfterMs;
      return { noted: true };
    },
    externalMail({ driver, olderThanMs, limit }) {
      const before = tables.clock() - olderThanMs;
      const unread = [...tables.inbox.entries()].filter(([, mail]) => mail.some(({ at }) => at < before));
      return unread
        .flatMap(([id]) => runOf(tables, id) ?? [])
        .filter((run) => run.driver === driver)
        .slice(0, limit);
    },
    externalPlaces({ driver }) {
      const places = new Map<string, { tenantId: string; projectId: string; environmentId: string }>();
      for (const [id, run] of tables.externalRuns) {
        if (run.driver !== driver || run.lookAt === null) continue;
        const { tenantId, projectId, environmentId } = tables.executions.get(id)!;
        places.set(JSON.stringify([tenantId, projectId, environmentId]), { tenantId, projectId, environmentId });
      }
      return [...places.values()];
    },
    externalGiveUp({ epoch, outcome, reason, payload, lastError, event, sent, keepLetter }) {
      checkOutcome(outcome);
      sent.forEach(checkMessage);
      if (event !== undefined) checkEvent(event);
      const { executionId } = outcome;
      if (!isAt(tables, executionId, epoch)) return { applied: false };
      keepLetterOf(tables, { outcome, reason, payload, attempts: 0, lastError, event, sent, keepLetter });
      tables.externalRuns.get(executionId)!.lookAt = null;
      return { applied: true };
    },
    externalLetter({ epoch, ...letter }) {
      const applied = isAt(tables, letter.executionId, epoch);
      if (applied) noteLetter(tables, letter);
      return { applied };
    },
    externalAgain({ executionId, epoch }) {
      if (!isAt(tables, executionId, epoch)) return { again: false };
      tables.queue.get(executionId)!.epoch = nextEpoch(tables);
      tables.externalRuns.get(executionId)!.lookAt = tables.clock();
      return { again: true };
    },
  };
}

/** An execution that never began is handed over with the first epoch. */
const epochOf = (epoch: number): number => Math.max(epoch, FIRST_EPOCH);

function isAt(tables: Tables, executionId: string, epoch: number): boolean {
  const row = tables.queue.get(executionId);
  return row?.state === EXTERNAL && epochOf(row.epoch) === epoch;
}

function runOf(tables: Tables, executionId: string): ExternalRun | null {
  const run = tables.externalRuns.get(executionId);
  const row = tables.queue.get(executionId);
  if (run === undefined || row?.state !== EXTERNAL) return null;
  const { tenantId, projectId, environmentId, workflowId, version, requestId } = tables.executions.get(executionId)!;
  const { driver, failures, lastError } = run;
  const epoch = epochOf(row.epoch);
  const place = { tenantId, projectId, environmentId, workflowId, version, requestId };
  const isBusy = row.dueAt === null ? row.waits === 0 : row.dueAt < tables.clock() - 5_000;
  const ref = run.refEpoch === epoch ? run.ref : null;
  return { executionId, driver, epoch, ...place, ref, failures, lastError, isBusy };
}
