// The request as a run sees it. A pipeline sees `trigger.body` and `trigger.headers` (lower case); other formats see the body as
// their trigger. Credentials are removed (S6).

import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../core/json/json.ts';

const OURS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'webhook-signature']);
/**
 * Headers with which webhook senders prove themselves: `x-gitlab-token`, `x-hub-signature-256`, `stripe-signature`,
 * `x-shopify-hmac-sha256`.
 */
const PROOF = /(?:^|-)(?:token|secret|signature|hmac|password|passwd|apikey|api-key|authorization|credential)s?(?:-|$)/;

const isVisible = (name: string): boolean => !OURS.has(name) && !PROOF.test(name);

export function triggerOf(format: string, body: Json, headers: IncomingHttpHeaders): Json {
  return format === 'pipeline' ? { body, headers: visibleHeaders(headers) } : body;
}

export function visibleHeaders(headers: IncomingHttpHeaders): JsonObject {
  const visible: JsonObject = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && isVisible(name)) visible[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return visible;
}
