// Shared by http.request and http.step: encoding and decoding of bodies, the headers of every request, and the meaning of a
// status. 408, 425, 429 and 5xx are retried, honouring Retry-After up to an hour; any other failure status is final.

import { TextDecoder } from 'node:util';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import type { Json } from '../../core/json/json.ts';
import type { ActionContext } from '../action.ts';
import { retryDelay, safeHeaderValue } from '../header-value.ts';
import type { HttpRequest, HttpResponse } from '../http-client.ts';
import { describeRequest } from './network-error.ts';

/** Lets the receiver recognise a repeated step (I7) and its sender. The workflow's own headers win. */
export function outgoingHeaders(
  context: Pick<ActionContext, 'idempotencyKey' | 'correlationId'>,
  { contentType }: EncodedBody,
  given: Readonly<Record<string, unknown>> = {},
): Record<string, string> {
  const headers: Record<string, string> = {
    'user-agent': 'pawl',
    'idempotency-key': safeHeaderValue(context.idempotencyKey),
    'x-correlation-id': safeHeaderValue(context.correlationId),
  };
  if (contentType !== undefined) headers['content-type'] = contentType;
  for (const name of Object.keys(given)) headers[name.toLowerCase()] = String(given[name]);
  return headers;
}

/** With the credential of the attempt's connection, if there is one. */
export function sendAs({ http, credential }: ActionContext, request: HttpRequest): Promise<HttpResponse> {
  return http.request(credential === null ? request : credential.authorize(request));
}

/** A token that expired early: the next try gets a new one. undefined: an ordinary status. */
export function refusedOr({ credential }: ActionContext, { status }: HttpResponse, outputs: Json): Error | undefined {
  if (status !== 401 || credential === null) return undefined;
  const message = `the credential of connection "${credential.connection}" was refused (status 401)`;
  return credential.refused()
    ? new RetryableError('CREDENTIAL_REFUSED', message, { outputs })
    : new TerminalError('CREDENTIAL_REFUSED', message, { outputs });
}

// ── Bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface EncodedBody {
  readonly body?: string;
  readonly contentType?: string;
}

export const JSON_TYPE = 'application/json';
export const TEXT_TYPE = 'text/plain; charset=utf-8';

const NO_BODY: EncodedBody = {};

/** A string is sent as it is, anything else as JSON. */
export function encodeBody(body: Json | undefined, textType: (text: string) => string): EncodedBody {
  if (body === undefined) return NO_BODY;
  if (typeof body === 'string') return { body, contentType: textType(body) };
  return { body: JSON.stringify(body), contentType: JSON_TYPE };
}

/** Uses the charset of the response. A character split by the cut is dropped. */
export function decodeText({ body, headers, truncated }: HttpResponse): string {
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  // A streaming decoder keeps half a character for later, so it cannot be shared.
  return charset === 'utf-8' && !truncated
    ? UTF_8.decode(body)
    : decoderFor(charset).decode(body, { stream: truncated });
}

const CHARSET = /;\s*charset="?([^\s";]+)/i;
const UTF_8 = new TextDecoder();

function decoderFor(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

export function isJsonType(contentType: string | undefined): boolean {
  return /^(application|text)\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType ?? '');
}

export function parseJson(text: string): { readonly ok: true; readonly value: Json } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) as Json };
  } catch {
    return { ok: false };
  }
}

// ── Statuses ────────────────────────────────────────────────────────────────────────────────────────────────────────

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function statusError(
  method: string,
  response: HttpResponse,
  outputs: Json,
  aboutRedirects: string,
): TerminalError | RetryableError {
  const { status, headers } = response;
  const hint = status >= 300 && status < 400 ? ` (${aboutRedirects})` : '';
  const message = `${describeRequest(method, new URL(response.url))} answered ${status}${hint}`;
  if (!isTransient(status)) return new TerminalError('HTTP_STATUS', message, { outputs });
  const retryAfterMs = retryDelay(headers['retry-after'], Date.now());
  return new RetryableError('HTTP_STATUS', message, {
    outputs,
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
  });
}

function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}
