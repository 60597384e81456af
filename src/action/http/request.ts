// http.request: calls any HTTP API from a graph workflow, and says for whom. The workflow's own headers win.

import { z } from 'zod';
import { TerminalError } from '../../core/error/error.ts';
import type { Json } from '../../core/json/json.ts';
import { defineAction } from '../action.ts';
import type { HttpResponse } from '../http-client.ts';
import { passThroughHeaders } from '../pass-through.ts';
import {
  decodeText,
  encodeBody,
  isJsonType,
  isSuccess,
  outgoingHeaders,
  parseJson,
  refusedOr,
  sendAs,
  statusError,
  TEXT_TYPE,
} from './exchange.ts';
import { HTTP_CODES } from './http-codes.ts';

const ABOUT_REDIRECTS = 'redirects are not followed unless maxRedirects is set';

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const statusCode = z.int().min(100).max(599);

export const httpRequest = defineAction({
  type: 'http.request',
  version: '1.0.0',
  connector: 'http',
  codes: HTTP_CODES,
  category: 'Integration',
  displayName: 'HTTP request',
  description:
    'Sends an HTTP request. Succeeds on 2xx (or expectStatus); network errors, timeouts, 408, 425, 429 and 5xx are retried.',
  tags: ['http', 'api'],
  params: z.strictObject({
    url: z.string(),
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    headers: z.record(z.string(), scalar).optional(),
    query: z.record(z.string(), z.union([scalar, z.array(scalar), z.null()])).optional(),
    /** JSON, or a string that is sent as it is. */
    body: z.json().optional(),
    timeoutMs: z.int().min(1).max(3_600_000).optional(),
    expectStatus: z.union([statusCode, z.array(statusCode).min(1)]).optional(),
    maxRedirects: z.int().min(0).max(20).default(0),
    responseType: z.enum(['auto', 'json', 'text', 'base64']).default('auto'),
  }),
  outputs: z.object({
    status: z.int(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
    url: z.string(),
  }),
  async run(params, context) {
    const { method, timeoutMs, maxRedirects } = params;
    if (params.body !== undefined && (method === 'GET' || method === 'HEAD')) {
      throw new TerminalError(
        'PARAMETERS_INVALID',
        `parameters.body: a ${method} request has no body; use POST or query`,
      );
    }
    const sent = encodeBody(params.body, () => TEXT_TYPE);
    const response = await sendAs(context, {
      url: withQuery(params.url, params.query),
      method,
      headers: { ...passThroughHeaders(context), ...outgoingHeaders(context, sent, params.headers) },
      maxRedirects,
      ...(sent.body === undefined ? {} : { body: sent.body }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    const read = readAs(params.responseType, response);
    const { status, url } = response;
    const outputs = { status, headers: response.headers, body: read.body, url };
    if (!isExpected(status, params.expectStatus))
      throw refusedOr(context, response, outputs) ?? statusError(method, response, outputs, ABOUT_REDIRECTS);
    if (!read.ok) throw new TerminalError('RESPONSE_INVALID', 'The response is not JSON', { outputs });
    return { outputs };
  },
});

type Query = Readonly<Record<string, string | number | boolean | null | readonly (string | number | boolean)[]>>;

/** An invalid URL is reported by the client. */
function withQuery(text: string, query: Query = {}): string | URL {
  const url = URL.parse(text);
  if (url === null) return text;
  for (const [name, value] of Object.entries(query)) {
    for (const item of value === null ? [] : [value].flat()) url.searchParams.append(name, String(item));
  }
  return url;
}

function isExpected(status: number, expected: number | readonly number[] | undefined): boolean {
  return expected === undefined ? isSuccess(status) : [expected].flat().includes(status);
}

function readAs(type: 'auto' | 'json' | 'text' | 'base64', response: HttpResponse): { ok: boolean; body: Json } {
  if (type === 'base64') return { ok: true, body: response.body.toString('base64') };
  const text = decodeText(response);
  if (type === 'text' || (type === 'auto' && !isJsonType(response.headers['content-type']))) {
    return { ok: true, body: text };
  }
  if (type === 'json' && text === '') return { ok: true, body: null };
  const parsed = parseJson(text);
  return parsed.ok ? { ok: true, body: parsed.value } : { ok: type === 'auto', body: text };
}
