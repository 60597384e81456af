// `pawl show` prints the definition of a workflow, of its draft or of an older version; `pawl drafts` saves, publishes and drops drafts.
// Rolling back is `pawl show ID 1 | pawl publish -`.

import type { Command } from 'commander';
import type { Json } from '../../core/json/json.ts';
import { EXIT, UsageError } from '../exit.ts';
import { readDefinitionFile } from '../file/definition-file.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { reportDefinition } from '../terminal/definition-report.ts';
import { printJson } from '../terminal/terminal.ts';

const NAME = 'its id (of a pipeline: its name)';

export function register(program: Command): void {
  clientCommand(program, 'show', 'print the definition of a workflow, of its draft or of an older version')
    .argument('<workflow>', NAME)
    .argument('[version]', 'a version number, or draft (default: the current version)')
    .addHelpText('after', '\nExample:\n  pawl show orders 1 | pawl publish -      go back to version 1')
    .action(show);
  const drafts = program.command('drafts').description('drafts of graphs and plans');
  clientCommand(drafts, 'save', 'keep a definition as the draft of its workflow; nothing is live yet')
    .argument('<file>', 'the definition, a JSON file; - for standard input')
    .action(async (file: string, flags: ClientFlags) => {
      process.exitCode = await save(file, flags);
    });
  clientCommand(drafts, 'publish', 'make the draft of a workflow its current version')
    .argument('<workflow>', NAME)
    .action(publish);
  clientCommand(drafts, 'drop', 'throw the draft of a workflow away; its versions stay')
    .argument('<workflow>', NAME)
    .action(drop);
}

async function show(id: string, version: string | undefined, flags: ClientFlags): Promise<void> {
  if (version !== undefined && version !== 'draft' && !/^\d{1,9}$/.test(version))
    throw new UsageError('a version is a number, or draft');
  const wanted = version === undefined ? {} : { version: version === 'draft' ? ('draft' as const) : Number(version) };
  const found = await connect(flags).workflows.get(id, wanted);
  if (flags.json === true || !('definition' in found)) return printJson(found as Json);
  process.stdout.write(`${JSON.stringify(found.definition, null, 2)}\n`);
}

async function save(fileName: string, flags: ClientFlags): Promise<number> {
  const read = readDefinitionFile(fileName);
  if (read.kind !== 'json') return reportDefinition(read, { asJson: flags.json === true });
  const definition = read.source.value as { readonly tasks?: unknown };
  if (definition.tasks !== undefined)
    throw new UsageError('a pipeline has no draft: `pawl publish` makes it live at once');
  const saved = await connect(flags).workflows.saveDraft(definition as never);
  if (flags.json === true) printJson(saved as unknown as Json);
  else process.stdout.write(`${saved.id}: draft saved; \`pawl drafts publish ${saved.id}\` makes it live\n`);
  return EXIT.ok;
}

async function publish(id: string, flags: ClientFlags): Promise<void> {
  const published = await connect(flags).workflows.publish(id);
  if (flags.json === true) return printJson(published as unknown as Json);
  process.stdout.write(`${id}: version ${published.version}, ${published.status}\n`);
}

async function drop(id: string, flags: ClientFlags): Promise<void> {
  await connect(flags).workflows.dropDraft(id);
  if (flags.json === true) return printJson({ workflowId: id, dropped: true });
  process.stdout.write(`${id}: the draft is gone\n`);
}
