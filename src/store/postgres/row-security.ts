// A second wall under tenants (S1). The statements of a tenant's request run under a role that sees only the rows of that tenant, by
// row-level security. A statement that forgets its tenant therefore leaks nothing. The owner of the tables is exempt, because the engine
// and the background services work for all tenants (docs/decisions/0026-row-level-security.md).

import { quoteIdentifier } from '../connection/settings.ts';
import type { Database } from './database.ts';

const unnamed = (text: string) => ({ name: '', text });

const POLICY = 'pawl_tenant';
const OF_TENANT = `tenant_id is null or tenant_id = current_setting('pawl.tenant')`;
/** The policy of workflow_executions decides. */
const OF_EXECUTION = 'exists (select from workflow_executions e where e.id = execution_id)';

/** Tables with rows of tenants that have no policy yet. */
const OPEN_TABLES = `
  select c.relname as name, bool_or(a.attname = 'tenant_id') as has_tenant
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname in ('tenant_id', 'execution_id') and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r'
    and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = '${POLICY}')
  group by c.relname order by c.relname`;

const OPEN_VIEWS = `
  select relname as name from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'v' and not coalesce('security_invoker=true' = any(reloptions), false)`;

/** Makes the role if it may, gives it its rights, and puts a policy on every table that has rows of tenants. Can be repeated. */
export async function secureRows(engine: Database, roleName: string): Promise<void> {
  const role = quoteIdentifier(roleName);
  await makeRole(engine, roleName, role);
  await engine.transaction(async (session) => {
    const run = (text: string) => session.run(unnamed(text), []);
    const [{ schema } = { schema: 'public' }] = await session.run<{ schema: string }>(
      unnamed('select quote_ident(current_schema()) as schema'),
      [],
    );
    for (const { name, hasTenant } of await session.run<{ name: string; hasTenant: boolean }>(
      unnamed(OPEN_TABLES),
      [],
    )) {
      const table = quoteIdentifier(name);
      await run(`create policy ${POLICY} on ${table} using (${hasTenant ? OF_TENANT : OF_EXECUTION})`);
      await run(`alter table ${table} enable row level security`);
    }
    for (const { name } of await session.run<{ name: string }>(unnamed(OPEN_VIEWS), [])) {
      await run(`alter view ${quoteIdentifier(name)} set (security_invoker = true)`);
    }
    await run(`grant usage on schema ${schema} to ${role}`);
    await run(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
    await run(`grant usage on all sequences in schema ${schema} to ${role}`);
  });
}

async function makeRole(engine: Database, roleName: string, role: string): Promise<void> {
  const known = `select pg_has_role(r.oid, 'member') as member from pg_roles r where r.rolname = $1`;
  const [found] = await engine.run<{ member: boolean }>(unnamed(known), [roleName]);
  try {
    if (found === undefined) await engine.run(unnamed(`create role ${role} nologin`), []);
    if (found?.member !== true) await engine.run(unnamed(`grant ${role} to current_user`), []);
  } catch (error) {
    const advice = `create role ${role} nologin; grant ${role} to <the role of DATABASE_URL>;`;
    throw new Error(
      `database.rowSecurity: this role may not make or use the role ${role}. Let an administrator run: ${advice}`,
      { cause: error },
    );
  }
}

/** What a transaction that works for a tenant begins with. */
export const wallSettings = (roleName: string, tenantId: string): Readonly<Record<string, string>> => ({
  'pawl.tenant': tenantId,
  role: roleName,
});
