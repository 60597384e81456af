// What a token does not allow: publishing through a run, and acting as another person.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
let runner: string;
beforeAll(async () => {
  runner = await tokenFor({ scope: ['workflows:execute', 'workflows:read', 'lifecycles:trigger'] });
});

const plan = (note: string, planId = 'nightly'): JsonObject => ({
  metadata: { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' },
  scope: { tenantId: 'acme', projectId: 'shop', environmentId: 'prod', repoSha: 'abc' },
  steps: [{ stepId: 'one', type: 'core.echo', inputs: { note }, timeout: '10s' }],
});

describe('a token that may execute and not manage', () => {
  it('a token without manage runs a published plan, and cannot change its current version', async () => {
    const first = await server.post('/api/v1/engine/runs', { plan: plan('one') });
    expect(first.status, JSON.stringify(first.body)).toBe(202);
    const refused = await server.post('/api/v1/engine/runs', { plan: plan('two') }, { token: runner });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect((await server.post('/api/v1/engine/runs', { plan: plan('one') }, { token: runner })).status).toBe(202);
    await server.post('/api/v1/engine/runs', { plan: plan('two') });
    expect((await server.post('/api/v1/engine/runs', { plan: plan('one') }, { token: runner })).status).toBe(202);
    const { body } = await server.get('/api/v1/workflows/nightly');
    expect(body.currentVersion).toBe(2);
  });

  it('a token without manage cannot run a plan that was never published', async () => {
    const unknown = plan('x', 'unknown');
    expect((await server.post('/api/v1/engine/runs', { plan: unknown }, { token: runner })).status).toBe(403);
    expect((await server.get('/api/v1/workflows/unknown')).status).toBe(404);
  });
});

describe('a token without principal:any', () => {
  it('a token without principal:any cannot change the name or e-mail of its subject', async () => {
    await server.pawl.publish(chain('who', echo('a')), { tenantId: 'acme' });
    const forged = { userId: 'ada', displayName: 'The Boss', email: 'boss@example.com' };
    const { status, body } = await server.post(
      '/api/v1/workflows/who/execute',
      { principal: forged },
      { token: runner },
    );
    expect(status).toBe(202);
    const execution = await server.get(`/api/v1/executions/${body.executionId as string}`);
    expect(execution.body.principal).toEqual({ userId: 'ada', displayName: 'ada', email: null });
  });

  it('a token without principal:any cannot name another actor of a lifecycle', async () => {
    const definition = {
      env: 'prod',
      name: 'order',
      initial: 'a',
      states: { a: {}, b: { final: true } },
      events: { go: {} },
      transitions: [{ from: 'a', on: 'go', to: 'b' }],
    };
    await server.post('/api/v1/lifecycles', { definition });
    const trigger = (actor?: string, token?: string) =>
      server.post(
        '/api/v1/lifecycles/prod/order/trigger',
        { externalRef: crypto.randomUUID(), event: 'go', requestId: crypto.randomUUID(), ...(actor && { actor }) },
        token === undefined ? {} : { token },
      );
    expect((await trigger('boss', runner)).status).toBe(403);
    expect((await trigger('ada', runner)).status).toBe(200);
    expect((await trigger(undefined, runner)).status).toBe(200);
    expect((await trigger('boss')).status).toBe(200);
  });
});
