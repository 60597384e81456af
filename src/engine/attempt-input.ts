// The result of an attempt as an input of the decider. The value that goes into memory is parsed from the very text that
// is committed, so that a recovered execution sees what the live one saw (I15).

import type { Json } from '../core/json/json.ts';
import type { AttemptResult } from './environment.ts';
import type { QueuedInput } from './resident.ts';

export function attemptInput(node: number, attempt: number, result: AttemptResult): QueuedInput {
  const logs = result.logs ?? [];
  if (result.ok) {
    const outputs = JSON.parse(result.outputsText) as Json;
    const bytes = result.outputsText.length;
    const links = result.resourceLinks ?? [];
    const input = { type: 'attemptSucceeded' as const, node, attempt, outputs, bytes };
    return logs.length + links.length === 0 ? { input } : { input, extras: { links, logs } };
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
    ...(outputsText === undefined ? {} : { outputs: JSON.parse(outputsText) as Json }),
  };
  return logs.length === 0 ? { input } : { input, extras: { links: [], logs } };
}

/** The execution was stopping when its owner died: what ran then is not run again, it counts as stopped. */
export function notRunAgain(node: number, attempt: number): QueuedInput {
  const error = { code: 'CANCELLED', message: 'The execution was stopping when its runner died' };
  return { input: { type: 'attemptFailed', node, attempt, error, retryable: false, aborted: true } };
}
