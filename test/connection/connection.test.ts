// Connections over a real server: created, used by nodes and tasks, rotated, checked, removed; for several tenants and people;
// and never shown again (S1, S5, S6).

import { beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { chain, tokenFor, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { useRemoteApi } from './remote-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const remote = useRemoteApi();

beforeEach(() => {
  remote().answer = () => ({});
});

async function connect(request: JsonObject, token?: string) {
  const body = { connector: 'http', ...request };
  const made = await server.post('/api/v1/connections', body, token === undefined ? {} : { token });
  expect([made.status, made.body]).toMatchObject([201, { name: request.name as string }]);
  return made.body;
}

let workflows = 0;

/** Runs a workflow of one request, with this connection. */
async function request(connection: string, url: string, rest: JsonObject = {}, start: JsonObject = {}) {
  const id = `asks-${++workflows}`;
  const policies = { retry: { maxAttempts: 2, baseDelayMs: 0 } };
  const node = { id: 'ask', actionType: 'http.request', connection, policies, parameters: { url, ...rest } };
  await server.pawl.publish(chain(id, node), { tenantId: 'acme' });
  const { executionId } = await server.pawl.start(id, { tenantId: 'acme', ...start });
  return server.pawl.result(executionId, { tenantId: 'acme' });
}

describe('a connection', () => {
  it.each([
    ['token', { token: 'canary-t' }, 'authorization', 'Bearer canary-t'],
    ['header', { header: 'X-Api-Key', value: 'canary-h' }, 'x-api-key', 'canary-h'],
    ['basic', { username: 'ada', password: 'canary-b' }, 'authorization', `Basic ${btoa('ada:canary-b')}`],
  ])(
    'a connection of kind %s is put on the request, and its secret is shown nowhere',
    async (kind, fields, header, value) => {
      const made = await connect({ name: `crm-${kind}`, kind, ...fields, allowedHosts: [remote().host] });
      expect(JSON.stringify(made)).not.toContain('canary');
      expect(await request(`crm-${kind}`, `${remote().url}/${kind}`)).toMatchObject({ status: 'Succeeded' });
      expect(remote().seen.at(-1)!.headers[header]).toBe(value);
      const show = () => server.get(`/api/v1/connections/crm-${kind}`);
      // The last use is recorded in the background, so the test polls for it.
      await expect.poll(async () => (await show()).body.lastUsedAt).toEqual(expect.any(String));
      const shown = await show();
      expect(shown.body).toMatchObject({ name: `crm-${kind}`, kind, status: 'ready' });
      expect(shown.body.usedBy).toEqual([{ kind: 'workflow', id: `asks-${workflows}` }]);
      expect(JSON.stringify([shown.body, (await server.get('/api/v1/connections')).body])).not.toContain('canary');
    },
  );

  it('a task of a pipeline uses a connection', async () => {
    await connect({ name: 'shop', kind: 'token', token: 'canary-p' });
    const tasks = { call: { url: `${remote().url}/task`, method: 'GET', connection: 'shop' } };
    expect((await server.post('/api/v1/workflows', { name: 'with-shop', tasks })).status).toBe(201);
    const started = await server.post('/api/v1/workflows/with-shop/trigger', {});
    const runId = ((started.body.data as JsonObject).run_id as string).slice('run_'.length);
    await server.pawl.result(runId.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'), {
      tenantId: 'acme',
    });
    expect(remote().seen.find(({ path }) => path === '/task')?.headers.authorization).toBe('Bearer canary-p');
  });

  it('the connection of a webhook consumer is put on every message, and goes to no other host', async () => {
    await connect({ name: 'inbox', kind: 'token', token: 'canary-w', allowedHosts: [remote().host] });
    const consumer = { code: 'inbox', kind: 'webhook', url: `${remote().url}/inbox`, subscriptions: [{ env: 'prod' }] };
    const refused = await server.post('/api/v1/consumers', { ...consumer, connection: 'nobody' });
    expect([refused.status, refused.body]).toMatchObject([400, { error: { details: [{ path: '/connection' }] } }]);
    const made = await server.post('/api/v1/consumers', { ...consumer, connection: 'inbox' });
    expect([made.status, made.body]).toMatchObject([201, { code: 'inbox', connection: 'inbox', options: {} }]);
    const pausing = await server.ask('PATCH', '/api/v1/consumers/inbox', { body: { options: { timeoutMs: 5_000 } } });
    expect(pausing.body).toMatchObject({ connection: 'inbox', options: { timeoutMs: 5_000 } });
    const shown = await server.get('/api/v1/connections/inbox');
    expect(shown.body.usedBy).toEqual([{ kind: 'consumer', id: 'inbox' }]);
    const states = { a: {}, b: { final: true } };
    const transitions = [{ from: 'a', on: 'go', to: 'b' }];
    const definition = { env: 'prod', name: 'order', initial: 'a', states, events: { go: {} }, transitions };
    await server.post('/api/v1/lifecycles', { definition });
    const trigger = (externalRef: string) =>
      server.post('/api/v1/lifecycles/prod/order/trigger', { externalRef, event: 'go', requestId: externalRef });
    await trigger('one');
    await expect
      .poll(() => remote().seen.find(({ path }) => path === '/inbox')?.headers.authorization)
      .toBe('Bearer canary-w');
    const elsewhere = { allowedHosts: ['elsewhere.example'], token: 'canary-w' };
    await server.ask('PUT', '/api/v1/connections/inbox', { body: elsewhere });
    const before = remote().seen.length;
    await trigger('two');
    await expect
      .poll(async () => JSON.stringify((await server.get('/api/v1/notices?limit=50')).body))
      .toContain('elsewhere.example');
    expect(remote().seen).toHaveLength(before);
    expect(
      (await server.ask('PATCH', '/api/v1/consumers/inbox', { body: { connection: null } })).body,
    ).not.toHaveProperty('connection');
  });

  it('a rotated connection sends its new token at once', async () => {
    await connect({ name: 'rotated', kind: 'token', token: 'before' });
    await request('rotated', remote().url);
    const { status, body } = await server.ask('PUT', '/api/v1/connections/rotated', { body: { token: 'after' } });
    expect([status, body]).toMatchObject([200, { name: 'rotated', kind: 'token' }]);
    await request('rotated', remote().url);
    expect(remote().seen.at(-1)!.headers.authorization).toBe('Bearer after');
  });

  it.each<[string, JsonObject]>([
    ['a host more', { allowedHosts: ['api.crm.example', 'evil.example'] }],
    ['every host', { allowedHosts: [] }],
    ['another checkUrl', { checkUrl: 'https://evil.example/me' }],
    ['another port', { checkUrl: 'https://api.crm.example:8443/me' }],
    ['another tokenUrl', { tokenUrl: 'http://login.crm.example/token' }],
    ['another connector', { connector: 'slack' }],
    ['another kind', { kind: 'token' }],
  ])('a connection is changed to %s only if its secret is given again', async (what, change) => {
    const name = what.replaceAll(' ', '-');
    const tokenUrl = 'https://login.crm.example/token';
    const checkUrl = 'https://api.crm.example/me';
    const kind = 'oauth2-client-credentials';
    const made = { tokenUrl, checkUrl, clientId: 'pawl', clientSecret: 'canary', allowedHosts: ['api.crm.example'] };
    await connect({ name, kind, ...made });
    const put = (body: JsonObject) => server.ask('PUT', `/api/v1/connections/${name}`, { body });
    const before = (await server.get(`/api/v1/connections/${name}`)).body;
    const { status, body } = await put(change);
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toMatch(/clientSecret|token/);
    expect((await server.get(`/api/v1/connections/${name}`)).body).toEqual(before);
    const secret = what === 'another kind' ? { token: 'new' } : { clientSecret: 'canary' };
    expect((await put({ ...change, ...secret })).status).toBe(200);
    expect((await server.get(`/api/v1/connections/${name}`)).body).toMatchObject(change);
  });

  it('a connection may be limited to hosts, and get another checkUrl on the same host, without its secret', async () => {
    await connect({ name: 'narrowed', kind: 'token', token: 'kept', checkUrl: `${remote().url}/me` });
    const put = (body: JsonObject) => server.ask('PUT', '/api/v1/connections/narrowed', { body });
    expect((await put({ allowedHosts: [remote().host, 'other.example'] })).status).toBe(200);
    expect((await put({ allowedHosts: [remote().host], checkUrl: `${remote().url}/you` })).status).toBe(200);
    await request('narrowed', remote().url);
    expect(remote().seen.at(-1)!.headers.authorization).toBe('Bearer kept');
  });

  it('a connection is checked by its checkUrl', async () => {
    await connect({ name: 'checked', kind: 'token', token: 'good', checkUrl: `${remote().url}/me` });
    remote().answer = ({ headers }) => ({ status: headers.authorization === 'Bearer good' ? 200 : 401 });
    const check = async () => (await server.post('/api/v1/connections/checked/check')).body;
    expect(await check()).toEqual({ ok: true });
    await server.ask('PUT', '/api/v1/connections/checked', { body: { token: 'revoked' } });
    expect(await check()).toEqual({ ok: false, message: expect.stringContaining('refused the credential') });
    expect((await server.get('/api/v1/connections/checked')).body.check).toMatchObject({ ok: false });
  });

  it('a refused credential fails the node with the name of the connection and without its value', async () => {
    await connect({ name: 'expired', kind: 'token', token: 'canary-x' });
    remote().answer = ({ headers }) => ({ status: 401, body: { you_sent: headers.authorization as Json } });
    const result = await request('expired', remote().url);
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'CREDENTIAL_REFUSED' } });
    expect(result.error!.message).toContain('"expired"');
    const seen = await server.get(`/api/v1/executions/${result.executionId}?include=actions,events`);
    expect(JSON.stringify(seen.body)).not.toContain('canary-x');
  });

  it('a removed connection fails the node with CONNECTION_NOT_FOUND', async () => {
    await connect({ name: 'gone', kind: 'token', token: 't' });
    await request('gone', remote().url);
    expect((await server.ask('DELETE', '/api/v1/connections/gone')).status).toBe(204);
    expect((await server.get('/api/v1/connections/gone')).status).toBe(404);
    const { executionId } = await server.pawl.start(`asks-${workflows}`, { tenantId: 'acme' });
    expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({
      status: 'Failed',
      error: { code: 'CONNECTION_NOT_FOUND', message: expect.stringContaining('"gone"') },
    });
  });
});

