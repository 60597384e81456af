// S1, the second wall: with `database.rowSecurity`, a statement that forgets its tenant shows nothing of the others.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openReadDatabase } from '../../src/store/postgres/database.ts';
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
];

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
  it('does everything it did, without the role System', async () => {
    for (const tenant of TENANTS) {
      const token = await tokenFor({ tenant, roles: ['Admin'] });
      const created = await server.post('/api/v1/workflows', chain('mine', echo('a')), { token });
      const published = await server.post('/api/v1/workflows/mine/publish', {}, { token });
      const started = await server.post('/api/v1/workflows/mine/execute', {}, { token });
      expect([created.status, published.status, started.status]).toEqual([201, 200, 202]);
      const id = String(started.body.executionId);
      await server.pawl.result(id, { tenantId: tenant });
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
      ]) {
        expect([also, (await server.get(also, { token })).status]).toEqual([also, 200]);
      }
    }
  });

  it('sees its own rows where a statement forgets the tenant, and a tenant without any sees none', async () => {
    for (const table of FORGETFUL) {
      const all = await countOf(table);
      const seen = await Promise.all(TENANTS.map((tenant) => inTenant(tenant, () => countOf(table), true)));
      expect([table, seen.reduce((sum, count) => sum + count, 0)]).toEqual([table, all]);
      expect([table, seen.every((count) => count > 0)]).toEqual([table, true]);
      expect([table, await inTenant('nobody', () => countOf(table), true)]).toEqual([table, 0]);
    }
  });

  it('writes no row of another tenant', async () => {
    const text = `update workflows set display_name = 'taken over' where id = 'mine' returning tenant_id`;
    const taken = () => reads.run<{ tenantId: string }>({ name: '', text }, []);
    expect(await inTenant('acme', taken, true)).toEqual([{ tenantId: 'acme' }]);
    const foreign = `update workflows set tenant_id = 'other' where id = 'mine'`;
    await expect(inTenant('acme', () => reads.run({ name: '', text: foreign }, []), true)).rejects.toThrow(/row-level/);
  });

  it('finds a policy on every table that has rows of tenants', async () => {
    const text = `select c.relname as name from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname in ('tenant_id', 'execution_id') and not a.attisdropped)`;
    expect(await reads.run<{ name: string }>({ name: '', text }, [])).toEqual([]);
  });
});
