// Folds facts into the state: the only mutator. It decides nothing and never fails. The meaning of a fact is fixed here, so
// folding a journal gives the state that was in memory when it was written (I15). Costs O(1) per fact. Invariants: a node's
// pendingEdges and satisfiedEdges count its incoming edges in those states; `unresolved` counts nodes that are not final;
// `inFlight` counts nodes that are running, retrying, sleeping or waiting.

import { type Json, jsonType } from '../json/json.ts';
import type { PlanNode } from '../plan/plan.ts';
import { nodeIndexOf } from '../plan/virtual-node.ts';
import { toIso } from '../time/iso-time.ts';
import { absentEntry, failedEntry, succeededEntry } from './data-entry.ts';
import { beginLoop, breakLoop, endLoop, itemFinished, nodesExpanded } from './evolve-loop.ts';
import type { Compensation, EndStatus, ExecutionError, Fact, FactOf, Transition } from './fact.ts';
import { allNodes, frameOf, idOf, isSingle, nodeAt, planNodeOf } from './frame.ts';
import { signalKey } from './signal-type.ts';
import {
  callbackOf,
  type EdgeState,
  type Frame,
  isFinal,
  type NodeState,
  type NodeStatus,
  type State,
} from './state.ts';
import { pushTimer } from './timer-heap.ts';

export function applyTransition(state: State, transition: Transition): void {
  beginTransition(state, transition.at);
  for (const fact of transition.facts) {
    const params = fact.type === 'NodeStarted' ? transition.inputs?.[idOf(state, fact.node)] : undefined;
    evolve(state, fact, params);
  }
}

export function beginTransition(state: State, at: number): void {
  state.transitionSeq = state.seq;
  state.at = at;
}

/** `params` are the rendered parameters of a NodeStarted; absent when a journal is folded without its inputs. */
export function evolve(state: State, fact: Fact, params?: Json): void {
  state.seq++;
  switch (fact.type) {
    case 'ExecutionStarted':
      state.status = 'Running';
      state.startedAt = state.at;
      state.deadline = fact.deadline;
      tellStart(state);
      return;
    case 'NodeStarted':
      return nodeStarted(state, fact, params);
    case 'NodeSleeping':
    case 'NodeWaiting':
      return nodeResting(state, fact);
    case 'NodeSucceeded':
      return nodeSucceeded(state, fact);
    case 'NodeFailed':
    case 'NodeTimedOut':
      return nodeFailed(state, fact);
    case 'NodeCancelled': {
      const node = finish(state, fact.node, 'Cancelled');
      // Running items are waited for, as when an execution stops.
      if (node.loop !== null && fact.lost) breakLoop(state, fact.node, node.loop);
      node.error = fact.error;
      node.stopped = fact.lost !== true;
      return tellAbsence(state, fact.node, 'cancelled');
    }
    case 'RetryScheduled':
      return retryScheduled(state, fact);
    case 'NodeSkipped':
      return nodeSkipped(state, fact);
    case 'EdgesResolved':
      return edgesResolved(state, fact);
    case 'EventsAwaited':
      nodeAt(state, fact.node)!.isSubscribed = true;
      return;
    case 'EventReceived': {
      const { by, data, eventId } = fact;
      nodeAt(state, fact.node)!.arrivals.push(eventId === undefined ? { by, data } : { by, data, eventId });
      return;
    }
    case 'NodesExpanded':
      return nodesExpanded(state, fact);
    case 'ItemFinished':
      return itemFinished(state, fact);
    case 'WebhookBuffered':
      nodeAt(state, fact.node)!.early = callbackOf(fact);
      return;
    case 'SignalApplied':
      return signalApplied(state, fact);
    case 'NodesReset':
      for (const node of fact.nodes) resetNode(state, node, fact.keepAttempts === true);
      return;
    case 'Warning':
      return;
    default:
      return executionMoved(state, fact);
  }
}

