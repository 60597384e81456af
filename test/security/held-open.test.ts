// Streams and long polls end when the credential that opened them ends.

import { SignJWT } from 'jose';
import { expect, it } from 'vitest';
import { SCOPES } from '../../src/protocol/scope.ts';
import { createApiKey, revokeApiKey } from '../../src/server/auth/api-key.ts';
import { AUDIENCE, chain, ISSUER, SECRET, sleep, useServer } from '../server/api-server.ts';

const server = useServer({ auth: { secret: SECRET, issuer: ISSUER, audience: AUDIENCE, clockToleranceSeconds: 0 } });

async function longExecution(): Promise<string> {
  await server.pawl.publish(chain('long', sleep('a', 3_600_000)), { tenantId: 'acme' });
  const { body } = await server.post('/api/v1/workflows/long/execute', {});
  return body.executionId as string;
}

const follow = (executionId: string, headers: Record<string, string>) =>
  fetch(`${server.url}/api/v1/executions/${executionId}/events`, {
    headers: { accept: 'text/event-stream', ...headers },
  });

it('a stream opened with a key ends when the key is revoked', async () => {
  const executionId = await longExecution();
  const { store } = server.pawl;
  const grant = { tenantId: 'acme', name: 'reader', scopes: ['workflows:read'] as const, roles: [], expiresAt: null };
  const { id, key } = await createApiKey(store, grant);
  const stream = await follow(executionId, { 'x-api-key': key });
  expect(stream.status).toBe(200);
  expect(await revokeApiKey(store, { tenantId: 'acme', id })).toBe(true);
  const text = await stream.text();
  expect(text).toContain('following');
  expect(text).not.toContain('event: end');
  expect((await follow(executionId, { 'x-api-key': key })).status).toBe(401);
});

it('a stream and a long poll opened with a token end when the token expires', async () => {
  const executionId = await longExecution();
  await server.post('/api/v1/consumers', { code: 'puller', kind: 'pull', subscriptions: [{ env: 'prod' }] });
  const token = await new SignJWT({ tenant_id: 'acme', scope: SCOPES.join(' '), roles: [] })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject('ada')
    .setExpirationTime('3s')
    .sign(new TextEncoder().encode(SECRET));
  const headers = { authorization: `Bearer ${token}` };
  const poll = fetch(`${server.url}/api/v1/deliveries?consumer=puller&wait=60s`, { headers });
  const stream = await follow(executionId, headers);
  expect(stream.status).toBe(200);
  expect(await stream.text()).not.toContain('event: end');
  expect([200, 401]).toContain((await poll).status);
  expect((await follow(executionId, headers)).status).toBe(401);
});
