// decide: what follows from one input. Pure and total: no clock, no random source, no store, and never an exception for
// a business outcome; the same state, input and context give byte-identical facts (I16). The state is advanced by
// evolve as facts are emitted, so that folding the returned transition over the state before gives the state after (I15).

import { type Command, commandsOf } from './command.ts';
import { beginDecision, type Deciding, emit, hasWorkedEnough } from './deciding.ts';
import type { Transition } from './fact.ts';
import type { DecideContext, Input } from './input.ts';
import { effectiveDeadline, nextTimer } from './next-due.ts';
import { type AttemptFailure, failAttempt, receiveCallback, succeedAttempt } from './outcome.ts';
import { reconsiderAll, route } from './routing.ts';
import { applySignal, takeUpAgain, timeoutError } from './signal.ts';
import { startNode } from './starting.ts';
import { type Callback, callbackOf, isTerminal, type NodeState, type State } from './state.ts';
import { endGrace, endIfDone, stop } from './stopping.ts';

export interface Decision {
  /** No facts = the input changed nothing. */
  readonly transition: Transition;
  readonly commands: Command[];
  /** It had worked long enough (S4): send `goOn` for the rest. */
  readonly isCutShort: boolean;
  /** What its evaluations and parameters took; 1 is all that one evaluation may take. */
  readonly effort: number;
}

/** Checkpoints of another version are not read: the journal is folded instead. */
export const DECIDER_VERSION = 3;

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
  };
}

function handle(deciding: Deciding, input: Input): void {
  const { state } = deciding;
  // Mail is read before timers ring; that must not let anything go on after the deadline.
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
      return stopUnlessOver(deciding, 'Cancelled', { code: 'CANCELLED', message: input.reason });
    case 'giveUp':
      return stopUnlessOver(deciding, 'Failed', input.error);
  }
}

function isMail({ type }: Input): boolean {
  return type === 'webhookReceived' || type === 'childFinished' || type === 'signal';
}

function start(deciding: Deciding): void {
  const { state, now } = deciding;
  if (state.status !== 'Pending') return;
  const { timeoutMs, start: startNodes } = state.plan;
  emit(deciding, { type: 'ExecutionStarted', deadline: timeoutMs === null ? null : now + timeoutMs });
  deciding.admissible.push(...startNodes);
}

/** A late or repeated result, of an attempt that is over, changes nothing (I3). */
function isRunning(state: State, { node: index, attempt }: { node: number; attempt: number }): boolean {
  const node = state.nodes[index]!;
  return node.attempts === attempt && node.status === 'Running';
}

/** The node waits for a child that could not be started. */
function childRefused(state: State, { node: index, attempt }: { node: number; attempt: number }): boolean {
  const node = state.nodes[index]!;
  return node.attempts === attempt && isWaitingForChild(state, index, node);
}

function isWaitingForChild(state: State, index: number, node: NodeState): boolean {
  return node.status === 'Waiting' && state.plan.nodes[index]!.step.kind === 'subworkflow';
}

function stopUnlessOver(
  deciding: Deciding,
  outcome: 'Failed' | 'Cancelled' | 'TimedOut',
  error: { code: string; message: string },
): void {
  const { state } = deciding;
  if (!isTerminal(state.status) && state.stopping === null) stop(deciding, outcome, error);
}

function ringTimers(deciding: Deciding): void {
  const { state, now } = deciding;
  for (;;) {
    const timer = nextTimer(state);
    const deadline = effectiveDeadline(state);
    if (deadline !== null && deadline <= now && deadline <= (timer?.time ?? now)) {
      return stop(deciding, 'TimedOut', timeoutError(state));
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
  const node = state.nodes[index]!;
  switch (node.status) {
    case 'Retrying':
      return startNode(deciding, index);
    case 'Sleeping':
      return wake(deciding, index, node);
    default: {
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
  const index = state.plan.nodes.findIndex((node) => node.id === nodeId && node.step.kind === 'webhook');
  const node = state.nodes[index];
  if (node === undefined) return;
  if (node.status === 'Waiting') return receiveCallback(deciding, index, callback);
  if (node.status === 'Pending' && node.early === null) {
    emit(deciding, { type: 'WebhookBuffered', node: index, ...callback });
  }
}

function finishChild(deciding: Deciding, input: Extract<Input, { type: 'childFinished' }>): void {
  const { state } = deciding;
  const index = state.plan.nodes.findIndex((node) => node.id === input.nodeId);
  const node = state.nodes[index];
  if (node === undefined || node.status !== 'Waiting' || node.childId !== input.childId) return;
  const { childId, status, error } = input;
  if (status === 'Succeeded') {
    const outputs = { executionId: childId, status, outputs: input.outputs ?? {} };
    return succeedAttempt(deciding, index, { outputs });
  }
  const because = error === undefined ? '' : `: ${error.code}: ${error.message}`;
  const failure: AttemptFailure = {
    error: { code: 'CHILD_FAILED', message: `Subworkflow ${childId} ended as ${status}${because}` },
    retryable: true,
  };
  failAttempt(deciding, index, failure);
}
