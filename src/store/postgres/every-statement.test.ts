// Every named statement, with statistics of empty and of tiny tables while the tables are full: it may touch only a small multiple of the
// pages that it touches with good statistics. Tables and parameters are filled by their types, so that a new statement is asked
// too; statistics.test.ts asks the hot ones with values of their own. Counted are buffers, never times.

import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { ENGINE_SETTINGS } from './database.ts';
import { STATEMENTS, statement } from './statement.ts';

const ROWS = 10_000;
const MOST_TIMES = 5;
/** A few pages more or less are no matter. */
const FREE_BUFFERS = 60;

const MADE_UP = 'values that are made up break a rule of its table, or are not of its form';
/** Statements that are not held to it, and why. */
const EXCUSED: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [
      ...['api_key_create', 'audit_add', 'artifact_begin', 'bulk_create', 'connection_add', 'lifecycle_rows_add'],
      ...['session_settings', 'usage_add', 'execution_stats_add', 'action_stats_add', 'failure_groups_add'],
      ...['attempt_queue_take', 'connector_upsert', 'action_upsert', 'outbox_tell'],
    ].map((name) => [name, MADE_UP]),
  ),
  bulk_claim: 'looks at all bulk actions that run, of which there are never thousands',
  pipeline_triggers_move: 'goes through the triggers of the tenant at worst',
};

/** Made by hand, or by migrations: never large. */
const SMALL = new Set([
  ...['schema_version', 'runners', 'runner_slots', 'runner_leases', 'lifecycle_generation', 'outbox_leadership'],
  ...['connectors', 'action_catalog', 'engine_secrets'],
]);

const uuid = (n: string) => `('00000000-0000-7000-8001-' || lpad((${n})::text, 12, '0'))::uuid`;
/** What is not as the type says. */
const COLUMNS: Readonly<Record<string, string>> = {
  'execution_queue.state': 'case when n <= 1000 then 1 when n <= 2000 then 0 else 2 end',
  'execution_queue.runner_id': 'case when n <= 1000 then 1 end',
  'execution_queue.due_at': 'case when n > 2000 then now() + make_interval(secs => n) end',
  'execution_outcomes.status': `case when n % 100 = 0 then 'Failed' else 'Succeeded' end`,
  'workflow_executions.parent_id': `case when n % 5 = 0 then ${uuid('n / 5')} end`,
  'workflow_executions.parent_node': `case when n % 5 = 0 then 'a' end`,
  'workflow_executions.request_id': `'q' || n`,
  'workflows.id': `'w' || n`,
  'workflows.current_version': '1',
  'workflow_definitions.workflow_id': `'w' || n`,
  'deliveries.consumer_id': 'n % 50 + 1',
  'deliveries.stage': 'case when n % 3 = 0 then 0 when n % 100 = 1 then 4 else 2 end',
  'deliveries.next_attempt_at': 'case when n % 3 = 0 then now() + make_interval(secs => n) end',
  'lifecycle_timeline.request_id': `'q' || n`,
  'lifecycle_instances.definition_id': 'n % 20 + 1',
  'trigger_firings.trigger_id': uuid('n % 100'),
  'audit_log.seq': 'n',
  'tenant_quotas.tenant_id': `'t' || n`,
  'tenant_usage.tenant_id': `'t' || n`,
  'tenant_usage.month': `'2030-01-01'`,
  'rate_buckets.tokens': '1',
};
const ONES = new Set(['version', 'attempt', 'grain', 'priority', 'seq']);

interface Column {
  table: string;
  name: string;
  type: string;
  isNeeded: boolean;
}

function fillOf({ table, name, type }: Column): string {
  const own = COLUMNS[`${table}.${name}`];
  if (own !== undefined) return own;
  if (name === 'tenant_id') return `'t' || n % 50`;
  if (name === 'workflow_id') return `'w' || n % 1000`;
  if (type === 'uuid') return uuid('n');
  if (type === 'text') return `'x' || n`;
  if (type === 'smallint' || ONES.has(name)) return '1';
  if (type === 'integer' || type === 'bigint') return 'n';
  if (type.startsWith('timestamp')) return 'now() - make_interval(secs => n)';
  if (type === 'boolean') return 'false';
  if (type === 'bytea') return `decode(md5(n::text), 'hex')`;
  return type === 'uuid[]' ? `array[${uuid('n')}]` : `'{}'`;
}

