// Webhooks as the providers send them (S7): signed by the providers' own libraries, with their ids, retries, challenges and
// content types.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign } from '@octokit/webhooks-methods';
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import Stripe from 'stripe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { sampleFor } from '../../src/trigger/webhook/sample.ts';
import { rawRequest } from '../security/raw-request.ts';
import { useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { createTrigger, executionsOf, firings, publishEcho } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const stripe = new Stripe('sk_test_not_used');

beforeAll(() => publishEcho(server, 'provided'));

const webhook = (config: JsonObject, workflowId = 'provided') =>
  createTrigger(server, { workflowId, triggerType: 'Webhook', config });

function send(id: string, text: string, headers: Record<string, string>, query = '') {
  return server.ask('POST', `/api/v1/triggers/${id}${query}`, { token: null, text, headers });
}

async function triggerOf(reply: { body: JsonObject }) {
  return (await server.get(`/api/v1/executions/${reply.body.executionId as string}`)).body;
}

describe('webhooks of GitHub', () => {
  it('a GitHub delivery starts one run, as JSON or as a form', async () => {
    const { id, secret } = await webhook({ verification: 'github' });
    const text = JSON.stringify({ action: 'opened', number: 7 });
    const delivery = async (body: string, guid: string, type = 'application/json') =>
      send(id, body, {
        'x-hub-signature-256': await sign(secret as string, body),
        'x-github-delivery': guid,
        'x-github-event': 'pull_request',
        'content-type': type,
      });
    const first = await delivery(text, 'f1a2');
    expect(first.status).toBe(202);
    expect(await triggerOf(first)).toMatchObject({
      trigger: { action: 'opened', number: 7 },
      requestId: `webhook:${id}:f1a2`,
    });
    const again = await delivery(text, 'f1a2');
    expect([again.status, again.body]).toEqual([200, first.body]);
    const form = await delivery(`payload=${encodeURIComponent(text)}`, 'f1a3', 'application/x-www-form-urlencoded');
    expect((await triggerOf(form)).trigger).toEqual({ action: 'opened', number: 7 });
  });

  it('a GitHub delivery whose body was changed is refused', async () => {
    await publishEcho(server, 'tampered');
    const { id } = await webhook({ verification: 'github', secret: 'given by a person' }, 'tampered');
    const signature = await sign('given by a person', '{"amount":1}');
    const reply = await send(id, '{"amount":9}', { 'x-hub-signature-256': signature, 'x-github-delivery': 'x' });
    expect([reply.status, reply.body]).toMatchObject([401, { error: { code: 'SIGNATURE_INVALID' } }]);
    expect([await executionsOf(server, 'tampered'), await firings(server, id)]).toEqual([[], []]);
  });
});

describe('webhooks of Stripe', () => {
  const event = { id: 'evt_1', type: 'invoice.paid', data: { object: { amount: 5 } } };

  it('a Stripe webhook waits for the secret from Stripe, then starts one run per event', async () => {
    const { id, hasSecret, secret: none } = await webhook({ verification: 'stripe' });
    expect([hasSecret, none]).toEqual([false, undefined]);
    const payload = JSON.stringify(event, null, 2);
    const secret = 'whsec_made_by_stripe';
    const signed = () => ({ 'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload, secret }) });
    const early = await send(id, payload, signed());
    expect([early.status, JSON.stringify(early.body)]).toEqual([401, expect.stringContaining('no secret yet')]);
    const put = await server.ask('PUT', `/api/v1/triggers/${id}`, {
      body: { config: { verification: 'stripe', secret } },
    });
    expect(put.body).toMatchObject({ hasSecret: true, config: { verification: 'stripe' } });
    const first = await send(id, payload, signed());
    expect((await triggerOf(first)).requestId).toBe(`webhook:${id}:evt_1`);
    expect([first.status, (await send(id, payload, signed())).body]).toEqual([202, first.body]);
  });

  it('a Stripe event that is too old is refused', async () => {
    const { id } = await webhook({ verification: 'stripe', secret: 'whsec_x' });
    const payload = JSON.stringify(event);
    const timestamp = Math.floor(Date.now() / 1000) - 600;
    const header = stripe.webhooks.generateTestHeaderString({ payload, secret: 'whsec_x', timestamp });
    const reply = await send(id, payload, { 'stripe-signature': header });
    expect([reply.status, reply.body]).toMatchObject([401, { error: { code: 'SIGNATURE_EXPIRED' } }]);
  });
});

describe('webhooks of Slack', () => {
  const SECRET = '8f742231b10e8888abcd99yyyzzz85a5';
  const post = (id: string, text: string, type = 'application/json') => {
    const { headers } = sampleFor('slack', SECRET, Buffer.from(text), { id: '', now: Date.now() })!;
    return send(id, text, { ...headers, 'content-type': type });
  };

  it('the Slack challenge is answered, and a repeated Slack event starts nothing', async () => {
    const { id } = await webhook({ verification: 'slack', secret: SECRET });
    const question = await post(id, JSON.stringify({ token: 't', challenge: '3eZbrw1aB', type: 'url_verification' }));
    expect([question.status, question.body]).toEqual([200, { challenge: '3eZbrw1aB' }]);
    const text = JSON.stringify({ type: 'event_callback', event_id: 'Ev08MFMKH6', event: { type: 'app_mention' } });
    const [first, again] = [await post(id, text), await post(id, text)];
    expect([first.status, again.status, again.body]).toEqual([202, 200, first.body]);
    expect(await firings(server, id)).toMatchObject([{ requestId: `webhook:${id}:Ev08MFMKH6` }]);
  });

  it('Slack commands and interactions arrive as forms and become objects', async () => {
    const { id } = await webhook({ verification: 'slack', secret: SECRET });
    const form = 'application/x-www-form-urlencoded';
    const command = await post(id, 'command=%2Fdeploy&text=to+prod', form);
    expect((await triggerOf(command)).trigger).toEqual({ command: '/deploy', text: 'to prod' });
    const pressed = await post(id, `payload=${encodeURIComponent('{"type":"block_actions"}')}`, form);
    expect((await triggerOf(pressed)).trigger).toEqual({ payload: { type: 'block_actions' } });
  });
});

it('webhooks of Shopify and Meta are verified, and challenges of Meta and Monday are answered', async () => {
  const shop = await webhook({ verification: 'shopify', secret: 'shpss_1' });
  const { headers } = sampleFor('shopify', 'shpss_1', Buffer.from('{"id":1}'), { id: 'b-1', now: 0 })!;
  expect((await triggerOf(await send(shop.id, '{"id":1}', headers))).requestId).toBe(`webhook:${shop.id}:b-1`);

  const hmac = { header: 'X-Hub-Signature-256', prefix: 'sha256=' };
  const meta = await webhook({ verification: { hmac }, secret: 'app secret', verifyToken: 'mine' });
  expect(meta.webhookUrl).toBe(`${server.url}/api/v1/webhooks/${meta.id}`);
  const ask = (token: string) =>
    server.ask(
      'GET',
      `/api/v1/webhooks/${meta.id}?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`,
      {
        token: null,
      },
    );
  const [right, wrong] = [await ask('mine'), await ask('other')];
  expect([right.status, right.body, wrong.status]).toEqual([200, '1158201444', 401]);
  const signature = await sign('app secret', '{"object":"page"}');
  const path = `/api/v1/webhooks/${meta.id}`;
  const sent = { token: null, text: '{"object":"page"}', headers: { 'x-hub-signature-256': signature } };
  const [first, again] = [await server.ask('POST', path, sent), await server.ask('POST', path, sent)];
  expect([first.status, again.status, again.body]).toEqual([202, 200, first.body]);

  const board = await webhook({ verification: { token: { query: 'key' } }, secret: 'k' });
  const question = await send(board.id, '{"challenge":"3eZbrw1aB"}', {}, '?key=k');
  expect([question.status, question.body]).toEqual([200, { challenge: '3eZbrw1aB' }]);
  expect((await send(board.id, '{"challenge":"3eZbrw1aB"}', {}, '?key=other')).status).toBe(401);
});

describe('a token of an identity provider', () => {
  let keys: Server;
  let publicKey: JWK;
  let privateKey: CryptoKey;
  const jwksUrl = () => `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
  beforeAll(async () => {
    const pair = await generateKeyPair('RS256');
    privateKey = pair.privateKey;
    publicKey = { ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'RS256' };
    keys = createServer((_, answer) => answer.end(JSON.stringify({ keys: [publicKey] })));
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => new Promise((resolve) => keys.close(resolve)));
  const token = (audience: string, expires: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setAudience(audience)
      .setExpirationTime(expires)
      .sign(privateKey);

  it('a token is checked with the published keys, and a replayed request starts nothing', async () => {
    const { id, hasSecret } = await webhook({ verification: { jwt: { jwksUrl: jwksUrl(), audience: 'us' } } });
    expect(hasSecret).toBe(false);
    const headers = { authorization: `Bearer ${await token('us', '5m')}` };
    const [first, again] = [await send(id, '{"n":1}', headers), await send(id, '{"n":1}', headers)];
    expect([first.status, again.status, again.body]).toEqual([202, 200, first.body]);
    expect((await send(id, '{"n":2}', headers)).status).toBe(202);
    const code = async (jwt: string) => (await send(id, '{}', { authorization: `Bearer ${jwt}` })).body;
    expect(await code(await token('them', '5m'))).toMatchObject({ error: { code: 'SIGNATURE_INVALID' } });
    expect(await code(await token('us', '-5m'))).toMatchObject({ error: { code: 'SIGNATURE_EXPIRED' } });
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"aud":"us","exp":9999999999}').toString('base64url')}.`;
    expect(await code(unsigned)).toMatchObject({ error: { code: 'SIGNATURE_INVALID' } });
  });

  it('a token whose keys cannot be fetched is answered with 503', async () => {
    const { id } = await webhook({ verification: { jwt: { jwksUrl: 'http://127.0.0.1:1/keys' } } });
    const reply = await send(id, '{}', { authorization: `Bearer ${await token('us', '5m')}` });
    expect([reply.status, reply.body]).toMatchObject([503, { error: { code: 'UNAVAILABLE' } }]);
  });
});

describe('the content of a webhook', () => {
  const open = () => webhook({ verification: 'none', allowUnsigned: true });
  const trigger = async (body: string | FormData | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) => {
    const { id } = await open();
    const answer = await fetch(`${server.url}/api/v1/triggers/${id}`, { method: 'POST', body, headers });
    return (await triggerOf({ body: (await answer.json()) as JsonObject })).trigger;
  };

  it('a webhook may carry a form with files', async () => {
    const form = new FormData();
    form.append('title', 'Report');
    form.append('tag', 'a');
    form.append('tag', 'b');
    form.append('file', new File(['id;n\n'], 'x.csv', { type: 'text/csv' }));
    form.append('raw', new File([new Uint8Array([0xff, 0xfe])], 'x.bin', { type: 'application/octet-stream' }));
    expect(await trigger(form)).toEqual({
      title: 'Report',
      tag: ['a', 'b'],
      file: { filename: 'x.csv', contentType: 'text/csv', sizeBytes: 5, text: 'id;n\n' },
      raw: { filename: 'x.bin', contentType: 'application/octet-stream', sizeBytes: 2, base64: '//4=' },
    });
  });

  it('a webhook may carry text of any type and charset, or bytes', async () => {
    expect(await trigger('<a/>', { 'content-type': 'application/xml' })).toBe('<a/>');
    const latin1 = { 'content-type': 'text/plain; charset=iso-8859-1' };
    expect(await trigger(new Uint8Array([0x41, 0xe9]), latin1)).toBe('Aé');
    const bytes = { 'content-type': 'application/octet-stream' };
    expect(await trigger(new Uint8Array([0xff]), bytes)).toEqual({
      contentType: bytes['content-type'],
      base64: '/w==',
    });
  });

  it('a webhook that sets a prototype or does not match its content type is refused', async () => {
    const { id } = await open();
    const status = async (text: string, type: string) => (await send(id, text, { 'content-type': type })).status;
    expect(await status('__proto__=1', 'application/x-www-form-urlencoded')).toBe(400);
    expect(await status('nothing', 'multipart/form-data; boundary=x')).toBe(400);
    expect(await status('{"a":', 'application/json')).toBe(400);
  });
});

describe('the settings of a webhook', () => {
  it.each([
    [{ verification: 'gitlab' }, '/config/verification', 'must be one of'],
    [{ verification: { hmac: {} } }, '/config/verification/hmac/header', 'is required'],
    [{ verification: { hmac: { header: 'a b' } } }, '/config/verification/hmac/header', 'name of a header'],
    [{ verification: { hmac: { header: 'x', algorithm: 'md5' } } }, '/config/verification/hmac/algorithm', 'sha256'],
    [
      { verification: { hmac: { header: 'x', toleranceS: 5 } } },
      '/config/verification/hmac/toleranceS',
      'timestampHeader',
    ],
    [{ verification: { token: {} } }, '/config/verification/token', 'either `header` or `query`'],
    [{ verification: { jwt: { jwksUrl: 'ftp://x' } } }, '/config/verification/jwt/jwksUrl', 'http'],
    [{ verification: 'github', secret: ' ' }, '/config/secret', 'must not be empty'],
    [{ verification: 'none' }, '/config/verification', 'anybody'],
    [{ verification: 'none', allowUnsigned: true, secret: 'x' }, '/config/secret', 'not used'],
    [{ verification: 'standard', secret: 'short' }, '/config/secret', 'whsec_'],
    [{ verification: 'github', respond: 'later' }, '/config/respond', 'accepted'],
  ])('webhook settings that make no sense are refused: %j', async (config, path, message) => {
    const request = { workflowId: 'provided', triggerType: 'Webhook', config };
    const { status, body } = await server.post('/api/v1/triggers', request);
    expect(status).toBe(400);
    expect((body.error as JsonObject).details).toMatchObject([{ path, message: expect.stringContaining(message) }]);
  });

  it('settings that let anybody call a webhook are audited', async () => {
    const { id } = await webhook({ verification: 'none', allowUnsigned: true });
    const { body } = await server.get('/api/v1/admin/audit?limit=1');
    expect((body.data as JsonObject[])[0]).toMatchObject({
      action: 'trigger.create',
      target: `trigger/${id}`,
      details: { verification: 'none', allowUnsigned: true },
    });
  });
});

it('a workflow does not see the token or signature of a webhook sender', async () => {
  const tasks = { call: { url: `${server.url}/health/live` } };
  const made = await server.post('/api/v1/workflows', {
    name: 'hidden',
    trigger: 'webhook',
    webhook: { verification: { token: { header: 'X-Their-Token' } }, secret: 'canary-token' },
    tasks,
  });
  expect([made.status, made.body]).toMatchObject([201, { data: { name: 'hidden' } }]);
  expect(made.body.data).not.toHaveProperty('webhook_secret');
  const id = ((made.body.data as JsonObject).webhook_url as string).split('/').at(-1)!;
  const sent = await send(id, '{}', { 'x-their-token': 'canary-token', 'x-other': 'seen' });
  const seen = await triggerOf(sent);
  expect(seen.trigger).toMatchObject({ headers: { 'x-other': 'seen' } });
  const shown = await server.get('/api/v1/workflows/hidden');
  expect(shown.body).toMatchObject({ data: { webhook: { verification: { token: { header: 'X-Their-Token' } } } } });
  expect(JSON.stringify([seen, shown.body])).not.toContain('canary-token');
  const { rows } = await withClient(server.database.connectionString, (client) =>
    client.query<{ n: number }>(
      `select count(*)::int as n from workflow_definitions where definition::text like '%canary-token%'`,
    ),
  );
  expect(rows).toEqual([{ n: 0 }]);
});

it('a request with a folded header is refused and starts nothing', async () => {
  const { id } = await webhook({ verification: 'github', secret: 'folded' });
  const signature = await sign('folded', '{}');
  const folded = `x-hub-signature-256: ${signature.slice(0, 20)}\r\n ${signature.slice(20)}`;
  const head = `POST /api/v1/triggers/${id} HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n${folded}`;
  expect(await rawRequest(server.url, `${head}\r\n\r\n{}`).status).toBe(400);
  expect(await firings(server, id)).toEqual([]);
});

it('a webhook trigger can be tested with a sample that it signs itself', async () => {
  const { id } = await webhook({ verification: 'github' });
  const { status, body } = await server.post(`/api/v1/triggers/${id}/test`, { hello: 1 });
  expect([status, body]).toMatchObject([200, { verification: 'github', executionId: expect.any(String) }]);
  expect((await triggerOf({ body })).trigger).toEqual({ hello: 1 });
});
