// On a loose server nobody proves an identity: the tenant is the one that the request names, or the owner of the id in the path.

import { expect, it } from 'vitest';
import { chain, echo, useServer } from './api-server.ts';

const server = useServer({ auth: { allowLooseAuth: true }, trigger: { enableSchedules: false } });
const of = (tenant: string) => ({ token: null, headers: { 'x-tenant-id': tenant } });
const plan = {
  metadata: {
    planId: 'nightly',
    planVersion: '1',
    createdAt: '2026-02-22T10:00:00Z',
    createdBy: 'tests',
    schemaVersion: 'v1',
  },
  scope: { tenantId: 'zeta', projectId: 'p', environmentId: 'e', repoSha: 'abc' },
  steps: [{ stepId: 'one', type: 'core.echo', inputs: {}, timeout: '10s' }],
};

it('a run of a plan for another tenant is found at the URL in its answer', async () => {
  const { status, body } = await server.post(
    '/api/v1/engine/runs',
    { plan, context: { runId: 'n-1' } },
    { token: null },
  );
  expect(status).toBe(202);
  expect((await server.get(body.statusUrl as string, { token: null })).body).toMatchObject({ tenantId: 'zeta' });
  expect((await server.get('/engine/runs/n-1/debug', { token: null })).body).toMatchObject({ tenantId: 'zeta' });
  expect((await server.get(body.statusUrl as string, of('zeta'))).status).toBe(200);
  expect((await server.get(body.statusUrl as string, of('default'))).status).toBe(404);
  expect((await server.get(`${body.statusUrl}?tenantId=other`, { token: null })).status).toBe(404);
});

it('a runId of two tenants leads to the run of the default tenant first', async () => {
  const start = (tenantId: string) =>
    server.post(
      '/api/v1/engine/runs',
      { plan: { ...plan, scope: { ...plan.scope, tenantId } }, context: { runId: 'both' } },
      { token: null },
    );
  await start('default');
  await start('zeta');
  const shown = async (asked: Parameters<typeof server.get>[1]) =>
    (await server.get('/engine/runs/both/debug', asked)).body.tenantId;
  expect([await shown({ token: null }), await shown(of('zeta'))]).toEqual(['default', 'zeta']);
});

it('an execution started for another tenant is found at the URL in its answer', async () => {
  await server.pawl.publish(chain('theirs', echo('a')), { tenantId: 'acme' });
  const execute = '/api/v1/workflows/theirs/execute';
  expect((await server.post(execute, {}, { token: null })).status).toBe(404);
  const { status, body } = await server.post(execute, { tenantId: 'acme' }, { token: null });
  expect(status).toBe(202);
  expect((await server.get(body.statusUrl as string, { token: null })).body).toMatchObject({ tenantId: 'acme' });
});

it.each(['a:b', '.a', 'x'.repeat(101)])(
  'an invalid tenant name is refused with the rule, in header, body and query: %s',
  async (tenant) => {
    const rule = 'must be 1 to 100 letters, digits, ".", "_", "@" or "-", and begin with a letter or a digit';
    const inHeader = await server.get('/api/v1/workflows', of(tenant));
    expect(inHeader).toMatchObject({ status: 400, body: { error: { message: `X-Tenant-Id ${rule}` } } });
    for (const [path, body] of [
      ['/api/v1/events', { type: 'x', tenantId: tenant }],
      [`/api/v1/events?tenantId=${tenant}`, { type: 'x' }],
    ] as const) {
      const { status, body: refusal } = await server.post(path, body, { token: null });
      expect({ path, status, refusal }).toMatchObject({
        path,
        status: 400,
        refusal: { error: { message: `/tenantId ${rule}` } },
      });
    }
    expect((await server.get('/api/v1/workflows', of('a@b'))).status).toBe(200);
  },
);
