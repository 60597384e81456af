// `pawl secrets`: the secrets in a server's own table. A value is read from standard input or a file, and never printed.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { SecretJson } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { everyItem } from '../../sdk/client.ts';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface EnvironmentFlags extends ClientFlags {
  readonly environment?: string;
}

export function register(program: Command): void {
  const secrets = program.command('secrets').description('secrets that a server stores encrypted');
  clientCommand(secrets, 'list', 'list secrets by name; values are never shown').action(list);
  clientCommand(secrets, 'set', 'set a secret from standard input or a file')
    .argument('<name>')
    .option('--file <path>', 'read the value from this file')
    .option('--environment <id>', 'only for this environment')
    .addHelpText('after', EXAMPLES)
    .action(set);
  clientCommand(secrets, 'delete', 'remove a secret and all its versions')
    .argument('<name>')
    .option('--environment <id>', 'only for this environment')
    .action(remove);
}

const EXAMPLES = `
Examples:
  pawl secrets set crm/token < token.txt
  printf %s "$TOKEN" | pawl secrets set crm/token
  pawl secrets set crm/token --environment prod --file token.txt`;

async function list(flags: ClientFlags): Promise<void> {
  const server = connect(flags);
  const found: SecretJson[] = [];
  for await (const item of everyItem((cursor) => server.secrets.list({ limit: MAX_PAGE, cursor }))) found.push(item);
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no secrets\n');
  const rows = found.map(({ name, environmentId, version, createdAt, createdBy }) => [
    name,
    environmentId ?? '',
    String(version),
    createdAt,
    createdBy,
  ]);
  process.stdout.write(table(['SECRET', 'ENVIRONMENT', 'VERSION', 'SET AT', 'BY'], rows));
}

async function set(name: string, flags: EnvironmentFlags & { readonly file?: string }): Promise<void> {
  const value = read(flags.file).replace(/\r?\n$/, '');
  if (value === '') throw new UsageError('the value is empty: give one on the standard input, or with --file');
  const made = await connect(flags).secrets.set(name, value, environmentOf(flags));
  if (flags.json === true) return printJson(made);
  process.stdout.write(`set ${name}, version ${made.version}\n`);
}

function read(file: string | undefined): string {
  if (file === undefined && process.stdin.isTTY === true) {
    throw new UsageError('give the value on the standard input (pawl secrets set NAME < file), or with --file');
  }
  try {
    return readFileSync(file ?? 0, 'utf8');
  } catch (error) {
    throw new UsageError(`${file ?? 'the standard input'} cannot be read: ${(error as Error).message}`);
  }
}

async function remove(name: string, flags: EnvironmentFlags): Promise<void> {
  await connect(flags).secrets.remove(name, environmentOf(flags));
  if (flags.json === true) return printJson({ deleted: name });
  process.stdout.write(`deleted ${name}\n`);
}

const environmentOf = ({ environment }: EnvironmentFlags) =>
  environment === undefined ? {} : { environmentId: environment };
