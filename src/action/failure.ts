// Turns an action's error into the failure of its attempt. Never throws, whatever it is given. The attempt's secrets are removed
// before anything is cut or stored (S6).

import { isRetryableError, isTerminalError } from '../core/error/error.ts';
import { cleanMessage } from '../core/error/message.ts';
import type { Json } from '../core/json/json.ts';
import { encodeOutputs } from './outputs.ts';
import type { Redactor } from './redact.ts';

export interface ThrownFailure {
  readonly error: { readonly code: string; readonly message: string };
  readonly retryable: boolean;
  readonly retryAfterMs?: number;
  readonly outputsText?: string;
  readonly outputs?: Json;
  /** The stack of an unexpected error, for the author of the action. Never stored. */
  readonly stack?: string;
}

export function describeThrown(thrown: unknown, redactor: Redactor, outputLimitBytes: number): ThrownFailure {
  const message = cleanMessage(redactor.redact(messageOf(thrown)));
  if (isTerminalError(thrown)) {
    return {
      error: { code: codeOf(thrown.code), message },
      retryable: false,
      ...lastWords(thrown.outputs, redactor, outputLimitBytes),
    };
  }
  if (isRetryableError(thrown)) {
    return {
      error: { code: codeOf(thrown.code), message },
      retryable: true,
      ...delayOf(thrown.retryAfterMs),
      ...lastWords(thrown.outputs, redactor, outputLimitBytes),
    };
  }
  return { error: { code: 'ACTION_FAILED', message }, retryable: true, ...framesOf(thrown, redactor) };
}

const MAX_FRAMES = 8;

/** Without the message above them, which may quote the action's input (S6). */
function framesOf(thrown: unknown, redactor: Redactor): { stack?: string } {
  try {
    const text = thrown instanceof Error && typeof thrown.stack === 'string' ? thrown.stack : '';
    const all = text.split('\n').filter((line) => /^ {4}at .*:\d+:\d+\)?$/.test(line));
    // The frames below the action are always the same, and ours.
    const ours = all.findIndex((line) => line.includes('at invokeAction '));
    const frames = ours === -1 ? all : all.slice(0, ours);
    return frames.length === 0 ? {} : { stack: redactor.redact(frames.slice(0, MAX_FRAMES).join('\n')) };
  } catch {
    return {};
  }
}

function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return typeof thrown === 'string' ? thrown : `Thrown: ${describeValue(thrown)}`;
    const own = thrown.message === '' ? thrown.name : thrown.message;
    const { cause } = thrown;
    return cause instanceof Error && cause.message !== '' && !own.includes(cause.message)
      ? `${own} (caused by: ${cause.message})`
      : own;
  } catch {
    return 'The action threw something that cannot be described';
  }
}

function describeValue(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined;
  return text ?? String(value);
}

const MAX_CODE_LENGTH = 100;

/** A code is a word that people search for. Anything else falls back to the general code. */
function codeOf(code: unknown): string {
  return typeof code === 'string' && code !== '' && code.length <= MAX_CODE_LENGTH
    ? cleanMessage(code)
    : 'ACTION_FAILED';
}

function delayOf(retryAfterMs: number | undefined): { retryAfterMs?: number } {
  return typeof retryAfterMs === 'number' && Number.isFinite(retryAfterMs) && retryAfterMs > 0
    ? { retryAfterMs: Math.ceil(retryAfterMs) }
    : {};
}

/** Outputs help to understand a failure. If they cannot be kept, the failure still counts. */
function lastWords(
  outputs: Json | undefined,
  redactor: Redactor,
  limitBytes: number,
): { outputsText?: string; outputs?: Json } {
  if (outputs === undefined) return {};
  const encoded = encodeOutputs(outputs, limitBytes);
  if (!encoded.ok) return {};
  const outputsText = redactor.redactJson(encoded.text);
  try {
    return { outputsText, outputs: JSON.parse(outputsText) as Json };
  } catch {
    return {};
  }
}
