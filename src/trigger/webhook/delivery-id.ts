// The delivery id of a webhook: the same delivery, sent again, starts nothing twice (S7). Signed ids come first. Without an id,
// the signature itself identifies a repetition. Pure.

import type { Verification } from '../../core/definition/webhook-schema.ts';
import { isJsonObject, type Json } from '../../core/json/json.ts';
import { sha256Hex } from '../../core/plan/checksum.ts';
import { type Headers, kindOf, textHeader, usableId, type VerificationKind } from './scheme.ts';

interface Delivery {
  readonly verification: Verification;
  readonly deliveryIdHeader?: string | undefined;
  readonly headers: Headers;
  readonly body: Json;
  readonly seal: string | null;
}

const ID_HEADER: Partial<Record<VerificationKind, string>> = {
  standard: 'webhook-id',
  github: 'x-github-delivery',
  shopify: 'x-shopify-webhook-id',
  // Nothing is signed here, so the id is only the sender's word.
  none: 'webhook-id',
  token: 'webhook-id',
  basic: 'webhook-id',
  jwt: 'webhook-id',
};

const ID_FIELD: Partial<Record<VerificationKind, string>> = { stripe: 'id', slack: 'event_id' };

/** null: nothing identifies the delivery. */
export function deliveryIdOf({ verification, deliveryIdHeader, headers, body, seal }: Delivery): string | null {
  const kind = kindOf(verification);
  const inHeader = (name: string | undefined) => (name === undefined ? undefined : textHeader(headers, name));
  const field = ID_FIELD[kind];
  const inBody = field !== undefined && isJsonObject(body) ? body[field] : undefined;
  const given = inHeader(deliveryIdHeader) ?? inBody ?? inHeader(ID_HEADER[kind]);
  if (typeof given !== 'string' || given === '') return seal;
  return usableId(given) ?? sha256Hex(given);
}
