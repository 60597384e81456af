// S1, the second wall: with `database.rowSecurity`, a statement that forgets its tenant shows nothing of other tenants.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openReadDatabase } from '../../src/store/postgres/database.ts';
import { INSTALLATION_TABLES } from '../../src/store/postgres/row-security.ts';
import { inTenant } from '../../src/store/tenant-scope.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const ROLE = 'pawl_walled';
const server = useServer({ database: { rowSecurity: ROLE } });
const TENANTS = ['acme', 'other'];
const FORGETFUL = [
  'workflows',
  'workflow_definitions',
  'workflow_executions',
  'execution_events',
  'action_executions',
  'execution_outcomes',
  'executions_view',
  'template_sets',
  'template_definitions',
  'consumers',
  'messages',
  'deliveries',
  'deliveries_view',
  'lifecycle_definitions',
  'lifecycle_versions',
  'lifecycle_states',
  'lifecycle_events',
  'lifecycle_transitions',
  'lifecycle_instances',
  'lifecycle_timeline',
  'lifecycle_timeline_view',
  'workflow_triggers',
  'workflow_templates',
  'secrets',
  'api_keys',
  'audit_log',
];
const LIFECYCLE = {
  env: 'prod',
  name: 'mine',
  initial: 'a',
  states: { a: {}, b: { final: true } },
  events: { go: {} },
  transitions: [{ from: 'a', on: 'go', to: 'b' }],
};

/** Creates a row of every kind through the API. */
async function fill(token: string): Promise<void> {
  const made: [method: string, path: string, body: unknown][] = [
    ['PUT', '/templates/sets/mine', { displayName: 'Mine', team: 'x' }],
    ['POST', '/templates/mine/mine', { displayName: 'Mine', bodyTemplate: 'mine' }],
    ['POST', '/templates/workflows', WORKFLOW_TEMPLATE],
    ['POST', '/lifecycles', { definition: LIFECYCLE }],
    ['POST', '/consumers', { code: 'mine', kind: 'pull', subscriptions: [{ env: 'prod' }] }],
    ['POST', '/lifecycles/prod/mine/trigger', { externalRef: 'mine', event: 'go', requestId: 'r' }],
    ['POST', '/triggers', { workflowId: 'mine', triggerType: 'Manual' }],
    ['PUT', '/secrets/mine', { value: 'secret' }],
    ['POST', '/admin/keys', { name: 'mine', scopes: ['workflows:read'] }],
  ];
  for (const [method, path, body] of made) {
    const { status } = await server.ask(method, `/api/v1${path}`, { token, body });
    expect({
      path,
      isMade: status === 200 || status === 201 || status === 202 || status === 204,
      status,
    }).toMatchObject({ isMade: true });
  }
}
const WORKFLOW_TEMPLATE = {
  ...{ id: 'mine', displayName: 'Mine', description: 'Mine', category: 'x', configSchema: {} },
  definition: chain('mine', echo('a')),
};

let reads: Database;
const countOf = async (table: string): Promise<number> => {
  const text = `select count(*)::int as count from ${table}`;
  return (await reads.run<{ count: number }>({ name: '', text }, []))[0]!.count;
};

beforeAll(async () => {
  const { connectionString } = server.database;
  const common = { schema: 'public', maxConnections: 2, applicationName: 'test', queryTimeoutMs: 10_000 };
  reads = openReadDatabase({ ...common, connectionString, rowSecurity: ROLE });
});
afterAll(() => reads?.close());

