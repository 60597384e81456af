// Commands for operators: actions of the catalog, dead letters, consumers with their backlogs, and a bus that has lost events.

import type { Command } from 'commander';
import type { ActionJson } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface ReplayFlags extends ClientFlags {
  readonly from: string;
  readonly until?: string;
}

interface PurgeFlags extends ClientFlags {
  readonly all?: boolean;
}

export function register(program: Command): void {
  clientCommand(
    program,
    'actions',
    'list the actions that workflows can use, or show what one of them takes and returns',
  )
    .argument('[action]', 'its id, such as http.request')
    .action(actions);
  registerDeadLetters(
    program.command('dead-letters').description('executions and payloads that the engine gave up on'),
  );
  clientCommand(program, 'reconcile', 'send the events of a run to the event buses again, for a bus that has lost them')
    .argument('<run>', 'the runId of a plan, or an execution')
    .action(reconcile);
  registerConsumers(program.command('consumers').description('consumers of events, and the backlog of each'));
}

/** The fields that a workflow writes, and those that later nodes read. */
function showAction(action: ActionJson, flags: ClientFlags): void {
  if (flags.json === true) return printJson(action);
  const { id, version, displayName, description, deprecationNotice, codes = [] } = action;
  process.stdout.write(`${id} ${version}  ${printable(displayName)}\n`);
  if (description !== '') process.stdout.write(`${printable(description)}\n`);
  if (deprecationNotice !== undefined) process.stdout.write(`deprecated: ${printable(deprecationNotice)}\n`);
  for (const [title, schema] of [
    ['PARAMETER', action.parameterSchema],
    ['OUTPUT', action.outputSchema],
  ] as const) {
    const rows = fieldsOf(schema as FieldSchema);
    process.stdout.write(rows.length === 0 ? `\n${title}S: any\n` : `\n${table([title, 'TYPE', '', 'ABOUT'], rows)}`);
  }
  if (codes.length > 0) process.stdout.write(`\nfails with ${codes.join(', ')}\n`);
}

interface FieldSchema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly FieldSchema[];
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
  readonly default?: unknown;
}

const fieldsOf = ({ properties = {}, required = [] }: FieldSchema): string[][] =>
  Object.entries(properties).map(([name, field]) => [
    name,
    typeText(field),
    required.includes(name) && field.default === undefined ? 'required' : '',
    printable(field.description ?? ''),
  ]);

function typeText({ type, enum: choices, anyOf }: FieldSchema): string {
  if (choices !== undefined) return choices.map(String).join(' | ');
  return type ?? (anyOf === undefined ? 'any' : [...new Set(anyOf.map(typeText))].join(' | '));
}

async function actions(wanted: string | undefined, flags: ClientFlags): Promise<void> {
  const { catalog } = connect(flags);
  if (wanted !== undefined) return showAction(await catalog.action(wanted), flags);
  const found = await allItems((cursor) => catalog.actions({ limit: MAX_PAGE, cursor }));
  const rows = found.map(({ id, displayName, isEnabled, deprecationNotice }) => [
    id,
    isEnabled ? (deprecationNotice === undefined ? '' : 'deprecated') : 'disabled',
    printable(deprecationNotice ?? displayName),
  ]);
  show(found, ['ACTION', 'STATUS', 'NAME'], rows, 'no actions', flags);
}

function registerDeadLetters(letters: Command): void {
  const list = clientCommand(letters, 'list', 'list dead letters, oldest first');
  list.option('--all-tenants', 'of every tenant (role System)');
  list.action(async (flags: ClientFlags & { readonly allTenants?: boolean }) => {
    const { admin } = connect(flags);
    const tenants = flags.allTenants === true ? ({ tenants: 'all' } as const) : {};
    const found = await allItems((cursor) => admin.deadLetters({ limit: MAX_PAGE, cursor, ...tenants }));
    const rows = found.map(({ id, tenantId, executionId, triggerId, reason, attempts, enqueuedAt, lastError }) => [
      tenantId === undefined ? id : `${id} of ${tenantId}`,
      executionId ?? (triggerId === undefined ? '' : `trigger ${triggerId}`),
      reason,
      String(attempts),
      enqueuedAt,
      printable(lastError ?? ''),
    ]);
    show(found, ['LETTER', 'OF', 'REASON', 'ATTEMPTS', 'SINCE', 'ERROR'], rows, 'no dead letters', flags);
  });
  clientCommand(letters, 'requeue', 'run the contents of a dead letter again')
    .argument('<id>', 'the dead letter')
    .action(async (id: string, flags: ClientFlags) => {
      const answer = await connect(flags).admin.requeueDeadLetter(id);
      if (flags.json === true) return printJson(answer);
      process.stdout.write(`requeued: ${answer.executionId}\n`);
    });
  clientCommand(letters, 'purge', 'drop a dead letter, or all of them with --all')
    .argument('[id]', 'the dead letter')
    .option('--all', 'every dead letter of the tenant')
    .action(async (id: string | undefined, flags: PurgeFlags) => {
      const { admin } = connect(flags);
      if ((id === undefined) !== (flags.all === true)) throw new UsageError('name a dead letter, or say --all');
      const count = id === undefined ? (await admin.purgeDeadLetters()).count : 1;
      if (id !== undefined) await admin.purgeDeadLetter(id);
      if (flags.json === true) return printJson({ count });
      process.stdout.write(`${count} purged\n`);
    });
}

