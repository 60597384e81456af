// Mail from outside that was acknowledged is applied once, neither lost nor repeated (I10).

import type { Fact } from '../../src/core/decider/fact.ts';
import type { Ack } from './ack-ledger.ts';
import type { ExecutionRecord } from './evidence.ts';
import type { Violation } from './violation.ts';

export function checkMail(record: ExecutionRecord, nodeIds: readonly string[], acks: readonly Ack[]): Violation[] {
  const violations: Violation[] = [];
  const { executionId, journal, attempts } = record;
  const facts = journal.flatMap((entry) => entry.facts);
  const report = (what: string, evidence: unknown) =>
    violations.push({ invariant: 'I10', executionId, what, evidence });
  for (const ack of acks) {
    if (ack.type === 'signalled') {
      const applied = facts.filter((fact) => fact.type === 'SignalApplied' && fact.signalId === ack.signalId);
      if (applied.length !== 1 || 'refused' in applied[0]!) {
        report(`signal ${ack.signalId} was acknowledged once and applied ${applied.length} times`, {
          applied,
          journal,
        });
      }
    }
    if (ack.type === 'calledBack') {
      const node = nodeIds.indexOf(ack.nodeId);
      const received = facts.filter((fact) => fact.type === 'NodeSucceeded' && fact.node === node);
      const [row] = attempts.filter(({ nodeId }) => nodeId === ack.nodeId);
      if (received.length !== 1 || JSON.stringify(row?.outputs) !== JSON.stringify(ack.payload)) {
        report(`the callback to ${ack.nodeId} was acknowledged and received ${received.length} times`, {
          ack,
          row,
          journal,
        });
      }
    }
    if (ack.type === 'cancelled' && !facts.some(isCancelled)) {
      report('the cancel was acknowledged and never applied', journal);
    }
  }
  for (const [signalId, repeats] of Map.groupBy(facts.flatMap(signalIdOf), (id) => id)) {
    if (repeats.length > 1) report(`signal ${signalId} was applied ${repeats.length} times`, journal);
  }
  return violations;
}

const isCancelled = ({ type }: Fact): boolean => type === 'ExecutionCancelled';
const signalIdOf = (fact: Fact): string[] => (fact.type === 'SignalApplied' ? [fact.signalId] : []);
