// Between decisions and attempts: what the action layer is asked for, and its result as an input of the decider. The value
// that goes into memory is parsed from the very text that is committed, so that a recovered execution sees what the live one
// saw (I15).

import type { AttemptRequest, AttemptResult } from '../../action/attempt.ts';
import type { Command } from '../../core/decider/command.ts';
import { idOf, planNodeOf } from '../../core/decider/frame.ts';
import type { Input } from '../../core/decider/input.ts';
import type { Json } from '../../core/json/json.ts';
import type { JsonText } from '../../store/port.ts';
import type { QueuedInput, Resident } from './resident.ts';

export function attemptRequest(
  { execution, state }: Resident,
  { node, attempt, params, timeoutMs, idempotencyKey }: Extract<Command, { type: 'runAction' }>,
  { signal, traceparent, mayHaveRun }: Pick<AttemptRequest, 'signal' | 'traceparent' | 'mayHaveRun'>,
): AttemptRequest | null {
  const { step } = planNodeOf(state, node);
  const nodeId = idOf(state, node);
  if (step.kind !== 'action') return null;
  const { executionId, tenantId, workflowId, version, correlationId, environmentId, projectId } = execution;
  const { actionType, connection, secretRefs, hooks, plugin } = step;
  const { principal } = state.start;
  const request = {
    executionId,
    tenantId,
    workflowId,
    version,
    nodeId,
    actionType,
    connection,
    environmentId,
    projectId,
    attempt,
    mayHaveRun,
    params,
    timeoutMs,
    idempotencyKey,
    principal,
    correlationId,
    traceparent,
    signal,
  };
  if (state.plan.format !== 'plan') return request;
  const named = { runId: execution.requestId ?? undefined, planVersion: state.plan.namedVersion ?? undefined };
  return { ...request, ...named, secretRefs, contract: state.plan.contract ?? 'typed', hooks, plugin };
}

export function attemptInput(node: number, attempt: number, result: AttemptResult): QueuedInput {
  const queued = inputOf(node, attempt, result);
  return result.waitedMs === undefined ? queued : { ...queued, waitedMs: result.waitedMs };
}

function inputOf(node: number, attempt: number, result: AttemptResult): QueuedInput {
  const logs = result.logs ?? [];
  if (result.ok) {
    const outputs = result.outputs ?? parsed(result.outputsText);
    const bytes = result.outputsText.length;
    const links = result.resourceLinks ?? [];
    const input = { type: 'attemptSucceeded' as const, node, attempt, outputs, bytes };
    const { outputsText } = result;
    return logs.length + links.length === 0 ? { input, outputsText } : { input, outputsText, extras: { links, logs } };
  }
  const { error, retryable, retryAfterMs, timedOut, aborted, outputsText } = result;
  const input = {
    type: 'attemptFailed' as const,
    node,
    attempt,
    error,
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(timedOut ? { timedOut } : {}),
    ...(aborted ? { aborted } : {}),
    ...(outputsText === undefined ? {} : { outputs: result.outputs ?? parsed(outputsText) }),
  };
  return logs.length === 0 ? { input } : { input, extras: { links: [], logs } };
}

export function isResultOf(input: Input, node: number): boolean {
  return (input.type === 'attemptSucceeded' || input.type === 'attemptFailed') && input.node === node;
}

const parsed = (text: JsonText): Json => JSON.parse(text) as Json;

/** The execution was stopping when its owner died: what ran then is not run again, it counts as stopped. */
export function notRunAgain(node: number, attempt: number): QueuedInput {
  const error = { code: 'CANCELLED', message: 'The execution was stopping when its runner died' };
  return { input: { type: 'attemptFailed', node, attempt, error, retryable: false, aborted: true } };
}
