// PostgreSQL refuses to run as root, which is our user in most containers. Then it runs as an account that every system has, and
// owns the data folder. Folders that this account cannot reach (below /root, a private temporary folder) are replaced by one that
// it can, with a link in their place.

import { createHash } from 'node:crypto';
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Binaries, binariesIn } from './binaries.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** In order of preference. initdb needs an account with a name. */
const ACCOUNT_NAMES = ['postgres', 'nobody'];
const REACHABLE_HOME = '/var/lib/pawl';

/** null: PostgreSQL can run as the current user. */
export function databaseAccount(): Account | null {
  if (process.getuid?.() !== 0) return null;
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const name of ACCOUNT_NAMES) {
    const found = accounts.find((fields) => fields[0] === name);
    if (found !== undefined) return { uid: Number(found[2]), gid: Number(found[3]) };
  }
  throw new Error(
    'PostgreSQL does not run as root, and this system has no account "postgres" or "nobody" to run it as. ' +
      'Start as another user, or set DATABASE_URL to a PostgreSQL of your own.',
  );
}

/** The cluster's folder, or its replacement if the account cannot reach it. */
export function reachableCluster(cluster: string, account: Account | null): string {
  const link = lstatSync(cluster, { throwIfNoEntry: false });
  if (link?.isSymbolicLink()) return readlinkSync(cluster);
  if (account === null || canReach(dirname(cluster), account)) return cluster;
  const home = join(REACHABLE_HOME, createHash('sha256').update(resolve(cluster)).digest('hex').slice(0, 16));
  makeHome(REACHABLE_HOME);
  // Without a link it belongs to a deleted folder of the same name, so the database goes too.
  rmSync(home, { recursive: true, force: true });
  symlinkSync(home, cluster);
  return home;
}

/** The programs, or a copy that the account can reach. Copied aside and renamed, so that half a copy is never used. */
export function reachableBinaries(binaries: Binaries, account: Account | null): Binaries {
  if (account === null || canReach(dirname(binaries.postgres), account)) return binaries;
  const { size, mtimeMs } = statSync(binaries.postgres);
  const copy = join(REACHABLE_HOME, `postgres-${size}-${Math.trunc(mtimeMs)}`);
  if (!existsSync(copy)) {
    const half = `${copy}.${process.pid}`;
    makeHome(REACHABLE_HOME);
    cpSync(binaries.root, half, { recursive: true, verbatimSymlinks: true });
    try {
      renameSync(half, copy);
    } catch (error) {
      // Another process was faster.
      rmSync(half, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return binariesIn(copy);
}

export function giveTo(account: Account | null, path: string): void {
  if (account !== null) chownSync(path, account.uid, account.gid);
}

function makeHome(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
}

function canReach(folder: string, { uid, gid }: Account): boolean {
  const { mode, uid: owner, gid: group } = statSync(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  const parent = dirname(folder);
  return (mode & bit) !== 0 && (parent === folder || canReach(parent, { uid, gid }));
}