/** Expressions of graphs see the start time as text: it is data, and the same in every replay. */
export function tellStart({ scope, startedAt }: State): void {
  const execution = scope.execution as { startedAt: string | null } | undefined;
  if (execution !== undefined && startedAt !== null) execution.startedAt = toIso(startedAt);
}

type ExecutionFact = FactOf<
  | 'ExecutionPaused'
  | 'ExecutionResumed'
  | 'ExecutionStopping'
  | 'ExecutionCompensating'
  | 'ExecutionSucceeded'
  | 'ExecutionFailed'
  | 'ExecutionCancelled'
  | 'ExecutionTimedOut'
  | 'ExecutionReopened'
>;

function executionMoved(state: State, fact: ExecutionFact): void {
  switch (fact.type) {
    case 'ExecutionPaused':
      state.status = 'Paused';
      return;
    case 'ExecutionResumed':
      state.status = 'Running';
      ringAgain(state);
      return;
    case 'ExecutionStopping':
      state.stopping = { outcome: fact.outcome, error: fact.error, graceUntil: fact.graceUntil };
      state.terminated = fact.terminate === true;
      return;
    case 'ExecutionCompensating': {
      const { outcome, error, result, nodes, until } = fact;
      state.undo = { outcome, error, result, nodes, until };
      // Items that the end cut off are over: nothing of them goes on while the rest is undone.
      for (const owner of state.plan.loops ?? []) {
        const { loop } = state.nodes[owner]!;
        if (loop !== null) breakLoop(state, owner, loop);
      }
      state.status = 'Running';
      state.stopping = null;
      return;
    }
    case 'ExecutionSucceeded':
      state.status = 'Succeeded';
      state.stopping = null;
      state.undo = null;
      state.compensation = fact.compensation ?? null;
      state.outputs = fact.outputs;
      return;
    case 'ExecutionFailed':
      return executionStopped(state, 'Failed', fact);
    case 'ExecutionCancelled':
      return executionStopped(state, 'Cancelled', fact);
    case 'ExecutionTimedOut':
      return executionStopped(state, 'TimedOut', fact);
    case 'ExecutionReopened':
      state.status = 'Running';
      state.startedAt ??= state.at;
      tellStart(state);
      state.generation = fact.generation;
      state.deadline = fact.deadline;
      state.fatal.clear();
      state.ending = null;
      state.terminated = false;
      state.compensation = null;
      state.error = null;
      state.outputs = undefined;
      return;
  }
}

function executionStopped(
  state: State,
  status: EndStatus,
  { error, compensation }: { error: ExecutionError; compensation?: Compensation },
): void {
  state.status = status;
  state.error = error;
  state.compensation = compensation ?? null;
  state.stopping = null;
  state.undo = null;
}

/** Retry timers are silent while an execution is paused (see next-due.ts); resuming sets them again. */
function ringAgain(state: State): void {
  for (const [node, { status, until }] of allNodes(state)) {
    if (status === 'Retrying' && until !== null) pushTimer(state.timers, until, node);
  }
}

function nodeStarted(state: State, fact: FactOf<'NodeStarted'>, params: Json | undefined): void {
  const node = takeOff(state, fact.node, 'Running', fact.attempt);
  node.childId = fact.childId ?? null;
  if (fact.rendered) {
    // Parameters with a one-shot override cannot be reused: the next attempt renders again.
    node.renderedSeq = node.override === null ? state.transitionSeq : -1;
    node.params = node.override === null ? params : undefined;
    state.renderedBytes += fact.bytes ?? 0;
  }
  node.override = null;
  const frame = frameOf(state, fact.node)!;
  // An override for a loop goes to its next attempt, whichever item that is.
  if (frame.owner >= 0) state.nodes[frame.owner]!.override = null;
}

function nodeResting(state: State, fact: FactOf<'NodeSleeping' | 'NodeWaiting'>): void {
  const before = nodeAt(state, fact.node)!;
  const isUnderWay = before.status === 'Running' || (before.loop !== null && !isFinal(before.status));
  const node = isUnderWay && before.status !== 'Pending' ? before : takeOff(state, fact.node, 'Sleeping', fact.attempt);
  node.status = fact.type === 'NodeSleeping' ? 'Sleeping' : 'Waiting';
  node.cut = fact.type === 'NodeSleeping' && fact.cut === true;
  if (fact.type === 'NodeWaiting' && (fact.kind === 'items' || fact.kind === 'rounds'))
    beginLoop(node, fact.count ?? 0);
  setTimer(state, fact.node, fact.until);
}

