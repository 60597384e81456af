// `pawl admin erase`: removes a person's data, or all data of a tenant. It counts first; `--yes` removes.

import type { Command } from 'commander';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface EraseFlags extends ClientFlags {
  readonly tenant: string;
  readonly person?: string;
  readonly reason: string;
  readonly yes?: boolean;
}

export function register(program: Command): void {
  const admin = program.command('admin').description('for operators of the whole installation');
  clientCommand(admin, 'erase', "erase a person's data, or all data of a tenant; counts unless --yes is given")
    .requiredOption('--tenant <id>', 'the tenant')
    .option(
      '--person <text>',
      'user id, e-mail or another text that names the person; without it, everything of the tenant',
    )
    .requiredOption('--reason <text>', 'why; it stands in the audit log')
    .option('--yes', 'erase the data; without this flag nothing is removed')
    .addHelpText('after', EXAMPLES)
    .action(erase);
}

const EXAMPLES = `
Examples:
  pawl admin erase --tenant acme --person ada@example.com --reason 'request of 12 May'
  pawl admin erase --tenant acme --person ada@example.com --reason 'request of 12 May' --yes`;

async function erase({ tenant, person, reason, yes, ...flags }: EraseFlags): Promise<void> {
  const request = { reason, dryRun: yes !== true, ...(person === undefined ? {} : { person }) };
  const answer = await connect(flags).admin.erase(tenant, request);
  if (flags.json === true) return printJson(answer);
  const rows = Object.entries(answer.erased).map(([kind, count]) => [kind, String(count)]);
  process.stdout.write(table(['KIND', answer.dryRun ? 'WOULD BE ERASED' : 'ERASED'], rows));
  if (answer.dryRun) process.stderr.write('Nothing was erased. Run the command again with --yes to erase.\n');
}
