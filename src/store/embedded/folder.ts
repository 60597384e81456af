// The data folder: the cluster, its password, its last port, and its current user. A folder belongs to one live process. A
// process is identified by its number and start time, because numbers repeat after every restart of a container.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';

export interface DataFolder {
  readonly path: string;
  readonly cluster: string;
  readonly log: string;
}

export function openFolder(path: string): DataFolder {
  try {
    makeFolder(resolve(path));
    accessSync(path, constants.W_OK);
  } catch (error) {
    throw new FolderUnusableError(path, error as NodeJS.ErrnoException);
  }
  const real = realpathSync(path);
  return { path: real, cluster: join(real, 'cluster'), log: join(real, 'postgres.log') };
}

/** Folder by folder: where none can be created (/proc), mkdir's own recursion never ends. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process has just created it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !statSync(path).isDirectory()) throw error;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'this account may not write there',
  EPERM: 'this account may not write there',
  EROFS: 'the file system is read-only',
  EEXIST: 'there is a file of that name',
  ENOTDIR: 'a part of it is a file',
  ENOENT: 'no folder can be made there',
  ENOSPC: 'the disk is full',
};

/** The folder cannot be made or written to. */
export class FolderUnusableError extends Error {
  override readonly name = 'FolderUnusableError';

  constructor(path: string, { code = '', message }: NodeJS.ErrnoException) {
    super(
      `The database folder ${path} cannot be used: ${REASONS[code] ?? message}. ` +
        'Choose another one with --data (PAWL_DATABASE_DATA_DIR), or set DATABASE_URL to a PostgreSQL of your own.',
    );
  }
}

/** Another live process has the folder. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
}

/** Of two concurrent processes one gets it: the file is created whole, and only if it does not exist yet. */
export function takeFolder({ path }: DataFolder): void {
  const file = join(path, 'owner');
  const mine = `${file}.${process.pid}`;
  writeFileSync(mine, `${identify(process.pid)}\n`);
  try {
    while (!linkNew(mine, file)) {
      const owner = readIfThere(file);
      const pid = Number(owner.split(' ')[0]);
      if (pid > 0 && owner === identify(pid)) {
        throw new FolderInUseError(
          `The database folder ${path} is in use by process ${pid}. ` +
            'Stop that process, or choose another folder, or connect to its database instead of starting one.',
        );
      }
      rmSync(file, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
}

export function leaveFolder({ path }: DataFolder): void {
  const file = join(path, 'owner');
  if (existsSync(file) && readFileSync(file, 'utf8').trim() === identify(process.pid)) rmSync(file);
}

export function readPassword({ path }: DataFolder): string {
  const file = join(path, 'password');
  if (!existsSync(file)) writeWhole(file, randomBytes(24).toString('base64url'), 0o600);
  return readFileSync(file, 'utf8').trim();
}

/** The requested port; or the previous one, so that open connections of tools find it again; or a free one. */
export async function choosePort({ path }: DataFolder, wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    if ((await freePort(wanted)) === null) {
      throw new Error(
        `Port ${wanted} of 127.0.0.1 is taken. Choose another port for the embedded PostgreSQL, or none.`,
      );
    }
    return wanted;
  }
  const file = join(path, 'port');
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  const port = (last > 0 ? await freePort(last) : null) ?? (await freePort(0))!;
  writeWhole(file, `${port}\n`, 0o644);
  return port;
}

function freePort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen({ port, host: '127.0.0.1' }, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : null));
    });
  });
}

/** Number and start of a live process; '' if there is none. */
function identify(pid: number): string {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return '';
  }
  return `${pid} ${startOf(pid)}`.trim();
}

function startOf(pid: number): string {
  if (process.platform === 'linux') {
    // The command's name may contain spaces and parentheses; only numbers follow the last one. The 20th is the start.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie is dead, too.
    return fields[0] === 'Z' ? 'ended' : (fields[19] ?? '');
  }
  if (process.platform === 'win32') return '';
  return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' })
    .stdout.trim()
    .replaceAll(/\s+/g, '_');
}

/** A process that dies while writing leaves the old file or the new one, never half of it. */
function writeWhole(file: string, text: string, mode: number): void {
  const half = `${file}.${process.pid}`;
  writeFileSync(half, text, { mode });
  renameSync(half, file);
}
