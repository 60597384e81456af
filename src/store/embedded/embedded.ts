// A real PostgreSQL in a folder, for `pawl dev` and the tests: created on first use, started and stopped with this process.
// Durable like any other (fsync is on): it recovers after a killed process, and a killed server is restarted.

import { spawn } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Account, databaseAccount, giveTo, reachableBinaries, reachableCluster } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import { choosePort, leaveFolder, openFolder, readPassword, takeFolder } from './folder.ts';
import { keepRunning } from './keep-running.ts';
import { clearLeftovers, startServer } from './server-process.ts';

export interface EmbeddedOptions {
  dataDir: string;
  /** On 127.0.0.1. By default the previous one, or a free one. */
  port?: number;
  /** Server settings in addition to or instead of ours. */
  settings?: Record<string, string>;
  onProgress?: (step: string) => void;
}

export interface EmbeddedPostgres {
  readonly connectionString: string;
  readonly port: number;
  /** Of the current server: a killed one is replaced. */
  readonly pid: number;
  stop(): Promise<void>;
}

const USER = 'pawl';
const DATABASE = 'pawl';

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '256MB',
  wal_compression: 'on',
  max_wal_size: '4GB',
  // Zeroing a new 16 MB segment blocks every commit: 60 ms, about once a second while a young database is busy.
  wal_init_zero: 'off',
  huge_pages: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  log_min_messages: 'warning',
};

export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const report = options.onProgress ?? (() => {});
  const account = databaseAccount();
  const binaries = reachableBinaries(findBinaries(), account);
  const folder = openFolder(options.dataDir);
  takeFolder(folder);
  try {
    const cluster = reachableCluster(folder.cluster, account);
    const password = readPassword(folder);
    if (!existsSync(join(cluster, 'PG_VERSION'))) {
      report('making a new database');
      await createCluster({ cluster, password, binaries, account });
    }
    await clearLeftovers(cluster);
    const port = await choosePort(folder, options.port);
    report('starting the database');
    const settings = { ...SETTINGS, unix_socket_directories: socketFolder(cluster), ...options.settings };
    const { postgres } = binaries;
    rmSync(folder.log, { force: true });
    const server = await keepRunning(async () => {
      await clearLeftovers(cluster);
      return startServer({ postgres, cluster, log: folder.log, port, settings, account });
    }, report);
    return {
      connectionString: `postgres://${USER}:${password}@127.0.0.1:${port}/${DATABASE}${bySocket(settings.unix_socket_directories)}`,
      port,
      get pid() {
        return server.pid;
      },
      async stop() {
        await server.stop();
        leaveFolder(folder);
      },
    };
  } catch (error) {
    leaveFolder(folder);
    throw error;
  }
}

/** macOS allows 103 bytes, Linux a few more. */
const LONGEST_SOCKET_PATH = 103;
const LONGEST_SOCKET_NAME = '/.s.PGSQL.65535.lock';

/**
 * In the data folder, which only its owner can read: a statement costs a tenth less by socket than by TCP (decision 0016).
 * Empty: the system has none, the folder is too deep, or its name would need quoting.
 */
function socketFolder(cluster: string): string {
  const isShort = Buffer.byteLength(cluster + LONGEST_SOCKET_NAME) <= LONGEST_SOCKET_PATH;
  return process.platform !== 'win32' && isShort && /^[\w./+@-]+$/.test(cluster) ? cluster : '';
}

/** Clients that ignore it and take the host from the address use TCP. */
const bySocket = (folder: string): string => (folder === '' ? '' : `?host=${encodeURIComponent(folder)}`);

interface NewCluster {
  cluster: string;
  password: string;
  binaries: Binaries;
  account: Account | null;
}

/** Created aside and renamed when it is complete: a process that dies in the middle leaves nothing that looks like a database. */
async function createCluster({ cluster, password, binaries, account }: NewCluster): Promise<void> {
  removeHalfMade(cluster);
  const half = `${cluster}.new-${process.pid}`;
  const passwordFile = `${half}.password`;
  mkdirSync(half, { recursive: true, mode: 0o700 });
  giveTo(account, half);
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  giveTo(account, passwordFile);
  try {
    await run(binaries.initdb, initdbArguments(half, passwordFile), account);
    const single = ['--single', '-D', half, '-c', 'log_min_messages=error', 'postgres'];
    await run(binaries.postgres, single, account, `create database ${DATABASE}\n`);
    renameSync(half, cluster);
  } finally {
    rmSync(passwordFile, { force: true });
    rmSync(half, { recursive: true, force: true });
  }
}

function initdbArguments(cluster: string, passwordFile: string): string[] {
  // The built-in locale sorts alike on every system, independent of the machine's libraries.
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  return [`--pgdata=${cluster}`, `--username=${USER}`, '--auth=scram-sha-256', `--pwfile=${passwordFile}`, ...locale];
}

function removeHalfMade(cluster: string): void {
  const [folder, name] = [dirname(cluster), basename(cluster)];
  mkdirSync(folder, { recursive: true });
  for (const file of readdirSync(folder)) {
    if (file.startsWith(`${name}.new-`)) rmSync(join(folder, file), { recursive: true, force: true });
  }
  if (existsSync(cluster) && !lstatSync(cluster).isSymbolicLink() && readdirSync(cluster).length > 0) {
    throw new Error(`${cluster} is not empty and not a PostgreSQL database. Move it away, or choose another folder.`);
  }
}

function run(program: string, args: string[], account: Account | null, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...(account ?? {}), stdio: ['pipe', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${basename(program)} failed (${code}): ${said.trim().split('\n').slice(-5).join(' | ')}`));
    });
    // A program that ends early (a Ctrl-C reaches it, too) reports that by its exit code.
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}
