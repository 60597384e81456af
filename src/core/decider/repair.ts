// Repairs: an execution that failed, was cancelled or has a wrong result is corrected and goes on. RETRY_STEP runs a failed step
// again, RERUN_FROM a step and everything after it, COMPLETE_STEP sets the outcome of a step by hand; `takeUpAgain` continues a
// dead letter. An ended execution is reopened under a new generation, so its steps get new idempotency keys (I7, I13).

import type { Json, JsonObject } from '../json/json.ts';
import { nodeIndexOf } from '../plan/virtual-node.ts';
import { type Deciding, emit } from './deciding.ts';
import { nodeAt, planNodeOf } from './frame.ts';
import { succeedAttempt } from './outcome.ts';
import { reconsiderAll } from './routing.ts';
import { startNode } from './starting.ts';
import { isTerminal, type NodeState, type State } from './state.ts';
import { beginUndo, type Ending } from './undoing.ts';
import { subscribeEarly } from './waiting.ts';

export function nodeIndex(state: State, payload: JsonObject): number {
  const index = nodeIndexOf(state.plan, payload.stepId);
  return nodeAt(state, index) === undefined ? -1 : index;
}

/** An execution cannot go on from steps whose effects were undone. A failed compensation can be tried again. */
function undoneRefusal({ plan, nodes }: State, index: number): string | null {
  if (plan.nodes[index]?.aside) return null;
  const wasUndone = plan.nodes.some(({ compensate }) => compensate !== undefined && nodes[compensate]!.attempts > 0);
  return wasUndone ? 'what the execution had done was undone: start a new one' : null;
}

export function retryRefusal(state: State, payload: JsonObject): string | null {
  const index = nodeIndex(state, payload);
  const node = nodeAt(state, index)!;
  const undone = undoneRefusal(state, index);
  if (undone !== null) return undone;
  if (node.status === 'Cancelled' && !node.stopped) return 'the step was not needed: a join went on without it';
  if (node.status === 'Retrying' || node.status === 'Cancelled') return null;
  if (index >= state.nodes.length) return 'the step is part of a loop: retry the loop';
  if (node.status !== 'Failed' && node.status !== 'TimedOut') return `the step has not failed (${node.status})`;
  // A loop has no attempts of its own: a retry runs only the items that have not succeeded.
  if (node.loop !== null) return null;
  const spent = node.attempts - node.attemptBase >= Math.max(1, planNodeOf(state, index).policy.retry.maxAttempts);
  return spent && payload.force !== true ? 'the step is out of attempts; use force to try again all the same' : null;
}

/**
 * Only an ended execution can be rerun from a step. While it is live, a succeeded step keeps its idempotency key, and the
 * other side would answer the second call with the first result.
 */
export function rerunRefusal(state: State, payload: JsonObject): string | null {
  if (!isTerminal(state.status)) return 'the execution has not ended: cancel it first, or use RETRY_STEP';
  if (state.unresolved > 0) return 'the engine gave up on the execution: requeue its dead letter';
  const index = nodeIndex(state, payload);
  if (index >= state.nodes.length) return 'the step is part of a loop: name the loop';
  const undone = undoneRefusal(state, index);
  if (undone !== null || state.plan.nodes[index]!.aside)
    return undone ?? 'the step runs at the end only: use RETRY_STEP';
  const { status } = nodeAt(state, index)!;
  return status === 'Skipped' ? 'the step was skipped: name a step that ran' : null;
}

export function completeRefusal(state: State, payload: JsonObject): string | null {
  if (isTerminal(state.status) && state.unresolved > 0) {
    return 'the engine gave up on the execution: requeue its dead letter';
  }
  const index = nodeIndex(state, payload);
  if (index >= state.nodes.length || nodeAt(state, index)!.loop !== null) return 'the step is a loop, or part of one';
  const undone = undoneRefusal(state, index);
  if (undone !== null) return undone;
  const { status, childId } = nodeAt(state, index)!;
  switch (status) {
    case 'Pending':
      return 'the step has not started yet';
    case 'Running':
      return 'the step is running: wait for its attempt to end';
    case 'Succeeded':
      return 'the step has already succeeded';
    case 'Skipped':
      return 'the step was skipped: name a step that ran';
    case 'Waiting':
      return childId === null ? null : `the step waits for execution ${childId}: complete a step of that one`;
    default:
      return null;
  }
}

