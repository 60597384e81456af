// Moves a database's schema up or down, one transaction per migration, each under an advisory lock that ends with it: of many
// processes that start at once, one migrates and the others wait. Nothing here belongs to a session, so it works through a
// transaction pooler too. When nothing is pending, nothing is created, locked or written, so a role without DDL rights can start.
// Down refuses to lose rows unless it is forced.

import type pg from 'pg';
import { Address } from '../connection/address.ts';
import { quoteIdentifier } from '../connection/settings.ts';
import { type Migration, readMigrations } from './migration-file.ts';

export interface MigrateOptions {
  connectionString: string;
  schema?: string;
  migrations?: readonly Migration[];
  /** Called when another process is migrating, with its name. */
  onWaiting?: ((holder: string) => void) | undefined;
  /** Ends the waiting. */
  signal?: AbortSignal | undefined;
}

export interface MigrationState {
  version: number;
  name: string;
  appliedAt: Date | null;
  /** `changed`: the file is not the one that was applied. `unknown`: the database is newer than this program. */
  state: 'applied' | 'pending' | 'changed' | 'unknown';
}

/** Any constant that nothing else in the database uses. */
const LOCK_KEY = 7_296_150_411;

const TELL_AFTER_MS = 2_000;

const CREATE_VERSION_TABLE = `create table schema_version (
  version int not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  constraint schema_version_pkey primary key (version)
)`;

export async function migrateUp(options: MigrateOptions): Promise<{ applied: string[] }> {
  return connected(options, async (client, migrations) => {
    const applied: string[] = [];
    const pending = () => nextPending(client, options, migrations);
    while ((await pending()) !== null) {
      await underLock(client, options, async () => {
        // Another process may have been faster.
        const migration = await pending();
        if (migration === null) return;
        await prepareSchema(client, options);
        await client.query(migration.up);
        await client.query('insert into schema_version (version, name, checksum) values ($1, $2, $3)', [
          migration.version,
          migration.name,
          migration.checksum,
        ]);
        applied.push(label(migration));
      });
    }
    return { applied };
  });
}

async function nextPending(
  client: pg.Client,
  options: MigrateOptions,
  migrations: readonly Migration[],
): Promise<Migration | null> {
  const states = await readStates(client, options, migrations);
  refuseChanged(states);
  const next = states.find(({ state }) => state === 'pending');
  return migrations.find(({ version }) => version === next?.version) ?? null;
}

/** Undoes everything above version `to`, newest first. `force`: even if rows are lost with their tables or columns. */
export async function migrateDown(
  options: MigrateOptions & { to: number; force?: boolean },
): Promise<{ undone: string[] }> {
  return connected(options, async (client, migrations) => {
    const undone: string[] = [];
    for (const migration of migrations.toReversed()) {
      if (migration.version <= options.to) continue;
      await underLock(client, options, async () => {
        const states = await readStates(client, options, migrations);
        refuseUnknown(states, options.to);
        if (states.find(({ version }) => version === migration.version)?.state === 'pending') return;
        await undo(client, migration, { force: options.force ?? false, undone });
        undone.push(label(migration));
      });
    }
    return { undone };
  });
}

export async function migrationStatus(options: MigrateOptions): Promise<MigrationState[]> {
  return connected(options, (client, migrations) => readStates(client, options, migrations));
}

interface UndoOptions {
  readonly force: boolean;
  /** What stays undone, whatever becomes of this one. */
  readonly undone: readonly string[];
}

async function undo(client: pg.Client, migration: Migration, { force, undone }: UndoOptions): Promise<void> {
  const before = force ? [] : await takeInventory(client);
  await client.query(migration.down);
  await client.query('delete from schema_version where version = $1', [migration.version]);
  const losses = force ? [] : findLosses(before, await takeInventory(client));
  if (losses.length > 0) {
    const sofar =
      undone.length === 0 ? 'Nothing was changed.' : `Undone before it: ${undone.join(', ')}; no more than that.`;
    throw new Error(
      `Undoing ${label(migration)} would lose data in ${losses.join(', ')}. ${sofar} Back up first, then force it.`,
    );
  }
}

