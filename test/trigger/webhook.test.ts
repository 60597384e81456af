// Webhooks (S7): who sent a webhook, when, and whether it was seen before.

import { beforeAll, describe, expect, it } from 'vitest';
import { useServer } from '../server/api-server.ts';
import { createTrigger, executionsOf, firings, publishEcho, sendWebhook } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

beforeAll(() => publishEcho(server, 'hooked'));

const webhook = (workflowId = 'hooked', rest = {}) =>
  createTrigger(server, { workflowId, triggerType: 'Webhook', config: { secret: SECRET }, ...rest });

describe('a signed webhook', () => {
  it('a signed webhook starts the workflow with its body', async () => {
    const { id, webhookUrl, hasSecret, ...shown } = await webhook();
    expect([webhookUrl, hasSecret]).toEqual([`${server.url}/api/v1/triggers/${id}`, true]);
    expect(JSON.stringify(shown)).not.toContain(SECRET.slice(6));
    const { status, body } = await sendWebhook(server, id, { secret: SECRET, body: '{"order":7}' });
    expect(status).toBe(202);
    const executionId = body.executionId as string;
    expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({ status: 'Succeeded' });
    expect((await server.get(`/api/v1/executions/${executionId}`)).body).toMatchObject({
      trigger: { order: 7 },
      requestId: expect.stringMatching(`^webhook:${id}:msg_`),
      principal: { userId: 'system' },
    });
  });

  it('a signed webhook may carry plain text', async () => {
    const { id } = await webhook();
    const { status, body } = await sendWebhook(server, id, {
      secret: SECRET,
      body: 'plain text',
      headers: { 'content-type': 'text/plain' },
    });
    expect(status).toBe(202);
    expect((await server.get(`/api/v1/executions/${body.executionId as string}`)).body.trigger).toBe('plain text');
  });
});

describe('a webhook without a valid signature', () => {
  it.each([
    ['signed with another secret', { secret: OTHER }, 'does not fit'],
    ['from ten minutes ago', { secret: SECRET, ageSeconds: 600 }, 'five minutes', 'SIGNATURE_EXPIRED'],
    ['from ten minutes ahead', { secret: SECRET, ageSeconds: -600 }, 'five minutes', 'SIGNATURE_EXPIRED'],
    ['without a signature', {}, 'webhook-id'],
    ['with a signature of nothing', { secret: SECRET, headers: { 'webhook-signature': 'v1,' } }, 'does not fit'],
    ['with another time than was signed', { secret: SECRET, headers: { 'webhook-timestamp': '1' } }, 'does not fit'],
    ['with a time that is none', { secret: SECRET, headers: { 'webhook-timestamp': 'now' } }, 'seconds since 1970'],
    ['with another id than was signed', { secret: SECRET, headers: { 'webhook-id': 'msg_other' } }, 'does not fit'],
  ])('a webhook is refused: %s', async (_, sent, reason, code = 'SIGNATURE_INVALID') => {
    await publishEcho(server, 'guarded');
    const { id } = await webhook('guarded');
    const { status, body, headers } = await sendWebhook(server, id, sent);
    expect([status, body]).toMatchObject([401, { error: { code } }]);
    expect((body.error as { message?: string }).message).toContain(reason);
    expect(headers.get('www-authenticate')).toBeNull();
    expect(await executionsOf(server, 'guarded')).toEqual([]);
    expect(await firings(server, id)).toEqual([]);
  });

  it('a webhook is refused when its body is not the signed body', async () => {
    const { id } = await webhook();
    const at = Math.floor(Date.now() / 1000);
    const { Webhook } = await import('standardwebhooks');
    const signature = new Webhook(SECRET).sign('m1', new Date(at * 1000), '{"amount":1}');
    const headers = { 'webhook-id': 'm1', 'webhook-timestamp': String(at), 'webhook-signature': signature };
    expect((await sendWebhook(server, id, { body: '{"amount":1}', headers })).status).toBe(202);
    expect((await sendWebhook(server, id, { body: '{"amount":9}', headers })).status).toBe(401);
  });
});

describe('a repeated webhook', () => {
  it('a webhook sent a hundred times at once gets the same execution every time', async () => {
    await publishEcho(server, 'once');
    const { id } = await webhook('once');
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => sendWebhook(server, id, { secret: SECRET, id: 'msg_1' })),
    );
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(99);
    expect(new Set(replies.map(({ body }) => body.executionId)).size).toBe(1);
    expect(await executionsOf(server, 'once')).toHaveLength(1);
    expect(await firings(server, id)).toHaveLength(1);
  });

  it('webhooks sent twice at once are each recorded with their own execution', async () => {
    await publishEcho(server, 'burst');
    const { id } = await webhook('burst');
    const ids = Array.from({ length: 60 }, (_, n) => `msg_${n % 30}`);
    const replies = await Promise.all(ids.map((msg) => sendWebhook(server, id, { secret: SECRET, id: msg })));
    const started = new Map(ids.map((msg, n) => [`webhook:${id}:${msg}`, replies[n]!.body.executionId]));
    expect(new Set(started.values()).size).toBe(30);
    const recorded = await firings(server, id);
    expect(recorded.map(({ requestId, executionId }) => [requestId, executionId]).toSorted()).toEqual(
      [...started].toSorted(),
    );
  });

  it('a repeated webhook gets its execution, even after the trigger is disabled or archived', async () => {
    await publishEcho(server, 'faded');
    const { id } = await webhook('faded');
    const send = (message: string) => sendWebhook(server, id, { secret: SECRET, id: message });
    const { body } = await send('msg_1');
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { isEnabled: false } });
    const again = await send('msg_1');
    expect([again.status, again.body]).toEqual([200, body]);
    expect((await send('msg_2')).body).toEqual({ started: false, reason: 'the trigger is disabled' });
    await server.post('/api/v1/workflows/faded/archive');
    expect((await send('msg_1')).body).toEqual(body);
    expect(await firings(server, id)).toMatchObject([{ outcome: 'skipped' }, { outcome: 'started' }]);
  });

  it('a webhook sent again starts an execution that could not start before', async () => {
    await publishEcho(server, 'later');
    const { id } = await webhook('later');
    await server.ask('PATCH', '/api/v1/workflows/later', { body: { isEnabled: false } });
    const send = () => sendWebhook(server, id, { secret: SECRET, id: 'msg_1' });
    expect((await send()).body).toMatchObject({ started: false });
    await server.ask('PATCH', '/api/v1/workflows/later', { body: { isEnabled: true } });
    expect((await send()).status).toBe(202);
    expect(await firings(server, id)).toMatchObject([{ outcome: 'started' }]);
  });
});

