// Verifies a webhook from Pawl, or signs one for Pawl: Standard Webhooks (`webhook-id`, `webhook-timestamp`,
// `webhook-signature`). Uses only what every JavaScript engine has, so it runs wherever the client does.

export type HeadersLike = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface VerifyOptions {
  /** Maximum clock difference; five minutes by default. */
  readonly toleranceSeconds?: number;
  readonly nowMs?: number;
}

export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
}

export interface VerifiedWebhook<Payload> {
  /** The same for every repetition, so a receiver can skip ids it has seen. */
  readonly id: string;
  readonly sentAt: Date;
  readonly payload: Payload;
}

const PREFIX = 'whsec_';
const TOLERANCE_SECONDS = 300;
const encoder = new TextEncoder();

/** `body` must be the received bytes. Any of the `secrets` may match, so that no request is refused during a rotation. */
export async function verifyWebhook<Payload = unknown>(
  body: string,
  headers: HeadersLike,
  secrets: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS, nowMs = Date.now() }: VerifyOptions = {},
): Promise<VerifiedWebhook<Payload>> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const given = headerOf(headers, 'webhook-signature');
  const sentAt = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) * 1000 : Number.NaN;
  if (!(Math.abs(nowMs - sentAt) <= toleranceSeconds * 1000)) {
    throw new WebhookVerificationError(`the webhook-timestamp is more than ${toleranceSeconds} seconds off`);
  }
  const signatures = given.split(' ').flatMap((one) => (one.startsWith('v1,') ? [one.slice(3)] : []));
  for (const secret of [secrets].flat()) {
    const expected = await signatureOf(secret, id, timestamp, body);
    if (signatures.some((one) => isSame(one, expected))) {
      return { id, sentAt: new Date(sentAt), payload: JSON.parse(body) as Payload };
    }
  }
  throw new WebhookVerificationError('the webhook-signature does not fit the message');
}

/** The headers of a webhook to Pawl, e.g. to a trigger. */
export async function signWebhook(
  body: string,
  secret: string,
  { id = crypto.randomUUID() as string, nowMs = Date.now() }: { readonly id?: string; readonly nowMs?: number } = {},
): Promise<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const signature = `v1,${await signatureOf(secret, id, timestamp, body)}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

async function signatureOf(secret: string, id: string, timestamp: string, body: string): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytesOf(secret), algorithm, false, ['sign']);
  const signed = await crypto.subtle.sign('HMAC', key, encoder.encode(`${id}.${timestamp}.${body}`));
  return btoa(String.fromCharCode(...new Uint8Array(signed)));
}

function bytesOf(secret: string): Uint8Array<ArrayBuffer> {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  try {
    return Uint8Array.from(atob(encoded), (letter) => letter.charCodeAt(0));
  } catch {
    throw new WebhookVerificationError('the secret must be whsec_ and base64');
  }
}

/** Takes the same time for a right and a wrong guess. */
function isSame(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length;
  for (let i = 0; i < expected.length; i++)
    difference |= expected.charCodeAt(i) ^ given.charCodeAt(i % (given.length || 1));
  return difference === 0;
}

function headerOf(headers: HeadersLike, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`the header ${name} is missing`);
}
