// The database checks of `pawl doctor`: reachability, version, encoding, rights, connections, settings, notifications, clock and
// migrations. Your own database is only read. The embedded one is started and stopped, in its folder if that exists, otherwise in
// a temporary one.

import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/config.ts';
import { connectionsPerProcess } from '../config/pool-size.ts';
import { serverOf } from './dev-address.ts';
import { explainDatabase } from './start-problem.ts';
import { type Finding, unwell, well } from './terminal/finding.ts';

type Inspection = Awaited<ReturnType<typeof import('../main.ts')['inspectDatabase']>>;

const MINIMUM_VERSION = 15;
const CLOCK_TOLERANCE_MS = 1_000;
/** For migrations, and for somebody with psql. */
const SPARE_CONNECTIONS = 2;

export async function databaseFindings({ database }: Config): Promise<Finding[]> {
  const { url, dataDir } = database;
  if (url !== undefined) return inspected(url, database, true);
  const { startEmbedded } = await import('../main.ts');
  const isNew = !existsSync(join(dataDir, 'cluster'));
  const folder = isNew ? mkdtempSync(join(tmpdir(), 'pawl-doctor-')) : dataDir;
  // When we are root, PostgreSQL's own account must get in.
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

async function inspected(connectionString: string, database: Config['database'], isYours: boolean): Promise<Finding[]> {
  const { inspectDatabase } = await import('../main.ts');
  const { schema, allowAsyncCommit } = database;
  const directUrl = isYours ? database.directUrl : undefined;
  try {
    const found = await inspectDatabase({ connectionString, directUrl, schema, allowAsyncCommit });
    if (found.isTransactionPooler) return [poolerFinding(directUrl !== undefined)];
    const migrations = isYours ? await migrationFinding(directUrl ?? connectionString, schema) : null;
    return [
      versionFinding(found.version, isYours),
      ...(isYours ? [encodingFinding(found.encoding)] : []),
      ...(migrations === null ? [] : [rightsFinding(found, schema, migrations.ok)]),
      ...(isYours ? [connectionsFinding(found.connections, connectionsPerProcess(database))] : []),
      ...(isYours ? [settingsFinding(found, directUrl !== undefined)] : []),
      notificationFinding(found.notifications),
      clockFinding(found.aheadMs),
      ...(migrations === null ? [] : [migrations]),
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

function poolerFinding(isDirect: boolean): Finding {
  if (isDirect) {
    const next = 'let it lead to PostgreSQL itself, or through a session pooler';
    return unwell('pooler', 'database.directUrl leads through a transaction pooler', next);
  }
  return unwell(
    'pooler',
    'DATABASE_URL leads through a transaction pooler, which keeps no session',
    'set PAWL_DATABASE_DIRECT_URL to PostgreSQL itself, for leases, notifications and migrations; the rest goes through the pooler',
  );
}

function encodingFinding(encoding: string): Finding {
  if (encoding === 'UTF8') return well('encoding', encoding);
  return unwell(
    'encoding',
    `${encoding}: a text with a character that it lacks is refused when it is stored`,
    'make a database with UTF8: createdb --encoding=UTF8 --template=template0 --locale=C.UTF-8 NAME',
  );
}

function rightsFinding(
  { role, hasSchema, mayCreate }: Pick<Inspection, 'role' | 'hasSchema' | 'mayCreate'>,
  schema: string,
  isMigrated: boolean,
): Finding {
  if (mayCreate && hasSchema) return well('rights', `${role} may make tables in the schema ${schema}`);
  if (mayCreate) return well('rights', `there is no schema ${schema} yet; ${role} may make it`);
  if (isMigrated)
    return well('rights', `${role} may not make tables in the schema ${schema}, and need not: none is missing`);
  if (!hasSchema) {
    const next = `as the owner of the database: CREATE SCHEMA "${schema}" AUTHORIZATION "${role}"; or correct PAWL_DATABASE_SCHEMA`;
    return unwell('rights', `there is no schema ${schema}, and ${role} may not make one`, next);
  }
  return unwell(
    'rights',
    `${role} may not make tables in the schema ${schema}`,
    `as its owner: GRANT CREATE ON SCHEMA "${schema}" TO "${role}"; or run \`pawl migrate up\` as another role`,
  );
}

function connectionsFinding({ max, usable, others, liveRunners }: Inspection['connections'], each: number): Finding {
  const free = usable - others;
  const processes = Math.max(1, liveRunners);
  const wanted = processes * each + SPARE_CONNECTIONS;
  const fleet =
    liveRunners > 1 ? `${liveRunners} live runners with up to ${each} each` : `one process takes up to ${each}`;
  const detail = `${free} of ${max} can be used (${others} are taken by others, the rest is kept for superusers or limited by role); ${fleet}`;
  if (free >= wanted) return well('connections', detail);
  return unwell(
    'connections',
    detail,
    'raise max_connections, or lower PAWL_DATABASE_MAX_CONNECTIONS (docs/deployment.md, "Connections of a fleet")',
  );
}

function settingsFinding(
  { settingsProblem, isAsync }: Pick<Inspection, 'settingsProblem' | 'isAsync'>,
  isPooled: boolean,
): Finding {
  if (settingsProblem !== null) {
    const [what = '', ...next] = settingsProblem.split('. ');
    return unwell('settings', what, next.join('. '));
  }
  if (isAsync) {
    return unwell(
      'settings',
      'synchronous_commit is off: what was acknowledged may be lost when the database crashes',
      'unset PAWL_DATABASE_ALLOW_ASYNC_COMMIT, unless you can lose it',
    );
  }
  return well('settings', isPooled ? 'arrive in every transaction through the pooler' : 'arrive in every session');
}

function notificationFinding(works: boolean): Finding {
  if (works) return well('notifications', 'LISTEN works');
  return unwell(
    'notifications',
    'LISTEN is not delivered, as behind a transaction pooler',
    'set PAWL_DATABASE_DIRECT_URL to PostgreSQL itself; until then everything works, at the pace of polling',
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
  const named = (wanted: string) => states.filter(({ state }) => state === wanted).map(({ name }) => name);
  const changed = named('changed');
  const newer = named('unknown');
  const pending = named('pending').length;
  if (changed.length > 0) {
    const next = 'use the version of Pawl that this database was made with';
    return unwell('migrations', `${changed.join(', ')}: not what this program would have applied`, next);
  }
  if (newer.length > 0) {
    const next = 'upgrade this program; until then it works, as older processes do during an upgrade';
    return unwell('migrations', `the database is newer than this program: it also has ${newer.join(', ')}`, next);
  }
  if (pending > 0) return unwell('migrations', `${pending} pending`, 'run `pawl migrate up`, or start a server');
  return well('migrations', `${states.length} applied`);
}