describe('secrets of webhooks', () => {
  it('a secret is generated and shown once; after a rotation, the old and the new secret are valid', async () => {
    const made = await createTrigger(server, {
      workflowId: 'hooked',
      triggerType: 'Webhook',
      config: { generateSecret: true },
    });
    const [first, path] = [made.secret as string, `/api/v1/triggers/${made.id}`];
    const works = async (secret: string) => (await sendWebhook(server, made.id, { secret })).status === 202;
    expect(JSON.stringify((await server.get(path)).body)).not.toContain('whsec_');
    expect(await works(first)).toBe(true);

    const second = (await server.post(`${path}/rotate-secret`, {})).body.secret as string;
    expect([await works(first), await works(second)]).toEqual([true, true]);
    expect((await server.post(`${path}/rotate-secret`, { secret: SECRET })).body).not.toHaveProperty('secret');
    expect([await works(first), await works(second), await works(SECRET)]).toEqual([false, true, true]);
    await server.post(`${path}/rotate-secret`, { secret: OTHER, keepPrevious: false });
    expect([await works(SECRET), await works(OTHER)]).toEqual([false, true]);
  });

  it('a trigger that is not a webhook has no secret to rotate', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hooked', triggerType: 'Manual' });
    expect((await server.post(`/api/v1/triggers/${id}/rotate-secret`, {})).status).toBe(409);
  });
});

describe('the content of a webhook', () => {
  it('a webhook body must match the triggerSchema of the workflow', async () => {
    await publishEcho(server, 'strictly', { triggerSchema: { type: 'object', required: ['order'] } });
    const { id } = await webhook('strictly');
    const { status, body } = await sendWebhook(server, id, { secret: SECRET, body: '{"n":1}' });
    expect([status, body]).toMatchObject([400, { error: { code: 'TRIGGER_INVALID' } }]);
    expect(await firings(server, id)).toMatchObject([{ outcome: 'failed' }]);
  });

  it('a webhook body that is too large or not safe JSON is refused', async () => {
    const { id } = await webhook();
    const status = async (body: string) => (await sendWebhook(server, id, { secret: SECRET, body })).status;
    expect(await status(`"${'x'.repeat(1024 * 1024)}"`)).toBe(413);
    expect(await status('{"a":')).toBe(400);
    expect(await status('{"__proto__":{}}')).toBe(400);
  });

  it('a webhook sent to anything but a webhook trigger is answered with 404', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hooked', triggerType: 'Manual' });
    for (const triggerId of [id, '01890000-0000-7000-8000-000000000000', 'what']) {
      const { status, body } = await sendWebhook(server, triggerId, { secret: SECRET });
      expect([status, body]).toMatchObject([404, { error: { code: 'TRIGGER_NOT_FOUND' } }]);
    }
  });
});

describe('a pipeline with a webhook trigger', () => {
  it('a pipeline gets a URL and a secret, and its run sees body and headers', async () => {
    const tasks = { call: { url: `${server.url}/health/live` } };
    const created = await server.post('/api/v1/workflows', { name: 'shop', trigger: 'webhook', tasks });
    expect(created.status).toBe(201);
    const { webhook_url: url, webhook_secret: secret } = created.body.data as Record<string, string>;
    const id = url!.split('/').at(-1)!;
    const { status, body } = await sendWebhook(server, id, { secret: secret!, headers: { 'x-shop': 'One' } });
    expect(status).toBe(202);
    const { trigger } = (await server.get(`/api/v1/executions/${body.executionId as string}`)).body;
    expect(trigger).toMatchObject({ body: { n: 1 }, headers: { 'x-shop': 'One' } });
    expect(JSON.stringify(trigger)).not.toContain('webhook-signature');
    // The secret is shown once, and stays valid when the pipeline changes.
    expect(JSON.stringify((await server.get('/api/v1/workflows/shop')).body)).not.toContain('whsec_');
    const replaced = await server.ask('PUT', '/api/v1/workflows/shop', { body: { trigger: 'webhook', tasks } });
    expect(replaced.body.data).not.toHaveProperty('webhook_secret');
    expect((await sendWebhook(server, id, { secret: secret! })).status).toBe(202);
  });
});
