// A second wall under tenants (S1). The statements of a tenant's request run under a role that sees only the rows of that tenant, by
// row-level security. A statement that forgets its tenant therefore leaks nothing. The owner of the tables is exempt, because the engine
// and the background services work for all tenants (docs/decisions/0026-row-level-security.md).

import { quoteIdentifier } from '../connection/settings.ts';
import type { Database } from './database.ts';

const unnamed = (text: string) => ({ name: '', text });

const POLICY = 'pawl_tenant';
const SHARED_POLICY = 'pawl_shared';
const TENANT = `current_setting('pawl.tenant')`;

/**
 * Whose a row is, by the first of these columns that its table has. Below tenant_id, the policy of the parent decides. `shared`: rows
 * of everybody, which a tenant reads and never writes: templates of the installation, and workers of its own processes.
 */
const OWNERS: readonly { readonly column: string; own(table: string): string; shared?(table: string): string }[] = [
  {
    column: 'tenant_id',
    own: (table) => `${table}.tenant_id = ${TENANT}`,
    shared: (table) => `coalesce(${table}.tenant_id, '') = ''`,
  },
  { column: 'execution_id', own: (table) => parentOf(table, 'workflow_executions', 'id', 'execution_id') },
  { column: 'instance_id', own: (table) => parentOf(table, 'lifecycle_instances', 'id', 'instance_id') },
  { column: 'definition_id', own: (table) => parentOf(table, 'lifecycle_definitions', 'id', 'definition_id') },
  {
    column: 'set_uid',
    own: (table) => parentOf(table, 'template_sets', 'uid', 'set_uid', ' and parent.tenant_id is not null'),
    shared: (table) => parentOf(table, 'template_sets', 'uid', 'set_uid', ' and parent.tenant_id is null'),
  },
  { column: 'ack_guid', own: (table) => parentOf(table, 'messages', 'ack_guid', 'ack_guid') },
];

const SHARED_TABLES = new Set(['template_sets', 'workflow_templates', 'task_queue_workers', 'template_definitions']);

const parentOf = (table: string, parent: string, key: string, column: string, also = ''): string =>
  `exists (select from ${parent} parent where parent.${key} = ${table}.${column}${also})`;

/**
 * Tables that are the installation's and have no rows of tenants, and what a request of a tenant may do with them. A new table either
 * has a column of OWNERS or stands here.
 */
export const INSTALLATION_TABLES: Readonly<Record<string, string>> = {
  action_catalog: 'select',
  commit_batches: '',
  connectors: 'select',
  engine_secrets: '',
  lifecycle_generation: 'select, insert, update',
  outbox_leadership: '',
  plugin_health: 'select',
  plugins: 'select',
  rate_buckets: 'select, insert, update',
  runner_leases: 'select',
  runner_slots: 'select',
  runners: 'select',
  schema_version: 'select',
};

/** Tables without a policy, with their columns. */
const OPEN_TABLES = `
  select c.relname as name, array_agg(a.attname::text) as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
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
    for (const table of await session.run<OpenTable>(unnamed(OPEN_TABLES), [])) {
      for (const text of policiesOf(table)) await run(text);
    }
    for (const { name } of await session.run<{ name: string }>(unnamed(OPEN_VIEWS), [])) {
      await run(`alter view ${quoteIdentifier(name)} set (security_invoker = true)`);
    }
    await run(`grant usage on schema ${schema} to ${role}`);
    await run(`grant select, insert, update, delete on all tables in schema ${schema} to ${role}`);
    for (const [name, rights] of Object.entries(INSTALLATION_TABLES)) {
      await run(`revoke all on ${quoteIdentifier(name)} from ${role}`);
      if (rights !== '') await run(`grant ${rights} on ${quoteIdentifier(name)} to ${role}`);
    }
    await run(`grant usage on all sequences in schema ${schema} to ${role}`);
  });
}

interface OpenTable {
  readonly name: string;
  readonly columns: readonly string[];
}

function policiesOf({ name, columns }: OpenTable): string[] {
  const owner = OWNERS.find(({ column }) => columns.includes(column));
  if (owner === undefined || INSTALLATION_TABLES[name] !== undefined) return [];
  const table = quoteIdentifier(name);
  const shared = SHARED_TABLES.has(name) ? owner.shared?.(table) : undefined;
  return [
    `create policy ${POLICY} on ${table} using (${owner.own(table)})`,
    ...(shared === undefined ? [] : [`create policy ${SHARED_POLICY} on ${table} for select using (${shared})`]),
    `alter table ${table} enable row level security`,
  ];
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
