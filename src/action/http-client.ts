// What an action may ask of the outside over HTTP, and what it gets: the contract of `ctx.http`. Who answers it, and which
// addresses may be reached, is decided where the client is made (action/http).

import type { StopSignal } from './stop.ts';

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
}

export interface HttpRequest {
  readonly url: string | URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Names, in lower case, of headers that follow a redirect to no other origin, whatever they are called. */
  readonly secretHeaders?: readonly string[];
  /** 0, the default: a redirect is an answer like any other. */
  readonly maxRedirects?: number;
  readonly maxBytes?: number;
  /** What happens to a body over `maxBytes`: an error, or the bytes that fit. */
  readonly onOversize?: 'fail' | 'truncate';
  /** From the request to the last byte, over all redirects. null: as long as the attempt may take. */
  readonly timeoutMs?: number | null;
  /** An AbortSignal. */
  readonly signal?: StopSignal;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; repeated ones are joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly truncated: boolean;
  /** Where the answer came from, after redirects. */
  readonly url: string;
}
