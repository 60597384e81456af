// The server as a process: starting it, waiting until it accepts connections, stopping it, and cleaning up after a killed parent.
// Readiness is read from postmaster.pid, where PostgreSQL announces it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from './account.ts';

export interface ServerOptions {
  postgres: string;
  cluster: string;
  log: string;
  port: number;
  settings: Record<string, string>;
  account: Account | null;
}

export interface ServerProcess {
  readonly pid: number;
  /** It ended, for whatever reason. */
  readonly exited: Promise<void>;
  stop(): Promise<void>;
}

const POLL_MS = 10;
const START_TIMEOUT_MS = 60_000;
const FAST_STOP_MS = 20_000;

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const log = openSync(options.log, 'a');
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(options.postgres, ['-D', options.cluster, '-p', String(options.port), ...settings], {
    ...(options.account ?? {}),
    // In a process group of its own: Ctrl-C in a terminal must reach only us, and we stop the engine first and the database last.
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  await untilReady(child, options);

  const watchdog = watch(child.pid!);
  const stopAtExit = () => signal(child.pid!, 'SIGINT');
  process.once('exit', stopAtExit);
  child.unref();
  let isGone = false;
  exited.then(() => {
    isGone = true;
    process.removeListener('exit', stopAtExit);
    watchdog?.kill('SIGKILL');
  });
  return {
    pid: child.pid!,
    exited,
    async stop() {
      // Its number may belong to another process by now.
      if (isGone) return;
      child.ref();
      signal(child.pid!, 'SIGINT');
      const impatience = setTimeout(() => signal(child.pid!, 'SIGQUIT'), FAST_STOP_MS);
      await exited;
      clearTimeout(impatience);
    },
  };
}

async function untilReady(child: ChildProcess, { cluster, log, port }: ServerOptions): Promise<void> {
  let failure: Error | undefined;
  child.once('error', (error) => {
    failure = error;
  });
  for (let waited = 0; waited < START_TIMEOUT_MS; waited += POLL_MS) {
    const status = readPostmaster(cluster);
    if (status?.pid === child.pid && status?.ready) return;
    if (failure !== undefined || child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`The embedded PostgreSQL did not start on port ${port}: ${failure?.message ?? lastWords(log)}`);
    }
    await delay(POLL_MS);
  }
  signal(child.pid!, 'SIGQUIT');
  throw new Error(`The embedded PostgreSQL was not ready after ${START_TIMEOUT_MS / 1000} s. Its log: ${log}`);
}

/** Ends a server that outlived its parent, and removes a lock file without a server. */
export async function clearLeftovers(cluster: string): Promise<void> {
  const left = readPostmaster(cluster);
  if (left === null || !isServerOf(cluster, left.pid)) return removeLocks(cluster);
  signal(left.pid, 'SIGINT');
  for (let waited = 0; isServerOf(cluster, left.pid); waited += POLL_MS) {
    if (waited === FAST_STOP_MS) signal(left.pid, 'SIGQUIT');
    if (waited >= 2 * FAST_STOP_MS)
      throw new Error(`A PostgreSQL left over in ${cluster} (process ${left.pid}) does not stop.`);
    await delay(POLL_MS);
  }
}

/** The lock file of a killed server names a process number that may belong to anybody now, and PostgreSQL would respect it. */
function removeLocks(cluster: string): void {
  if (!existsSync(cluster)) return;
  const isLock = (name: string) => name === 'postmaster.pid' || name.startsWith('.s.PGSQL.');
  for (const name of readdirSync(cluster).filter(isLock)) rmSync(join(cluster, name), { force: true });
}

/** The number alone is not enough: it may belong to anybody by now. */
function isServerOf(cluster: string, pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform === 'win32') return true;
    const command =
      process.platform === 'linux'
        ? readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        : spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout;
    return command.includes(cluster);
  } catch {
    return false;
  }
}

function readPostmaster(cluster: string): { pid: number; ready: boolean } | null {
  const file = join(cluster, 'postmaster.pid');
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, 'utf8').split('\n');
  return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
}

/** Stops the server when we die: the pipe closes with us, however we end. */
function watch(pid: number): ChildProcess | null {
  if (process.platform === 'win32') return null;
  const watchdog = spawn('/bin/sh', ['-c', 'cat >/dev/null; kill -INT "$0" 2>/dev/null', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.on('error', () => {});
  watchdog.unref();
  (watchdog.stdin as unknown as { unref?: () => void } | null)?.unref?.();
  return watchdog;
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone already.
  }
}

function lastWords(log: string): string {
  const lines = readFileSync(log, 'utf8').trim().split('\n');
  return lines.slice(-5).join(' | ') || `it said nothing (${log})`;
}
