// Maps errors of Monday's client to what the engine does next. Monday reports most failures in a list of errors with codes, often
// with status 200, and includes the duration of a rate limit.

import { isRetryableError, isTerminalError, RetryableError } from '../../core/error/error.ts';
import { retryDelay } from '../header-value.ts';
import { failureOfStatus, type RemoteFailure, remoteError, unreadable } from '../remote-failure.ts';

const system = 'Monday';

/** As graphql-request gives it: the body of the response, with status and headers. */
export interface FailedResponse {
  readonly status: number;
  readonly headers?: unknown;
  readonly errors?: unknown;
  readonly error_code?: unknown;
  readonly error_message?: unknown;
}

export function mondayError(response: FailedResponse | null, thrown: unknown): Error {
  if (isTerminalError(thrown) || isRetryableError(thrown)) return thrown;
  if (response === null) {
    if (thrown instanceof SyntaxError) return unreadable(system);
    const name = thrown instanceof Error ? thrown.name : 'unknown error';
    return new RetryableError('NETWORK_ERROR', `Monday could not be reached: ${name}`);
  }
  const problems = problemsOf(response);
  const [first] = problems;
  if (first === undefined) return withoutProblem(response);
  const detail = problems.map(({ code, message }) => (code === '' ? message : `${message} (${code})`)).join('; ');
  const retryAfterMs = first.retryAfterMs ?? headerDelay(response.headers);
  return remoteError({ system, detail, retryAfterMs }, failureOf(first, response.status));
}

/** An answer of something in front of the API, such as a proxy. */
function withoutProblem({ status, headers }: FailedResponse): Error {
  if (status < 400) return unreadable(system);
  return remoteError(
    { system, detail: `it answered ${status}`, retryAfterMs: headerDelay(headers) },
    failureOfStatus(status),
  );
}

interface Problem {
  readonly code: string;
  readonly message: string;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
}

function problemsOf({ errors, error_code: code, error_message: message }: FailedResponse): Problem[] {
  if (Array.isArray(errors) && errors.length > 0) return errors.map(problemOf);
  return typeof message === 'string' ? [{ code: text(code), message, status: null, retryAfterMs: null }] : [];
}

function problemOf(error: unknown): Problem {
  if (typeof error === 'string') return { code: '', message: error, status: null, retryAfterMs: null };
  const { message, extensions = {} } = (error ?? {}) as { message?: unknown; extensions?: Record<string, unknown> };
  const { code, status_code: status, error_data: data } = extensions;
  const seconds = extensions.retry_in_seconds ?? (data as { retry_in_seconds?: unknown } | undefined)?.retry_in_seconds;
  return {
    code: text(code),
    message: text(message) || 'no reason given',
    status: typeof status === 'number' ? status : null,
    retryAfterMs: typeof seconds === 'number' ? seconds * 1000 : null,
  };
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

function headerDelay(headers: unknown): number | null {
  const value = headers instanceof Headers ? headers.get('retry-after') : null;
  return retryDelay(value ?? undefined, Date.now());
}

/** Codes come in several spellings (InvalidItemIdException, ITEM_NOT_FOUND), so they are recognised by their words. */
const FAILURES: readonly (readonly [RegExp, RemoteFailure])[] = [
  [/complexity|limit.?exceeded|rate.?limit|concurrency/i, 'rateLimited'],
  [/internal.?server|timeout|unavailable/i, 'failed'],
  [/not.?authenticated|unauth|permission|forbidden/i, 'credentialRefused'],
  [/not.?found|Invalid(Board|Item|Group)Id/i, 'notFound'],
  [/invalid|exception|argument|column|parse|undefined/i, 'refused'],
];

function failureOf({ code, message, status }: Problem, responseStatus: number): RemoteFailure {
  const known = FAILURES.find(([pattern]) => pattern.test(code));
  if (known !== undefined) return known[1];
  if (/not authenticated/i.test(message)) return 'credentialRefused';
  return failureOfStatus(status !== null && status >= 400 ? status : responseStatus);
}
