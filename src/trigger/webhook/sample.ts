// A sample request as the sender of a webhook would make it, for trying a trigger: the same schemes in reverse.

import type { Verification } from '../../core/definition/webhook-schema.ts';
import { macOf } from './proof.ts';
import { kindOf, schemeOf } from './scheme.ts';

export interface Sample {
  readonly headers: Record<string, string>;
  readonly query: Record<string, string>;
}

/** null: only the sender can make one, with its own key. */
export function sampleFor(
  verification: Verification,
  secret: string,
  rawBody: Buffer,
  { id, now }: { readonly id: string; readonly now: number },
): Sample | null {
  const scheme = schemeOf(verification);
  if (scheme !== null) {
    const claim = { id, timestamp: String(Math.floor(now / 1000)) };
    const signature = macOf(scheme, secret, claim, rawBody).toString(scheme.encoding);
    return { headers: { ...courtesy(verification, id), ...scheme.write({ ...claim, signature }) }, query: {} };
  }
  if (typeof verification === 'string') return { headers: { 'webhook-id': id }, query: {} };
  if ('jwt' in verification) return null;
  if ('basic' in verification) {
    const encoded = Buffer.from(`${verification.basic.username}:${secret}`).toString('base64');
    return { headers: { 'webhook-id': id, authorization: `Basic ${encoded}` }, query: {} };
  }
  const { header, query } = (verification as { token: { header?: string; query?: string } }).token;
  const headers = { 'webhook-id': id, ...(header === undefined ? {} : { [header.toLowerCase()]: secret }) };
  return { headers, query: query === undefined ? {} : { [query]: secret } };
}

function courtesy(verification: Verification, id: string): Record<string, string> {
  switch (kindOf(verification)) {
    case 'github':
      return { 'x-github-delivery': id, 'x-github-event': 'ping' };
    case 'shopify':
      return { 'x-shopify-webhook-id': id, 'x-shopify-topic': 'app/test' };
    default:
      return {};
  }
}
