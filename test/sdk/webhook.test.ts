// Webhooks signed and checked with the client, against the reference implementation of Standard Webhooks.

import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signWebhook, verifyWebhook, WebhookVerificationError } from '../../src/sdk/client.ts';

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes, no').toString('base64')}`;
const OTHER = `whsec_${Buffer.from('another one of thirty-two bytes!').toString('base64')}`;
const BODY = '{"order":7,"name":"Ærø ☃"}';

function signed(secret = SECRET, at = new Date(), body = BODY): Record<string, string> {
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
  };
}

describe('verifying a webhook', () => {
  it('verifying accepts a webhook of the reference implementation, from any kind of headers', async () => {
    const headers = signed();
    for (const given of [headers, new Headers(headers)]) {
      const { id, payload } = await verifyWebhook<{ order: number }>(BODY, given, SECRET);
      expect([id, payload.order]).toEqual(['msg_1', 7]);
    }
  });

  it('verifying accepts either secret during a rotation, and either of two signatures', async () => {
    await expect(verifyWebhook(BODY, signed(OTHER), [SECRET, OTHER])).resolves.toMatchObject({ id: 'msg_1' });
    const both = `${signed(OTHER)['webhook-signature']} ${signed(SECRET)['webhook-signature']}`;
    await expect(verifyWebhook(BODY, { ...signed(), 'webhook-signature': both }, SECRET)).resolves.toBeDefined();
  });

  it.each<[string, string, Record<string, string | undefined>, string]>([
    ['another body', `${BODY} `, signed(), 'does not fit'],
    ['another secret', BODY, signed(OTHER), 'does not fit'],
    ['another id', BODY, { ...signed(), 'webhook-id': 'msg_2' }, 'does not fit'],
    ['an unknown version', BODY, { ...signed(), 'webhook-signature': 'v2,AAAA' }, 'does not fit'],
    ['an empty signature', BODY, { ...signed(), 'webhook-signature': 'v1,' }, 'does not fit'],
    ['an old message', BODY, signed(SECRET, new Date(Date.now() - 301_000)), 'more than 300 seconds off'],
    ['a message of the future', BODY, signed(SECRET, new Date(Date.now() + 302_000)), 'more than 300 seconds off'],
    ['a time that is none', BODY, { ...signed(), 'webhook-timestamp': 'soon' }, 'seconds off'],
    ['no signature', BODY, { ...signed(), 'webhook-signature': undefined }, 'webhook-signature is missing'],
  ])('verifying refuses %s', async (_what, body, headers, why) => {
    const refusal = verifyWebhook(body, headers, SECRET);
    await expect(refusal).rejects.toThrow(WebhookVerificationError);
    await expect(refusal).rejects.toThrow(why);
  });

  it('verifying with an invalid secret fails with the expected format', async () => {
    await expect(verifyWebhook(BODY, signed(), 'whsec_***')).rejects.toThrow('whsec_ and base64');
  });
});

describe('signing a webhook', () => {
  it('a signed webhook is accepted by the reference implementation', async () => {
    const headers = await signWebhook(BODY, SECRET, { id: 'msg_9' });
    expect(new Webhook(SECRET).verify(BODY, headers)).toEqual({ order: 7, name: 'Ærø ☃' });
  });
});
