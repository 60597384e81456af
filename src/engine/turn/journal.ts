// Translates decisions to rows and stored executions back to states. Outputs are stored once, with their attempt; the journal's
// facts omit them and get them back here, so that folding the stored rows gives the state that was in memory (I15).

import { fromCheckpoint } from '../../core/decider/checkpoint.ts';
import { applyTransition } from '../../core/decider/evolve.ts';
import type { Fact, Transition } from '../../core/decider/fact.ts';
import { idOf, nodeAt, planNodeOf } from '../../core/decider/frame.ts';
import { type ExecutionStart, initialState, type NodeState, type State } from '../../core/decider/state.ts';
import type { Json } from '../../core/json/json.ts';
import { actionTypeOf } from '../../core/plan/action-type.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { nodeIdAt } from '../../core/plan/virtual-node.ts';
import type { AttemptRow, CommitBatch, JsonText, LoadedExecution } from '../../store/port.ts';
import type { ExecutionReader } from '../../store/reader-port.ts';
import { isResultOf } from './attempt-input.ts';
import type { QueuedInput } from './resident.ts';

export function encodeFacts(facts: readonly Fact[]): JsonText {
  return JSON.stringify(facts.map(withoutOutputs));
}

/** Undefined fields are not written. This is faster than omitting them from the copy. */
function withoutOutputs(fact: Fact): object {
  return 'outputs' in fact ? { ...fact, outputs: undefined } : fact;
}

/**
 * Attempts that ended in this transition: one row each, written once and never changed (I3). `result` is the input of the
 * decision, with its outputs as the text they were parsed from, so the text need not be made again.
 */
export function attemptRows(
  state: State,
  { facts }: Transition,
  ended: ReadonlyMap<number, NodeState> | null,
  result?: QueuedInput,
): AttemptRow[] {
  let rows: AttemptRow[] = NONE;
  for (const fact of facts) {
    const ending = attemptEnding(fact);
    if (ending === null) continue;
    // The item of a loop may be over, and its nodes gone.
    const node = ended?.get(ending.node) ?? nodeAt(state, ending.node)!;
    const planNode = planNodeOf(state, ending.node);
    rows = added(rows, {
      executionId: state.start.executionId,
      nodeId: idOf(state, ending.node),
      attempt: ending.attempt,
      actionType: actionTypeOf(planNode.step),
      status: ending.status,
      startedSeq: node.startedSeq,
      outputs: outputsText(ending, result),
      error: ending.error === undefined ? null : JSON.stringify(ending.error),
      startedAt: node.startedAt!,
      endedAt: state.at,
      waitedMs: result?.waitedMs !== undefined && isResultOf(result.input, ending.node) ? result.waitedMs : null,
    });
  }
  return rows;
}

/** Shared by turns without rows of a kind, which are most. */
export const NONE: never[] = [];

/** Most rows stay alone, and an empty array that is pushed to reserves room for sixteen more. Never pushes to NONE. */
export function added<Row>(rows: Row[], row: Row): Row[] {
  if (rows.length === 0) return [row];
  rows.push(row);
  return rows;
}

function outputsText({ outputs }: AttemptEnding, result: QueuedInput | undefined): JsonText | null {
  if (outputs === undefined) return null;
  const isAsGiven = result?.outputsText !== undefined && 'outputs' in result.input && result.input.outputs === outputs;
  return isAsGiven ? result.outputsText! : JSON.stringify(outputs);
}

interface AttemptEnding {
  node: number;
  attempt: number;
  status: AttemptRow['status'];
  outputs?: Json;
  error?: unknown;
}

function attemptEnding(fact: Fact): AttemptEnding | null {
  switch (fact.type) {
    case 'NodeSucceeded':
      return { ...fact, status: 'Succeeded' };
    case 'NodeFailed':
      return { ...fact, status: 'Failed' };
    case 'NodeTimedOut':
      return { ...fact, status: 'TimedOut' };
    case 'NodeCancelled':
      return fact.betweenAttempts ? null : { ...fact, status: 'Cancelled' };
    case 'RetryScheduled':
      return { ...fact, status: 'RetriableFailure' };
    default:
      return null;
  }
}

/** The outcome row of an ended execution. Its ExecutionSucceeded fact leaves the outputs to that row. */
const END = 'end';

/** Folds the stored rows. The parameters of attempts are not included: see loading.ts. */
export function foldStored(
  plan: Plan,
  start: ExecutionStart,
  loaded: LoadedExecution,
  endOutputs: JsonText | null = null,
): State {
  if (loaded.checkpoint === null && loaded.journal.length === 0) return initialState(plan, start);
  const outputs = outputsOf(loaded.attempts);
  outputs.set(END, endOutputs);
  const state =
    loaded.checkpoint === null
      ? initialState(plan, start)
      : fromCheckpoint(plan, start, JSON.parse(loaded.checkpoint.state) as Json);
  fold(state, loaded.journal, outputs);
  return state;
}

/** Folds the rows stored since. */
export function foldFurther(
  state: State,
  journal: LoadedExecution['journal'],
  attempts: LoadedExecution['attempts'],
): void {
  fold(state, journal, outputsOf(attempts));
}

function fold(state: State, journal: LoadedExecution['journal'], outputs: ReadonlyMap<string, JsonText | null>): void {
  for (const row of journal) {
    const facts = (JSON.parse(row.facts) as Fact[]).map((fact) => withOutputs(state.plan, fact, outputs));
    applyTransition(state, { seq: row.seq, at: row.at, facts });
  }
}

function outputsOf(attempts: LoadedExecution['attempts']): Map<string, JsonText | null> {
  return new Map(attempts.map((row) => [`${row.attempt}:${row.nodeId}`, row.outputs]));
}

function withOutputs(plan: Plan, fact: Fact, stored: ReadonlyMap<string, JsonText | null>): Fact {
  const key = outputsKey(plan, fact);
  const text = key === null ? null : stored.get(key);
  return text === undefined || text === null ? fact : ({ ...fact, outputs: JSON.parse(text) as Json } as Fact);
}

function outputsKey(plan: Plan, fact: Fact): string | null {
  switch (fact.type) {
    case 'NodeSucceeded':
    case 'NodeFailed':
    case 'NodeTimedOut':
      return `${fact.attempt}:${nodeIdAt(plan, fact.node)}`;
    case 'ExecutionSucceeded':
      return END;
    default:
      return null;
  }
}

/** Whether the stored journal contains exactly this row: the same text at the same place (I18). */
export async function isWritten(
  store: ExecutionReader,
  { executionId, seq, facts }: CommitBatch['events'][number],
): Promise<boolean> {
  const [row] = await store.executionJournal({ executionId, afterSeq: seq - 1, limit: 1 });
  return row?.seq === seq && row.facts === facts;
}