/** Reads the catalog, because to_regclass may still answer from before the lock. */
async function hasVersionTable(client: pg.Client, schema: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relname = 'schema_version'`,
    [schema],
  );
  return rowCount !== 0;
}

/** By its full name: outside our own transactions the search_path is unknown. */
async function readStates(
  client: pg.Client,
  { schema = 'public' }: MigrateOptions,
  migrations: readonly Migration[],
): Promise<MigrationState[]> {
  const table = `${quoteIdentifier(schema)}.schema_version`;
  const recorded = (await hasVersionTable(client, schema))
    ? (await client.query<RecordedMigration>(`select version, name, checksum, applied_at from ${table}`)).rows
    : [];
  const known = migrations.map(({ version, name, checksum }): MigrationState => {
    const record = recorded.find((row) => row.version === version);
    if (record === undefined) return { version, name, appliedAt: null, state: 'pending' };
    return { version, name, appliedAt: record.applied_at, state: record.checksum === checksum ? 'applied' : 'changed' };
  });
  const unknown = recorded
    .filter((row) => migrations.every(({ version }) => version !== row.version))
    .map(
      ({ version, name, applied_at }): MigrationState => ({ version, name, appliedAt: applied_at, state: 'unknown' }),
    );
  return [...known, ...unknown].sort((a, b) => a.version - b.version);
}

function refuseChanged(states: MigrationState[]): void {
  const changed = states.filter(({ state }) => state === 'changed').map(label);
  if (changed.length > 0) {
    throw new Error(
      `${changed.join(', ')} was edited after it was applied. Restore the file and put the change in a new migration.`,
    );
  }
}

/** An older program cannot undo a newer program's migrations, because it does not have their files. */
function refuseUnknown(states: MigrationState[], to: number): void {
  const unknown = states.filter(({ state, version }) => state === 'unknown' && version > to).map(label);
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')} must be undone by the version of the program that has it.`);
}

/** PostgreSQL checks the right to create a schema even if it exists, so it is only created when missing. */
async function prepareSchema(client: pg.Client, { schema = 'public' }: MigrateOptions): Promise<void> {
  const { rows } = await client.query('select from pg_namespace where nspname = $1', [schema]);
  if (rows.length === 0) await client.query(`create schema if not exists ${quoteIdentifier(schema)}`);
  if (!(await hasVersionTable(client, schema))) await client.query(CREATE_VERSION_TABLE);
}

/** One transaction with the lock, which ends with it, also when the process dies. */
async function underLock(client: pg.Client, options: MigrateOptions, work: () => Promise<void>): Promise<void> {
  for (;;) {
    options.signal?.throwIfAborted();
    await begin(client, options);
    if (await lockInTime(client)) break;
    await client.query('rollback');
    options.onWaiting?.(await lockHolder(client));
  }
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

async function lockInTime(client: pg.Client): Promise<boolean> {
  try {
    await client.query(`set local lock_timeout = ${TELL_AFTER_MS}`);
    await client.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
    await client.query('set local lock_timeout = 0');
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
    throw error;
  }
}

const LOCK_NOT_AVAILABLE = '55P03';

/** The process that holds the lock, as an administrator would look for it. */
async function lockHolder(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ holder: string }>(
    `select format('server process %s (%s) of %s', a.pid, coalesce(nullif(a.application_name, ''), 'no name'),
       coalesce(host(a.client_addr), 'this machine')) as holder
     from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and l.objsubid = 1
       and (l.classid::bigint << 32 | l.objid::bigint) = $1
       and l.database = (select oid from pg_database where datname = current_database())`,
    [LOCK_KEY],
  );
  return rows[0]?.holder ?? 'another process';
}

async function connected<Result>(
  options: MigrateOptions,
  work: (client: pg.Client, migrations: readonly Migration[]) => Promise<Result>,
): Promise<Result> {
  const client = await new Address(options.connectionString).connect({ applicationName: 'pawl migrate' });
  try {
    return await work(client, options.migrations ?? readMigrations());
  } finally {
    await client.end();
  }
}

async function begin(client: pg.Client, { schema = 'public' }: MigrateOptions): Promise<void> {
  await client.query('begin isolation level read committed');
  await client.query(`select set_config('search_path', $1, true), set_config('client_min_messages', 'warning', true)`, [
    quoteIdentifier(schema),
  ]);
}

const label = ({ version, name }: { version: number; name: string }): string =>
  `${String(version).padStart(4, '0')}_${name}`;

interface RecordedMigration {
  version: number;
  name: string;
  checksum: string;
  applied_at: Date;
}

/**
 * The rows that a down-migration would destroy, found by looking instead of reading its SQL: tables and columns that had rows
 * before it and are gone after it.
 */
interface TableInventory {
  readonly table: string;
  readonly columns: readonly string[];
  readonly hasRows: boolean;
}

const TABLES = `
select c.relname as table, array_agg(a.attname::text order by a.attnum) as columns
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relname <> 'schema_version'
group by c.relname order by c.relname`;

async function takeInventory(client: pg.Client): Promise<TableInventory[]> {
  const tables = await client.query<{ table: string; columns: string[] }>(TABLES);
  const inventory: TableInventory[] = [];
  for (const { table, columns } of tables.rows) {
    const rows = await client.query<{ found: boolean }>(
      `select exists (select from ${client.escapeIdentifier(table)}) as found`,
    );
    inventory.push({ table, columns, hasRows: rows.rows[0]!.found });
  }
  return inventory;
}

function findLosses(before: readonly TableInventory[], after: readonly TableInventory[]): string[] {
  return before
    .filter(({ hasRows }) => hasRows)
    .flatMap(({ table, columns }) => {
      const left = after.find((other) => other.table === table);
      if (left === undefined) return [table];
      return columns.filter((column) => !left.columns.includes(column)).map((column) => `${table}.${column}`);
    });
}
