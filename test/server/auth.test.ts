// Who may use the API: tokens by secret and by key set, API keys, and in loose mode everybody on this machine.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createApiKey } from '../../src/server/auth/api-key.ts';
import { testDatabase } from '../support/database.ts';
import { AUDIENCE, chain, echo, ISSUER, SECRET, tokenFor, useServer } from './api-server.ts';

const secret = new TextEncoder().encode(SECRET);

interface Overrides {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly issuer?: string;
  readonly audience?: string;
  readonly expires?: string | null;
}

function sign(overrides: Overrides = {}, key: Parameters<SignJWT['sign']>[0] = secret): Promise<string> {
  const { claims = {}, header = {}, issuer = ISSUER, audience = AUDIENCE, expires = '5m' } = overrides;
  const token = new SignJWT({ tenant_id: 'acme', sub: 'ada', scope: 'workflows:read', ...claims })
    .setProtectedHeader({ alg: 'HS256', ...header })
    .setIssuer(issuer)
    .setAudience(audience);
  if (expires !== null) token.setExpirationTime(expires);
  return token.sign(key);
}

describe('tokens by a shared secret', () => {
  const server = useServer();
  const statusWith = async (token: string) => (await server.get('/api/v1/executions', { token })).status;

  it('a token is accepted when everything about it is right', async () => {
    expect(await statusWith(await sign())).toBe(200);
    expect(await statusWith(await sign({ claims: { scope: ['workflows:read', 'something:else'] } }))).toBe(200);
    for (const claims of [{ scp: ['workflows:read'] }, { scp: 'workflows:read' }, { scopes: ['workflows:read'] }]) {
      expect(await statusWith(await sign({ claims: { scope: undefined, ...claims } }))).toBe(200);
    }
    expect(await statusWith(await sign({ claims: { scope: 'templates:read', scp: 'workflows:read' } }))).toBe(403);
  });

  it('a token is refused when anything about it is wrong', async () => {
    const wrong: Record<string, string> = {
      'another issuer': await sign({ issuer: 'https://evil.example' }),
      'another audience': await sign({ audience: 'somebody-else' }),
      expired: await sign({ expires: '-1m' }),
      'no expiry': await sign({ expires: null }),
      'another key': await sign({}, new TextEncoder().encode('another-secret-that-is-long-enough-too')),
      'no tenant': await sign({ claims: { tenant_id: undefined } }),
      'a tenant that is no id': await sign({ claims: { tenant_id: "a'; --" } }),
      'no subject': await sign({ claims: { sub: undefined } }),
      'keys of its own': await sign({ header: { jku: 'https://evil.example/keys' } }),
      'no signature': new UnsecuredJWT({ tenant_id: 'acme', sub: 'ada' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setExpirationTime('5m')
        .encode(),
      garbage: 'abc.def.ghi',
    };
    for (const [what, token] of Object.entries(wrong)) {
      expect({ what, status: await statusWith(token) }).toEqual({ what, status: 401 });
    }
    const basic = await server.get('/api/v1/executions', { token: null, headers: { authorization: 'Basic YTpi' } });
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('the refusal of a token gives away no reason that an attacker could use', async () => {
    const { body } = await server.get('/api/v1/executions', {
      token: await sign({}, new TextEncoder().encode('x'.repeat(40))),
    });
    expect(body).toMatchObject({ error: { code: 'UNAUTHENTICATED', message: 'the token is not valid' } });
  });
});

describe('tokens by a key set', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-jwks-'));
  let pawl: Pawl;
  let database: Awaited<ReturnType<typeof testDatabase>>;
  let pair: Awaited<ReturnType<typeof generateKeyPair>>;

  beforeAll(async () => {
    pair = await generateKeyPair('ES256');
    const jwksFile = join(folder, 'keys.json');
    writeFileSync(
      jwksFile,
      JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }] }),
    );
    database = await testDatabase();
    pawl = await createPawl({
      serve: true,
      runner: false,
      database: { url: database.connectionString },
      server: { port: 0 },
      auth: { jwksFile, issuer: ISSUER, audience: AUDIENCE },
    });
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await pawl.close();
    await database.drop();
  });

  const statusWith = async (token: string) =>
    (await fetch(`${pawl.url}/api/v1/executions`, { headers: { authorization: `Bearer ${token}` } })).status;

  it('a token signed by a key of the set is accepted', async () => {
    expect(await statusWith(await sign({ header: { alg: 'ES256', kid: 'k1' } }, pair.privateKey))).toBe(200);
  });

  it('a token signed by another key, or with a secret instead of a key, is refused', async () => {
    const other = await generateKeyPair('ES256');
    expect(await statusWith(await sign({ header: { alg: 'ES256', kid: 'k1' } }, other.privateKey))).toBe(401);
    expect(await statusWith(await sign({ header: { kid: 'k1' } }))).toBe(401);
  });
});