describe('a request of a tenant under row-level security', () => {
  it('a request under row-level security works without the role System', async () => {
    for (const tenant of TENANTS) {
      const token = await tokenFor({ tenant, roles: ['Admin'] });
      const created = await server.post('/api/v1/workflows', chain('mine', echo('a')), { token });
      const published = await server.post('/api/v1/workflows/mine/publish', {}, { token });
      const started = await server.post('/api/v1/workflows/mine/execute', {}, { token });
      expect([created.status, published.status, started.status]).toEqual([201, 200, 202]);
      const id = String(started.body.executionId);
      await server.pawl.result(id, { tenantId: tenant });
      await fill(token);
      const path = `/api/v1/executions/${id}`;
      expect(await server.get(`${path}?include=actions`, { token })).toMatchObject({
        status: 200,
        body: { status: 'Succeeded' },
      });
      for (const also of [
        `${path}/journal`,
        `${path}/graph`,
        '/api/v1/executions',
        '/api/v1/admin/audit',
        '/api/v1/stats',
        '/api/v1/failures',
        '/api/v1/deliveries?consumer=mine',
        '/api/v1/lifecycles/prod/mine/instances/mine',
        '/api/v1/templates/mine/mine',
        '/metrics',
      ]) {
        expect([also, (await server.get(also, { token })).status]).toEqual([also, 200]);
      }
    }
  });

  it('a request under row-level security sees the health of the whole installation', async () => {
    const token = await tokenFor({ roles: ['Admin'] });
    expect((await server.get('/engine/health/detailed', { token })).body).toMatchObject({ status: 'healthy' });
  });

  it('a statement without a tenant condition sees the rows of its own tenant only', async () => {
    for (const table of FORGETFUL) {
      const shared = await inTenant('nobody', () => countOf(table), true);
      const all = (await countOf(table)) - shared;
      const seen = await Promise.all(
        TENANTS.map((tenant) => inTenant(tenant, async () => (await countOf(table)) - shared, true)),
      );
      expect([table, seen.reduce((sum, count) => sum + count, 0)]).toEqual([table, all]);
      expect([table, seen.every((count) => count > 0)]).toEqual([table, true]);
      if (table !== 'workflow_templates') expect([table, shared]).toEqual([table, 0]);
    }
  });

  it('a shared query finds executions of other tenants under row-level security', async () => {
    const text = 'select id from workflow_executions order by id';
    const executionIds = (await reads.run<{ id: string }>({ name: '', text }, [])).map(({ id }) => id);
    expect(executionIds).toHaveLength(2);
    const { store } = server.pawl;
    const asAcme = <Result>(work: () => Promise<Result>) => inTenant('acme', work, true);
    expect((await asAcme(() => store.executionEnded({ executionIds }))).sort()).toEqual(executionIds);
    expect(await asAcme(() => store.executionHeads({ executionIds }))).toHaveLength(2);
  });

  it('a request under row-level security writes no row of another tenant', async () => {
    const text = `update workflows set display_name = 'taken over' where id = 'mine' returning tenant_id`;
    const taken = () => reads.run<{ tenantId: string }>({ name: '', text }, []);
    expect(await inTenant('acme', taken, true)).toEqual([{ tenantId: 'acme' }]);
    const foreign = `update workflows set tenant_id = 'other' where id = 'mine'`;
    await expect(inTenant('acme', () => reads.run({ name: '', text: foreign }, []), true)).rejects.toThrow(/row-level/);
  });

  it('every table has a row policy, except the tables of the installation', async () => {
    const text = `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relrowsecurity order by 1`;
    const open = await reads.run<{ name: string }>({ name: '', text }, []);
    expect(open.map(({ name }) => name)).toEqual(Object.keys(INSTALLATION_TABLES).sort());
  });

  it('a request under row-level security reads shared templates and cannot change them', async () => {
    const change = (table: string, where: string) => async () => {
      const text = `with changed as (update ${table} set display_name = 'taken over' where ${where} returning 1) select count(*)::int from changed`;
      return (await reads.run<{ count: number }>({ name: '', text }, []))[0]!.count;
    };
    const all = await countOf('workflow_templates where tenant_id is null');
    expect(all).toBeGreaterThan(0);
    expect(await inTenant('nobody', () => countOf('workflow_templates'), true)).toBe(all);
    expect(await inTenant('acme', change('workflow_templates', 'tenant_id is null'), true)).toBe(0);
    expect(await change('workflow_templates', 'tenant_id is null')()).toBe(all);
  });

  it('a request under row-level security cannot read the keys of the engine', async () => {
    await expect(inTenant('acme', () => countOf('engine_secrets'), true)).rejects.toThrow(/permission denied/);
  });
});