describe('a credential', () => {
  it('a credential goes to no host outside allowedHosts', async () => {
    await connect({ name: 'fenced', kind: 'token', token: 'canary-f', allowedHosts: ['api.example.com'] });
    const before = remote().seen.length;
    expect(await request('fenced', remote().url)).toMatchObject({ error: { code: 'CONNECTION_HOST_REFUSED' } });
    expect(remote().seen).toHaveLength(before);
  });

  it('a credential does not follow a redirect to another origin, whatever its header is called', async () => {
    await connect({ name: 'moved', kind: 'header', header: 'X-Plain', value: 'canary-m' });
    const other = `http://localhost:${new URL(remote().url).port}/there`;
    remote().answer = ({ path }) => (path === '/here' ? { status: 302, headers: { location: other } } : {});
    expect(await request('moved', `${remote().url}/here`, { maxRedirects: 1 })).toMatchObject({ status: 'Succeeded' });
    expect(remote().seen.at(-2)!.headers['x-plain']).toBe('canary-m');
    expect(remote().seen.at(-1)!).toMatchObject({ path: '/there', headers: { host: new URL(other).host } });
    expect(remote().seen.at(-1)!.headers).not.toHaveProperty('x-plain');
  });

  it("a credential is the person's own if there is one, and the tenant's otherwise", async () => {
    await connect({ name: 'mixed', kind: 'token', token: 'of-all' });
    await connect({ name: 'mixed', kind: 'token', token: 'of-bob', principal: 'bob' });
    const principal = (userId: string) => ({ principal: { userId, displayName: userId, email: null } });
    await request('mixed', remote().url, {}, principal('bob'));
    expect(remote().seen.at(-1)!.headers.authorization).toBe('Bearer of-bob');
    await request('mixed', remote().url, {}, principal('eve'));
    expect(remote().seen.at(-1)!.headers.authorization).toBe('Bearer of-all');
    expect((await server.get('/api/v1/connections/mixed?principal=bob')).body).toMatchObject({ principal: 'bob' });
  });

  it('a connection of another tenant does not exist (S1)', async () => {
    await connect({ name: 'theirs', kind: 'token', token: 'canary-o' });
    const token = await tokenFor({ tenant: 'umbrella' });
    for (const [method, path] of [
      ['GET', ''],
      ['PUT', ''],
      ['DELETE', ''],
      ['POST', '/check'],
    ] as const) {
      const body = method === 'PUT' ? { body: { token: 'x' } } : {};
      expect((await server.ask(method, `/api/v1/connections/theirs${path}`, { token, ...body })).status).toBe(404);
    }
    expect((await server.get('/api/v1/connections', { token })).body).toEqual({ data: [] });
  });

  it('a credential is sealed in the database', async () => {
    await connect({ name: 'sealed', kind: 'basic', username: 'u', password: 'canary-sealed' });
    const { rows } = await withClient(server.database.connectionString, (client) =>
      client.query<{ row: string }>(`select c::text || encode(sealed, 'escape') as row from connections c`),
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.map(({ row }) => row).join()).not.toContain('canary');
  });
});

