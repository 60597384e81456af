// `pawl keys create|list|revoke`: API keys, with access to the database. A key is shown once, when it is created.

import type { Command } from 'commander';
import type { Pawl } from '../../main.ts';
import { isTenantId } from '../../protocol/identifier.ts';
import { LIMIT_KINDS, type Limits, limitsSchema } from '../../protocol/limit.ts';
import { ROLES, type Role, SCOPES, type Scope } from '../../protocol/scope.ts';
import { UsageError } from '../exit.ts';
import { explained } from '../start-problem.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface KeyFlags {
  readonly tenant: string;
  readonly name: string;
  readonly scope?: string[];
  readonly role?: string[];
  readonly only?: string[];
  readonly days?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const keys = program.command('keys').description('API keys of a tenant');
  const command = (name: string, description: string) =>
    keys
      .command(name)
      .description(description)
      .requiredOption('--tenant <id>', 'the tenant')
      .option('--data <folder>', 'folder of the embedded database, when there is no DATABASE_URL')
      .option('--json', 'print JSON');
  command('create', 'make a key and print it, once')
    .option('--name <name>', 'what the key is for', 'key')
    .option('--scope <scope...>', `what the key may do: ${SCOPES.join(', ')}`)
    .option('--role <role...>', `which signals the key may send: ${ROLES.join(', ')}`)
    .option(
      '--only <kind=names...>',
      `what it reaches, and nothing else: ${LIMIT_KINDS.join(', ')} (workflows=invoice,report-*)`,
    )
    .option('--days <number>', 'days until the key expires (default: never)')
    .action(create);
  command('list', 'list keys (not their secrets)').action(list);
  command('revoke', 'a key is refused from now on').argument('<id>', 'the id of the key').action(revoke);
}

async function create(flags: KeyFlags): Promise<void> {
  const scopes = named<Scope>('--scope', SCOPES, flags.scope ?? []);
  const roles = named<Role>('--role', ROLES, flags.role ?? []);
  if (scopes.length === 0)
    throw new UsageError(`--scope is missing: a key without one opens nothing (${SCOPES.join(', ')})`);
  const limits = limitsOf(flags.only ?? []);
  const days = flags.days === undefined ? null : Number(flags.days);
  if (days !== null && !(days > 0)) throw new UsageError('--days must be a number above 0');
  await withStore(flags, async ({ store }) => {
    const expiresAt = days === null ? null : Date.now() + days * 86_400_000;
    const { createApiKey } = await import('../../server/auth/api-key.ts');
    const made = await createApiKey(
      store,
      { tenantId: flags.tenant, name: flags.name, scopes, roles, limits, expiresAt },
      ACTOR,
    );
    if (flags.json === true) return printJson(made);
    process.stdout.write(`${made.key}\n`);
    process.stderr.write('Keep it now: it cannot be shown again.\n');
  });
}

async function list(flags: KeyFlags): Promise<void> {
  await withStore(flags, async ({ store }) => {
    const keys = await store.apiKeyList({ tenantId: flags.tenant });
    if (flags.json === true) return printJson({ data: keys });
    const rows = keys.map(({ id, name, scopes, roles, expiresAt, revokedAt }) => [
      id,
      name,
      [...scopes, ...roles].join(' '),
      revokedAt !== null ? 'revoked' : expiresAt === null ? 'valid' : `until ${new Date(expiresAt).toISOString()}`,
    ]);
    process.stdout.write(table(['ID', 'NAME', 'MAY', 'STATE'], rows));
  });
}

async function revoke(id: string, flags: KeyFlags): Promise<void> {
  if (!/^[0-9a-f-]{36}$/.test(id)) throw new UsageError('the id of a key is a uuid: see `pawl keys list`');
  await withStore(flags, async ({ store }) => {
    const { revokeApiKey } = await import('../../server/auth/api-key.ts');
    const revoked = await revokeApiKey(store, { tenantId: flags.tenant, id }, ACTOR);
    if (flags.json === true) return printJson({ revoked });
    process.stdout.write(revoked ? 'revoked\n' : 'there is no such key, or it was revoked before\n');
  });
}

/** The actor in the audit log: a person with access to the database's machine. */
const ACTOR = { name: 'pawl keys' };

async function withStore(flags: KeyFlags, work: (pawl: Pawl) => Promise<void>): Promise<void> {
  if (!isTenantId(flags.tenant)) throw new UsageError(`"${flags.tenant}" cannot be the id of a tenant`);
  const { createPawl } = await import('../../main.ts');
  const pawl = await explained(() =>
    createPawl({ runner: false, isWatched: false, database: { dataDir: flags.data } }),
  );
  try {
    await work(pawl);
  } finally {
    await pawl.close();
  }
}

function limitsOf(given: readonly string[]): Limits | undefined {
  if (given.length === 0) return undefined;
  const lists = given.map((text) => text.split('='));
  const limits = Object.fromEntries(lists.map(([kind = '', names = '']) => [kind, names.split(',')]));
  const parsed = limitsSchema.safeParse(limits);
  if (parsed.success && lists.length === Object.keys(limits).length) return parsed.data;
  throw new UsageError(
    `--only must be a kind and names, each kind once, such as workflows=invoice,report-* (${LIMIT_KINDS.join(', ')})`,
  );
}

function named<Name extends string>(option: string, names: readonly Name[], given: readonly string[]): Name[] {
  const wanted = given.flatMap((text) => text.split(/[\s,]+/)).filter((text) => text !== '');
  const unknown = wanted.find((text) => !names.includes(text as Name));
  if (unknown !== undefined) throw new UsageError(`${option} "${unknown}" is not one of ${names.join(', ')}`);
  return wanted as Name[];
}
