// `pawl migrate up|down|status`: the schema of your own database. Servers and runners migrate by themselves when they start;
// these commands are for deployments with a separate migration step, and for going back.

import type { Command } from 'commander';
import { resolveConfig } from '../../config/config.ts';
import { UsageError } from '../exit.ts';
import { explained } from '../start-problem.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface MigrateFlags {
  readonly to?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('bring the schema of DATABASE_URL up or down, or show where it is');
  migrate.command('up').description('apply what is missing').option('--json', 'print JSON').action(up);
  migrate
    .command('down')
    .description('undo everything above a version, newest first')
    .requiredOption('--to <version>', 'the version to go back to; 0 undoes all')
    .option('--force', 'also when rows are lost')
    .option('--json', 'print JSON')
    .action(down);
  migrate
    .command('status')
    .description('show every migration and whether it was applied')
    .option('--json', 'print JSON')
    .action(status);
}

function target() {
  const { url, directUrl, schema } = resolveConfig().database;
  if (url === undefined) throw new UsageError('set DATABASE_URL: the embedded database is migrated when it starts');
  const onWaiting = (holder: string) =>
    void process.stderr.write(`waiting for another migration of this database: ${holder}\n`);
  return { connectionString: directUrl ?? url, schema, onWaiting };
}

async function up(flags: MigrateFlags): Promise<void> {
  const { migrateUp } = await import('../../main.ts');
  const { applied } = await explained(() => migrateUp(target()));
  if (flags.json === true) return printJson({ applied });
  process.stdout.write(applied.length === 0 ? 'nothing to do\n' : applied.map((name) => `applied ${name}\n`).join(''));
}

async function down(flags: MigrateFlags): Promise<void> {
  if (!/^\d{1,4}$/.test(flags.to ?? '')) throw new UsageError('--to must be the number of a version');
  const { migrateDown } = await import('../../main.ts');
  const { undone } = await explained(() =>
    migrateDown({ ...target(), to: Number(flags.to), force: flags.force ?? false }),
  );
  if (flags.json === true) return printJson({ undone });
  process.stdout.write(undone.length === 0 ? 'nothing to do\n' : undone.map((name) => `undone ${name}\n`).join(''));
}

async function status(flags: MigrateFlags): Promise<void> {
  const { migrationStatus } = await import('../../main.ts');
  const states = await explained(() => migrationStatus(target()));
  if (flags.json === true) return printJson({ data: states });
  const rows = states.map(({ version, name, state, appliedAt }) => [
    String(version).padStart(4, '0'),
    name,
    state,
    appliedAt?.toISOString() ?? '',
  ]);
  process.stdout.write(table(['VERSION', 'NAME', 'STATE', 'APPLIED'], rows));
}