export function retryStep(deciding: Deciding, index: number, force: boolean): void {
  const { state } = deciding;
  if (nodeAt(state, index)!.status === 'Retrying') {
    if (state.status === 'Running') return startNode(deciding, index);
    return emit(deciding, { type: 'NodesReset', nodes: [index], keepAttempts: true });
  }
  const ended = isTerminal(state.status);
  if (ended && state.plan.nodes[index]!.aside) return undoAgain(deciding, [index]);
  if (ended) reopen(deciding);
  const again = affected(state, index, ended);
  const keepAttempts = !force && nodeAt(state, index)!.status !== 'Cancelled';
  emit(deciding, { type: 'NodesReset', nodes: [index], ...(keepAttempts ? { keepAttempts: true as const } : {}) });
  again.delete(index);
  if (again.size > 0) emit(deciding, { type: 'NodesReset', nodes: [...again] });
  reconsiderAll(deciding);
}

/** The execution stays ended; only its compensation or its `finally` runs again. */
function undoAgain(deciding: Deciding, nodes: number[]): void {
  const { status, error, outputs } = deciding.state;
  const ending: Ending =
    status === 'Succeeded' ? { outcome: status, outputs: outputs! } : { outcome: status as 'Failed', error: error! };
  reopen(deciding);
  emit(deciding, { type: 'NodesReset', nodes });
  beginUndo(deciding, ending, nodes);
}

/** The end closed the event waits; they open again as after a start. */
function reopen(deciding: Deciding): void {
  const { state, now } = deciding;
  const deadline = state.plan.timeoutMs === null ? null : now + state.plan.timeoutMs;
  emit(deciding, { type: 'ExecutionReopened', generation: state.generation + 1, deadline });
  subscribeEarly(deciding);
}

/**
 * The engine had given up in the middle of something. Everything unfinished begins again, and so does everything that failed
 * or was cut off by the end.
 */
export function takeUpAgain(deciding: Deciding): void {
  const { state } = deciding;
  if (!isTerminal(state.status)) return;
  const failed = state.plan.nodes.flatMap(({ aside }, index) =>
    aside && /^(Failed|TimedOut|Cancelled)$/.test(state.nodes[index]!.status) ? [index] : [],
  );
  if (failed.length > 0 && state.unresolved === 0) return undoAgain(deciding, failed);
  reopen(deciding);
  const again = state.nodes.flatMap((node, index) => (isUnfinishedBusiness(state, index, node) ? [index] : []));
  if (again.length > 0) emit(deciding, { type: 'NodesReset', nodes: again });
  reconsiderAll(deciding);
}

function isUnfinishedBusiness(state: State, index: number, node: NodeState): boolean {
  switch (node.status) {
    case 'Pending':
    case 'Succeeded':
      return false;
    case 'Skipped':
    case 'Cancelled':
      return node.stopped;
    case 'Failed':
    case 'TimedOut':
      return state.unhandledNodes.has(index);
    default:
      return true;
  }
}

/** The node, the nodes that its failure skipped and, if the execution had ended, everything that the end cut off. */
function affected(state: State, index: number, ended: boolean): Set<number> {
  const found = new Set([index]);
  if (ended) {
    state.nodes.forEach((node, other) => {
      const wasCutOff = (node.status === 'Cancelled' || node.status === 'Skipped') && node.stopped;
      const runsAtTheEnd = state.plan.nodes[other]!.aside && node.status !== 'Pending';
      if (wasCutOff || runsAtTheEnd) found.add(other);
    });
  }
  for (const node of found) {
    for (const edge of state.plan.nodes[node]!.outgoing) {
      const target = state.plan.edges[edge]!.to;
      if (state.nodes[target]!.status === 'Skipped') found.add(target);
    }
  }
  return found;
}

/** The step and everything after it run again, whatever their outcomes; so does everything that the end cut off. */
export function rerunFrom(deciding: Deciding, index: number): void {
  const { state } = deciding;
  reopen(deciding);
  const following = new Set([index]);
  for (const node of following) {
    for (const edge of state.plan.nodes[node]!.outgoing) following.add(state.plan.edges[edge]!.to);
  }
  emit(deciding, { type: 'NodesReset', nodes: [...new Set([...following, ...affected(state, index, true)])] });
  reconsiderAll(deciding);
}

/**
 * The step counts as succeeded with these outputs. A sleeping or waiting step ends its attempt with them. A step whose
 * attempts have ended gets another attempt that never ran, because a recorded result never changes (I3).
 */
export function completeStep(deciding: Deciding, index: number, outputs: Json): void {
  const { state } = deciding;
  const { status } = nodeAt(state, index)!;
  if (status !== 'Sleeping' && status !== 'Waiting') {
    if (status !== 'Retrying') resetWithFollowers(deciding, index);
    emit(deciding, { type: 'NodeStarted', node: index, attempt: nodeAt(state, index)!.attempts + 1 });
    reconsiderAll(deciding);
  }
  succeedAttempt(deciding, index, { outputs });
}

function resetWithFollowers(deciding: Deciding, index: number): void {
  const ended = isTerminal(deciding.state.status);
  if (ended) reopen(deciding);
  emit(deciding, { type: 'NodesReset', nodes: [...affected(deciding.state, index, ended)] });
}
