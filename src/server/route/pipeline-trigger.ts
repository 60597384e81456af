// What a run sees of the request that started it. A pipeline sees the request: `trigger.body` and `trigger.headers` (lower
// case); the other formats see the body as their trigger. What proves who asked is for us and goes no further (S6).

import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../../core/json/json.ts';

const OURS = new Set(['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'webhook-signature']);
/** What senders of webhooks prove themselves with: `x-gitlab-token`, `x-hub-signature-256`, `stripe-signature`, `x-shopify-hmac-sha256`. */
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
