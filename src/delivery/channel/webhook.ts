// Consumers that are URLs. A message is posted as JSON, signed by Standard Webhooks: its id is the ackGuid, the same on every
// attempt, and its timestamp is the attempt's (S7). During a rotation both secrets sign. 2xx means Delivered; a JSON body may say
// more. The address is checked when the connection opens (S5), and redirects are not followed.

import { createHmac } from 'node:crypto';
import type { Credential, ResolveCredential } from '../../action/credential.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../action/http-client.ts';
import { SECRET_PREFIX } from '../../protocol/webhook-secret.ts';
import type { ClaimedDelivery } from '../../store/delivery-port.ts';
import type { Consumer } from '../consumer.ts';
import { type Channel, DELIVERED, type Sent, sentOf } from './channel.ts';

export interface WebhookChannelDeps {
  readonly http: HttpClient;
  /** Resolves credentials of connections; absent: consumers have none. */
  readonly credential?: ResolveCredential | undefined;
  /** Milliseconds since the epoch, for the receiver to compare with its clock. */
  readonly wallClockMs: () => number;
  readonly timeoutMs: number;
}

const MAX_ANSWER_BYTES = 16 * 1024;
const USER_AGENT = 'pawl-webhook/1';

export class WebhookChannel implements Channel {
  private readonly deps: WebhookChannelDeps;

  constructor(deps: WebhookChannelDeps) {
    this.deps = deps;
  }

  async send(delivery: ClaimedDelivery, consumer: Consumer, signal: AbortSignal): Promise<Sent> {
    const credential = await this.credentialFor(consumer);
    credential?.checkHost(new URL(consumer.url!));
    const request: HttpRequest = {
      url: consumer.url!,
      method: 'POST',
      headers: this.headers(delivery, consumer.secrets),
      body: delivery.body,
      maxBytes: MAX_ANSWER_BYTES,
      onOversize: 'truncate',
      timeoutMs: consumer.settings.timeoutMs ?? this.deps.timeoutMs,
      signal,
    };
    const response = await this.deps.http.request(credential?.authorize(request) ?? request);
    if (response.status === 401) credential?.refused();
    if (response.status < 200 || response.status > 299) throw new Error(`it answered with status ${response.status}`);
    return sentOf(saidIn(response));
  }

  /** The tenant's connection, because a message has no acting person. */
  private async credentialFor({ tenantId, settings }: Consumer): Promise<Credential | null> {
    const { connection = null } = settings;
    if (connection === null) return null;
    const of = { tenantId, environmentId: 'default', principalId: 'system', connector: 'http', connection };
    return (await this.deps.credential?.(of)) ?? null;
  }

  private headers({ ackGuid, body }: ClaimedDelivery, secrets: readonly string[]): Record<string, string> {
    const timestamp = String(Math.floor(this.deps.wallClockMs() / 1_000));
    const headers = {
      'content-type': 'application/json',
      'user-agent': USER_AGENT,
      'webhook-id': ackGuid,
      'webhook-timestamp': timestamp,
    };
    if (secrets.length === 0) return headers;
    const signed = `${ackGuid}.${timestamp}.${body}`;
    return { ...headers, 'webhook-signature': secrets.map((secret) => signature(secret, signed)).join(' ') };
  }
}

/** Uses Node's own hash: the library's is written in JavaScript, and a message is signed on every attempt. */
function signature(secret: string, signed: string): string {
  const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
  return `v1,${createHmac('sha256', Buffer.from(encoded, 'base64')).update(signed).digest('base64')}`;
}

/** A JSON body is read whatever its content type. For any other or truncated body only the status counts. */
function saidIn({ body, truncated }: HttpResponse): unknown {
  if (truncated || body.length === 0) return DELIVERED;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return DELIVERED;
  }
}
