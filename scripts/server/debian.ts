// Programs that come as packages of Debian and its relatives, obtained by apt-get when we are root. The PostgreSQL cluster that
// Debian starts by itself is never used.

import { existsSync } from 'node:fs';
import { findDebianPostgres } from '../../test/field/debian-postgres.ts';
import { findPgBouncer } from '../../test/field/pgbouncer.ts';
import { inPath, type Obtained, runProgram, type Server } from './server.ts';

async function aptInstall(name: string, find: () => string | null): Promise<Obtained> {
  const apt = inPath('apt-get');
  if (apt === null) return { missing: `this is not Debian; install ${name} in your system's own way` };
  if (process.getuid?.() !== 0) return { missing: `as root: apt-get install ${name}` };
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await runProgram(apt, ['update', '-q'], { env });
  const failure = await runProgram(apt, ['install', '-y', '-q', '--no-install-recommends', name], { env });
  const path = find();
  return path === null ? { missing: `apt-get install ${name}: ${failure ?? 'the program is not there'}` } : { path };
}

export const pgbouncer: Server = {
  name: 'pgbouncer',
  use: 'the tests behind a pooler',
  port: 6432,
  find: findPgBouncer,
  obtain: () => aptInstall('pgbouncer', findPgBouncer),
};

/** The version depends on the Debian release: 15 in bookworm. */
const PACKAGE = existsSync('/etc/debian_version') ? 'postgresql' : 'postgresql-15';

export const debianPostgres: Server = {
  name: 'debian-postgresql',
  use: "the tests on Debian's PostgreSQL and on a standby",
  port: 5432,
  find: findDebianPostgres,
  obtain: () => aptInstall(PACKAGE, findDebianPostgres),
};
