// Folds facts into the state: the only mutator. It decides nothing and fails on nothing; what a fact means is fixed here,
// so folding a journal gives the state that was in memory when it was written (I15). Costs O(1) per fact.
//
// Kept true throughout: a node's pendingEdges and satisfiedEdges count its incoming edges in those states; `unresolved`
// counts nodes that are not final; `inFlight` counts nodes that are running, retrying, sleeping or waiting.

import { type Json, jsonType } from '../json/json.ts';
import { failedEntry, skippedEntry, succeededEntry } from './data-entry.ts';
import type { EndStatus, ExecutionError, Fact, Transition } from './fact.ts';
import { signalKey } from './signal-key.ts';
import { callbackOf, type EdgeState, isFinal, type NodeState, type NodeStatus, type State } from './state.ts';
import { pushTimer } from './timer-heap.ts';

export function applyTransition(state: State, transition: Transition): void {
  beginTransition(state, transition.at);
  for (const fact of transition.facts) {
    const params = fact.type === 'NodeStarted' ? transition.inputs?.[state.plan.nodes[fact.node]!.id] : undefined;
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
    case 'NodeCancelled':
      finish(state, fact.node, 'Cancelled').error = fact.error;
      return;
    case 'RetryScheduled':
      return retryScheduled(state, fact);
    case 'NodeSkipped':
      return nodeSkipped(state, fact);
    case 'EdgesResolved':
      return edgesResolved(state, fact);
    case 'WebhookBuffered':
      state.nodes[fact.node]!.early = callbackOf(fact);
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

type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>;

type ExecutionFact = FactOf<
  | 'ExecutionPaused'
  | 'ExecutionResumed'
  | 'ExecutionStopping'
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
      return;
    case 'ExecutionSucceeded':
      state.status = 'Succeeded';
      state.outputs = fact.outputs;
      return;
    case 'ExecutionFailed':
      return executionStopped(state, 'Failed', fact.error);
    case 'ExecutionCancelled':
      return executionStopped(state, 'Cancelled', fact.error);
    case 'ExecutionTimedOut':
      return executionStopped(state, 'TimedOut', fact.error);
    case 'ExecutionReopened':
      state.status = 'Running';
      state.startedAt ??= state.at;
      state.generation = fact.generation;
      state.deadline = fact.deadline;
      state.fatal.clear();
      state.error = null;
      state.outputs = undefined;
      return;
  }
}

function executionStopped(state: State, status: EndStatus, error: ExecutionError): void {
  state.status = status;
  state.error = error;
  state.stopping = null;
}

/** Retry timers are silent while an execution is paused (see next-due.ts); they are set again when it goes on. */
function ringAgain(state: State): void {
  for (let node = 0; node < state.nodes.length; node++) {
    const { status, until } = state.nodes[node]!;
    if (status === 'Retrying' && until !== null) pushTimer(state.timers, until, node);
  }
}

function nodeStarted(state: State, fact: FactOf<'NodeStarted'>, params: Json | undefined): void {
  const node = takeOff(state, fact.node, 'Running', fact.attempt);
  node.childId = fact.childId ?? null;
  if (fact.rendered) {
    // Parameters with a one-shot override in them are not what the next attempt may reuse: it renders again.
    node.renderedSeq = node.override === null ? state.transitionSeq : -1;
    node.params = node.override === null ? params : undefined;
  }
  node.override = null;
}

function nodeResting(state: State, fact: FactOf<'NodeSleeping' | 'NodeWaiting'>): void {
  const node =
    state.nodes[fact.node]!.status === 'Running'
      ? state.nodes[fact.node]!
      : takeOff(state, fact.node, 'Sleeping', fact.attempt);
  node.status = fact.type === 'NodeSleeping' ? 'Sleeping' : 'Waiting';
  node.cut = fact.type === 'NodeSleeping' && fact.cut === true;
  setTimer(state, fact.node, fact.until);
}

function takeOff(state: State, index: number, status: NodeStatus, attempt: number): NodeState {
  const node = state.nodes[index]!;
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
  state.nodes[index]!.until = until;
  if (until !== null) pushTimer(state.timers, until, index);
}

