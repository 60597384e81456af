// Pinned answers of a test instead of calls: the outputs or the error of a node, or of all nodes of an action type. A list gives
// one answer per attempt; its last answer repeats.

import type { AttemptResult } from '../action/attempt.ts';
import { describeThrown } from '../action/failure.ts';
import { Redactor } from '../action/redact.ts';
import type { Json } from '../core/json/json.ts';

export interface PinnedOutputs {
  readonly outputs: Json;
}

export interface PinnedError {
  readonly error: { readonly code: string; readonly message?: string | undefined };
  /** false: the error is final, whatever the retry policy says. */
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Outputs of the failed attempt, such as an HTTP response. */
  readonly outputs?: Json | undefined;
}

export type Pin = PinnedOutputs | PinnedError;

export interface PinnedCall {
  readonly nodeId: string;
  readonly attempt: number;
}

/** Gets the rendered parameters and returns the outputs. A thrown error fails the attempt, as in an action. */
export type PinFunction = (parameters: Json, call: PinnedCall) => Json | Promise<Json>;

export type Pinned = Pin | readonly Pin[] | PinFunction;

const OUTPUT_LIMIT_BYTES = 1024 * 1024;

export async function resultOf(pinned: Pinned, parameters: Json, call: PinnedCall): Promise<AttemptResult> {
  if (typeof pinned !== 'function') return settled(pinOf(pinned, call.attempt));
  try {
    return settled({ outputs: ((await pinned(parameters, call)) ?? {}) as Json });
  } catch (thrown) {
    return { ok: false, ...describeThrown(thrown, new Redactor(), OUTPUT_LIMIT_BYTES) };
  }
}

export function pinOf(pinned: Exclude<Pinned, PinFunction>, attempt: number): Pin {
  if (!isList(pinned)) return pinned;
  return pinned[Math.min(attempt, pinned.length) - 1]!;
}

const isList = (pinned: Pin | readonly Pin[]): pinned is readonly Pin[] => Array.isArray(pinned);

function settled(pin: Pin): AttemptResult {
  if (!('error' in pin)) return { ok: true, outputs: pin.outputs, outputsText: JSON.stringify(pin.outputs) };
  const { error, retryable = true, retryAfterMs, outputs } = pin;
  const { code, message = `the test fails this attempt with ${code}` } = error;
  return {
    ok: false,
    error: { code, message },
    retryable,
    ...(code === 'ATTEMPT_TIMEOUT' ? { timedOut: true } : {}),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(outputs === undefined ? {} : { outputs, outputsText: JSON.stringify(outputs) }),
  };
}
