// `fetch` for official clients of other systems, over the attempt's guarded HTTP client: it stops with the attempt, refuses
// private addresses (S5) and caps sizes. The given headers go with every request. Redirects are returned, not followed.

import type { HttpClient } from './http-client.ts';

export interface GuardedFetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxBytes?: number;
}

interface GuardedFetchInit {
  readonly method?: string | undefined;
  readonly headers?: HeadersInit | undefined;
  readonly body?: unknown;
  readonly signal?: AbortSignal | null | undefined;
}

export type GuardedFetch = (url: unknown, init?: GuardedFetchInit) => Promise<Response>;

type HeadersInit = ConstructorParameters<typeof Headers>[0];

/** Statuses that have no body; `Response` refuses one. */
const WITHOUT_BODY = new Set([204, 205, 304]);

export function guardedFetch(http: HttpClient, options: GuardedFetchOptions = {}): GuardedFetch {
  return async (url, { method, headers, body, signal } = {}) => {
    const answer = await http.request({
      url: String(url),
      headers: { ...Object.fromEntries(new Headers(headers)), ...options.headers },
      ...(method === undefined ? {} : { method }),
      ...(body === undefined || body === null ? {} : { body: textOf(body) }),
      ...(signal === undefined || signal === null ? {} : { signal }),
      ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
    });
    const content = WITHOUT_BODY.has(answer.status) ? null : new Uint8Array(answer.body);
    return new Response(content, { status: answer.status, headers: { ...answer.headers } });
  };
}

function textOf(body: unknown): string {
  if (typeof body !== 'string') throw new TypeError('Only text can be sent through the guarded fetch');
  return body;
}