let database: TestDatabase;
let client: pg.Client;
let columns: Map<string, Column[]>;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query('set session_replication_role = replica');
  for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) await client.query(`set ${setting} = '${value}'`);
  // What is made up need not make sense.
  const { rows: rules } = await client.query<{ table: string; rule: string }>(
    `select conrelid::regclass::text as table, conname as rule from pg_constraint where contype = 'c' and conrelid <> 0
       and connamespace = current_schema()::regnamespace`,
  );
  for (const { table, rule } of rules) await client.query(`alter table ${table} drop constraint ${rule}`);
  const { rows } = await client.query<Column>(
    `select c.relname as table, a.attname as name, format_type(a.atttypid, null) as type,
       a.attnotnull and not a.atthasdef and a.attidentity = '' as "isNeeded"
     from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
     order by c.relname, a.attnum`,
  );
  const wanted = rows.filter(
    ({ table, name, isNeeded }) => !SMALL.has(table) && (isNeeded || COLUMNS[`${table}.${name}`] !== undefined),
  );
  columns = Map.groupBy(wanted, ({ table }) => table);
  for (const table of columns.keys()) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await client.query(`insert into runners (name) values ('r')`);
  await client.query('insert into runner_slots (runner_id) select id from runners');
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

async function fill(from: number, to: number): Promise<void> {
  for (const [table, its] of columns) {
    const names = its.map(({ name }) => name).join(', ');
    const values = its.map((column) => `(${fillOf(column)})::${column.type}`).join(', ');
    const rows = `select ${values} from generate_series(${from}, ${to}) n`;
    await client.query(`insert into ${table} (${names}) overriding system value ${rows}`);
  }
}

async function forEachTable(what: (table: string) => string): Promise<void> {
  for (const table of columns.keys()) await client.query(what(table));
}

function parameter(type: string, place: number): string {
  const base = type.replace('[]', '');
  const one = (n: number): string => {
    if (base === 'uuid') return `00000000-0000-7000-8001-${String(n * 10 + 7).padStart(12, '0')}`;
    if (base === 'text') return place === 0 ? 't7' : 'x7';
    if (base === 'boolean') return 'false';
    if (base === 'bytea') return '\\x00';
    if (base === 'interval') return '1 hour';
    if (base.startsWith('json')) return '{}';
    return base.startsWith('timestamp') ? '2030-01-01' : base === 'smallint' ? '1' : '10';
  };
  if (!type.endsWith('[]')) return `'${one(10)}'`;
  return `'{${Array.from({ length: 10 }, (_, n) => JSON.stringify(one(n))).join(',')}}'`;
}

/** Of the generic plan, in a transaction that is undone. */
async function buffersOf(name: string): Promise<number> {
  await client.query('begin');
  try {
    await client.query(`prepare asked as ${statement(name).text}`);
    const types = `select parameter_types::text[] as types from pg_prepared_statements where name = 'asked'`;
    const { rows: known } = await client.query<{ types: string[] }>(types);
    const given = known[0]!.types.map(parameter).join(', ');
    const { rows } = await client.query(
      `explain (analyze, buffers, timing off, format json) execute asked${given === '' ? '' : `(${given})`}`,
    );
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

async function measured(): Promise<Map<string, number>> {
  const buffers = new Map<string, number>();
  for (const name of STATEMENTS.keys()) if (EXCUSED[name] === undefined) buffers.set(name, await buffersOf(name));
  return buffers;
}

it('a statement reads hardly more pages with statistics of empty or tiny tables than of full ones', async () => {
  const asOf = new Map<string, Map<string, number>>();
  for (const [what, rows] of [
    ['empty', 0],
    ['tiny', 3],
  ] as const) {
    await forEachTable((table) => `truncate ${table} cascade`);
    await fill(1, rows);
    await forEachTable((table) => `analyze ${table}`);
    await fill(rows + 1, ROWS);
    asOf.set(what, await measured());
  }
  await forEachTable((table) => `analyze ${table}`);
  const excessive: string[] = [];
  for (const [name, full] of await measured()) {
    for (const [what, then] of asOf) {
      const touched = then.get(name)!;
      if (touched > full * MOST_TIMES + FREE_BUFFERS) excessive.push(`${name}, ${what}: ${touched} instead of ${full}`);
    }
  }
  expect(excessive).toEqual([]);
});
