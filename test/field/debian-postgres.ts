// PostgreSQL as Debian packages it (15 in bookworm), in a cluster of our own, never the one that Debian starts by itself.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { databaseAccount } from '../../src/store/embedded/account.ts';
import { lastingPorts } from '../support/lasting-port.ts';

export interface DebianPostgres {
  readonly port: number;
  readonly connectionString: string;
  /** A standby that has everything that this server has acknowledged. */
  standby(): Promise<DebianPostgres>;
  promote(): void;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const VERSIONS = [15, 16, 17, 18];

/** The folder of the PostgreSQL programs; null: PostgreSQL is not installed. */
export function findDebianPostgres(): string | null {
  const folders = VERSIONS.map((version) => `/usr/lib/postgresql/${version}/bin`);
  return folders.find((folder) => existsSync(join(folder, 'initdb'))) ?? null;
}

export async function startDebianPostgres(): Promise<DebianPostgres> {
  const folder = newFolder();
  const cluster = join(folder, 'cluster');
  run('initdb', ['-D', cluster, '-U', 'pawl', '--auth=trust', '-E', 'UTF8', '--locale=C.UTF-8']);
  const settings = { synchronous_commit: 'on', max_connections: '200' };
  const server = await startCluster(folder, cluster, settings);
  return server;
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-debian-'));
  chmodSync(folder, 0o755);
  const account = databaseAccount();
  if (account !== null) chownSync(folder, account.uid, account.gid);
  return folder;
}

function run(program: string, args: readonly string[]): void {
  const folder = findDebianPostgres();
  if (folder === null) throw new Error('There is no PostgreSQL of Debian here: apt-get install postgresql-15');
  execFileSync(join(folder, program), args, { ...(databaseAccount() ?? {}), cwd: tmpdir(), stdio: 'ignore' });
}

async function startCluster(
  folder: string,
  cluster: string,
  settings: Readonly<Record<string, string>>,
): Promise<DebianPostgres> {
  const [port] = (await lastingPorts(1)) as [number];
  const all = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port), ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const program = join(findDebianPostgres()!, 'postgres');
  const child = spawn(program, ['-D', cluster, ...args], {
    ...(databaseAccount() ?? {}),
    cwd: tmpdir(),
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const connectionString = `postgres://pawl@127.0.0.1:${port}/postgres`;
  for (let tries = 0; !(await answers(connectionString)); tries++) {
    if (child.exitCode !== null || tries > 400) throw new Error('PostgreSQL of Debian did not start');
    await delay(50);
  }
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await ended;
  };
  return {
    port,
    connectionString,
    async standby() {
      const other = newFolder();
      const copy = join(other, 'cluster');
      run('pg_basebackup', ['-D', copy, '-R', '-X', 'stream', '-d', `host=127.0.0.1 port=${port} user=pawl`]);
      const standby = await startCluster(other, copy, { ...settings, hot_standby: 'on' });
      await onServer(connectionString, `alter system set synchronous_standby_names = '*'`);
      await onServer(connectionString, 'select pg_reload_conf()');
      return standby;
    },
    promote: () => run('pg_ctl', ['promote', '-D', cluster]),
    kill: () => end('SIGKILL'),
    async stop() {
      await end('SIGQUIT');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function onServer(connectionString: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(text).finally(() => client.end());
}

const answers = (connectionString: string): Promise<boolean> =>
  onServer(connectionString, 'select 1').then(
    () => true,
    () => false,
  );
