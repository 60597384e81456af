// A token or key that is limited to some workflows, consumers, connections or task queues reaches nothing else.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { scopesOf } from '../../src/server/route.ts';
import { allRoutes } from '../../src/server/server.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const LIMITS = { workflows: ['mine', 'report-*'], consumers: ['erp'], connections: ['crm'], taskQueues: ['gpu'] };
let token: string;
const executions: Record<string, string> = {};

beforeAll(async () => {
  token = await tokenFor({ more: { pawl_limits: LIMITS } });
  for (const id of ['mine', 'report-daily', 'theirs']) {
    await server.pawl.publish(chain(id, echo('a')), { tenantId: 'acme' });
    executions[id] = (await server.pawl.start(id, { tenantId: 'acme' })).executionId;
  }
  for (const name of ['crm', 'bank']) {
    await server.post('/api/v1/connections', { name, connector: 'http', kind: 'token', token: 't' });
  }
  for (const code of ['erp', 'crm']) await server.post('/api/v1/consumers', { code, kind: 'pull', subscriptions: [] });
});

const ask = async (method: string, path: string, body?: JsonObject) =>
  (await server.ask(method as 'GET', path, { token, ...(body && { body }) })).status;

describe('a token that is limited by name', () => {
  it('a limited token runs, reads and cancels its own workflows', async () => {
    expect(await ask('POST', '/api/v1/workflows/mine/execute', {})).toBe(202);
    expect(await ask('POST', '/api/v1/workflows/report-daily/execute', {})).toBe(202);
    expect(await ask('GET', '/api/v1/workflows/mine')).toBe(200);
    expect(await ask('GET', `/api/v1/executions/${executions.mine}`)).toBe(200);
    expect(await ask('GET', `/api/v1/executions/${executions['report-daily']}/journal`)).toBe(200);
    expect(await ask('GET', '/api/v1/executions?workflowId=mine')).toBe(200);
    expect(await ask('GET', '/api/v1/session')).toBe(200);
  });

  it('a limited token reaches no other workflow and none of its executions', async () => {
    expect(await ask('POST', '/api/v1/workflows/theirs/execute', {})).toBe(403);
    expect(await ask('GET', '/api/v1/workflows/theirs')).toBe(403);
    expect(await ask('GET', '/api/v1/executions?workflowId=theirs')).toBe(403);
    expect(await ask('GET', '/api/v1/executions')).toBe(403);
    for (const rest of ['', '/journal', '/events', '/graph', '/nodes/a']) {
      expect([rest, await ask('GET', `/api/v1/executions/${executions.theirs}${rest}`)]).toEqual([rest, 403]);
    }
    expect(await ask('POST', `/api/v1/executions/${executions.theirs}/cancel`, {})).toBe(403);
    expect(await ask('GET', `/api/v1/executions/${crypto.randomUUID()}`)).toBe(404);
  });

  it('a limited token pulls and acknowledges for its own consumer only', async () => {
    const ack = (consumer: string) => ({ consumer, stage: 'Delivered' });
    expect(await ask('GET', '/api/v1/deliveries?consumer=erp')).toBe(200);
    expect(await ask('GET', '/api/v1/deliveries?consumer=crm')).toBe(403);
    expect(await ask('GET', '/api/v1/deliveries?stage=Dead')).toBe(403);
    const path = `/api/v1/deliveries/${crypto.randomUUID()}/ack`;
    expect(await ask('POST', path, ack('crm'))).toBe(403);
    expect(await ask('POST', path, ack('erp'))).not.toBe(403);
  });

  it('a limited token manages its own connection and works its own queue only', async () => {
    expect(await ask('GET', '/api/v1/connections/crm')).toBe(200);
    expect(await ask('PUT', '/api/v1/connections/crm', { token: 'new' })).toBe(200);
    for (const method of ['GET', 'DELETE']) expect(await ask(method, '/api/v1/connections/bank')).toBe(403);
    expect(await ask('PUT', '/api/v1/connections/bank', { token: 'x' })).toBe(403);
    const made = { name: 'crm-2', connector: 'http', kind: 'token', token: 't' };
    expect(await ask('POST', '/api/v1/connections', made)).toBe(403);
    expect(await ask('POST', '/api/v1/task-queues/gpu/poll', { worker: 'w' })).toBe(200);
    expect(await ask('POST', '/api/v1/task-queues/other/poll', { worker: 'w' })).toBe(403);
  });

  it('a limited token is refused by every route that names nothing in its limits', async () => {
    const stranger = await tokenFor({ more: { pawl_limits: { workflows: ['nothing-of-this-name'] } } });
    const parts = server.pawl as unknown as Parameters<typeof allRoutes>[0];
    const routes = allRoutes({ ...parts, publicUrl: () => server.url } as never, server.pawl.config as never);
    const guarded = routes.filter((route) => scopesOf(route).length > 0 && route.path !== '/mcp');
    expect(guarded.length).toBeGreaterThan(80);
    for (const { method, path } of guarded) {
      const at = path.replace(':executionId', executions.mine!).replace(/:\w+/g, crypto.randomUUID());
      const { status } = await server.ask(method as 'GET', at, {
        token: stranger,
        body: method === 'GET' ? undefined : {},
      } as never);
      // A route may report first what the request lacks. No request may succeed.
      expect([method, path, status >= 400 && status < 500]).toEqual([method, path, true]);
    }
  });

  it('a token whose limits cannot be read is refused', async () => {
    for (const limits of [{}, { workflows: [] }, { flows: ['a'] }, 'all', null]) {
      const odd = await tokenFor({ more: { pawl_limits: limits } });
      expect((await server.get('/api/v1/session', { token: odd })).status).toBe(401);
    }
  });
});

it('a key can be limited in the same way, and cannot create an unlimited key', async () => {
  const request = { name: 'narrow', scopes: ['admin', 'workflows:read'], limits: { workflows: ['mine'] } };
  const { body } = await server.post('/api/v1/admin/keys', request);
  const headers = { 'x-api-key': String(body.key), 'content-type': 'application/json' };
  const as = async (path: string, init: RequestInit = {}) =>
    (await fetch(server.url + path, { headers, ...init })).status;
  expect(await as('/api/v1/workflows/mine')).toBe(200);
  expect(await as('/api/v1/workflows/theirs')).toBe(403);
  const wider = JSON.stringify({ name: 'wide', scopes: ['admin'] });
  expect(await as('/api/v1/admin/keys', { method: 'POST', body: wider })).toBe(403);
  const { body: listed } = await server.get('/api/v1/admin/keys');
  expect(listed.data).toContainEqual(expect.objectContaining({ name: 'narrow', limits: { workflows: ['mine'] } }));
});
