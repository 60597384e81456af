// `pawl catalog`: connectors and their actions; enables, disables and deprecates them.

import type { Command } from 'commander';
import { MAX_PAGE } from '../../protocol/page.ts';
import { printable } from '../file/line-map.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface DeprecateFlags extends ClientFlags {
  readonly notice?: string;
}

export function register(program: Command): void {
  const catalog = program.command('catalog').description('list connectors and actions, and switch them off and on');
  clientCommand(catalog, 'list', 'list connectors; `pawl actions` lists their actions').action(list);
  for (const [name, isEnabled] of [
    ['enable', true],
    ['disable', false],
  ] as const) {
    const effect = isEnabled ? 'be used again' : 'not be used until it is enabled again';
    clientCommand(catalog, name, `let an action, or a connector with all its actions, ${effect}`)
      .argument('<id>', 'an action (http.request) or a connector (http)')
      .action((id: string, flags: ClientFlags) => setEnabled(id, isEnabled, flags));
  }
  clientCommand(catalog, 'deprecate', 'mark an action as deprecated; publishing a workflow that uses it then warns')
    .argument('<action>', 'such as http.request')
    .option('--notice <text>', 'what to use instead; omit it to remove the notice')
    .action(deprecate);
}

async function list(flags: ClientFlags): Promise<void> {
  const { catalog } = connect(flags);
  const found = await allItems((cursor) => catalog.connectors({ limit: MAX_PAGE, cursor }));
  if (flags.json === true) return printJson({ data: found });
  const rows = found.map(({ id, displayName, isEnabled }) => [
    id,
    isEnabled ? 'enabled' : 'disabled',
    printable(displayName),
  ]);
  process.stdout.write(table(['CONNECTOR', 'STATUS', 'NAME'], rows));
}

/** The id of an action begins with its connector's id and a dot. */
async function setEnabled(id: string, isEnabled: boolean, flags: ClientFlags): Promise<void> {
  const { catalog } = connect(flags);
  const changed = id.includes('.')
    ? await catalog.updateAction(id, { isEnabled })
    : await catalog.setConnectorEnabled(id, isEnabled);
  if (flags.json === true) return printJson(changed);
  process.stdout.write(`${id}: ${changed.isEnabled ? 'enabled' : 'disabled'}\n`);
}

async function deprecate(id: string, flags: DeprecateFlags): Promise<void> {
  const changed = await connect(flags).catalog.updateAction(id, { deprecationNotice: flags.notice ?? null });
  if (flags.json === true) return printJson(changed);
  process.stdout.write(`${id}: ${flags.notice === undefined ? 'not deprecated' : 'deprecated'}\n`);
}
