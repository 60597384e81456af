// The end of an execution. It succeeds when every node is final and no failure is unhandled. Otherwise it stops: waiting nodes
// are cancelled, unstarted ones are skipped, running attempts are told to stop and have a grace period to report their outcome.
// Only then is the last fact written. Cancel, completion and timeout have one winner: the first (I13).

import type { Json } from '../json/json.ts';
import { renderTemplate, type TemplateError } from '../template/render.ts';
import { whyAbsent } from './absence.ts';
import { outputsOf } from './data-entry.ts';
import { type Deciding, emit } from './deciding.ts';
import type { EndStatus, ExecutionError } from './fact.ts';
import { allNodes } from './frame.ts';
import { mergedOutputs } from './merged-outputs.ts';
import { isLeftOpen } from './routing.ts';
import { fatalError, isTerminal, nodeFailure, type State } from './state.ts';
import { conclude, continueUndo } from './undoing.ts';

export function stop(deciding: Deciding, outcome: EndStatus, cause: ExecutionError, terminate = false): void {
  const { state, now, context } = deciding;
  const reason = skipReason(state, outcome, cause);
  for (const [index, { status, attempts: attempt }] of allNodes(state)) {
    if (status === 'Pending' && index < state.nodes.length && !state.plan.nodes[index]!.aside)
      emit(deciding, { type: 'NodeSkipped', node: index, reason, stopped: true });
    if (status === 'Retrying' || status === 'Sleeping' || status === 'Waiting') {
      const error = { code: 'CANCELLED', message: `No longer ${status.toLowerCase()}: ${cause.message}` };
      const between = status === 'Retrying' ? { betweenAttempts: true as const } : {};
      emit(deciding, { type: 'NodeCancelled', node: index, attempt, error, ...between });
    }
  }
  const graceUntil = now + context.abortGraceMs;
  if (state.inFlight > 0 || terminate) {
    const skips = terminate ? { terminate: true as const } : {};
    emit(deciding, { type: 'ExecutionStopping', outcome, error: cause, graceUntil, ...skips });
  }
  if (state.inFlight === 0) end(deciding, outcome, cause);
}

function skipReason(state: State, outcome: EndStatus, error: ExecutionError): string {
  if (state.ending !== null && outcome !== 'Cancelled' && outcome !== 'TimedOut') return error.message;
  if (outcome === 'Cancelled') return 'cancelled';
  if (outcome === 'TimedOut') return 'timed out';
  return state.plan.onUnhandledFailure === 'drain' ? `not started: "${error.nodeId}" failed` : 'fail fast';
}

/** The grace period is over: attempts that still run are recorded as cancelled, and their late results change nothing. */
export function endGrace(deciding: Deciding): void {
  for (const [index, { status, attempts }] of allNodes(deciding.state)) {
    if (status !== 'Running') continue;
    const error = { code: 'CANCELLED', message: 'The attempt did not stop within the grace period' };
    emit(deciding, { type: 'NodeCancelled', node: index, attempt: attempts, error });
  }
}

/** Ends the execution if nothing is left to do. */
export function endIfDone(deciding: Deciding): void {
  const { state } = deciding;
  if (isTerminal(state.status)) return;
  if (state.stopping !== null) {
    if (state.inFlight === 0) end(deciding, state.stopping.outcome, state.stopping.error);
    return;
  }
  if (state.undo !== null) return continueUndo(deciding);
  if (state.status !== 'Running') return;
  if (state.ending !== null) return stopAtEnd(deciding, state.ending);
  const fatal = fatalError(state);
  if (fatal !== undefined) {
    if (state.plan.onUnhandledFailure === 'failFast' || state.inFlight === 0) stop(deciding, 'Failed', fatal);
    return;
  }
  // A retried node may be the last to end. Whether its failure is handled is known once its edges are resolved.
  if (state.unresolved === 0 && !isLeftOpen(state)) succeed(deciding);
}

/** An end node was reached: the execution ends as the node says, whatever else runs. */
function stopAtEnd(deciding: Deciding, index: number): void {
  const { state } = deciding;
  const { id: nodeId, step } = state.plan.nodes[index]!;
  if (step.kind !== 'end' || step.status === 'Succeeded') {
    return stop(deciding, 'Succeeded', { code: 'ENDED', message: `the execution ended at "${nodeId}"`, nodeId });
  }
  const { code, message } = endError(state, nodeId);
  stop(deciding, 'Failed', { code, message, nodeId });
}

function endError({ data, plan }: State, nodeId: string): { code: string; message: string } {
  const { code, message } = outputsOf(plan.format, 'end', data[nodeId] ?? {}) as { code?: Json; message?: Json };
  return {
    code: typeof code === 'string' && code !== '' ? code : 'ENDED',
    message: typeof message === 'string' && message !== '' ? message : `the execution ended at "${nodeId}"`,
  };
}

/** The outputs of the reached end node, if it declares any. */
function endOutputs({ ending, plan, data }: State): Json | undefined {
  const node = ending === null ? undefined : plan.nodes[ending]!;
  if (node === undefined || node.parameters === null) return undefined;
  return outputsOf(plan.format, 'end', data[node.id] ?? {});
}

function succeed(deciding: Deciding): void {
  const { state, context } = deciding;
  for (const node of state.ending === null ? state.unhandledNodes : []) {
    // From before a reopen: another node was retried, this one was not.
    return end(deciding, 'Failed', nodeFailure(state, node));
  }
  try {
    const outputs = resultOf(state, context, (message) =>
      emit(deciding, { type: 'Warning', code: 'OUTPUTS_OVERLAP', message: `${message} (write \`outputs\`)` }),
    );
    conclude(deciding, { outcome: 'Succeeded', outputs });
  } catch (error) {
    end(deciding, 'Failed', { code: 'TEMPLATE_ERROR', message: `outputs: ${(error as TemplateError).message}` });
  }
}

/** The outputs of a succeeding execution. The same state always gives the same outputs. */
export function resultOf(
  state: State,
  { limits, templateStyle }: Pick<Deciding['context'], 'limits' | 'templateStyle'>,
  warn: (message: string) => void,
): Json {
  const ended = endOutputs(state);
  if (ended !== undefined) return ended;
  const { outputs: template, format } = state.plan;
  if (template === null) return mergedOutputs(format, state.root, warn);
  return renderTemplate(template, state.scope, limits, { style: templateStyle, why: whyAbsent(state) });
}

function end(deciding: Deciding, outcome: EndStatus, error: ExecutionError): void {
  if (outcome === 'Succeeded') return succeed(deciding);
  conclude(deciding, { outcome, error });
}
