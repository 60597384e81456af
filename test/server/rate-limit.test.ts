// Rate limits: a bucket per token and one per workflow, in the database, so that processes share them.

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer({
  rateLimit: {
    ...{ perTokenPerMinute: 1, perTokenBurst: 5, perWorkflowPerMinute: 2, perTenantStartsPerMinute: 10 },
    perTenantSignalsPerMinute: 2,
    ...{ readsPerTokenPerMinute: 1, readsPerTokenBurst: 5 },
  },
});

describe('rate limits', () => {
  it('rate limits let a burst through, then say when to come back; other callers are not affected', async () => {
    const token = await tokenFor({ subject: 'greedy' });
    const replies = [];
    for (let asked = 0; asked < 7; asked++) replies.push(await server.get('/api/v1/executions', { token }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
    expect(replies.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual([
      '4',
      '3',
      '2',
      '1',
      '0',
      '0',
      '0',
    ]);
    const [refused] = replies.slice(-1);
    expect(refused!.headers.get('x-ratelimit-limit')).toBe('5');
    expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThan(30);
    expect(refused!.body).toMatchObject({ error: { code: 'RATE_LIMITED' } });
    expect((await server.get('/health/ready', { token })).status).toBe(200);
    expect((await server.get('/api/v1/executions', { token: await tokenFor({ subject: 'patient' }) })).status).toBe(
      200,
    );
  });

  it('rate limits let no more through than the budget, however many ask at once', async () => {
    const token = await tokenFor({ subject: 'hurried' });
    const replies = await Promise.all(Array.from({ length: 20 }, () => server.get('/api/v1/executions', { token })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(5);
  });

  it('rate limits count the executions of a workflow, whoever starts them', async () => {
    await server.pawl.publish(chain('slow-down', echo('a')), { tenantId: 'acme' });
    const statuses = [];
    for (const subject of ['a', 'b', 'c']) {
      const reply = await server.post(
        '/api/v1/workflows/slow-down/execute',
        {},
        { token: await tokenFor({ subject }) },
      );
      statuses.push(reply.status);
      if (reply.status !== 429) continue;
      expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(1);
      // The workflow's budget is used up, not the caller's.
      expect(reply.headers.get('x-ratelimit-limit')).toBe('2');
      expect(reply.headers.get('x-ratelimit-remaining')).toBe('0');
      expect(reply.body).toMatchObject({ error: { details: { limit: 2, remaining: 0 } } });
    }
    expect(statuses).toEqual([202, 202, 429]);
  });

  it('rate limits do not apply to a repeated request that was accepted before', async () => {
    await server.pawl.publish(chain('repeated', echo('a')), { tenantId: 'acme' });
    const path = '/api/v1/workflows/repeated/execute';
    const ask = async (requestId: string, subject: string) =>
      (await server.post(path, { requestId }, { token: await tokenFor({ subject }) })).status;
    expect([await ask('once', 'd'), await ask('once', 'd'), await ask('once', 'd')]).toEqual([202, 200, 200]);
    expect([await ask('twice', 'e'), await ask('thrice', 'e'), await ask('once', 'e')]).toEqual([202, 429, 200]);
  });

  it('rate limits fill up again with time', async () => {
    const spend = () => server.pawl.store.rateSpend({ key: 'test', perSecond: 1_000, burst: 1 });
    expect(await spend()).toMatchObject({ allowed: true });
    await expect.poll(async () => (await spend()).allowed).toBe(true);
  });

  it('rate limits count reads of live paths that ask for no stream', async () => {
    const token = await tokenFor({ subject: 'watcher' });
    const replies = [];
    for (let asked = 0; asked < 6; asked++) replies.push(await server.get('/api/v1/live', { token }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  });

  it('rate limits count runs of a plan as executions, and the starts and signals of a tenant', async () => {
    const metadata = { planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' };
    const scope = { tenantId: 'limited', projectId: 'p', environmentId: 'prod', repoSha: 'x' };
    const steps = [{ stepId: 'a', type: 'core.echo', inputs: {}, timeout: '10s' }];
    const start = async (planId: string, subject: string) => {
      const token = await tokenFor({ subject, tenant: 'limited' });
      return server.post(
        '/api/v1/engine/runs',
        { plan: { metadata: { ...metadata, planId }, scope, steps } },
        { token },
      );
    };
    const replies = [await start('p1', 'a'), await start('p1', 'b'), await start('p1', 'c')];
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 429]);
    for (let other = 2; other < 10; other++) expect((await start(`p${other}`, `s${other}`)).status).toBe(202);
    const more = await start('p11', 'e');
    expect(more).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED', details: { limit: 10 } } } });
    expect(Number(more.headers.get('retry-after'))).toBeGreaterThan(1);
    const token = await tokenFor({ subject: 'f', tenant: 'limited' });
    const { executionId } = replies[0]!.body.engineRunRef as { executionId: string };
    const signal = () =>
      server.post(
        `/api/v1/executions/${executionId}/signals`,
        { signalId: randomUUID(), type: 'PAUSE', payload: {} },
        { token },
      );
    const sent = [await signal(), await signal(), await signal()];
    expect(sent.at(-1)).toMatchObject({ status: 429, body: { error: { details: { limit: 2 } } } });
  });
});
