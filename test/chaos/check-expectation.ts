// Compares an execution with the expected ledger: how it ended, which attempts each of its nodes took, and what the outputs are
// (I1, I3, I13, I14). A join that fired twice, or with half of its branches, shows as one attempt too many or as a wrong sum.

import type { ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';
import type { Expectation } from './workload.ts';

export function checkExpectation(
  record: ExecutionRecord,
  nodeIds: readonly string[],
  expected: Expectation,
): Violation[] {
  const violations: Violation[] = [];
  const { executionId, workflowId, attempts } = record;
  const report = (invariant: string, what: string, evidence?: unknown) =>
    violations.push({ invariant, executionId, what: `${workflowId}: ${what}`, evidence });
  const [outcome] = record.outcomes;
  if (outcome === undefined) {
    report('I1', 'was acknowledged and has not ended', record.journal.at(-1));
    return violations;
  }
  if (outcome.status !== expected.status) {
    report('I13', `ended as ${outcome.status} instead of ${expected.status}`, {
      error: outcome.error,
      attempts: attempts.map(({ nodeId, attempt, status, error }) => ({ nodeId, attempt, status, error })),
      journal: record.journal,
    });
  }
  for (const nodeId of nodeIds) {
    const own = attempts.filter((row) => row.nodeId === nodeId);
    const ends = own.map(({ status }) => status).join(', ');
    const allowed = (expected.attempts[nodeId] ?? [[]]).map((way) => way.join(', '));
    if (!allowed.includes(ends)) {
      report(
        nodeId === 'join' ? 'I14' : 'I3',
        `${nodeId} ended as [${ends}] instead of [${allowed.join('] or [')}]`,
        own,
      );
    }
    const value = expected.values?.[nodeId];
    const actual = (own.at(-1)?.outputs as { value?: unknown } | null | undefined)?.value;
    if (value !== undefined && actual !== value) {
      report('I3', `${nodeId} came to ${JSON.stringify(actual)} instead of ${value}`, own.at(-1));
    }
  }
  for (const [nodeId, ms] of Object.entries(expected.sleptMs ?? {})) {
    const slept = sleptMs(record, nodeIds.indexOf(nodeId));
    if (slept !== null && slept < ms) report('I8', `${nodeId} slept ${slept} ms instead of ${ms}`, record.journal);
  }
  return violations;
}

/** By the times of the journal; null: the node never slept, which the check of the attempts has reported already. */
function sleptMs({ journal }: ExecutionRecord, node: number): number | null {
  const from = journal.find(({ facts }) => facts.some((fact) => fact.type === 'NodeSleeping' && fact.node === node));
  const to = journal.find(({ facts }) => facts.some((fact) => fact.type === 'NodeSucceeded' && fact.node === node));
  return from === undefined || to === undefined ? null : to.at - from.at;
}
