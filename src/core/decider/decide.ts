// decide: what follows from one input. Pure and total: no clock, randomness or store, and never an exception for a business
// outcome. The same state, input and context give byte-identical facts (I16). evolve advances the state as facts are emitted, so
// folding the returned transition over the state before gives the state after (I15).

import { nodeIndexOf } from '../plan/virtual-node.ts';
import { type Command, commandsOf } from './command.ts';
import { beginDecision, type Deciding, emit, hasWorkedEnough } from './deciding.ts';
import type { ExecutionError, Transition } from './fact.ts';
import { nodeAt, planNodeOf } from './frame.ts';
import type { DecideContext, Input } from './input.ts';
import { nextRound } from './looping.ts';
import { effectiveDeadline, nextTimer } from './next-due.ts';
import { type AttemptFailure, failAttempt, receiveCallback, succeedAttempt } from './outcome.ts';
import { takeUpAgain } from './repair.ts';
import { reconsiderAll, route } from './routing.ts';
import { applySignal, timeoutError } from './signal.ts';
import { startNode } from './starting.ts';
import { type Callback, callbackOf, isTerminal, type NodeState, type State } from './state.ts';
import { endGrace, endIfDone, stop } from './stopping.ts';
import { breakUndo } from './undoing.ts';
import { arrive, endWait, subscribeEarly } from './waiting.ts';

export interface Decision {
  /** No facts = the input changed nothing. */
  readonly transition: Transition;
  readonly commands: Command[];
  /** The decision reached its work limit (S4): send `goOn` for the rest. */
  readonly isCutShort: boolean;
  /** The cost of its evaluations and parameters; 1 is the limit of one evaluation. */
  readonly effort: number;
  /** Virtual nodes whose attempts ended, with their last state, because their items may be over. */
  readonly ended: ReadonlyMap<number, NodeState> | null;
}

/** Checkpoints of another version are not read: the journal is folded instead. */
export const DECIDER_VERSION = 6;

export function decide(state: State, input: Input, context: DecideContext): Decision {
  const deciding = beginDecision(state, context);
  handle(deciding, input);
  route(deciding);
  endIfDone(deciding);
  const { seq, now, facts, inputs } = deciding;
  return {
    transition: inputs === undefined ? { seq, at: now, facts } : { seq, at: now, facts, inputs },
    commands: commandsOf(deciding),
    isCutShort: deciding.isCutShort,
    effort: deciding.effort,
    ended: deciding.ended,
  };
}

function handle(deciding: Deciding, input: Input): void {
  const { state } = deciding;
  // Mail is read before timers ring. That must not let anything go on after the deadline.
  if (isMail(input) && (effectiveDeadline(state) ?? Number.POSITIVE_INFINITY) <= deciding.now) ringTimers(deciding);
  switch (input.type) {
    case 'started':
      return start(deciding);
    case 'attemptSucceeded':
      if (isRunning(state, input)) succeedAttempt(deciding, input.node, input);
      return;
    case 'attemptFailed':
      if (isRunning(state, input) || childRefused(state, input)) failAttempt(deciding, input.node, input);
      return;
    case 'timerDue':
    case 'timeout':
      return ringTimers(deciding);
    case 'webhookReceived':
      return receiveWebhook(deciding, input.nodeId, callbackOf(input));
    case 'eventReceived':
      return receiveEvent(deciding, input);
    case 'childFinished':
      return finishChild(deciding, input);
    case 'signal':
      return applySignal(deciding, input);
    case 'goOn':
      if (!isTerminal(state.status)) reconsiderAll(deciding);
      return;
    case 'reopened':
      return takeUpAgain(deciding);
    case 'cancel':
      return cancel(deciding, input);
    case 'giveUp':
      return stopUnlessOver(deciding, 'Failed', input.error);
  }
}

function isMail({ type }: Input): boolean {
  return type === 'webhookReceived' || type === 'eventReceived' || type === 'childFinished' || type === 'signal';
}

function start(deciding: Deciding): void {
  const { state, now } = deciding;
  if (state.status !== 'Pending') return;
  const { timeoutMs, start: startNodes } = state.plan;
  emit(deciding, { type: 'ExecutionStarted', deadline: timeoutMs === null ? null : now + timeoutMs });
  subscribeEarly(deciding);
  deciding.admissible.push(...startNodes);
}

/** A late or repeated result of a finished attempt changes nothing (I3). */
function isRunning(state: State, { node: index, attempt }: { node: number; attempt: number }): boolean {
  const node = nodeAt(state, index);
  return node !== undefined && node.attempts === attempt && node.status === 'Running';
}

/** The node waits for a child that could not be started. */
function childRefused(state: State, { node: index, attempt }: { node: number; attempt: number }): boolean {
  const node = nodeAt(state, index);
  return node !== undefined && node.attempts === attempt && isWaitingForChild(state, index, node);
}

function isWaitingForChild(state: State, index: number, node: NodeState): boolean {
  return node.status === 'Waiting' && planNodeOf(state, index).step.kind === 'subworkflow';
}

