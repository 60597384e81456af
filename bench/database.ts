// The PostgreSQL server of a run: embedded, or the one at DATABASE_URL. It is durable as in production (fsync is on), because
// group commit is what is measured. Each system gets its own database on this one server.

import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbedded } from '../src/store/embedded/embedded.ts';
import { migrateUp } from '../src/store/migrate/migrate.ts';

export interface BenchServer {
  readonly version: string;
  /** The pid of the server's first process, when we can look at it. */
  readonly pid: number | null;
  /** Creates an empty database; a database of that name from an earlier run is dropped. */
  createDatabase(name: string): Promise<string>;
  stop(): Promise<void>;
}

export interface BenchDatabase {
  readonly url: string;
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  /** Deletes every row that executions leave, and lets the server finish its writing. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

const EXECUTION_TABLES = [
  'workflow_executions',
  'execution_outcomes',
  'execution_queue',
  'execution_events',
  'action_executions',
  'execution_checkpoints',
  'execution_inbox',
  'execution_signals',
  'event_waits',
  'commit_batches',
  'action_logs',
  'workflow_resource_links',
  'dead_letters',
  'runners',
  'runner_slots',
  'runner_leases',
];

export async function startServer(): Promise<BenchServer> {
  const given = process.env.DATABASE_URL;
  if (given !== undefined) return { ...(await describeServer(given)), pid: null, stop: async () => {} };
  const dataDir = mkdtempSync(join(tmpdir(), 'pawl-bench-'));
  // The folder is private by default, which would keep out the account that the database runs as when we are root.
  chmodSync(dataDir, 0o755);
  const remove = () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  // On an interrupt the server ends with this process, and its files should go too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  process.once('exit', remove);
  // Room for the fleet of sixteen.
  const server = await startEmbedded({ dataDir, settings: { max_connections: '200' } });
  return {
    ...(await describeServer(server.connectionString)),
    pid: server.pid,
    async stop() {
      await server.stop();
      remove();
    },
  };
}

async function describeServer(adminUrl: string): Promise<Pick<BenchServer, 'version' | 'createDatabase'>> {
  const [row] = await once<{ server_version: string }>(adminUrl, 'show server_version');
  return {
    version: row!.server_version,
    async createDatabase(name) {
      await once(adminUrl, `drop database if exists ${name} with (force)`);
      await once(adminUrl, `create database ${name}`);
      const url = new URL(adminUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}

/** Our own database, migrated. */
export async function openDatabase(server: BenchServer): Promise<BenchDatabase> {
  const url = await server.createDatabase('pawl_bench');
  await migrateUp({ connectionString: url });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return {
    url,
    query: async (text, values = []) => (await client.query(text, values)).rows,
    async clear() {
      await client.query(`truncate ${EXECUTION_TABLES.join(', ')} restart identity`);
      await client.query('checkpoint');
    },
    close: () => client.end(),
  };
}

async function once<R extends pg.QueryResultRow>(connectionString: string, text: string): Promise<R[]> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return (await client.query<R>(text)).rows;
  } finally {
    await client.end();
  }
}
