// Errors by what the engine does next: a TerminalError fails the node, a RetryableError is retried by the policy. Any other error
// that an action throws counts as retryable (see action/failure.ts). Both carry a stable code and, optionally, `outputs` of the
// failed attempt, such as the response of an HTTP step. They are recognised by a registered symbol, not by `instanceof`, because
// a user's action may have loaded its own copy of this package.

import type { Json } from '../json/json.ts';
import type { ErrorCode } from './codes.ts';

/** Codes of the registry, or an action's own. */
export type AttemptErrorCode = ErrorCode | (string & {});

export interface AttemptErrorOptions {
  readonly outputs?: Json;
  readonly cause?: unknown;
}

type Disposition = 'terminal' | 'retryable';

const DISPOSITION = Symbol.for('pawl.error.disposition');

abstract class AttemptError extends Error {
  abstract readonly [DISPOSITION]: Disposition;
  readonly code: AttemptErrorCode;
  readonly outputs: Json | undefined;

  constructor(code: AttemptErrorCode, message: string, options: AttemptErrorOptions) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.outputs = options.outputs;
  }
}

export class TerminalError extends AttemptError {
  override readonly name = 'TerminalError';
  readonly [DISPOSITION] = 'terminal';

  constructor(code: AttemptErrorCode, message: string, options: AttemptErrorOptions = {}) {
    super(code, message, options);
  }
}

export class RetryableError extends AttemptError {
  override readonly name = 'RetryableError';
  readonly [DISPOSITION] = 'retryable';
  /** The next attempt starts no earlier than this, even if the policy's delay is shorter. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: AttemptErrorCode,
    message: string,
    options: AttemptErrorOptions & { readonly retryAfterMs?: number } = {},
  ) {
    super(code, message, options);
    this.retryAfterMs = options.retryAfterMs;
  }
}

export function isTerminalError(thrown: unknown): thrown is TerminalError {
  return dispositionOf(thrown) === 'terminal';
}

export function isRetryableError(thrown: unknown): thrown is RetryableError {
  return dispositionOf(thrown) === 'retryable';
}

function dispositionOf(thrown: unknown): unknown {
  return thrown instanceof Error ? (thrown as { readonly [DISPOSITION]?: unknown })[DISPOSITION] : undefined;
}
