// One request to the server: builds it, sends it, reads the answer. Only repeatable requests are retried: reads, and requests
// with an id by which the server recognises a repetition.

import { apiErrorOf, type PawlApiError } from './api-error.ts';

export interface ClientOptions {
  /** E.g. `http://127.0.0.1:7295`. */
  readonly url: string;
  /** A token or API key, or a function that returns one for each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Sent with every request, e.g. `X-Correlation-Id`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global fetch. */
  readonly fetch?: typeof fetch;
  /** Tries after the first, for repeatable requests. */
  readonly retries?: number;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

export interface Ask {
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The server answers a repetition like the first request. */
  readonly repeatable?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Statuses other than success that count as answers. */
  readonly answers?: readonly number[];
}

const DEFAULT_RETRIES = 3;
const FIRST_DELAY_MS = 200;
/** A longer Retry-After is reported as an error instead of waiting. */
const LONGEST_DELAY_MS = 10_000;
const PASSING = new Set([429, 502, 503, 504]);

export class Transport {
  private readonly options: ClientOptions;
  private readonly base: string;

  constructor(options: ClientOptions) {
    if (!URL.canParse(options.url)) throw new TypeError(`"${options.url}" is not a URL such as http://127.0.0.1:7295`);
    this.options = options;
    this.base = options.url.replace(/\/+$/, '');
  }

  get<Answer>(path: string, query: Query = {}, rest: Omit<Ask, 'query'> = {}): Promise<Answer> {
    return this.ask<Answer>('GET', path, { ...rest, query, repeatable: true });
  }

  async ask<Answer>(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const answer = await this.send(method, path, ask);
    return (answer.status === 204 ? undefined : await answer.json()) as Answer;
  }

  /** The raw answer. Throws unless it is a success or one of `answers`. */
  async send(method: string, path: string, ask: Ask): Promise<Response> {
    const tries = ask.repeatable === true ? (this.options.retries ?? DEFAULT_RETRIES) + 1 : 1;
    for (let attempt = 1; ; attempt++) {
      const result = await this.once(method, path, ask).catch((error: Error) => error);
      if (result instanceof Response && (result.ok || ask.answers?.includes(result.status) === true)) return result;
      const failure = result instanceof Response ? await apiErrorOf(result) : result;
      const delayMs = attempt < tries ? retryDelay(failure, attempt) : null;
      if (delayMs === null || ask.signal?.aborted === true) throw failure;
      await pause(delayMs, ask.signal);
    }
  }

  private async once(method: string, path: string, { query, body, headers, signal }: Ask): Promise<Response> {
    const { token, fetch: send = fetch, headers: always } = this.options;
    const given = typeof token === 'function' ? await token() : token;
    const request = send(`${this.base}${path}${queryText(query)}`, {
      method,
      headers: {
        ...always,
        ...(given === undefined ? {} : { authorization: `Bearer ${given}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return request.catch((error: Error) => {
      throw error instanceof TypeError ? unsent(this.base, error) : error;
    });
  }
}

/** fetch only says "fetch failed", not where or why. */
function unsent(base: string, cause: TypeError): TypeError {
  const reason = cause.cause instanceof Error && cause.cause.message !== '' ? ` (${cause.cause.message})` : '';
  return new TypeError(`the request to ${base} failed: ${cause.message}${reason}`, { cause });
}

/** null: another try is useless, or would take too long. */
function retryDelay(failure: Error | PawlApiError, attempt: number): number | null {
  if (!('status' in failure)) return failure.name === 'AbortError' ? null : backoff(attempt);
  if (!PASSING.has(failure.status)) return null;
  const delayMs = failure.retryAfterMs ?? backoff(attempt);
  return delayMs > LONGEST_DELAY_MS ? null : delayMs;
}

const backoff = (attempt: number): number =>
  Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);

export function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(done, delayMs);
    signal?.addEventListener('abort', stop, { once: true });
    function done(): void {
      signal?.removeEventListener('abort', stop);
      resolve();
    }
    function stop(): void {
      clearTimeout(timer);
      reject(signal!.reason);
    }
  });
}

function queryText(query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, Array.isArray(value) ? value.join(',') : String(value));
  }
  const text = given.toString();
  return text === '' ? '' : `?${text}`;
}

/** A name as part of a path. */
export const part = (name: string | number): string => encodeURIComponent(name);
