// The journal alone: no holes and no repeats (I4, I5), the end of every attempt once and with its row (I3), no early timer (I8),
// one end (I13).

import type { Fact } from '../../src/core/decider/fact.ts';
import type { ExecutionRecord, JournalEntry } from './evidence.ts';
import type { Violation } from './violation.ts';

const ENDS_ATTEMPT = new Map<Fact['type'], string>([
  ['NodeSucceeded', 'Succeeded'],
  ['NodeFailed', 'Failed'],
  ['NodeTimedOut', 'TimedOut'],
  ['NodeCancelled', 'Cancelled'],
  ['RetryScheduled', 'RetriableFailure'],
]);
const ENDS_EXECUTION = /^Execution(Succeeded|Failed|Cancelled|TimedOut)$/;

export function checkJournal(record: ExecutionRecord, nodeIds: readonly string[]): Violation[] {
  const { executionId, journal } = record;
  const report = (invariant: string, what: string, evidence?: unknown): Violation => ({
    invariant,
    executionId,
    what,
    evidence,
  });
  return [
    ...sequenceProblems(journal).map((what) => report('I4', what, journal)),
    ...attemptProblems(record, nodeIds).map((what) => report('I3', what, { journal, attempts: record.attempts })),
    ...timerProblems(journal).map((what) => report('I8', what, journal)),
    ...endProblems(record).map((what) => report('I13', what, { journal, outcomes: record.outcomes })),
  ];
}

function sequenceProblems(journal: readonly JournalEntry[]): string[] {
  const problems: string[] = [];
  let next = 0;
  let lastAt = 0;
  for (const { seq, at, facts } of journal) {
    if (seq !== next) problems.push(`the journal goes on at ${seq} instead of ${next}`);
    if (at < lastAt) problems.push(`time runs backwards at ${seq}`);
    next = seq + facts.length;
    lastAt = at;
  }
  return problems;
}

/** Every attempt that ended has one row, and the row agrees with the journal. */
function attemptProblems({ journal, attempts }: ExecutionRecord, nodeIds: readonly string[]): string[] {
  const ends = new Map<string, string>();
  const problems: string[] = [];
  for (const fact of journal.flatMap(({ facts }) => facts)) {
    const status = ENDS_ATTEMPT.get(fact.type);
    if (status === undefined || !('attempt' in fact)) continue;
    const key = `${nodeIds[fact.node]} attempt ${fact.attempt}`;
    // A retry that is cancelled while it waits: its attempt had already ended.
    if (status === 'Cancelled' && ends.get(key) === 'RetriableFailure') continue;
    if (ends.has(key)) problems.push(`${key} ended twice: ${ends.get(key)}, then ${status}`);
    ends.set(key, status);
  }
  const rows = new Map(attempts.map(({ nodeId, attempt, status }) => [`${nodeId} attempt ${attempt}`, status]));
  if (rows.size !== attempts.length) problems.push('two rows for one attempt');
  for (const [key, status] of ends) {
    if (rows.get(key) !== status)
      problems.push(`${key} ended as ${status}, and its row says ${rows.get(key) ?? 'nothing'}`);
  }
  for (const key of rows.keys()) if (!ends.has(key)) problems.push(`${key} has a row and no end in the journal`);
  return problems;
}

function timerProblems(journal: readonly JournalEntry[]): string[] {
  const problems: string[] = [];
  const until = new Map<number, number>();
  for (const { at, facts } of journal) {
    for (const fact of facts) {
      if (fact.type === 'NodeSleeping' || fact.type === 'RetryScheduled') until.set(fact.node, fact.until);
      if (fact.type === 'NodeStarted' || fact.type === 'NodeSucceeded') {
        const due = until.get(fact.node);
        if (due !== undefined && at < due) problems.push(`node ${fact.node} went on ${due - at} ms early`);
        until.delete(fact.node);
      }
    }
  }
  return problems;
}

function endProblems({ journal, outcomes }: ExecutionRecord): string[] {
  const facts = journal.flatMap((entry) => entry.facts);
  const ends = facts.filter(({ type }) => ENDS_EXECUTION.test(type));
  const reopenings = facts.filter(({ type }) => type === 'ExecutionReopened').length;
  const problems: string[] = [];
  if (outcomes.length > 1) problems.push(`${outcomes.length} outcomes`);
  if (outcomes.length === 1 && ends.length !== reopenings + 1) {
    problems.push(`${ends.length} ends and ${reopenings} reopenings in the journal`);
  }
  const last = ends.at(-1)?.type.slice('Execution'.length);
  if (outcomes[0] !== undefined && last !== undefined && last !== outcomes[0].status) {
    problems.push(`the journal ends as ${last}, the outcome says ${outcomes[0].status}`);
  }
  return problems;
}
