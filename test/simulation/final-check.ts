// When all is quiet: does everything exist that must exist, once, and as expected? Compares the rows with the ledger that was
// computed when the case was generated (I1, I3, I7, I10, I12, I13, I15, I20, I23).

import { contextSnapshot } from '../../src/core/decider/snapshot.ts';
import type { Audit } from './audit.ts';
import { allowedEnds, type Case, type ExecutionCase } from './case.ts';
import { isRetry } from './database/queue-statements.ts';
import type { Statements, Tables } from './database/tables.ts';
import { attemptsOf, type Expectation } from './expectation.ts';
import { foldExecution } from './fold.ts';
import { checkLanguage } from './language-check.ts';
import type { NodeSpec } from './workflow.ts';

export interface Outcome {
  readonly tables: Tables;
  readonly statements: Statements;
  readonly audit: Audit;
  readonly started: ReadonlyMap<number, string>;
  readonly effects: ReadonlyMap<string, number>;
}

export function checkOutcome({ executions }: Case, outcome: Outcome): void {
  const { audit, statements, tables } = outcome;
  for (const { executionId, problem } of statements.queueAudit()) audit.violate('I12', `${executionId}: ${problem}`);
  for (const { executionId, state, dueAt } of tables.queue.values()) {
    const { workflowId } = tables.executions.get(executionId)!;
    audit.violate('I12', `${executionId} (${workflowId}) never ended: state ${state}, due ${dueAt}`);
  }
  for (const executionId of tables.outcomes.keys()) checkFold(outcome, executionId);
  for (const execution of executions) checkExecution(outcome, execution);
  checkChildren(outcome);
  checkLetters(outcome);
  checkMail(outcome);
}

/** What the owner wrote from its memory equals the fold of the rows. */
function checkFold({ tables, audit }: Outcome, executionId: string): void {
  const row = tables.outcomes.get(executionId)!;
  const state = foldExecution(tables, executionId);
  if (state.status !== row.status) audit.violate('I15', `${executionId} ended ${row.status}, folds to ${state.status}`);
  if (row.contextSnapshot === null) return;
  const snapshot = JSON.stringify(contextSnapshot(state));
  if (snapshot !== row.contextSnapshot) {
    audit.violate('I15', `${executionId}: snapshot ${row.contextSnapshot} folds to ${snapshot}`);
  }
  const outputs = state.outputs === undefined ? null : JSON.stringify(state.outputs);
  if (outputs !== null && outputs !== row.outputs)
    audit.violate('I15', `${executionId}: outputs ${row.outputs} fold to ${outputs}`);
}

function checkExecution(outcome: Outcome, execution: ExecutionCase): void {
  const { audit, started, tables } = outcome;
  const executionId = started.get(execution.number);
  if (executionId === undefined) return audit.violate('I1', `#${execution.number} was never accepted`);
  if (!tables.executions.has(executionId)) return audit.violate('I1', `#${execution.number} was lost`);
  const row = tables.outcomes.get(executionId);
  if (row === undefined || audit.excused.has(executionId)) return;
  const { statuses, expectation } = allowedEnds(execution);
  if (!statuses.includes(row.status)) {
    const reason = `${row.status} ${row.error}, expected ${statuses.join(' or ')}`;
    audit.violate('ledger', `#${execution.number} ${executionId} (${execution.workflow.id}) ended ${reason}`);
  }
  for (const [signalId, times] of audit.signalsOf(executionId)) {
    if (times > 1) audit.violate('I10', `${executionId} applied signal ${signalId} ${times} times`);
  }
  checkLanguage(outcome, execution, executionId);
  const isUndisturbed = ['none', 'pause', 'patch'].includes(execution.control.kind);
  if (isUndisturbed && expectation.nodes !== null) checkNodes(outcome, execution, executionId, expectation);
}

function checkNodes(
  outcome: Outcome,
  { number, workflow }: ExecutionCase,
  executionId: string,
  expected: Expectation,
): void {
  const { audit, tables, effects } = outcome;
  const state = foldExecution(tables, executionId);
  for (const [index, { id }] of state.plan.nodes.entries()) {
    const { status } = state.nodes[index]!;
    const end = expected.nodes!.get(id);
    const spec = workflow.nodes.find((node) => node.id === id)!;
    const name = `#${number} ${executionId} ${id}`;
    if (status !== end && !isExcused(outcome, spec, executionId)) {
      audit.violate('ledger', `${name} ended ${status}, expected ${end}`);
    }
    if (spec.kind !== 'action' || end === 'Skipped' || status !== end) continue;
    checkAttempts(outcome, spec, executionId, name);
    if (end === 'Succeeded' && !effects.has(`${executionId}:${id}`)) audit.violate('I7', `${name} had no effect`);
  }
}

/** A child that became a dead letter after too many chance crashes fails the node of its parent, which is correct. */
function isExcused({ audit, tables }: Outcome, spec: NodeSpec, parentId: string): boolean {
  if (spec.kind !== 'child') return false;
  return [...audit.excused].some((id) => tables.executions.get(id)?.parentId === parentId);
}

function checkAttempts({ audit, tables }: Outcome, spec: NodeSpec, executionId: string, name: string): void {
  const rows = [...(tables.attempts.get(executionId)?.values() ?? [])].filter(({ nodeId }) => nodeId === spec.id);
  const expected = attemptsOf(spec);
  const recorded = rows.sort((a, b) => a.attempt - b.attempt).map(({ attempt }) => attempt);
  if (recorded.join() !== expected.map((_, index) => index + 1).join()) {
    audit.violate('I3', `${name}: attempts ${recorded.join()} are recorded, expected ${expected.join()}`);
  }
  for (const { attempt } of rows) {
    const isKnown = [...audit.dispatches.values()].some(
      (dispatch) => dispatch.executionId === executionId && dispatch.nodeId === spec.id && dispatch.attempt === attempt,
    );
    if (!isKnown) audit.violate('I7', `${name}: attempt ${attempt} is recorded and never ran`);
  }
}

/** Every child that a journal names exists, once, and nothing else claims to be a child. */
function checkChildren({ tables, audit }: Outcome): void {
  const named = new Set<string>();
  for (const [executionId, rows] of tables.events) {
    for (const [, childId] of rows
      .map(({ facts }) => facts)
      .join()
      .matchAll(/"childId":"([0-9a-f-]{36})"/g)) {
      if (named.has(childId!)) continue;
      named.add(childId!);
      if (!tables.executions.has(childId!)) audit.violate('I1', `child ${childId} of ${executionId} does not exist`);
    }
  }
  for (const { executionId, parentId } of tables.executions.values()) {
    if (parentId !== null && !named.has(executionId)) audit.violate('I2', `child ${executionId} has no cause`);
  }
}

function checkLetters({ tables, audit }: Outcome): void {
  for (const { executionId, workflowId } of tables.executions.values()) {
    if (workflowId !== 'poison' || tables.outcomes.get(executionId)?.status !== 'Failed') continue;
    const hasLetter = [...tables.deadLetters.values()].some((letter) => letter.executionId === executionId);
    if (!hasLetter) audit.violate('I20', `${executionId} is poison, and has no dead letter`);
  }
}

/** Mail that was answered "accepted" had its effect, or came when nothing could have an effect any more. */
function checkMail({ tables, audit }: Outcome): void {
  for (const message of [...tables.inbox.values()].flat()) {
    if (isRetry(message)) audit.violate('I10', `${message.executionId} accepted ${message.body}, and ended without it`);
  }
}