describe('invalid connections', () => {
  it.each([
    [{ kind: 'nonsense' }, '/kind'],
    [{ kind: 'token' }, '/token'],
    [{ kind: 'token', token: '' }, '/token'],
    [{ kind: 'token', token: 't', password: 'p' }, '/password'],
    [{ kind: 'header', value: 'v' }, '/header'],
    [{ kind: 'token', token: 't', connector: 'nobody' }, '/connector'],
    [{ kind: 'token', token: 't', isDefault: true }, '/isDefault'],
    [{ kind: 'token', token: 't', allowedHosts: ['https://x/'] }, '/allowedHosts/0'],
    [
      { kind: 'aws-sigv4', connector: 'slack', accessKeyId: 'a', secretAccessKey: 's', region: 'r', service: 's' },
      '/kind',
    ],
    [{ kind: 'oauth2-client-credentials', tokenUrl: 'nowhere', clientId: 'c', clientSecret: 's' }, '/tokenUrl'],
  ])('an invalid connection is refused with the path of the problem: %j', async (fields, path) => {
    const { status, body } = await server.post('/api/v1/connections', { name: 'wrong', connector: 'http', ...fields });
    expect(status).toBe(400);
    const details = (body.error as JsonObject).details as JsonObject[];
    expect(details.map((detail) => detail.path)).toContain(path);
  });

  it('a connection name that is taken is a conflict, and an invalid name is not found', async () => {
    await connect({ name: 'twice', kind: 'token', token: 't' });
    const again = await server.post('/api/v1/connections', {
      name: 'twice',
      connector: 'http',
      kind: 'token',
      token: 't',
    });
    expect([again.status, again.body]).toMatchObject([409, { error: { code: 'CONNECTION_EXISTS' } }]);
    expect((await server.get('/api/v1/connections/no%20name')).status).toBe(404);
  });

  it('publishing a workflow finds a connection that is unknown or belongs to another connector', async () => {
    const node = { id: 'ask', actionType: 'http.request', connection: 'nobody', parameters: { url: remote().url } };
    await server.post('/api/v1/workflows', chain('lost', node));
    const published = await server.post('/api/v1/workflows/lost/publish');
    expect([published.status, published.body]).toMatchObject([
      400,
      { error: { details: [{ code: 'CONNECTION_NOT_FOUND', path: '/nodes/0/connection' }] } },
    ]);
    await connect({ name: 'for-http', kind: 'token', token: 't' });
    const slack = {
      id: 'post',
      actionType: 'slack.post-message',
      connection: 'for-http',
      parameters: { channelId: 'C', message: 'm' },
    };
    await server.post('/api/v1/workflows', chain('mixed-up', slack));
    expect((await server.post('/api/v1/workflows/mixed-up/publish')).body).toMatchObject({
      error: { details: [{ code: 'CONNECTION_MISMATCH', path: '/nodes/0/connection' }] },
    });
  });
});
