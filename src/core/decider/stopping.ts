// The end of an execution. Success when every node is final and no failure is left unhandled. Otherwise it stops: what
// waits is cancelled, what never started is skipped, what runs is told to stop and has a grace period to say how it
// ended; only then is the last fact written. Cancel, completion and timeout have one winner: the first (I13).

import { emptyRecord, isJsonObject, type Json } from '../json/json.ts';
import { renderTemplate, type TemplateError } from '../template/render.ts';
import { whyAbsent } from './absence.ts';
import { outputsOf } from './data-entry.ts';
import { type Deciding, emit } from './deciding.ts';
import type { ExecutionError } from './fact.ts';
import { isLeftOpen } from './routing.ts';
import { fatalError, isTerminal, nodeFailure, type State } from './state.ts';

type StopOutcome = 'Failed' | 'Cancelled' | 'TimedOut';

export function stop(deciding: Deciding, outcome: StopOutcome, cause: ExecutionError): void {
  const { state, now, context } = deciding;
  const reason = skipReason(state, outcome, cause);
  for (const [index, { status, attempts: attempt }] of state.nodes.entries()) {
    if (status === 'Pending') emit(deciding, { type: 'NodeSkipped', node: index, reason, stopped: true });
    if (status === 'Retrying' || status === 'Sleeping' || status === 'Waiting') {
      const error = { code: 'CANCELLED', message: `No longer ${status.toLowerCase()}: ${cause.message}` };
      const between = status === 'Retrying' ? { betweenAttempts: true as const } : {};
      emit(deciding, { type: 'NodeCancelled', node: index, attempt, error, ...between });
    }
  }
  if (state.inFlight === 0) return end(deciding, outcome, cause);
  emit(deciding, { type: 'ExecutionStopping', outcome, error: cause, graceUntil: now + context.abortGraceMs });
}

function skipReason(state: State, outcome: StopOutcome, error: ExecutionError): string {
  if (outcome === 'Cancelled') return 'cancelled';
  if (outcome === 'TimedOut') return 'timed out';
  return state.plan.onUnhandledFailure === 'drain' ? `not started: "${error.nodeId}" failed` : 'fail fast';
}

/** The grace period is over: whatever still runs is recorded as cancelled, and its late result will change nothing. */
export function endGrace(deciding: Deciding): void {
  for (const [index, { status, attempts }] of deciding.state.nodes.entries()) {
    if (status !== 'Running') continue;
    const error = { code: 'CANCELLED', message: 'The attempt did not stop within the grace period' };
    emit(deciding, { type: 'NodeCancelled', node: index, attempt: attempts, error });
  }
}

/** Ends the execution if nothing keeps it going. */
export function endIfDone(deciding: Deciding): void {
  const { state } = deciding;
  if (isTerminal(state.status)) return;
  if (state.stopping !== null) {
    if (state.inFlight === 0) end(deciding, state.stopping.outcome, state.stopping.error);
    return;
  }
  if (state.status !== 'Running') return;
  const fatal = fatalError(state);
  if (fatal !== undefined) {
    if (state.plan.onUnhandledFailure === 'failFast' || state.inFlight === 0) stop(deciding, 'Failed', fatal);
    return;
  }
  // A node that was retried may be the last to end: whether its failure is handled is known when its edges are.
  if (state.unresolved === 0 && !isLeftOpen(state)) succeed(deciding);
}

function succeed(deciding: Deciding): void {
  const { state, context } = deciding;
  for (const node of state.unhandledNodes) {
    // Left from before a reopen: another node was retried, this one was not.
    return end(deciding, 'Failed', nodeFailure(state, node));
  }
  try {
    const { outputs: template } = state.plan;
    const outputs =
      template === null
        ? mergedOutputs(state)
        : renderTemplate(template, state.scope, context.limits, {
            style: context.templateStyle,
            why: whyAbsent(state),
          });
    emit(deciding, { type: 'ExecutionSucceeded', outputs });
  } catch (error) {
    end(deciding, 'Failed', { code: 'TEMPLATE_ERROR', message: `outputs: ${(error as TemplateError).message}` });
  }
}

function end(deciding: Deciding, outcome: StopOutcome, error: ExecutionError): void {
  emit(deciding, { type: `Execution${outcome}`, error });
}

/** Outputs of the succeeded nodes that led nowhere further, merged in definition order. */
function mergedOutputs(state: State): Json {
  const merged = emptyRecord<Json>();
  for (const [index, planNode] of state.plan.nodes.entries()) {
    const led = planNode.outgoing.some((edge) => state.edges[edge] === 'satisfied');
    const entry = state.data[planNode.id];
    if (state.nodes[index]!.status !== 'Succeeded' || led || entry === undefined) continue;
    const outputs = outputsOf(state.plan.format, planNode.step.kind, entry);
    if (isJsonObject(outputs)) Object.assign(merged, outputs);
    else merged[planNode.id] = outputs;
  }
  return merged;
}