function nodeSucceeded(state: State, fact: FactOf<'NodeSucceeded'>): void {
  const node = finish(state, fact.node, 'Succeeded');
  const planNode = state.plan.nodes[fact.node]!;
  // Only now is a callback that came early used up: a node that is skipped and reset may still need it.
  node.early = null;
  node.truncated = fact.truncated === true;
  for (const pruned of fact.pruned ?? []) forget(state, pruned);
  node.bytes = fact.bytes;
  node.dataType = jsonType(fact.outputs);
  if (fact.dropped) return;
  node.dataOrder = state.dataCount++;
  state.contextBytes += fact.bytes;
  if (planNode.retain) {
    state.data[planNode.id] = succeededEntry(state.plan.format, planNode.step.kind, fact);
  }
}

/** Takes a node's data out of the context; what it was and how large stays known. */
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
  const { id } = state.plan.nodes[fact.node]!;
  state.data[id] = failedEntry(state.plan.format, id, fact.error, fact.outputs, timedOut);
}

function retryScheduled(state: State, fact: FactOf<'RetryScheduled'>): void {
  const node = state.nodes[fact.node]!;
  node.status = 'Retrying';
  node.error = fact.error;
  node.endedAt = state.at;
  node.childId = null;
  setTimer(state, fact.node, fact.until);
}

function finish(state: State, index: number, status: NodeStatus): NodeState {
  const node = state.nodes[index]!;
  if (node.status !== 'Pending') state.inFlight--;
  state.unresolved--;
  node.status = status;
  node.endedAt = state.at;
  node.until = null;
  // It has had its last try: whoever asks what it was given finds it in the journal.
  node.params = undefined;
  return node;
}

function nodeSkipped(state: State, fact: FactOf<'NodeSkipped'>): void {
  const node = finish(state, fact.node, 'Skipped');
  node.reason = fact.reason;
  node.stopped = fact.stopped === true;
  const planNode = state.plan.nodes[fact.node]!;
  const entry = skippedEntry(state.plan.format);
  if (entry !== undefined) state.data[planNode.id] = entry;
  for (const edge of planNode.outgoing) setEdge(state, edge, 'unsatisfied');
}

function edgesResolved(state: State, fact: FactOf<'EdgesResolved'>): void {
  for (const edge of fact.satisfied) setEdge(state, edge, 'satisfied');
  for (const edge of fact.unsatisfied) setEdge(state, edge, 'unsatisfied');
  if (fact.unhandled === undefined) return;
  state.unhandledNodes.add(fact.unhandled);
  state.fatal.add(fact.unhandled);
}

function setEdge(state: State, index: number, next: EdgeState): void {
  const target = state.nodes[state.plan.edges[index]!.to]!;
  const before = state.edges[index]!;
  if (before === 'pending') target.pendingEdges--;
  if (before === 'satisfied') target.satisfiedEdges--;
  if (next === 'pending') target.pendingEdges++;
  if (next === 'satisfied') target.satisfiedEdges++;
  state.edges[index] = next;
}

function signalApplied(state: State, fact: FactOf<'SignalApplied'>): void {
  state.signals.add(signalKey(fact));
  if (fact.refused !== undefined) return;
  const { stepId } = fact.payload;
  const index = typeof stepId === 'string' ? state.plan.nodes.findIndex((node) => node.id === stepId) : -1;
  const node = state.nodes[index];
  if (fact.signal === 'UPDATE_PARAMS') {
    const newParams = fact.payload.newParams as Record<string, Json>;
    if (node) node.patch = { ...node.patch, ...newParams };
    else state.patch = { ...state.patch, ...newParams };
  }
  if (fact.signal === 'INJECT_OVERRIDE' && node) node.override = fact.payload.override as Record<string, Json>;
}

function resetNode(state: State, index: number, keepAttempts: boolean): void {
  const node = state.nodes[index]!;
  if (isFinal(node.status)) {
    state.unresolved++;
    node.renderedSeq = -1;
    node.params = undefined;
  } else {
    // It was about to be tried again: that is brought forward, with the parameters it has.
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
  delete state.data[state.plan.nodes[index]!.id];
  state.unhandledNodes.delete(index);
  state.fatal.delete(index);
  for (const edge of state.plan.nodes[index]!.outgoing) setEdge(state, edge, 'pending');
}
