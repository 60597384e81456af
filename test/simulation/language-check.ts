// What must hold for executions whose definitions loop, undo, wait for events or race, besides what holds for all executions
// (final-check.ts).

import type { Fact } from '../../src/core/decider/fact.ts';
import type { State } from '../../src/core/decider/state.ts';
import type { Audit } from './audit.ts';
import type { ExecutionCase } from './case.ts';
import type { Tables } from './database/tables.ts';
import { foldExecution } from './fold.ts';
import type { Language } from './language.ts';

interface Outcome {
  readonly tables: Tables;
  readonly audit: Audit;
  readonly effects: ReadonlyMap<string, number>;
}

export function checkLanguage(outcome: Outcome, execution: ExecutionCase, executionId: string): void {
  const { language } = execution.workflow;
  if (language === undefined) return;
  const state = foldExecution(outcome.tables, executionId);
  checkUndo(outcome, state, executionId);
  checkArrivals(outcome, state, executionId);
  const isUndisturbed = ['none', 'pause', 'patch'].includes(execution.control.kind);
  if (isUndisturbed) checkScript(outcome, language, state, executionId);
}

/** As the script says: the nodes end like this, and each of these attempts is recorded once (I3) and had its effect (I7). */
function checkScript({ audit, tables, effects }: Outcome, language: Language, state: State, executionId: string): void {
  for (const [index, { id }] of state.plan.nodes.entries()) {
    const expected = language.ends.get(id);
    const { status } = state.nodes[index]!;
    if (expected !== undefined && expected !== status) {
      audit.violate('ledger', `${executionId} ${id} ended ${status}, expected ${expected}`);
    }
  }
  const rows = [...(tables.attempts.get(executionId)?.values() ?? [])];
  for (const [nodeId, count] of language.attempts) {
    const own = rows.filter((row) => row.nodeId === nodeId);
    const recorded = own.map(({ attempt }) => attempt).sort((a, b) => a - b);
    const expected = Array.from({ length: count }, (_, at) => at + 1);
    if (recorded.join() !== expected.join()) {
      audit.violate(
        'I3',
        `${executionId} ${nodeId}: attempts ${recorded.join()} are recorded, expected ${expected.join()}`,
      );
    }
    const [owner, item, local] = nodeId.split(/[[\].]+/).filter(Boolean);
    const key = [executionId, owner, item, local].filter(Boolean).join(':');
    const isOk = own.some(({ status }) => status === 'Succeeded');
    if (isOk && !effects.has(key)) audit.violate('I7', `${executionId} ${nodeId} had no effect under the key ${key}`);
  }
}

/**
 * Every finished step with a compensation is undone, in reverse order of completion; the steps of `finally` run whatever
 * happened.
 */
function checkUndo({ audit, tables }: Outcome, state: State, executionId: string): void {
  const { plan, status } = state;
  if (!plan.nodes.some(({ aside }) => aside)) return;
  const done: number[] = [];
  const undone: number[] = [];
  for (const fact of factsOf(tables, executionId)) {
    if (fact.type === 'NodeSucceeded' && plan.nodes[fact.node]?.compensate !== undefined) done.push(fact.node);
    if (fact.type === 'NodeStarted' && plan.nodes[fact.node]?.aside && fact.attempt === 1) undone.push(fact.node);
  }
  const compensations = status === 'Succeeded' ? [] : done.reverse().map((node) => plan.nodes[node]!.compensate!);
  const expected = [...compensations, ...(plan.finally ?? [])];
  if (undone.join() === expected.join()) return;
  const names = (nodes: readonly number[]) => nodes.map((node) => plan.nodes[node]!.id).join();
  audit.violate('undo', `${executionId} ran ${names(undone)} at its end, where ${names(expected)} was to run`);
}

/** The same event counts once for a wait, even if it was sent twice (I10). */
function checkArrivals({ audit, tables }: Outcome, { plan }: State, executionId: string): void {
  const seen = new Set<string>();
  for (const fact of factsOf(tables, executionId)) {
    if (fact.type !== 'EventReceived' || fact.eventId === undefined) continue;
    const what = `${plan.nodes[fact.node]!.id} ${fact.eventId}`;
    if (seen.has(what)) audit.violate('I10', `${executionId} counted an event twice: ${what}`);
    seen.add(what);
  }
}

function factsOf(tables: Tables, executionId: string): Fact[] {
  return (tables.events.get(executionId) ?? []).flatMap(({ facts }) => JSON.parse(facts) as Fact[]);
}