/** A cancel does not stop compensations; only a termination does. */
function cancel(deciding: Deciding, { reason, terminate }: Extract<Input, { type: 'cancel' }>): void {
  if (deciding.state.undo !== null) return terminate ? breakUndo(deciding, 'Terminated') : undefined;
  stopUnlessOver(deciding, 'Cancelled', { code: 'CANCELLED', message: reason }, terminate);
}

function stopUnlessOver(
  deciding: Deciding,
  outcome: 'Failed' | 'Cancelled' | 'TimedOut',
  error: { code: string; message: string },
  terminate = false,
): void {
  const { state } = deciding;
  if (!isTerminal(state.status) && state.stopping === null && state.undo === null) {
    stop(deciding, outcome, error, terminate);
  }
}

function ringTimers(deciding: Deciding): void {
  const { state, now } = deciding;
  for (;;) {
    const timer = nextTimer(state);
    const deadline = effectiveDeadline(state);
    if (deadline !== null && deadline <= now && deadline <= (timer?.time ?? now)) {
      return state.undo === null ? stop(deciding, 'TimedOut', timeoutError(state)) : breakUndo(deciding, 'TimedOut');
    }
    // A timer that is not rung stays due.
    if (timer === undefined || timer.time > now || hasWorkedEnough(deciding)) break;
    ring(deciding, timer.node);
    route(deciding);
  }
  if (state.stopping !== null && state.stopping.graceUntil <= now) endGrace(deciding);
}

function ring(deciding: Deciding, index: number): void {
  const { state } = deciding;
  const node = nodeAt(state, index)!;
  switch (node.status) {
    case 'Retrying':
      return startNode(deciding, index);
    case 'Sleeping':
      return node.loop === null ? wake(deciding, index, node) : nextRound(deciding, index);
    default: {
      if (planNodeOf(state, index).step.kind === 'wait') return endWait(deciding, index);
      const child = isWaitingForChild(state, index, node);
      const waited = node.until! - node.startedAt!;
      const error = child
        ? { code: 'ATTEMPT_TIMEOUT', message: `The subworkflow did not end within ${waited} ms` }
        : { code: 'WEBHOOK_TIMEOUT', message: `No callback came within ${waited} ms` };
      return failAttempt(deciding, index, { error, retryable: child, timedOut: true });
    }
  }
}

function wake(deciding: Deciding, index: number, node: NodeState): void {
  const sleptMs = node.until! - node.startedAt!;
  if (!node.cut) return succeedAttempt(deciding, index, { outputs: { sleptMs } });
  const error = { code: 'ATTEMPT_TIMEOUT', message: `The attempt did not finish within ${sleptMs} ms` };
  failAttempt(deciding, index, { error, retryable: true, timedOut: true });
}

function receiveWebhook(deciding: Deciding, nodeId: string, callback: Callback): void {
  const { state } = deciding;
  const index = nodeIndexOf(state.plan, nodeId);
  const node = nodeAt(state, index);
  const step = node === undefined ? null : planNodeOf(state, index).step;
  if (node === undefined || !(step?.kind === 'webhook' || (step?.kind === 'wait' && step.callback))) return;
  if (step.kind === 'wait' && node.status === 'Waiting') {
    return arrive(deciding, index, { by: 'callback', data: callback.payload });
  }
  if (node.status === 'Waiting') return receiveCallback(deciding, index, callback);
  if (node.status === 'Pending' && node.early === null) {
    emit(deciding, { type: 'WebhookBuffered', node: index, ...callback });
  }
}

/** A repeated event counts once; an event that is no longer awaited changes nothing. */
function receiveEvent(deciding: Deciding, input: Extract<Input, { type: 'eventReceived' }>): void {
  const { state } = deciding;
  const index = nodeIndexOf(state.plan, input.nodeId);
  const node = nodeAt(state, index);
  const isWanted = node !== undefined && (node.status === 'Waiting' || node.status === 'Pending');
  if (!isWanted || planNodeOf(state, index).step.kind !== 'wait') return;
  if (node.arrivals.some(({ eventId }) => eventId === input.eventId)) return;
  arrive(deciding, index, { by: input.eventType, data: input.data, eventId: input.eventId });
}

function finishChild(deciding: Deciding, input: Extract<Input, { type: 'childFinished' }>): void {
  const { state } = deciding;
  const index = nodeIndexOf(state.plan, input.nodeId);
  const node = nodeAt(state, index);
  if (node === undefined || node.status !== 'Waiting' || node.childId !== input.childId) return;
  const { childId, status, error: cause } = input;
  if (status === 'Succeeded') {
    const outputs = { executionId: childId, status, outputs: input.outputs ?? {} };
    return succeedAttempt(deciding, index, { outputs });
  }
  const root = rootCause(cause);
  const because = root === undefined ? '' : `: ${root.code}: ${root.message}`;
  const told = { code: 'CHILD_FAILED', message: `Subworkflow ${childId} ended as ${status}${because}` };
  const failure: AttemptFailure = { error: cause === undefined ? told : { ...told, cause }, retryable: true };
  failAttempt(deciding, index, failure);
}

/** With nested children only the innermost error says what happened. */
function rootCause(error: ExecutionError | undefined): ExecutionError | undefined {
  let root = error;
  while (root?.cause !== undefined) root = root.cause;
  return root;
}
