// I22: an execution with waiting attempts says that they wait, and whether its own tenant holds the places.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer({ engine: { maxParallelActions: 2, pollMs: 50, drainMs: 100 } });
const silent = createServer(() => {}).listen(0, '127.0.0.1');
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

it('an execution without places learns that its own tenant holds them, and a neighbour runs', async () => {
  const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
  const calls = Array.from({ length: 6 }, (_, index) => ({
    ...{ id: `n${index}`, actionType: 'http.request', parameters: { url } },
    policies: { timeoutMs: 3_600_000 },
  }));
  const begin = { ...echo('begin'), edges: calls.map(({ id }) => ({ targetNode: id })) };
  const fan = { id: 'fan', displayName: 'Fan', startNode: 'begin', nodes: [begin, ...calls] };
  await server.pawl.publish(fan, { tenantId: 'acme' });
  const { body } = await server.post('/api/v1/workflows/fan/execute', {});
  const path = `/api/v1/executions/${body.executionId as string}`;
  await expect
    .poll(async () => (await server.get(path)).body.waitingForPlace, { timeout: 20_000 })
    .toMatchObject({ attempts: 4, heldByTenant: 2, places: 2 });
  const token = await tokenFor({ tenant: 'neighbour', roles: [] });
  await server.pawl.publish(chain('quick', echo('a')), { tenantId: 'neighbour' });
  const quick = await server.post('/api/v1/workflows/quick/execute', {}, { token });
  const id = quick.body.executionId as string;
  expect(await server.pawl.result(id, { tenantId: 'neighbour' })).toMatchObject({ status: 'Succeeded' });
  expect((await server.get(`/api/v1/executions/${id}`, { token })).body.waitingForPlace).toBeUndefined();
  await server.post(`${path}/cancel`, { reason: 'over' });
});
