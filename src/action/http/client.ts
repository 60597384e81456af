// The HTTP client that actions get: one request, one bounded answer. Addresses are checked where the socket opens (S5),
// redirects are followed only when asked for and each hop is a request of its own; size and time are capped. It reads no
// proxy settings from the environment. Every failure is a TerminalError or a RetryableError; only an abort by the
// caller's signal is thrown as the signal's own reason.

import { Agent, type Dispatcher } from 'undici';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import type { HttpClient, HttpResponse } from '../http-client.ts';
import { type AddressPolicyOptions, createAddressPolicy } from './address.ts';
import { guardedConnector, type Resolve, systemResolve } from './guard.ts';
import { describeRequest, networkError } from './network-error.ts';
import { type Hop, nextHop } from './redirect.ts';
import { requestHeaders } from './request-headers.ts';
import { ACCEPTED_ENCODINGS, type ReadLimit, readBody } from './response-stream.ts';

export interface HttpClientOptions extends AddressPolicyOptions {
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  /** Between two pieces of a body. */
  readonly bodyIdleTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxHeaderBytes?: number;
  readonly maxConnectionsPerOrigin?: number;
}

export interface ClosableHttpClient extends HttpClient {
  close(): Promise<void>;
}

const DEFAULTS = {
  timeoutMs: 300_000,
  connectTimeoutMs: 10_000,
  bodyIdleTimeoutMs: 60_000,
  maxResponseBytes: 1024 * 1024,
  maxHeaderBytes: 32 * 1024,
  maxConnectionsPerOrigin: 256,
};

export function createHttpClient(options: HttpClientOptions = {}): ClosableHttpClient {
  const settings = { ...DEFAULTS, resolve: systemResolve, ...options };
  const agent = new Agent({
    connect: guardedConnector({ ...settings, policy: createAddressPolicy(options) }),
    connections: settings.maxConnectionsPerOrigin,
    allowH2: false,
    maxHeaderSize: settings.maxHeaderBytes,
    // The deadline of the whole request covers the headers.
    headersTimeout: 0,
    bodyTimeout: settings.bodyIdleTimeoutMs,
  });
  return {
    async request(request) {
      const { method = 'GET', maxRedirects = 0, body = null } = request;
      const first = { url: checkUrl(request.url), method, headers: requestHeaders(request.headers ?? {}), body };
      const limit: ReadLimit = {
        maxBytes: request.maxBytes ?? settings.maxResponseBytes,
        onOversize: request.onOversize ?? 'fail',
      };
      return await withDeadline(request.timeoutMs ?? settings.timeoutMs, request.signal, (signal) =>
        follow(agent, first, { maxRedirects, limit, signal }),
      );
    },
    close: () => agent.destroy(),
  };
}

interface FollowOptions {
  readonly maxRedirects: number;
  readonly limit: ReadLimit;
  readonly signal: AbortSignal;
}

async function follow(agent: Agent, first: Hop, options: FollowOptions): Promise<HttpResponse> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(agent, hop, options);
    if ('response' in answer) return answer.response;
    if (redirects >= options.maxRedirects) {
      const from = describeRequest(first.method, first.url);
      throw new TerminalError('TOO_MANY_REDIRECTS', `${from} redirected more than ${options.maxRedirects} times`);
    }
    checkRedirect(answer.next);
    hop = answer.next;
  }
}

type Answer = { readonly response: HttpResponse } | { readonly next: Hop };

async function send(agent: Agent, hop: Hop, options: FollowOptions): Promise<Answer> {
  const { url, method, headers, body } = hop;
  try {
    const answer = await agent.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: method as Dispatcher.HttpMethod,
      headers: { 'accept-encoding': ACCEPTED_ENCODINGS, ...headers },
      body,
      signal: options.signal,
    });
    // A body that is destroyed early emits an error of its own, which ends the process when nobody listens.
    answer.body.on('error', () => {});
    return await receive(answer, hop, options).finally(() => answer.body.destroy());
  } catch (thrown) {
    if (options.signal.aborted) throw options.signal.reason;
    throw networkError(thrown, describeRequest(method, url));
  }
}

async function receive(answer: Dispatcher.ResponseData, hop: Hop, options: FollowOptions): Promise<Answer> {
  const status = answer.statusCode;
  const headers = joinHeaders(answer.headers);
  const next = options.maxRedirects > 0 ? nextHop(hop, status, headers.location) : null;
  if (next !== null) {
    // Read to its end, if that is near, so that the connection can be used again.
    await answer.body.dump({ limit: 16 * 1024, signal: options.signal });
    return { next };
  }
  const content = await readBody(answer.body, headers['content-encoding'], options.limit);
  return { response: { status, headers, ...content, url: hop.url.href } };
}

function joinHeaders(raw: Record<string, string | string[] | undefined>): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(raw)) {
    if (value !== undefined) headers[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return headers;
}

// ── Where to, and until when ────────────────────────────────────────────────────────────────────────────────────────

function checkUrl(input: string | URL): URL {
  const url = URL.parse(String(input));
  const problem = url === null ? 'is not an absolute URL' : urlProblem(url);
  if (url === null || problem !== null) {
    const shown = url === null ? JSON.stringify(String(input).slice(0, 200)) : `${url.protocol}//${url.host}`;
    throw new TerminalError('PARAMETERS_INVALID', `The URL ${shown} ${problem}`);
  }
  return url;
}

function checkRedirect({ url }: Hop): void {
  const problem = urlProblem(url);
  if (problem !== null) throw new TerminalError('SSRF_BLOCKED', `The server redirected to a URL that ${problem}`);
}

function urlProblem(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'is not http or https';
  if (url.username !== '' || url.password !== '') return 'contains credentials; send them in a header instead';
  return HOST.test(url.hostname) ? null : 'has a host name that cannot exist';
}

/** URLs may name hosts that DNS may not, e.g. an expression that somebody forgot to render. IPv6 is in brackets. */
const HOST = /^(\[.+\]|[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?)$/;

async function withDeadline<T>(
  timeoutMs: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const controller = new AbortController();
  const expire = () =>
    controller.abort(new RetryableError('HTTP_TIMEOUT', `The request did not finish within ${timeoutMs} ms`));
  const onAbort = () => controller.abort(outer?.reason);
  const timer = setTimeout(expire, timeoutMs);
  outer?.addEventListener('abort', onAbort, { once: true });
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', onAbort);
  }
}
