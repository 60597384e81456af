// A workflow on a server: its versions, the changes between two of them, and taking it out of use.

import type { Command } from 'commander';
import { MAX_PAGE } from '../../protocol/page.ts';
import { UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface DiffFlags extends ClientFlags {
  readonly from?: string;
  readonly to?: string;
}

export function register(program: Command): void {
  const of = (name: string, description: string) =>
    clientCommand(program, name, description).argument('<workflow>', 'its id (of a pipeline: its name)');
  of('versions', 'list the versions of a workflow, newest first').action(versions);
  of('diff', 'show what changed between two versions of a workflow')
    .option('--from <version>', 'a version number, or draft (default: the current version)')
    .option('--to <version>', 'a version number, or draft (default: the draft)')
    .addHelpText(
      'after',
      '\nExamples:\n  pawl diff orders --from 1 --to 2\n  pawl diff orders              the draft against what is live',
    )
    .action(diff);
  of('archive', 'take a graph or plan out of use: nothing starts it any more').action(archive);
  of('reactivate', 'bring an archived workflow back, with its triggers').action(reactivate);
  of('enable', 'let a workflow be started again').action((id: string, flags: ClientFlags) =>
    setEnabled(id, flags, true),
  );
  of('disable', 'stop a workflow from being started; runs in flight go on').action((id: string, flags: ClientFlags) =>
    setEnabled(id, flags, false),
  );
  of('delete', 'delete a draft, or a pipeline; runs in flight go on').action(remove);
}

async function versions(id: string, flags: ClientFlags): Promise<void> {
  const { workflows } = connect(flags);
  const found = await allItems((cursor) => workflows.versions(id, { limit: MAX_PAGE, cursor }));
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no versions\n');
  const rows = found.map(({ version, isCurrent, live, createdAt, checksum }) => [
    String(version),
    isCurrent ? 'current' : '',
    String(live),
    createdAt,
    checksum.slice(0, 12),
  ]);
  process.stdout.write(table(['VERSION', '', 'LIVE', 'CREATED', 'CHECKSUM'], rows));
}

async function diff(id: string, flags: DiffFlags): Promise<void> {
  const versionOf = (name: string, text: string | undefined): number | 'draft' | undefined => {
    if (text === undefined || text === 'draft') return text;
    if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${name} is the number of a version, or draft`);
    return Number(text);
  };
  const [from, to] = [versionOf('--from', flags.from), versionOf('--to', flags.to)];
  const wanted = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const found = await connect(flags).workflows.diff(id, wanted);
  if (flags.json === true) return printJson(found);
  process.stdout.write(`${id}: ${found.from} → ${found.to}, ${found.changes.length || 'no'} changes\n`);
  for (const { op, path, from: origin, before, after } of found.changes) {
    process.stdout.write(
      `${op.padEnd(7)} ${printable(path)}${origin === undefined ? '' : `  from ${printable(origin)}`}\n`,
    );
    if (before !== undefined) process.stdout.write(`  - ${printable(JSON.stringify(before))}\n`);
    if (after !== undefined) process.stdout.write(`  + ${printable(JSON.stringify(after))}\n`);
  }
}

async function archive(id: string, flags: ClientFlags): Promise<void> {
  said(id, await connect(flags).workflows.archive(id), flags);
}

async function reactivate(id: string, flags: ClientFlags): Promise<void> {
  said(id, await connect(flags).workflows.reactivate(id), flags);
}

async function setEnabled(id: string, flags: ClientFlags, isEnabled: boolean): Promise<void> {
  const changed = await connect(flags).workflows.setEnabled(id, isEnabled);
  if (flags.json === true) return printJson(changed);
  process.stdout.write(`${id}: ${isEnabled ? 'enabled' : 'disabled'}\n`);
}

async function remove(id: string, flags: ClientFlags): Promise<void> {
  await connect(flags).workflows.delete(id);
  if (flags.json === true) return printJson({ workflowId: id, deleted: true });
  process.stdout.write(`${id}: deleted\n`);
}

function said(id: string, state: { readonly status: string }, flags: ClientFlags): void {
  if (flags.json === true) printJson(state);
  else process.stdout.write(`${id}: ${state.status}\n`);
}
