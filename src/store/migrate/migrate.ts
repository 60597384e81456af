// Moves a database's schema up or down, one transaction per migration, under an advisory lock: of many processes that start
// at once, one migrates and the others wait for it. Down refuses to lose rows unless it is forced.

import pg from 'pg';
import { findLosses, takeInventory } from './loss-check.ts';
import { type Migration, readMigrations } from './migration-file.ts';

export interface MigrateOptions {
  connectionString: string;
  schema?: string;
  migrations?: readonly Migration[];
}

export interface MigrationState {
  version: number;
  name: string;
  appliedAt: Date | null;
  /** `changed`: the file is not the one that was applied. `unknown`: the database is newer than this program. */
  state: 'applied' | 'pending' | 'changed' | 'unknown';
}

/** Any constant will do, as long as nothing else in the database uses it. */
const LOCK_KEY = 7_296_150_411;

/** An address behind a firewall answers nothing at all. */
const CONNECT_TIMEOUT_MS = 10_000;

const CREATE_VERSION_TABLE = `create table if not exists schema_version (
  version int not null,
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default clock_timestamp(),
  constraint schema_version_pkey primary key (version)
)`;

export async function migrateUp(options: MigrateOptions): Promise<{ applied: string[] }> {
  return locked(options, async (client, migrations) => {
    const states = await readStates(client, migrations);
    refuseChanged(states);
    const applied: string[] = [];
    for (const migration of migrations) {
      if (states.find(({ version }) => version === migration.version)?.state !== 'pending') continue;
      await inTransaction(client, async () => {
        await client.query(migration.up);
        await client.query('insert into schema_version (version, name, checksum) values ($1, $2, $3)', [
          migration.version,
          migration.name,
          migration.checksum,
        ]);
      });
      applied.push(label(migration));
    }
    return { applied };
  });
}

/** Undoes everything above version `to`, the newest first. `force`: also when rows are lost with their tables or columns. */
export async function migrateDown(
  options: MigrateOptions & { to: number; force?: boolean },
): Promise<{ undone: string[] }> {
  return locked(options, async (client, migrations) => {
    const states = await readStates(client, migrations);
    refuseUnknown(states, options.to);
    const undone: string[] = [];
    for (const migration of migrations.toReversed()) {
      const state = states.find(({ version }) => version === migration.version)?.state;
      if (migration.version <= options.to || state === 'pending') continue;
      await inTransaction(client, () => undo(client, migration, { force: options.force ?? false, undone }));
      undone.push(label(migration));
    }
    return { undone };
  });
}

export async function migrationStatus(options: MigrateOptions): Promise<MigrationState[]> {
  return connected(options, (client) => readStates(client, options.migrations ?? readMigrations()));
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

async function readStates(client: pg.Client, migrations: readonly Migration[]): Promise<MigrationState[]> {
  const exists = await client.query<{ found: boolean }>(`select to_regclass('schema_version') is not null as found`);
  const recorded = exists.rows[0]!.found
    ? (await client.query<RecordedMigration>('select version, name, checksum, applied_at from schema_version')).rows
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

/** A newer program's migrations cannot be undone by an older one: it does not have their files. */
function refuseUnknown(states: MigrationState[], to: number): void {
  const unknown = states.filter(({ state, version }) => state === 'unknown' && version > to).map(label);
  if (unknown.length > 0)
    throw new Error(`${unknown.join(', ')} must be undone by the version of the program that has it.`);
}

async function locked<Result>(
  options: MigrateOptions,
  work: (client: pg.Client, migrations: readonly Migration[]) => Promise<Result>,
): Promise<Result> {
  return connected(options, async (client) => {
    // Held by the session: a process that dies lets go of it.
    await client.query('select pg_advisory_lock($1)', [LOCK_KEY]);
    await client.query(`create schema if not exists ${client.escapeIdentifier(options.schema ?? 'public')}`);
    await client.query(CREATE_VERSION_TABLE);
    return work(client, options.migrations ?? readMigrations());
  });
}

async function connected<Result>(
  options: MigrateOptions,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({
    connectionString: options.connectionString,
    application_name: 'pawl migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  // Without a listener a connection that breaks between two statements would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(`set search_path = ${client.escapeIdentifier(options.schema ?? 'public')}`);
    await client.query(`set client_min_messages = warning`);
    return await work(client);
  } finally {
    await client.end();
  }
}

async function inTransaction(client: pg.Client, work: () => Promise<void>): Promise<void> {
  await client.query('begin');
  try {
    await work();
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}

const label = ({ version, name }: { version: number; name: string }): string =>
  `${String(version).padStart(4, '0')}_${name}`;

interface RecordedMigration {
  version: number;
  name: string;
  checksum: string;
  applied_at: Date;
}
