// OAuth2 connections against a real authorization server: client credentials, signing in, renewal, rotation, revocation.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl } from '../../src/main.ts';
import { chain, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { type AuthorizationServer, CLIENT, openAuthorizationServer } from './authorization-server.ts';
import { useRemoteApi } from './remote-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const remote = useRemoteApi();
let authority: AuthorizationServer;

beforeAll(async () => {
  authority = await openAuthorizationServer(`${server.url}/oauth/callback`);
});
afterAll(() => authority?.close());

const sql = <Row extends JsonObject>(text: string, values: unknown[] = []) =>
  withClient(server.database.connectionString, async (client) => (await client.query<Row>(text, values)).rows);

async function connect(name: string, fields: JsonObject) {
  const request = { name, connector: 'http', ...CLIENT, tokenUrl: authority.tokenUrl, ...fields };
  const made = await server.post('/api/v1/connections', request);
  expect([made.status, JSON.stringify(made.body)]).toEqual([201, expect.not.stringContaining('canary')]);
  return made.body;
}

async function ask(connection: string) {
  const id = `asks-${connection}`;
  const policies = { retry: { maxAttempts: 3, baseDelayMs: 0 } };
  const node = { id: 'ask', actionType: 'http.request', connection, policies, parameters: { url: remote().url } };
  await server.pawl.publish(chain(id, node), { tenantId: 'acme' });
  const { executionId } = await server.pawl.start(id, { tenantId: 'acme' });
  return server.pawl.result(executionId, { tenantId: 'acme' });
}

const sent = () => remote().seen.at(-1)!.headers.authorization!;

describe('client credentials', () => {
  it('client credentials are exchanged for a token once, and again when the token is refused', async () => {
    await connect('machine', { kind: 'oauth2-client-credentials' });
    expect(await ask('machine')).toMatchObject({ status: 'Succeeded' });
    const first = sent();
    expect(first).toMatch(/^Bearer .{20,}/);
    await ask('machine');
    expect(sent()).toBe(first);
    expect(authority.grants.filter((grant) => grant === 'client_credentials')).toHaveLength(1);
    remote().answer = ({ headers }) => ({ status: headers.authorization === first ? 401 : 200 });
    expect(await ask('machine')).toMatchObject({ status: 'Succeeded' });
    expect(sent()).not.toBe(first);
    remote().answer = () => ({});
  });

  it('unknown client credentials fail as refused, and a server that is away fails as a network error', async () => {
    await connect('stranger', { kind: 'oauth2-client-credentials', clientSecret: 'canary-wrong' });
    const refused = await ask('stranger');
    expect(refused).toMatchObject({ status: 'Failed', error: { code: 'CREDENTIAL_REFUSED' } });
    expect(refused.error!.message).toContain('"stranger"');
    expect(refused.error!.message).not.toContain('canary');
    await connect('away', { kind: 'oauth2-client-credentials', tokenUrl: 'http://127.0.0.1:1/token' });
    expect((await server.post('/api/v1/connections/away/check')).body).toMatchObject({ ok: false });
    expect(await ask('away')).toMatchObject({ status: 'Failed', error: { code: 'NETWORK_ERROR' } });
  });
});

describe('a person who signs in', () => {
  const code = () => ({
    kind: 'oauth2-code',
    authorizationUrl: authority.authorizationUrl,
    scope: 'openid offline_access',
    parameters: { prompt: 'consent' },
  });

  async function authorize(name: string) {
    const { body } = await server.post(`/api/v1/connections/${name}/authorize`);
    return authority.signIn(body.authorizationUrl as string);
  }

  it('a person signs in once, and the connection works after the token has ended, with one-use refresh tokens', async () => {
    expect(await connect('person', code())).toMatchObject({
      status: 'unauthorized',
      problem: expect.stringContaining('authorize'),
    });
    expect(await ask('person')).toMatchObject({ status: 'Failed', error: { code: 'CREDENTIAL_REFUSED' } });
    const landed = await authorize('person');
    expect([landed.status, await landed.text()]).toEqual([200, expect.stringContaining('"person" is authorized')]);
    expect((await server.get('/api/v1/connections/person')).body).toMatchObject({ status: 'ready' });
    expect(await ask('person')).toMatchObject({ status: 'Succeeded' });
    let before = sent();
    for (let renewal = 0; renewal < 3; renewal++) {
      // The API says that the token has ended, so the next attempt has another token.
      remote().answer = ({ headers }) => ({ status: headers.authorization === before ? 401 : 200 });
      expect(await ask('person')).toMatchObject({ status: 'Succeeded' });
      expect(sent()).not.toBe(before);
      before = sent();
    }
    remote().answer = () => ({});
    expect(authority.grants.filter((grant) => grant === 'refresh_token')).toHaveLength(3);
    const rows = await sql<{ text: string }>(
      `select encode(tokens, 'escape') || settings::text as text from connections`,
    );
    expect(JSON.stringify(rows)).not.toContain(before.slice('Bearer '.length));
  });

  it('a token that several processes need at once is renewed at most once by each', async () => {
    await connect('shared', code());
    await authorize('shared');
    const others = await Promise.all(
      [1, 2].map(() =>
        createPawl({ database: { url: server.database.connectionString }, http: { allowLoopback: true } }),
      ),
    );
    try {
      expect(await ask('shared')).toMatchObject({ status: 'Succeeded' });
      const before = sent();
      remote().answer = ({ headers }) => ({ status: headers.authorization === before ? 401 : 200 });
      const asked = authority.grants.length;
      const runs = await Promise.all(
        Array.from({ length: 12 }, () => server.pawl.start('asks-shared', { tenantId: 'acme' })),
      );
      const ends = await Promise.all(
        runs.map(({ executionId }) => server.pawl.result(executionId, { tenantId: 'acme' })),
      );
      expect(new Set(ends.map(({ status }) => status))).toEqual(new Set(['Succeeded']));
      // Each process that holds the refused token may renew it once; no process uses a refresh token twice.
      expect(authority.grants.length - asked).toBeLessThanOrEqual(3);
    } finally {
      remote().answer = () => ({});
      await Promise.all(others.map((other) => other.close()));
    }
  });

  it('a revoked authorization is shown on the connection until somebody signs in again', async () => {
    await connect('fickle', code());
    await authorize('fickle');
    expect(await ask('fickle')).toMatchObject({ status: 'Succeeded' });
    const before = sent();
    await authority.revokeAll();
    remote().answer = ({ headers }) => ({ status: headers.authorization === before ? 401 : 200 });
    const failed = await ask('fickle');
    expect(failed).toMatchObject({ status: 'Failed', error: { code: 'CREDENTIAL_REFUSED' } });
    expect((await server.get('/api/v1/connections/fickle')).body).toMatchObject({
      status: 'unauthorized',
      problem: expect.stringContaining('authorize it again'),
    });
    expect((await server.post('/api/v1/connections/fickle/check')).body).toMatchObject({ ok: false });
    await authorize('fickle');
    expect(await ask('fickle')).toMatchObject({ status: 'Succeeded' });
    remote().answer = () => ({});
  });

  it('the OAuth callback refuses a state that Pawl did not issue', async () => {
    await connect('careful', code());
    const { body } = await server.post('/api/v1/connections/careful/authorize');
    const state = new URL(body.authorizationUrl as string).searchParams.get('state')!;
    const back = (query: string) => server.get(`/oauth/callback?${query}`, { token: null });
    const changed = `${state.slice(0, -4)}AAAA`;
    const made = Buffer.from(JSON.stringify({ tenantId: 'acme', name: 'careful', endsAt: 9e15 })).toString('base64url');
    for (const wrong of [changed, made, '']) {
      const { status, body: refusal } = await back(`code=x&state=${wrong}`);
      expect([status, JSON.stringify(refusal)]).toEqual([400, expect.stringContaining('begin again')]);
    }
    expect(JSON.stringify((await back(`error=access_denied&state=${state}`)).body)).toContain('access_denied');
    expect((await back(`code=not-a-code&state=${state}`)).status).toBe(400);
  });
});