function registerConsumers(consumers: Command): void {
  clientCommand(consumers, 'list', 'list consumers with their backlogs').action(async (flags: ClientFlags) => {
    const api = connect(flags).consumers;
    const found = await allItems((cursor) => api.list({ limit: MAX_PAGE, cursor }));
    const rows = found.map(({ code, kind, url = '', isPaused, backlog }) => [
      code,
      kind,
      isPaused ? 'paused' : 'active',
      String(backlog?.pending ?? ''),
      String(backlog?.failed ?? ''),
      String(backlog?.dead ?? ''),
      printable(url),
    ]);
    show(found, ['CONSUMER', 'KIND', 'STATUS', 'PENDING', 'FAILED', 'DEAD', 'ADDRESS'], rows, 'no consumers', flags);
  });
  const change = (name: 'pause' | 'resume', description: string) =>
    clientCommand(consumers, name, description)
      .argument('<code>', 'the consumer')
      .action(async (code: string, flags: ClientFlags) => {
        const changed = await connect(flags).consumers[name](code);
        if (flags.json === true) return printJson(changed);
        process.stdout.write(`${code}: ${changed.isPaused ? 'paused' : 'active'}\n`);
      });
  change('pause', 'send a consumer nothing for now; everything waits for it');
  change('resume', 'send a consumer what has waited');
  clientCommand(consumers, 'rotate', 'create a new secret for a webhook consumer and print it once')
    .argument('<code>', 'the consumer')
    .action(async (code: string, flags: ClientFlags) => {
      const rotated = await connect(flags).consumers.rotateSecret(code);
      if (flags.json === true) return printJson(rotated);
      process.stdout.write(`${rotated.secret ?? `${code}: the secret has changed`}\n`);
    });
  clientCommand(consumers, 'replay', 'send a consumer again everything from a time range')
    .argument('<code>', 'the consumer')
    .requiredOption('--from <time>', 'e.g. 2026-01-31T09:30:00Z')
    .option('--until <time>', 'end of the range (default: now)')
    .action(replay);
  clientCommand(consumers, 'remove', 'forget a consumer and what waits for it')
    .argument('<code>', 'the consumer')
    .action(async (code: string, flags: ClientFlags) => {
      await connect(flags).consumers.remove(code);
      if (flags.json === true) return printJson({ code, removed: true });
      process.stdout.write(`${code}: removed\n`);
    });
}

async function reconcile(run: string, flags: ClientFlags): Promise<void> {
  const answer = await connect(flags).plans.reconcile(run);
  if (flags.json === true) return printJson(answer);
  const { events, buses } = answer;
  process.stdout.write(
    buses.length === 0
      ? 'no event bus asks for events of this run\n'
      : `${events} events sent to ${buses.join(', ')}\n`,
  );
}

async function replay(code: string, flags: ReplayFlags): Promise<void> {
  const [from, until] = [flags.from, flags.until].map((text) => (text === undefined ? undefined : new Date(text)));
  for (const [name, time] of Object.entries({ from, until }))
    if (time !== undefined && Number.isNaN(time.getTime()))
      throw new UsageError(`--${name} is not a time such as 2026-01-31T09:30:00Z`);
  const count = await connect(flags).consumers.replay(code, {
    from: from!,
    ...(until === undefined ? {} : { until }),
  });
  if (flags.json === true) return printJson({ count });
  process.stdout.write(`${count} sent again\n`);
}

function show(
  data: readonly unknown[],
  head: readonly string[],
  rows: readonly string[][],
  none: string,
  { json }: ClientFlags,
): void {
  if (json === true) printJson({ data });
  else process.stdout.write(data.length === 0 ? `${none}\n` : table(head, rows));
}
