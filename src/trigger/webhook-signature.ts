// Who sent a webhook, by Standard Webhooks: `webhook-id`, `webhook-timestamp` (five minutes of tolerance) and
// `webhook-signature` over both and the body. The id is then what makes a repetition harmless (S7).

import { Webhook } from 'standardwebhooks';
import { SECRET_PREFIX } from '../protocol/webhook-secret.ts';

export interface SignedRequest {
  /** The body as it was sent: every byte is part of the signature. */
  readonly rawBody: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

export type SignatureCheck =
  | { readonly ok: true; readonly messageId: string }
  | { readonly ok: false; readonly reason: string };

const MESSAGE_ID = /^[\x21-\x7e]{1,200}$/;

export const secretOf = (bytes: Uint8Array): string => `${SECRET_PREFIX}${Buffer.from(bytes).toString('base64')}`;

/** The id that the sender gave this message; undefined: none that can be used. */
export function messageIdOf({ headers }: SignedRequest): string | undefined {
  const id = headers['webhook-id'];
  return typeof id === 'string' && MESSAGE_ID.test(id) ? id : undefined;
}

/** Signed with any one of the secrets: after a rotation the one before it is still good. */
export function checkSignature(secrets: readonly string[], request: SignedRequest): SignatureCheck {
  const messageId = messageIdOf(request);
  if (messageId === undefined) return { ok: false, reason: 'the header webhook-id is missing or not usable' };
  const { 'webhook-timestamp': timestamp, 'webhook-signature': signature } = request.headers;
  if (typeof timestamp !== 'string' || !/^\d{1,12}$/.test(timestamp)) {
    return { ok: false, reason: 'the header webhook-timestamp must be seconds since 1970' };
  }
  if (typeof signature !== 'string') return { ok: false, reason: 'the header webhook-signature is missing' };
  const headers = { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  let reason = 'the webhook has no secret';
  for (const secret of secrets) {
    const refusal = refusalOf(secret, request.rawBody, headers);
    if (refusal === null) return { ok: true, messageId };
    reason = refusal;
  }
  return { ok: false, reason };
}

function refusalOf(secret: string, rawBody: string, headers: Record<string, string>): string | null {
  try {
    new Webhook(secret).verify(rawBody, headers, { jsonParse: false });
    return null;
  } catch (error) {
    const { message } = error as Error;
    return /timestamp too/.test(message)
      ? 'the webhook-timestamp is more than five minutes off'
      : 'the webhook-signature does not fit the message';
  }
}
