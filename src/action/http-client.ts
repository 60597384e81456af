// The contract of `ctx.http`: requests of actions and their responses. The implementation in action/http decides which addresses
// may be reached.

import type { StopSignal } from './stop.ts';

export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>;
}

export interface HttpRequest {
  readonly url: string | URL;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Header names in lower case that are dropped on a redirect to another origin. */
  readonly secretHeaders?: readonly string[];
  /** 0, the default: a redirect is a response like any other. */
  readonly maxRedirects?: number;
  readonly maxBytes?: number;
  /** A body over `maxBytes` is an error, or is cut. */
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
  /** The address that answered, after redirects. */
  readonly url: string;
}
