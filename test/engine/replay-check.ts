// What must hold for every database that the engine has worked on, whatever the test was about: folding the stored journal again
// gives the stored outcome (I15), the journal has no gap and no duplicate (I4), an attempt that ended has one row (I3), and no
// live execution is without a wake-up (I12).

import { expect } from 'vitest';
import { contextSnapshot } from '../../src/core/decider/snapshot.ts';
import type { Pawl } from '../../src/main.ts';

export interface StoredExecution {
  readonly executionId: string;
  readonly tenantId: string;
}

export async function checkReplay(pawl: Pawl, executions: readonly StoredExecution[]): Promise<void> {
  expect(await pawl.store.queueAudit()).toEqual([]);
  for (const { tenantId, executionId } of executions) {
    await checkJournal(pawl, executionId);
    await checkOutcome(pawl, tenantId, executionId);
  }
}

async function checkOutcome(pawl: Pawl, tenantId: string, executionId: string): Promise<void> {
  const { view, state } = await pawl.executions.inspect(tenantId, executionId);
  if (view.endedAt === null) return;
  const isDeadLetter = view.contextSnapshot === null;
  expect(
    {
      status: state.status,
      outputs: state.outputs ?? null,
      error: state.error,
      snapshot: isDeadLetter ? null : contextSnapshot(state),
    },
    `the journal of ${executionId} (${view.workflowId}) folds to its outcome`,
  ).toEqual({
    status: view.status,
    outputs: parsed(view.outputs),
    error: parsed(view.error),
    snapshot: parsed(view.contextSnapshot),
  });
}

async function checkJournal(pawl: Pawl, executionId: string, isAgain = false): Promise<void> {
  const journal = await pawl.store.executionJournal({ executionId, afterSeq: -1, limit: 10_000 });
  const endings = new Map<string, number>();
  let next = 0;
  for (const { seq, facts } of journal) {
    expect(seq, `the journal of ${executionId} goes on without a gap`).toBe(next);
    const list = JSON.parse(facts) as { type: string; node?: number; attempt?: number }[];
    next += list.length;
    for (const { type, node, attempt } of list) {
      if (!ATTEMPT_ENDS.has(type)) continue;
      const key = `${node}/${attempt}`;
      endings.set(key, (endings.get(key) ?? 0) + 1);
    }
  }
  expect(
    [...endings].filter(([, count]) => count > 1),
    `an attempt of ${executionId} ends once`,
  ).toEqual([]);
  const attempts = await pawl.store.executionAttempts({ executionId });
  // An execution that still runs may have gone on between the two reads.
  if (attempts.length !== endings.size && !isAgain) return checkJournal(pawl, executionId, true);
  expect(attempts.length, `every ended attempt of ${executionId} has a row`).toBe(endings.size);
}

const ATTEMPT_ENDS = new Set(['NodeSucceeded', 'NodeFailed', 'NodeTimedOut', 'NodeCancelled', 'RetryScheduled']);

const parsed = (text: string | null): unknown => (text === null ? null : JSON.parse(text));
