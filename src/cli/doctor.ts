// `pawl doctor`: what keeps Pawl from working here, and what to do about it. Looks, and changes nothing.

import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Command } from 'commander';
import { type Config, resolveConfig } from '../config.ts';
import { printJson } from './api-client.ts';
import { EXIT } from './exit.ts';

interface Finding {
  readonly check: string;
  readonly ok: boolean;
  readonly detail: string;
}

const MINIMUM_NODE = 24;
const MINIMUM_FREE_BYTES = 1024 ** 3;
const CLOCK_TOLERANCE_MS = 1_000;

export function registerDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check node, the database, notifications, migrations, the clock and the disk')
    .option('--json', 'print JSON')
    .action(async (flags: { json?: boolean }) => {
      const findings = await examine(resolveConfig());
      if (flags.json === true) printJson({ ok: findings.every(({ ok }) => ok), findings });
      else
        for (const { check, ok, detail } of findings)
          process.stdout.write(`${ok ? '✓' : '✗'} ${check.padEnd(13)} ${detail}\n`);
      process.exitCode = findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
    });
}

async function examine(config: Config): Promise<Finding[]> {
  const local = [nodeFinding(), diskFinding(config.database.dataDir)];
  const { url, schema } = config.database;
  if (url === undefined) {
    const detail = 'embedded (no DATABASE_URL): started, migrated and stopped with each command';
    return [...local, { check: 'database', ok: true, detail }];
  }
  return [...local, ...(await databaseFindings(url, schema))];
}

function nodeFinding(): Finding {
  const ok = Number(process.versions.node.split('.')[0]) >= MINIMUM_NODE;
  return { check: 'node', ok, detail: ok ? process.version : `${process.version}: ${MINIMUM_NODE} or newer is needed` };
}

function diskFinding(folder: string): Finding {
  let place = resolve(folder);
  while (!existsSync(place)) place = dirname(place);
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const amount = `${(free / 1024 ** 3).toFixed(1)} GiB free at ${place}`;
  const ok = free >= MINIMUM_FREE_BYTES;
  return { check: 'disk', ok, detail: ok ? amount : `${amount}: less than 1 GiB is too little for a database` };
}

async function databaseFindings(connectionString: string, schema: string): Promise<Finding[]> {
  const before = Date.now();
  try {
    const { inspectDatabase } = await import('../main.ts');
    const { version, at, notifications } = await inspectDatabase(connectionString);
    const offMs = Math.round(at - (before + Date.now()) / 2);
    return [
      {
        check: 'database',
        ok: version >= 15,
        detail: `PostgreSQL ${version}${version >= 15 ? '' : ': 15 or newer is needed'}`,
      },
      {
        check: 'notifications',
        ok: notifications,
        detail: notifications
          ? 'LISTEN works'
          : 'LISTEN is not delivered, as behind a transaction pooler: everything works, at the pace of polling',
      },
      {
        check: 'clock',
        ok: Math.abs(offMs) <= CLOCK_TOLERANCE_MS,
        detail: `${Math.abs(offMs)} ms ${offMs >= 0 ? 'behind' : 'ahead of'} the database's (which is the one that counts)`,
      },
      await migrationFinding(connectionString, schema),
    ];
  } catch (error) {
    return [{ check: 'database', ok: false, detail: `cannot be reached: ${(error as Error).message}` }];
  }
}

async function migrationFinding(connectionString: string, schema: string): Promise<Finding> {
  const { migrationStatus } = await import('../main.ts');
  const states = await migrationStatus({ connectionString, schema });
  const wrong = states.filter(({ state }) => state === 'changed' || state === 'unknown');
  const pending = states.filter(({ state }) => state === 'pending').length;
  if (wrong.length > 0) {
    const names = wrong.map(({ name, state }) => `${name} (${state})`).join(', ');
    return { check: 'migrations', ok: false, detail: `${names}: this program does not fit this database` };
  }
  if (pending > 0) return { check: 'migrations', ok: false, detail: `${pending} pending: run \`pawl migrate up\`` };
  return { check: 'migrations', ok: true, detail: `${states.length} applied` };
}
