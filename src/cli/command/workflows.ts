// `pawl workflows`: the workflows of a server.

import type { Command } from 'commander';
import type { WorkflowJson } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { everyItem } from '../../sdk/client.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface WorkflowFlags extends ClientFlags {
  readonly search?: string;
}

export function register(program: Command): void {
  clientCommand(program, 'workflows', 'list the workflows of a server')
    .option('--search <text>', 'only workflows whose id or name contains this text')
    .action(workflows);
}

async function workflows(flags: WorkflowFlags): Promise<void> {
  const server = connect(flags);
  const search = flags.search === undefined ? {} : { search: flags.search };
  const found: WorkflowJson[] = [];
  for await (const workflow of everyItem((cursor) => server.workflows.list({ ...search, limit: MAX_PAGE, cursor }))) {
    found.push(workflow);
  }
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no workflows\n');
  const rows = found.map(({ id, displayName, format, status, isEnabled, currentVersion }) => [
    nameOf({ id, displayName, format }),
    format,
    isEnabled ? status : `${status} (disabled)`,
    currentVersion === undefined ? '' : String(currentVersion),
    printable(displayName),
  ]);
  process.stdout.write(table(['WORKFLOW', 'FORMAT', 'STATUS', 'VERSION', 'NAME'], rows));
}

/** What people call a workflow: its id, or a pipeline's name. Commands accept both. */
export function nameOf({ id, displayName, format }: Pick<WorkflowJson, 'id' | 'displayName' | 'format'>): string {
  return format === 'pipeline' ? printable(displayName) : id;
}
