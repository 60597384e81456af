// A real PgBouncer in front of a database of the tests. It comes with the system (Debian's package pgbouncer). Without it, the
// tests that need it are skipped, and say how to get it.

import { spawn } from 'node:child_process';
import { accessSync, chmodSync, chownSync, constants, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseAccount } from '../../src/store/embedded/account.ts';
import { lastingPorts } from '../support/lasting-port.ts';

export interface PgBouncer {
  /** The URL of the database itself, through the pooler. */
  readonly connectionString: string;
  stop(): Promise<void>;
}

interface PgBouncerOptions {
  readonly databaseUrl: string;
  readonly poolMode: 'session' | 'transaction';
  /** More lines of the configuration of PgBouncer. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];

export function findPgBouncer(): string | null {
  return PLACES.find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export async function startPgBouncer({ databaseUrl, poolMode, settings = {} }: PgBouncerOptions): Promise<PgBouncer> {
  const program = findPgBouncer();
  if (program === null) throw new Error('There is no PgBouncer here: apt-get install pgbouncer');
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const database = decodeURIComponent(pathname.slice(1));
  const [ownPort] = (await lastingPorts(1)) as [number];
  const folder = mkdtempSync(join(tmpdir(), 'pawl-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  const login = `user=${username}${password === '' ? '' : ` password='${decodeURIComponent(password)}'`}`;
  const lines = {
    listen_addr: '127.0.0.1',
    listen_port: ownPort,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: poolMode,
    default_pool_size: 20,
    max_client_conn: 500,
    ...settings,
  };
  const ini = Object.entries(lines).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(
    file,
    `[databases]\n${database} = host=${hostname} port=${port} ${login}\n[pgbouncer]\n${ini.join('\n')}\n`,
  );
  const account = databaseAccount();
  chmodSync(folder, 0o755);
  if (account !== null) for (const path of [folder, file]) chownSync(path, account.uid, account.gid);
  const child = spawn(program, [file], { stdio: ['ignore', 'ignore', 'pipe'], ...(account ?? {}) });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  for (let tries = 0; !(await answers(ownPort)); tries++) {
    if (child.exitCode !== null || tries > 200) throw new Error(`PgBouncer did not start: ${said}`);
    await delay(25);
  }
  const url = new URL(databaseUrl);
  url.port = String(ownPort);
  url.hostname = '127.0.0.1';
  return {
    connectionString: url.href,
    async stop() {
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
