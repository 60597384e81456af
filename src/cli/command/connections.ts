// `pawl connections`: credentials for other systems, on a server. Secrets are read from a file or standard input, so they do not
// appear in process lists or shell histories.

import type { Command } from 'commander';
import { isJsonObject, type JsonObject } from '../../core/json/json.ts';
import type { ConnectionJson, ConnectionRequest } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { everyItem } from '../../sdk/client.ts';
import { jsonOption } from '../argument.ts';
import { EXIT, UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface OneFlags extends ClientFlags {
  readonly principal?: string;
}

interface ChangeFlags extends OneFlags {
  readonly set?: readonly string[];
  readonly secrets?: string;
  readonly allowHost?: readonly string[];
  readonly default?: boolean;
}

interface CreateFlags extends ChangeFlags {
  readonly connector: string;
  readonly kind: string;
}

const SECRETS = 'the secret fields as JSON; @file or - read them from there';
const PRINCIPAL = "whose own credential; otherwise the tenant's";
const more = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

export function register(program: Command): void {
  const connections = program.command('connections').description('credentials for other systems, stored on a server');
  clientCommand(connections, 'list', 'list connections')
    .option('--connector <id>', 'only connections of this connector')
    .action(list);
  change(clientCommand(connections, 'create', 'create a connection'))
    .argument('<name>')
    .requiredOption('--connector <id>', 'http, or the connector whose actions use it')
    .requiredOption('--kind <kind>', 'token, header, basic, oauth2-client-credentials, oauth2-code or aws-sigv4')
    .addHelpText('after', EXAMPLES)
    .action(create);
  one(clientCommand(connections, 'show', 'show a connection and what uses it')).action(show);
  change(one(clientCommand(connections, 'rotate', 'rotate the secret of a connection, or change it'))).action(rotate);
  one(clientCommand(connections, 'check', 'check whether a connection still works')).action(check);
  one(clientCommand(connections, 'authorize', 'print the address where the owner of the account signs in')).action(
    authorize,
  );
  one(clientCommand(connections, 'delete', 'delete a connection')).action(remove);
}

const one = (command: Command): Command => command.argument('<name>').option('--principal <id>', PRINCIPAL);

function change(command: Command): Command {
  const withPrincipal = command.options.some(({ long }) => long === '--principal')
    ? command
    : command.option('--principal <id>', PRINCIPAL);
  return withPrincipal
    .option('--set <field=value>', 'a setting of this kind of connection, e.g. header=X-Api-Key; may be repeated', more)
    .option('--secrets <json>', SECRETS)
    .option('--allow-host <host>', 'a host that the credential may be sent to; may be repeated', more)
    .option('--default', 'use it for nodes that name no connection');
}

const EXAMPLES = `
Examples:
  pawl connections create crm --connector http --kind token --allow-host api.crm.example --secrets - <<< '{"token":"…"}'
  pawl connections create team --connector slack --kind token --default --secrets @slack.json
  pawl connections create erp --connector http --kind basic --set username=pawl --secrets @erp.json
  pawl connections create api --connector http --kind oauth2-client-credentials \\
      --set tokenUrl=https://id.example/token --set clientId=pawl --secrets @api.json`;

async function list(flags: ClientFlags & { readonly connector?: string }): Promise<void> {
  const server = connect(flags);
  const filter = flags.connector === undefined ? {} : { connector: flags.connector };
  const found: ConnectionJson[] = [];
  for await (const item of everyItem((cursor) => server.connections.list({ ...filter, limit: MAX_PAGE, cursor }))) {
    found.push(item);
  }
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no connections\n');
  const rows = found.map(({ name, connector, kind, principal, isDefault, status, lastUsedAt }) => [
    name,
    connector,
    kind,
    principal ?? (isDefault ? '(default)' : ''),
    status,
    lastUsedAt ?? 'never',
  ]);
  process.stdout.write(table(['CONNECTION', 'CONNECTOR', 'KIND', 'WHOSE', 'STATUS', 'LAST USED'], rows));
}

async function create(name: string, flags: CreateFlags): Promise<void> {
  const { connector, kind, principal } = flags;
  const request = { name, connector, kind, ...(principal === undefined ? {} : { principal }), ...fieldsOf(flags) };
  const made = await connect(flags).connections.create(request as ConnectionRequest);
  if (flags.json === true) return printJson(made);
  const next = made.problem === undefined ? '' : `: ${made.problem} (pawl connections authorize ${name})`;
  process.stdout.write(`created ${name}${next}\n`);
}

async function rotate(name: string, flags: ChangeFlags): Promise<void> {
  const fields = fieldsOf(flags);
  if (Object.keys(fields).length === 0)
    throw new UsageError('say what to change: --secrets, --set, --allow-host or --default');
  const changed = await connect(flags).connections.change(name, fields, whose(flags));
  if (flags.json === true) return printJson(changed);
  process.stdout.write(`changed ${name}\n`);
}

async function show(name: string, flags: OneFlags): Promise<void> {
  const found = await connect(flags).connections.get(name, whose(flags));
  if (flags.json === true) return printJson(found);
  const lines = Object.entries(found).map(([field, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return `${field.padEnd(16)} ${printable(text)}`;
  });
  process.stdout.write(`${lines.join('\n')}\n`);
}

async function check(name: string, flags: OneFlags): Promise<void> {
  const { ok, message } = await connect(flags).connections.check(name, whose(flags));
  if (!ok) process.exitCode = EXIT.failed;
  if (flags.json === true) return printJson({ ok, message });
  process.stdout.write(`${ok ? 'works' : 'does not work'}${message === undefined ? '' : `: ${printable(message)}`}\n`);
}

async function authorize(name: string, flags: OneFlags): Promise<void> {
  const answer = await connect(flags).connections.authorize(name, whose(flags));
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`Open this in a browser, as the owner of the account:\n${answer.authorizationUrl}\n`);
}

async function remove(name: string, flags: OneFlags): Promise<void> {
  await connect(flags).connections.delete(name, whose(flags));
  if (flags.json === true) return printJson({ deleted: name });
  process.stdout.write(`deleted ${name}\n`);
}

const whose = ({ principal }: OneFlags) => (principal === undefined ? {} : { principal });

function fieldsOf(flags: ChangeFlags): JsonObject {
  const secrets = jsonOption('--secrets', flags.secrets) ?? {};
  if (!isJsonObject(secrets)) throw new UsageError('--secrets must be an object such as {"token":"…"}');
  const settings = (flags.set ?? []).map((pair) => {
    const [, field, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (field === undefined || value === undefined) throw new UsageError(`--set ${pair}: expected field=value`);
    return [field, value] as const;
  });
  return {
    ...Object.fromEntries(settings),
    ...secrets,
    ...(flags.allowHost === undefined ? {} : { allowedHosts: [...flags.allowHost] }),
    ...(flags.default === true ? { isDefault: true } : {}),
  };
}
