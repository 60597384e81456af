// http.step: the HTTP task of a pipeline. The response is parsed as JSON whenever it is JSON. A body over 256 KB is cut, marked,
// and kept as text, because a cut body cannot be parsed. A status other than 2xx fails the step with the same outputs, so that
// conditions can read its status_code.

import { z } from 'zod';
import { MAX_STEP_BODY_BYTES } from '../../core/definition/limits.ts';
import type { Json } from '../../core/json/json.ts';
import { defineAction } from '../action.ts';
import type { HttpResponse } from '../http-client.ts';
import {
  decodeText,
  encodeBody,
  isSuccess,
  JSON_TYPE,
  outgoingHeaders,
  parseJson,
  refusedOr,
  sendAs,
  statusError,
  TEXT_TYPE,
} from './exchange.ts';
import { HTTP_CODES } from './http-codes.ts';

const HEADER_TYPES = [z.string(), z.number(), z.boolean()];
const NOT_TEXT = 'must be text, and its template gave something else';

export const httpStep = defineAction({
  type: 'http.step',
  version: '1.0.0',
  connector: 'http',
  codes: HTTP_CODES,
  category: 'Integration',
  displayName: 'HTTP step of a pipeline',
  description:
    'Sends the HTTP request of a pipeline step. Succeeds on 2xx; network errors, timeouts, 408, 425, 429 and 5xx are retried.',
  tags: ['http', 'pipeline'],
  params: z.object({
    url: z.string({ error: `the URL ${NOT_TEXT}` }),
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('POST'),
    headers: z.record(z.string(), z.union(HEADER_TYPES, { error: `the header ${NOT_TEXT}` })).optional(),
    body: z.unknown().optional(),
  }),
  outputs: z.object({
    status_code: z.int(),
    headers: z.record(z.string(), z.string()),
    body: z.unknown(),
    duration_ms: z.int(),
    is_truncated: z.literal(true).optional(),
  }),
  async run({ url, method, headers, body }, context) {
    const sent = encodeBody(method === 'GET' || method === 'HEAD' ? undefined : (body as Json | undefined), textTypeOf);
    const startedAt = performance.now();
    const response = await sendAs(context, {
      url,
      method,
      headers: outgoingHeaders(context, sent, headers),
      body: sent.body,
      // The task's own `timeout` limits a try and ends the request.
      timeoutMs: null,
      maxBytes: MAX_STEP_BODY_BYTES,
      onOversize: 'truncate',
    });
    const { body: content, isTruncated } = readBody(response);
    const answer = {
      status_code: response.status,
      headers: response.headers,
      body: content,
      duration_ms: Math.round(performance.now() - startedAt),
    };
    const outputs = isTruncated ? { ...answer, is_truncated: true as const } : answer;
    if (!isSuccess(response.status))
      throw (
        refusedOr(context, response, outputs) ?? statusError(method, response, outputs, 'redirects are not followed')
      );
    return { outputs };
  },
});

function textTypeOf(text: string): string {
  return parseJson(text).ok ? JSON_TYPE : TEXT_TYPE;
}

function readBody(response: HttpResponse): { body: Json; isTruncated: boolean } {
  const text = decodeText(response);
  const body = response.truncated ? text : parsed(text);
  if (text.length <= CERTAINLY_FITS || Buffer.byteLength(JSON.stringify(body)) <= MAX_WRITTEN_BYTES) {
    return { body, isTruncated: response.truncated };
  }
  return { body: text.slice(0, CERTAINLY_FITS), isTruncated: true };
}

/**
 * Limit of a body as it is recorded, well within the limit of outputs. A control character takes six bytes there, and `1e20`
 * all its zeros. A body that grows beyond this is cut as well: it must not turn a 200 into a failure.
 */
const MAX_WRITTEN_BYTES = 896 * 1024;
const CERTAINLY_FITS = 128 * 1024;

function parsed(text: string): Json {
  const json = parseJson(text);
  return json.ok && !isTooDeep(text, json.value) ? json.value : text;
}

/** Well within the allowed nesting of outputs. Deeper JSON stays text, so that a 200 does not become a failure. */
const MAX_LEVELS = 400;

function isTooDeep(text: string, value: Json): boolean {
  return text.length > 2 * MAX_LEVELS && isDeeperThan(MAX_LEVELS, value);
}

function isDeeperThan(levels: number, value: Json): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member));
}
