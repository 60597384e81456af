// Signals: what an operator may tell a running or ended execution (004 §2.3). Each has an id, and a repeat changes nothing
// (I10). One that cannot be applied is recorded as refused, with the reason: an operator must never have to guess.

import { isJsonObject, type JsonObject } from '../json/json.ts';
import { type Deciding, emit } from './deciding.ts';
import type { SignalType } from './fact.ts';
import type { Input } from './input.ts';
import { reconsiderAll } from './routing.ts';
import { signalKey } from './signal-key.ts';
import { startNode } from './starting.ts';
import { isTerminal, type NodeState, type State } from './state.ts';
import { stop } from './stopping.ts';

type SignalInput = Extract<Input, { type: 'signal' }>;

export function applySignal(deciding: Deciding, input: SignalInput): void {
  const { state } = deciding;
  if (state.signals.has(signalKey(input))) return;
  const { signalId, signal, payload } = input;
  const refused = signalRefusal(state, input);
  emit(deciding, { type: 'SignalApplied', signalId, signal, payload, ...(refused === null ? {} : { refused }) });
  if (refused !== null) return;
  switch (signal) {
    case 'PAUSE':
      return emit(deciding, { type: 'ExecutionPaused' });
    case 'RESUME':
      return resume(deciding);
    case 'RETRY_STEP':
      return retryStep(deciding, nodeIndex(state, payload), payload.force === true);
    default:
      // UPDATE_PARAMS and INJECT_OVERRIDE act through the state, ESCALATE_ALERT through the outbox.
      return;
  }
}

/**
 * An execution that has ended can be taken up again; before that, what its steps are given may be put right. Not where the
 * engine gave up in the middle of it: that is a dead letter, and is requeued.
 */
export function heeds({ status, unresolved }: State, signal: SignalType): boolean {
  if (!isTerminal(status) || signal === 'RETRY_STEP') return true;
  const isPutRight = signal === 'UPDATE_PARAMS' || signal === 'INJECT_OVERRIDE';
  return isPutRight && status !== 'Succeeded' && unresolved === 0;
}

/** Why the signal cannot be applied to an execution in this state; null: it can. */
export function signalRefusal(
  state: State,
  { signal, payload }: Pick<SignalInput, 'signal' | 'payload'>,
): string | null {
  if (!heeds(state, signal)) return `the execution has ended (${state.status})`;
  if (state.stopping !== null) return 'the execution is stopping';
  const unknown = unknownStep(state, { signal, payload });
  if (unknown !== null) return unknown;
  switch (signal) {
    case 'PAUSE':
      return state.status === 'Paused' ? 'already paused' : null;
    case 'RESUME':
      return state.status === 'Paused' ? null : 'not paused';
    case 'RETRY_STEP':
      return retryRefusal(state, payload);
    case 'UPDATE_PARAMS':
      return isJsonObject(payload.newParams) ? null : 'newParams must be an object';
    case 'INJECT_OVERRIDE':
      return isJsonObject(payload.override) ? null : 'override must be an object';
    case 'ESCALATE_ALERT':
      return null;
  }
}

function retryRefusal(state: State, payload: JsonObject): string | null {
  const index = nodeIndex(state, payload);
  const node = state.nodes[index]!;
  if (node.status === 'Retrying' || node.status === 'Cancelled') return null;
  if (node.status !== 'Failed' && node.status !== 'TimedOut') return `the step has not failed (${node.status})`;
  const spent = node.attempts - node.attemptBase >= Math.max(1, state.plan.nodes[index]!.policy.retry.maxAttempts);
  return spent && payload.force !== true ? 'the step is out of attempts; use force to try again all the same' : null;
}

/** Whatever becomes of the execution: its plan has no such step. */
export function unknownStep(state: State, { signal, payload }: Pick<SignalInput, 'signal' | 'payload'>): string | null {
  const mustName = signal === 'RETRY_STEP' || signal === 'INJECT_OVERRIDE';
  const mayName = signal === 'UPDATE_PARAMS' && payload.stepId !== undefined;
  if ((!mustName && !mayName) || nodeIndex(state, payload) >= 0) return null;
  return `no step ${JSON.stringify(payload.stepId ?? null)}`;
}

function nodeIndex(state: State, payload: JsonObject): number {
  return state.plan.nodes.findIndex((node) => node.id === payload.stepId);
}

/** What was held back comes first the deadline, then a failure that happened meanwhile, then what may start. */
function resume(deciding: Deciding): void {
  const { state, now } = deciding;
  emit(deciding, { type: 'ExecutionResumed' });
  if (state.deadline !== null && state.deadline <= now) return stop(deciding, 'TimedOut', timeoutError(state));
  reconsiderAll(deciding);
}

export function timeoutError(state: State): { code: string; message: string } {
  return { code: 'EXECUTION_TIMEOUT', message: `The execution took longer than ${state.plan.timeoutMs} ms` };
}

function retryStep(deciding: Deciding, index: number, force: boolean): void {
  const { state } = deciding;
  if (state.nodes[index]!.status === 'Retrying') {
    if (state.status === 'Running') return startNode(deciding, index);
    return emit(deciding, { type: 'NodesReset', nodes: [index], keepAttempts: true });
  }
  const ended = isTerminal(state.status);
  if (ended) reopen(deciding);
  const again = affected(state, index, ended);
  const keepAttempts = !force && state.nodes[index]!.status !== 'Cancelled';
  emit(deciding, { type: 'NodesReset', nodes: [index], ...(keepAttempts ? { keepAttempts: true as const } : {}) });
  again.delete(index);
  if (again.size > 0) emit(deciding, { type: 'NodesReset', nodes: [...again] });
  reconsiderAll(deciding);
}

function reopen(deciding: Deciding): void {
  const { state, now } = deciding;
  const deadline = state.plan.timeoutMs === null ? null : now + state.plan.timeoutMs;
  emit(deciding, { type: 'ExecutionReopened', generation: state.generation + 1, deadline });
}

/**
 * The engine had given up on it, in the middle of whatever it was doing: everything that was not finished begins again, and
 * what had failed or was cut off by the end does too.
 */
export function takeUpAgain(deciding: Deciding): void {
  const { state } = deciding;
  if (!isTerminal(state.status)) return;
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
      return node.stopped;
    case 'Failed':
    case 'TimedOut':
      return state.unhandledNodes.has(index);
    default:
      return true;
  }
}

/** The node, what its failure skipped downstream and, if the execution had ended, all that the end itself cut off. */
function affected(state: State, index: number, ended: boolean): Set<number> {
  const found = new Set([index]);
  if (ended) {
    state.nodes.forEach((node, other) => {
      if (node.status === 'Cancelled' || (node.status === 'Skipped' && node.stopped)) found.add(other);
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