function takeOff(state: State, index: number, status: NodeStatus, attempt: number): NodeState {
  const node = nodeAt(state, index)!;
  if (node.status === 'Pending') state.inFlight++;
  node.status = status;
  node.attempts = attempt;
  node.startedAt = state.at;
  if (attempt === node.attemptBase + 1) node.firstStartedAt = state.at;
  node.startedSeq = state.transitionSeq;
  node.endedAt = null;
  node.until = null;
  node.error = null;
  return node;
}

function setTimer(state: State, index: number, until: number | null): void {
  nodeAt(state, index)!.until = until;
  if (until !== null) pushTimer(state.timers, until, index);
}

function nodeSucceeded(state: State, fact: FactOf<'NodeSucceeded'>): void {
  const node = finish(state, fact.node, 'Succeeded');
  const planNode = planNodeOf(state, fact.node);
  if (planNode.step.kind === 'end') state.ending = fact.node;
  if (planNode.compensate !== undefined) state.completed.push(fact.node);
  if (node.loop !== null) endLoop(state, fact.node, node);
  // An early callback is used up only now: a node that is skipped and reset may still need it.
  node.early = null;
  node.truncated = fact.truncated === true;
  for (const pruned of fact.pruned ?? []) forget(state, pruned);
  node.bytes = fact.bytes;
  node.dataType = jsonType(fact.outputs);
  const frame = frameOf(state, fact.node)!;
  if (frame.owner >= 0) {
    // It counts when its item is over. An item of a single node has no other data.
    frame.data[planNode.id] = fact.dropped ? null : dataOf(state, planNode, frame, fact);
    return;
  }
  if (fact.dropped) return;
  node.dataOrder = state.dataCount++;
  state.contextBytes += fact.bytes;
  if (planNode.retain) {
    state.data[planNode.id] = succeededEntry(state.plan.format, planNode.step.kind, fact);
  }
}

function dataOf(state: State, { step }: PlanNode, frame: Frame, fact: FactOf<'NodeSucceeded'>): Json {
  return isSingle(frame) ? fact.outputs : succeededEntry(state.plan.format, step.kind, fact);
}

/** Removes a node's data from the context, but keeps its kind and size. */
function forget(state: State, index: number): void {
  const node = state.nodes[index]!;
  delete state.data[state.plan.nodes[index]!.id];
  state.contextBytes -= node.bytes;
  node.dataOrder = -1;
}

function nodeFailed(state: State, fact: FactOf<'NodeFailed' | 'NodeTimedOut'>): void {
  const timedOut = fact.type === 'NodeTimedOut';
  const node = finish(state, fact.node, timedOut ? 'TimedOut' : 'Failed');
  node.error = fact.error;
  if (node.loop !== null) breakLoop(state, fact.node, node.loop);
  const { id } = planNodeOf(state, fact.node);
  const { data } = frameOf(state, fact.node)!;
  data[id] = failedEntry(state.plan.format, id, fact.error, fact.outputs, timedOut);
}

function retryScheduled(state: State, fact: FactOf<'RetryScheduled'>): void {
  const node = nodeAt(state, fact.node)!;
  node.status = 'Retrying';
  node.error = fact.error;
  node.endedAt = state.at;
  node.childId = null;
  setTimer(state, fact.node, fact.until);
}

function finish(state: State, index: number, status: NodeStatus): NodeState {
  const frame = frameOf(state, index)!;
  const node = frame.nodes[index - frame.base]!;
  if (node.status !== 'Pending') state.inFlight--;
  if (frame.owner >= 0) frame.unresolved--;
  else if (!frame.graph.nodes[index]!.aside) state.unresolved--;
  node.status = status;
  node.endedAt = state.at;
  node.until = null;
  // After its last try its parameters are in the journal if anybody asks. A retried loop needs its items.
  if (node.loop === null) node.params = undefined;
  return node;
}

