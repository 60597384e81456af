// Between decisions and attempts: what the action layer is asked for, and its result as an input of the decider. The value
// that goes into memory is parsed from the very text that is committed, so that a recovered execution sees what the live one
// saw (I15).

import type { Command } from '../../core/decider/command.ts';
import type { Json } from '../../core/json/json.ts';
import type { JsonText } from '../../store/port.ts';
import type { AttemptRequest, AttemptResult } from '../environment.ts';
import type { QueuedInput, Resident } from '../turn/resident.ts';

export function attemptRequest(
  { execution, state }: Resident,
  { node, attempt, params, timeoutMs, idempotencyKey }: Extract<Command, { type: 'runAction' }>,
  { signal, traceparent }: Pick<AttemptRequest, 'signal' | 'traceparent'>,
): AttemptRequest | null {
  const { id: nodeId, step } = state.plan.nodes[node]!;
  if (step.kind !== 'action') return null;
  const { executionId, tenantId, workflowId, version, correlationId } = execution;
  const { actionType } = step;
  const { principal } = state.start;
  const place = { executionId, tenantId, workflowId, version, nodeId, actionType, attempt };
  return { ...place, params, timeoutMs, idempotencyKey, principal, correlationId, traceparent, signal };
}

export function attemptInput(node: number, attempt: number, result: AttemptResult): QueuedInput {
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

const parsed = (text: JsonText): Json => JSON.parse(text) as Json;

/** The execution was stopping when its owner died: what ran then is not run again, it counts as stopped. */
export function notRunAgain(node: number, attempt: number): QueuedInput {
  const error = { code: 'CANCELLED', message: 'The execution was stopping when its runner died' };
  return { input: { type: 'attemptFailed', node, attempt, error, retryable: false, aborted: true } };
}
