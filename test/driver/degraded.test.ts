// Degraded mode with a real Temporal behind a proxy: what a client is told while Temporal is away or slow, and that every
// accepted execution goes on afterwards. Also with two Conductor servers, one of which is away.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../engine/engine-under-test.ts';
import { chain, echo, useServer } from '../server/api-server.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { startTemporal, type TestServer, temporalMissing } from './temporal-server.ts';

const proxy: TcpProxy | null = temporalMissing === null ? await startTcpProxy() : null;
const address = `127.0.0.1:${proxy?.port ?? 1}`;
// Two installations on one Temporal need namespaces of their own.
const temporal = (namespaceTemplate: string) => ({ temporal: { address, namespaceTemplate } });

describe.skipIf(proxy === null)('Temporal behind a proxy', { timeout: 240_000 }, () => {
  let engine: TestServer;
  const rejecting = useServer({ driver: { default: 'temporal', whenDown: 'reject' }, ...temporal('rejecting') });
  const queueing = useServer({ driver: { default: 'temporal' }, ...temporal('queueing') });
  const away = () => proxy!.target(null);
  const back = () => proxy!.target(Number(engine.address.split(':')[1]));
  const start = (server: typeof rejecting) => server.post('/api/v1/workflows/one/execute', { trigger: {} });
  const health = async (server: typeof rejecting) => (await server.get('/engine/health/detailed')).body;
  const statusOf = async (server: typeof rejecting, id: unknown) =>
    (await server.get(`/api/v1/executions/${String(id)}`)).body.status;

  beforeAll(async () => {
    engine = await startTemporal();
    for (const { pawl } of [rejecting, queueing]) {
      await pawl.publish(chain('one', echo('a'), echo('b')), { tenantId: 'acme' });
    }
  }, 120_000);
  afterAll(async () => {
    await proxy!.close();
    await engine.stop();
  });

  test('new executions get 503 while Temporal is away, with a longer Retry-After each time, or stay Pending', async () => {
    // Temporal was away when both processes started.
    await eventually(async () => (await start(rejecting)).status).toBe(503);
    const refusals = [await start(rejecting), await start(rejecting)];
    const waits = refusals.map(({ headers }) => Number(headers.get('retry-after')));
    expect(waits[1]).toBeGreaterThan(waits[0]!);
    expect(refusals[0]!.body).toMatchObject({ error: { code: 'ENGINE_UNAVAILABLE' } });
    expect(JSON.stringify(refusals[0]!.body)).toContain('temporal does not answer');
    const { status, body } = await start(queueing);
    expect(status).toBe(202);
    expect(await statusOf(queueing, body.executionId)).toBe('Pending');
    const why = async () => (await queueing.get(`/api/v1/executions/${String(body.executionId)}`)).body.engineError;
    await eventually(why).toMatch(/Temporal .*does not answer/);
    const sick = await health(queueing);
    expect(sick).toMatchObject({ status: 'degraded', checks: { temporal: { namespace: 'queueing' } } });
    expect(JSON.stringify(sick.reasons)).toMatch(/Temporal .*does not answer/);

    back();
    await eventually(() => statusOf(queueing, body.executionId)).toBe('Succeeded');
    await eventually(async () => (await start(rejecting)).status).toBe(202);
    await eventually(async () => (await health(rejecting)).status).toBe('healthy');
    expect(await health(rejecting)).toMatchObject({
      checks: { temporal: { namespace: 'rejecting', workflowCount: expect.any(Number) } },
    });
    away();
    await eventually(async () => (await start(rejecting)).status).toBe(503);
    back();
  });

  test('new executions are refused with 503 while starting a run takes more than five seconds', async () => {
    proxy!.delay(5_200);
    const accepted = await Promise.all(Array.from({ length: 8 }, () => start(queueing)));
    await eventually(async () => JSON.stringify(await health(queueing))).toContain('startLatencyP95Ms":5');
    const refusal = await start(queueing);
    expect(refusal.status).toBe(503);
    expect(JSON.stringify(refusal.body)).toContain('takes more than five seconds to start a run');
    proxy!.delay(0);
    for (const { body } of accepted) await eventually(() => statusOf(queueing, body.executionId)).toBe('Succeeded');
  });
});

describe('two Conductor servers, one of them away', () => {
  /** This server only has to answer health checks: the runs that it is given wait. */
  const healthy = createServer(({ url }, response) => {
    response.writeHead(url === '/health' ? 200 : 503, { 'content-type': 'application/json' }).end('{"healthy":true}');
  }).listen(0, '127.0.0.1');
  const listening = once(healthy, 'listening');
  const instances: Record<string, string> = {};
  beforeAll(async () => {
    await listening;
    instances.eu = `http://127.0.0.1:${(healthy.address() as AddressInfo).port}`;
  });
  const server = useServer({
    driver: { default: 'conductor', whenDown: 'reject' },
    conductor: { url: 'http://127.0.0.1:1', instances, byEnvironment: { staging: 'eu' } },
  });
  afterAll(() => {
    healthy.closeAllConnections();
    healthy.close();
  });

  test('only executions of the environments of the server that is away are refused', async () => {
    await server.pawl.publish(chain('one', echo('a')), { tenantId: 'acme' });
    const start = (environmentId: string) =>
      server.post('/api/v1/workflows/one/execute', { trigger: {}, environmentId });
    await eventually(async () => (await start('default')).status).toBe(503);
    expect((await start('staging')).status).toBe(202);
    const refused = await start('default');
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'ENGINE_UNAVAILABLE' } } });
    expect((await server.get('/engine/health/detailed')).body).toMatchObject({ status: 'degraded' });
  });
});
