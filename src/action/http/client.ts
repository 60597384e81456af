// The HTTP client of actions: one request, one bounded response. Addresses are checked where the socket opens (S5), redirects are
// followed only on request. It reads no proxy settings from the environment. call.ts handles a single request.

import { HTTP_TOKEN, headerNameProblem, headerValueProblem } from '../../core/definition/http-header.ts';
import { TerminalError } from '../../core/error/error.ts';
import type { HttpClient, HttpRequest } from '../http-client.ts';
import { type AddressPolicyOptions, createAddressPolicy } from './address.ts';
import { call } from './call.ts';
import { Connections } from './connections.ts';
import { guardedConnector, type Resolve, systemResolve } from './guard.ts';
import type { Hop } from './redirect.ts';
import { ACCEPTED_ENCODINGS } from './response-stream.ts';
import { Targets } from './url.ts';

export interface HttpClientOptions extends AddressPolicyOptions {
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Maximum time between two pieces of a body. */
  readonly bodyIdleTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly maxConnectionsPerOrigin?: number;
}

export interface ClosableHttpClient extends HttpClient {
  close(): Promise<void>;
}

export const DEFAULT_CONNECTIONS_PER_ORIGIN = 256;

const DEFAULTS = {
  timeoutMs: 300_000,
  connectTimeoutMs: 10_000,
  bodyIdleTimeoutMs: 60_000,
  maxResponseBytes: 1024 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxConnectionsPerOrigin: DEFAULT_CONNECTIONS_PER_ORIGIN,
};

export function createHttpClient(options: HttpClientOptions = {}): ClosableHttpClient {
  const settings = { ...DEFAULTS, resolve: systemResolve, ...options };
  const connections = new Connections({
    connect: guardedConnector({ ...settings, policy: createAddressPolicy(options) }),
    perOrigin: settings.maxConnectionsPerOrigin,
    maxHeaderSize: settings.maxHeaderBytes,
    // The deadline of the whole request covers the headers.
    headersTimeout: 0,
    bodyTimeout: settings.bodyIdleTimeoutMs,
  });
  const targets = new Targets();
  return {
    request: (request) =>
      call(connections, () => firstHop(targets, request), {
        maxRedirects: request.maxRedirects ?? 0,
        limit: {
          maxBytes: request.maxBytes ?? settings.maxResponseBytes,
          onOversize: request.onOversize ?? 'fail',
        },
        timeoutMs: request.timeoutMs === undefined ? settings.timeoutMs : request.timeoutMs,
        signal: request.signal,
      }),
    close: () => connections.close(),
  };
}

/** Throws when the request must not be sent. */
function firstHop(targets: Targets, { url, method = 'GET', headers = {}, body, secretHeaders }: HttpRequest): Hop {
  if (!HTTP_TOKEN.test(method)) {
    throw new TerminalError(
      'PARAMETERS_INVALID',
      `The method ${JSON.stringify(method.slice(0, 100))} is not one of HTTP`,
    );
  }
  return { target: targets.get(url), method, headers: requestHeaders(headers), body: body ?? null, secretHeaders };
}

// Checks the headers that a caller gave, so that a bad one gives a clear error instead of one of the transport.

/** Names in lower case and values, alternating, as the transport takes them. */
function requestHeaders(given: Readonly<Record<string, string>>): string[] {
  const headers: string[] = [];
  let acceptsEncodings = false;
  for (const written of Object.keys(given)) {
    const name = written.toLowerCase();
    const value = given[written]!;
    const problem = headerNameProblem(name) ?? headerValueProblem(value);
    if (problem !== null) {
      throw new TerminalError('PARAMETERS_INVALID', `The header ${JSON.stringify(written.slice(0, 100))} ${problem}`);
    }
    acceptsEncodings ||= name === 'accept-encoding';
    headers.push(name, value);
  }
  if (!acceptsEncodings) headers.push('accept-encoding', ACCEPTED_ENCODINGS);
  return headers;
}
