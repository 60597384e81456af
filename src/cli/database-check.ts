// What `pawl doctor` asks of the database: that it can be reached or started, its version, rights and connections, that
// notifications arrive, its clock, and its migrations. A database of your own is only looked at; the embedded one is started
// and stopped, in its folder when it is there and in a temporary one when it is not.

import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { serverOf } from './dev-address.ts';
import { explainDatabase } from './start-problem.ts';
import { type Finding, unwell, well } from './terminal/finding.ts';

const MINIMUM_VERSION = 15;
const CLOCK_TOLERANCE_MS = 1_000;
/** Hints, the lease, migrations and whoever looks in by hand. */
const SPARE_CONNECTIONS = 4;

export async function databaseFindings({ database }: Config): Promise<Finding[]> {
  const { url, dataDir } = database;
  if (url !== undefined) return inspected(url, database, true);
  const { startEmbedded } = await import('../main.ts');
  const isNew = !existsSync(join(dataDir, 'cluster'));
  const folder = isNew ? mkdtempSync(join(tmpdir(), 'pawl-doctor-')) : dataDir;
  // The account that PostgreSQL runs as when we are root must get in.
  if (isNew) chmodSync(folder, 0o755);
  try {
    const server = await startEmbedded({ dataDir: folder });
    try {
      return await inspected(server.connectionString, database, false);
    } finally {
      await server.stop();
    }
  } catch (error) {
    return [await embeddedProblem(error as Error, dataDir)];
  } finally {
    if (isNew) rmSync(folder, { recursive: true, force: true });
  }
}

async function embeddedProblem(error: Error, dataDir: string): Promise<Finding> {
  if (error.name !== 'FolderInUseError') {
    const next = `look into ${join(dataDir, 'postgres.log')}, or set DATABASE_URL to a PostgreSQL of your own`;
    return unwell('database', `the embedded PostgreSQL does not start: ${error.message}`, next);
  }
  const url = await serverOf(dataDir);
  if (url === null) return well('database', `embedded, in use by another process: ${error.message.split('. ')[0]}`);
  const ready = await fetch(`${url}/health/ready`).catch(() => null);
  if (ready?.ok === true) return well('database', `embedded, running: Pawl at ${url} is ready`);
  return unwell('database', `Pawl at ${url} is running, but not ready`, `see ${url}/health/ready, or restart it`);
}

async function inspected(
  connectionString: string,
  { schema, engineConnections, readConnections }: Config['database'],
  isYours: boolean,
): Promise<Finding[]> {
  const { inspectDatabase } = await import('../main.ts');
  try {
    const found = await inspectDatabase(connectionString, schema);
    const wanted = engineConnections + readConnections + SPARE_CONNECTIONS;
    return [
      versionFinding(found.version, isYours),
      ...(isYours ? [rightsFinding(found.mayCreate, schema), connectionsFinding(found.maxConnections, wanted)] : []),
      notificationFinding(found.notifications),
      clockFinding(found.aheadMs),
      ...(isYours ? [await migrationFinding(connectionString, schema)] : []),
    ];
  } catch (error) {
    const explanation = await explainDatabase(error);
    const [what, ...next] = (explanation ?? (error as Error).message).split('. ');
    return [unwell('database', `cannot be used: ${what}`, next.join('. ') || 'check DATABASE_URL')];
  }
}

function versionFinding(version: number, isYours: boolean): Finding {
  const which = isYours ? `PostgreSQL ${version}` : `embedded PostgreSQL ${version} starts`;
  if (version >= MINIMUM_VERSION) return well('database', which);
  return unwell('database', which, `upgrade it: ${MINIMUM_VERSION} or newer is needed`);
}

function rightsFinding(mayCreate: boolean, schema: string): Finding {
  if (mayCreate) return well('rights', `may make tables in the schema ${schema}`);
  return unwell(
    'rights',
    `may not make tables in the schema ${schema}`,
    `as its owner: GRANT CREATE ON SCHEMA "${schema}" TO your user`,
  );
}

function connectionsFinding(maximum: number, wanted: number): Finding {
  if (maximum >= wanted) return well('connections', `${maximum} at most; one process and some to spare are ${wanted}`);
  return unwell(
    'connections',
    `${maximum} at most, and one process and some to spare are ${wanted}`,
    'raise max_connections, or lower PAWL_DATABASE_ENGINE_CONNECTIONS',
  );
}

function notificationFinding(works: boolean): Finding {
  if (works) return well('notifications', 'LISTEN works');
  return unwell(
    'notifications',
    'LISTEN is not delivered, as behind a transaction pooler',
    'give Pawl a direct connection; until then everything works, at the pace of polling',
  );
}

function clockFinding(offMs: number): Finding {
  const detail = `${Math.abs(offMs)} ms ${offMs >= 0 ? 'behind' : 'ahead of'} the database's, which is the one that counts`;
  if (Math.abs(offMs) <= CLOCK_TOLERANCE_MS) return well('clock', detail);
  return unwell(
    'clock',
    detail,
    'synchronise the clocks (NTP): tokens and webhooks are judged by the one of this machine',
  );
}

async function migrationFinding(connectionString: string, schema: string): Promise<Finding> {
  const { migrationStatus } = await import('../main.ts');
  const states = await migrationStatus({ connectionString, schema });
  const wrong = states.filter(({ state }) => state === 'changed' || state === 'unknown');
  const pending = states.filter(({ state }) => state === 'pending').length;
  if (wrong.length > 0) {
    const names = wrong.map(({ name, state }) => `${name} (${state})`).join(', ');
    const next = 'use the version of Pawl that this database was made with, or a newer one';
    return unwell('migrations', `${names}: this program does not fit this database`, next);
  }
  if (pending > 0) return unwell('migrations', `${pending} pending`, 'run `pawl migrate up`, or start a server');
  return well('migrations', `${states.length} applied`);
}
