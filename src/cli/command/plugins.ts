// `pawl plugins register|list`: plugins of execution plans on a server.

import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

export function register(program: Command): void {
  const plugins = program.command('plugins').description('plugins of execution plans');
  clientCommand(plugins, 'register', 'register a version of a plugin')
    .argument('<folder>', '<pluginId>/<version>, with plugin.json and the module that it names')
    .action(registerPlugin);
  clientCommand(plugins, 'list', 'list registered versions, their digests, and which are in quarantine').action(list);
}

async function registerPlugin(folder: string, flags: ClientFlags): Promise<void> {
  const place = resolve(folder);
  const [version, pluginId] = [basename(place), basename(dirname(place))];
  const read = (name: string): string => {
    try {
      return readFileSync(join(place, name), 'utf8');
    } catch {
      throw new UsageError(`${join(folder, name)} cannot be read: name a folder <pluginId>/<version> of a plugin`);
    }
  };
  const manifest = JSON.parse(read('plugin.json')) as { main?: unknown };
  const code = read(String(manifest.main));
  const plugin = await connect(flags).catalog.registerPlugin({ pluginId, version, manifest, code });
  if (flags.json === true) return printJson(plugin);
  process.stdout.write(`${plugin.pluginId} ${plugin.version} sha256:${plugin.digest}\n`);
}

async function list(flags: ClientFlags): Promise<void> {
  const page = await connect(flags).catalog.plugins();
  if (flags.json === true) return printJson(page);
  const rows = page.data.map(({ pluginId, version, digest, quarantinedUntil }) => [
    ...[pluginId, version, digest, quarantinedUntil === undefined ? '' : `in quarantine until ${quarantinedUntil}`],
  ]);
  process.stdout.write(table(['PLUGIN', 'VERSION', 'DIGEST', 'STATE'], rows));
}
