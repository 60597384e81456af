// Requests to Confluence's REST API through the guarded HTTP client: the credential, the pass-through headers, JSON both
// ways, and every failure by what the engine does next. Confluence has no official client for Node.

import type { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { ActionContext } from '../action.ts';
import { retryDelay } from '../header-value.ts';
import type { HttpResponse } from '../http-client.ts';
import { passThroughHeaders } from '../pass-through.ts';
import { failureOfStatus, readAnswer, remoteError, requireToken, unreadable } from '../remote-failure.ts';

export interface ConfluenceOptions {
  /** Where the pages are: `https://example.atlassian.net/wiki`, `https://wiki.example.com`. */
  readonly baseUrl?: string | undefined;
  /** Which API to speak; by default Cloud for hosts of Atlassian, otherwise Data Center. */
  readonly edition?: 'cloud' | 'data-center' | undefined;
}

interface Question {
  readonly method?: 'GET' | 'POST' | 'PUT';
  /** Below the base URL, with a leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export type AskConfluence = <Answer extends z.ZodType>(answer: Answer, question: Question) => Promise<z.output<Answer>>;

const system = 'Confluence';
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;

/** Without a trailing slash. */
export function confluenceBase({ baseUrl }: ConfluenceOptions): string {
  if (baseUrl !== undefined) return baseUrl.replace(/\/+$/, '');
  throw new TerminalError(
    'CONNECTOR_NOT_CONFIGURED',
    'The connector "confluence" does not know where Confluence is: set PAWL_CONNECTORS_CONFLUENCE_BASE_URL',
  );
}

export function connectConfluence(base: string, context: ActionContext): AskConfluence {
  const headers = {
    ...passThroughHeaders(context),
    authorization: authorization(requireToken(context, 'confluence')),
    accept: 'application/json',
    'user-agent': 'pawl',
  };
  return async (answer, { method = 'GET', path, query = {}, body }) => {
    const url = new URL(`${base}${path}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const response = await context.http.request({
      url,
      method,
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      maxBytes: MAX_RESPONSE_BYTES,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return readAnswer(system, answer, readResponse(response));
  };
}

/** A personal access token or an OAuth token; `address:token` is how Cloud takes an API token. */
function authorization(token: string): string {
  return token.includes(':') ? `Basic ${Buffer.from(token).toString('base64')}` : `Bearer ${token}`;
}

function readResponse(response: HttpResponse): unknown {
  const { status, headers } = response;
  const content = parsed(response.body.toString());
  if (status >= 200 && status < 300) {
    if (content === undefined) throw unreadable(system);
    return content;
  }
  const detail = messageOf(content) ?? `it answered ${status}`;
  const retryAfterMs = retryDelay(headers['retry-after'], Date.now());
  // A title that is taken is a bad request to Confluence, and a conflict to everybody else.
  const isTaken = status === 400 && /already exists/i.test(detail);
  throw remoteError({ system, detail, retryAfterMs }, isTaken ? 'conflict' : failureOfStatus(status));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Data Center says `message`; Cloud a list of `errors` with `title` and `detail`. */
function messageOf(content: unknown): string | null {
  const { message, errors } = (content ?? {}) as { message?: unknown; errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0) {
    return errors.map((error: Record<string, unknown>) => error?.detail ?? error?.title ?? error?.code).join('; ');
  }
  return typeof message === 'string' && message !== '' ? message : null;
}
