// Requests to Confluence's REST API through the guarded HTTP client: credential, pass-through headers, JSON both ways, and
// failures by what the engine does next. Confluence has no official client for Node.

import type { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { ActionContext } from '../action.ts';
import { retryDelay } from '../header-value.ts';
import type { HttpResponse } from '../http-client.ts';
import { passThroughHeaders } from '../pass-through.ts';
import { failureOfStatus, readAnswer, remoteError, requireToken, unreadable } from '../remote-failure.ts';

export interface ConfluenceOptions {
  /** The base of page addresses: `https://example.atlassian.net/wiki`, `https://wiki.example.com`. */
  readonly baseUrl?: string | undefined;
  /** The API to use; by default Cloud for Atlassian's hosts, otherwise Data Center. */
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

/** A personal access token or an OAuth token; Cloud takes an API token as `address:token`. */
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
  // Confluence reports a taken title as a bad request; it is a conflict.
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