function nodeSkipped(state: State, fact: FactOf<'NodeSkipped'>): void {
  const node = finish(state, fact.node, 'Skipped');
  node.reason = fact.reason;
  node.stopped = fact.stopped === true;
  tellAbsence(state, fact.node, 'skipped');
  const frame = frameOf(state, fact.node)!;
  for (const edge of planNodeOf(state, fact.node).outgoing) setEdge(frame, edge, 'unsatisfied');
}

function tellAbsence(state: State, index: number, became: 'skipped' | 'cancelled'): void {
  const entry = absentEntry(state.plan.format, became);
  if (entry !== undefined) frameOf(state, index)!.data[planNodeOf(state, index).id] = entry;
}

function edgesResolved(state: State, fact: FactOf<'EdgesResolved'>): void {
  const frame = fact.frame === undefined ? state.root : state.frames.get(fact.frame)!;
  for (const edge of fact.satisfied) setEdge(frame, edge, 'satisfied');
  for (const edge of fact.unsatisfied) setEdge(frame, edge, 'unsatisfied');
  if (fact.unhandled === undefined) return;
  if (frame.owner >= 0) {
    frame.failed = fact.unhandled;
    return;
  }
  state.unhandledNodes.add(fact.unhandled);
  state.fatal.add(fact.unhandled);
}

function setEdge(frame: Frame, index: number, next: EdgeState): void {
  const target = frame.nodes[frame.graph.edges[index]!.to]!;
  const before = frame.edges[index]!;
  if (before === 'pending') target.pendingEdges--;
  if (before === 'satisfied') target.satisfiedEdges--;
  if (next === 'pending') target.pendingEdges++;
  if (next === 'satisfied') target.satisfiedEdges++;
  frame.edges[index] = next;
}

function signalApplied(state: State, fact: FactOf<'SignalApplied'>): void {
  state.signals.add(signalKey(fact));
  if (fact.refused !== undefined) return;
  const { stepId } = fact.payload;
  const node = nodeAt(state, nodeIndexOf(state.plan, stepId));
  if (fact.signal === 'UPDATE_PARAMS') {
    const newParams = fact.payload.newParams as Record<string, Json>;
    if (node) node.patch = { ...node.patch, ...newParams };
    else state.patch = { ...state.patch, ...newParams };
  }
  if (fact.signal === 'INJECT_OVERRIDE' && node) node.override = fact.payload.override as Record<string, Json>;
}

function resetNode(state: State, index: number, keepAttempts: boolean): void {
  const node = nodeAt(state, index)!;
  if (node.loop !== null) breakLoop(state, index, node.loop);
  if (node.status === 'Succeeded') node.loop = null;
  if (isFinal(node.status)) {
    if (index < state.nodes.length && !state.plan.nodes[index]!.aside) state.unresolved++;
    const done = state.completed.indexOf(index);
    if (done >= 0) state.completed.splice(done, 1);
    if (node.loop === null) {
      node.renderedSeq = -1;
      node.params = undefined;
    }
  } else {
    // It was waiting for its next try: that is brought forward, with its present parameters.
    state.inFlight--;
  }
  node.status = 'Pending';
  if (!keepAttempts) node.attemptBase = node.attempts;
  node.until = null;
  node.reason = null;
  node.stopped = false;
  node.error = null;
  node.endedAt = null;
  node.childId = null;
  node.arrivals.length = 0;
  // The data of a succeeded step makes room again.
  if (node.dataOrder >= 0) forget(state, index);
  node.truncated = false;
  const frame = frameOf(state, index)!;
  const planNode = planNodeOf(state, index);
  delete frame.data[planNode.id];
  state.unhandledNodes.delete(index);
  state.fatal.delete(index);
  for (const edge of planNode.outgoing) setEdge(frame, edge, 'pending');
}
