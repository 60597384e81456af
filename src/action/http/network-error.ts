// Network failures in our own terms. Messages name the request without its query (it may contain a secret), and the system's
// error code instead of its text, which may reveal addresses.

import { isRetryableError, isTerminalError, RetryableError, TerminalError } from '../../core/error/error.ts';

export function networkError(thrown: unknown, request: string): Error {
  if (isTerminalError(thrown) || isRetryableError(thrown)) return thrown;
  const code = codeOf(thrown);
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
    case 'UND_ERR_BODY_TIMEOUT':
    case 'ETIMEDOUT':
      return new RetryableError('HTTP_TIMEOUT', `${request}: the server did not answer in time (${code})`);
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new TerminalError('RESPONSE_TOO_LARGE', `${request}: the headers of the response are too large`);
    case 'UND_ERR_INVALID_ARG':
      return new TerminalError('PARAMETERS_INVALID', `${request}: ${messageOf(thrown)}`);
  }
  if (DECOMPRESSION.test(code)) {
    return new RetryableError('RESPONSE_INVALID', `${request}: the response could not be decompressed (${code})`);
  }
  return new RetryableError('NETWORK_ERROR', `${request}: ${reasonOf(code)} (${code})`);
}

function reasonOf(code: string): string {
  if (code.startsWith('HPE_') || code === 'HTTPParserError') return 'the answer is not HTTP';
  return Object.hasOwn(REASONS, code) ? REASONS[code]! : 'the server could not be reached';
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'the name does not exist',
  UND_ERR_SOCKET: 'the connection broke before the answer was complete',
  ECONNRESET: 'the connection broke before the answer was complete',
  EPIPE: 'the connection broke before the answer was complete',
};

export function describeRequest(method: string, url: URL): string {
  return `${method} ${url.origin}${url.pathname}`;
}

const DECOMPRESSION = /^(Z_|ERR__ERROR)/;

/** When several addresses fail, they come as one error without a code. */
function codeOf(thrown: unknown): string {
  const { code, cause, errors, name } = (thrown ?? {}) as {
    code?: unknown;
    cause?: unknown;
    errors?: readonly unknown[];
    name?: unknown;
  };
  if (typeof code === 'string') return code;
  if (Array.isArray(errors) && errors.length > 0) return codeOf(errors[0]);
  if (cause !== undefined) return codeOf(cause);
  return typeof name === 'string' ? name : 'unknown error';
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
