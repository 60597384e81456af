// The one shape of all refusals, and the mapping of failures to it. An unexpected failure is INTERNAL_ERROR without internals;
// the log has the rest, under the same correlation id.

import { type CodeEntry, ERROR_CODES, type ErrorCode } from '../core/error/codes.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Problem } from '../core/problem/problem.ts';
import type { ErrorEnvelope } from '../protocol/error.ts';
import { StoreError, UNSTORABLE_TEXT } from '../store/store-error.ts';
import type { Exhausted } from './rate-limit.ts';

export interface Refusal {
  readonly status: number;
  readonly body: ErrorEnvelope;
  readonly headers: Readonly<Record<string, string>>;
  /** Worth a line in the log. */
  readonly unexpected: boolean;
}

export interface RefusedRequest {
  readonly correlationId: string;
  readonly at: Date;
  readonly bodyLimitBytes: number;
}

const RETRY_SOON = { 'Retry-After': '1' };

export function refusalOf(thrown: unknown, { correlationId, at, bodyLimitBytes }: RefusedRequest): Refusal {
  const { code, message, details, headers = {} } = classify(thrown, bodyLimitBytes);
  const { httpStatus: status, name }: CodeEntry = ERROR_CODES[code];
  const error = {
    code,
    ...(name === undefined ? {} : { name }),
    message,
    correlationId,
    timestamp: at.toISOString(),
    ...(details === undefined ? {} : { details }),
  };
  return { status, body: { error }, headers, unexpected: status >= 500 };
}

interface Classified {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: unknown;
  readonly headers?: Record<string, string>;
}

function classify(thrown: unknown, bodyLimitBytes: number): Classified {
  if (thrown instanceof PawlError) {
    const { code, message, details } = thrown;
    if (code === 'METHOD_NOT_ALLOWED') return { code, message, headers: { Allow: (details as string[]).join(', ') } };
    const wait = waitHeaders(details);
    if (wait !== null) return { code, message, details, headers: wait };
    return {
      code,
      message,
      details,
      ...(code === 'UNAUTHENTICATED' ? { headers: { 'WWW-Authenticate': 'Bearer' } } : {}),
    };
  }
  if (thrown instanceof StoreError && (thrown.failure === 'retry' || thrown.failure === 'unknown')) {
    return { code: 'UNAVAILABLE', message: 'The database is not available; try again.', headers: RETRY_SOON };
  }
  if (thrown instanceof StoreError && thrown.isUnstorableText) {
    return { code: 'REQUEST_INVALID', message: UNSTORABLE_TEXT };
  }
  return (
    frameworkRefusal(thrown, bodyLimitBytes) ?? { code: 'INTERNAL_ERROR', message: ERROR_CODES.INTERNAL_ERROR.message }
  );
}

/** For refusals that may be retried: when, and which limit was met. */
function waitHeaders(details: unknown): Record<string, string> | null {
  const { retryAfterSeconds, limit, remaining } = (details ?? {}) as Partial<Record<keyof Exhausted, unknown>>;
  if (retryAfterSeconds === undefined) return null;
  const wait = { 'Retry-After': String(retryAfterSeconds) };
  if (typeof limit !== 'number') return wait;
  return { ...wait, 'X-RateLimit-Limit': String(limit), 'X-RateLimit-Remaining': String(remaining) };
}

/** The framework's own refusals, by their stable codes. */
function frameworkRefusal(thrown: unknown, bodyLimitBytes: number): Classified | null {
  const { code = '', statusCode = 0 } = (thrown ?? {}) as { code?: string; statusCode?: number };
  if (typeof code !== 'string' || !code.startsWith('FST_') || statusCode >= 500) return null;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        code: 'PAYLOAD_TOO_LARGE',
        message: `the body of a request may have ${bodyLimitBytes} bytes (server.bodyLimitBytes), and this one has more`,
        details: { limitBytes: bodyLimitBytes },
      };
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return { code: 'UNSUPPORTED_MEDIA_TYPE', message: ERROR_CODES.UNSUPPORTED_MEDIA_TYPE.message };
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { code: 'NOT_FOUND', message: ERROR_CODES.NOT_FOUND.message };
    default:
      return { code: 'REQUEST_INVALID', message: ERROR_CODES.REQUEST_INVALID.message };
  }
}

export function methodNotAllowed(method: string, allowed: readonly string[]): PawlError {
  return new PawlError('METHOD_NOT_ALLOWED', `${method} is not possible here: ${allowed.join(', ')}`, allowed);
}

export function notFound(method: string, url: string): PawlError {
  const [path = ''] = url.split('?');
  const problem: Problem = { code: 'NO_SUCH_ROUTE', path: '', message: `there is no ${method} ${path.slice(0, 200)}` };
  return new PawlError('NOT_FOUND', problem.message);
}

/** How long the same failure is not logged again: in an outage every request fails for the same reason. */
const UNAVAILABLE_EVERY_MS = 10_000;

/** Says which refusals are logged: in an outage one now and then, otherwise each. */
export function newsOfRefusals(): (refusal: Refusal) => boolean {
  let quietUntil = 0;
  return ({ body }) => {
    if (body.error.code !== 'UNAVAILABLE') return true;
    if (performance.now() < quietUntil) return false;
    quietUntil = performance.now() + UNAVAILABLE_EVERY_MS;
    return true;
  };
}