describe('API keys', () => {
  const server = useServer();
  const make = (
    tenantId: string,
    scopes: readonly ('workflows:read' | 'workflows:execute')[],
    expiresAt: number | null = null,
  ) => createApiKey(server.pawl.store, { tenantId, name: 'ci', scopes, roles: [], expiresAt });

  it('an API key allows what its scopes say, for its tenant', async () => {
    await server.pawl.publish(chain('w', echo('a')), { tenantId: 'acme' });
    const { key } = await make('acme', ['workflows:read', 'workflows:execute']);
    const started = await server.post(
      '/api/v1/workflows/w/execute',
      {},
      { token: null, headers: { 'x-api-key': key } },
    );
    expect(started.status).toBe(202);
    const execution = await server.get(`/api/v1/executions/${started.body.executionId}`, { token: key });
    expect(execution.body.principal).toMatchObject({ userId: 'key:ci' });
    expect((await server.get('/api/v1/admin/runners', { token: key })).status).toBe(403);
    const { key: foreign } = await make('globex', ['workflows:read']);
    expect((await server.get(`/api/v1/executions/${started.body.executionId}`, { token: foreign })).status).toBe(404);
  });

  it('an API key that is unknown, revoked or expired is refused', async () => {
    const { id, key } = await make('acme', ['workflows:read']);
    expect((await server.get('/api/v1/executions', { token: key })).status).toBe(200);
    expect(await server.pawl.store.apiKeyRevoke({ tenantId: 'globex', id })).toBe(false);
    expect(await server.pawl.store.apiKeyRevoke({ tenantId: 'acme', id })).toBe(true);
    expect((await server.get('/api/v1/executions', { token: key })).status).toBe(401);
    const { key: old } = await make('acme', ['workflows:read'], Date.now() - 1_000);
    expect((await server.get('/api/v1/executions', { token: old })).status).toBe(401);
    expect((await server.get('/api/v1/executions', { token: `pawl_${'x'.repeat(43)}` })).status).toBe(401);
    expect((await server.get('/api/v1/executions', { token: null, headers: { 'x-api-key': "'" } })).status).toBe(401);
  });
});

describe('loose mode', () => {
  const loose = useServer({ auth: { allowLooseAuth: true, secret: SECRET, issuer: ISSUER, audience: AUDIENCE } });

  it('loose mode takes the tenant from the header or the body, and `default` otherwise', async () => {
    for (const tenantId of ['default', 'acme', 'globex']) await loose.pawl.publish(chain('w', echo('a')), { tenantId });
    const tenantOf = async (headers: Record<string, string>, body: Record<string, string>) => {
      const { body: started } = await loose.post('/api/v1/workflows/w/execute', body, { token: null, headers });
      return loose.pawl.store.executionTenant({ executionId: started.executionId as string });
    };
    expect(await tenantOf({}, {})).toBe('default');
    expect(await tenantOf({ 'x-tenant-id': 'acme' }, {})).toBe('acme');
    expect(await tenantOf({}, { tenantId: 'globex' })).toBe('globex');
    expect((await loose.get('/api/v1/executions', { token: null, headers: { 'x-tenant-id': "'" } })).status).toBe(400);
  });

  it('loose mode still verifies a token that is given', async () => {
    expect(
      (await loose.get('/api/v1/executions', { token: await tokenFor({ tenant: 'acme', scope: 'admin' }) })).status,
    ).toBe(403);
    expect((await loose.get('/api/v1/executions', { token: 'abc.def.ghi' })).status).toBe(401);
  });

  it('loose mode answers only to loopback names, so that no web page can reach it by another name', async () => {
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(loose.url);
      request({ port, host: '127.0.0.1', path: '/api/v1/executions', headers: { host: 'evil.example' } }, (answer) =>
        resolve(answer.statusCode),
      )
        .on('error', reject)
        .end();
    });
    expect(status).toBe(403);
  });
});

describe('starting a server that nobody could use', () => {
  it('a strict server without keys or a complete token setup does not start', async () => {
    const database = await testDatabase();
    const url = database.connectionString;
    const options = { serve: true, runner: false, database: { url }, server: { port: 0 } };
    await expect(createPawl(options)).rejects.toThrow(/pawl keys create/);
    await expect(createPawl({ ...options, auth: { secret: SECRET } })).rejects.toThrow(/auth.issuer and auth.audience/);
    await database.drop();
  });
});

describe('an installation that requires a principal', () => {
  const auth = { secret: SECRET, issuer: ISSUER, audience: AUDIENCE, requirePrincipalForExecute: true };
  const server = useServer({ auth });

  it('no execution starts without a principal where the installation requires one', async () => {
    await server.pawl.publish(chain('personal', echo('a')), { tenantId: 'acme' });
    const path = '/api/v1/workflows/personal/execute';
    expect(await server.post(path, {})).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ code: 'REQUIRED', path: '/principal' }] } },
    });
    expect((await server.post(path, { principal: { userId: 'ada' } })).status).toBe(202);
  });

  it('triggers are shown to callers that read workflows or manage triggers, and to nobody else', async () => {
    const asked = async (scope: string) =>
      (await server.get('/api/v1/triggers', { token: await tokenFor({ scope }) })).status;
    expect(await Promise.all(['workflows:read', 'triggers:manage', 'templates:read'].map(asked))).toEqual([
      200, 200, 403,
    ]);
  });
});
