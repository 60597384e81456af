// `pawl documents`: document templates and their versions, and rendering. `pawl templates`: workflows to create workflows from.

import type { Command } from 'commander';
import type { DocumentRequest, RenderRequest } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { jsonOption } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { allItems, type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface RenderFlags extends ClientFlags {
  readonly answers?: string;
  readonly extras?: string;
  readonly ofVersion?: string;
}

interface NewFlags extends ClientFlags {
  readonly name: string;
  readonly values?: string;
  readonly publish?: boolean;
}

export function register(program: Command): void {
  const documents = program.command('documents').description('versioned document templates (Liquid)');
  clientCommand(documents, 'list', 'list document templates').action(listDocuments);
  clientCommand(documents, 'add', 'add a document template, or a new version of one')
    .argument('<document>', 'set/id; the set is created if it does not exist')
    .argument('<json>', 'displayName, fields and bodyTemplate; @file reads a file, - reads standard input')
    .action(addDocument);
  clientCommand(documents, 'render', 'render a document with answers and print it')
    .argument('<document>', 'set/id, or the id alone if only one set has it')
    .option('--answers <json>', 'answers, keyed by field; @file reads a file, - reads standard input')
    .option('--extras <json>', 'extra data, which the template sees as `extras`')
    .option('--of-version <number>', 'this version instead of the newest enabled one')
    .action(render);
  const templates = program.command('templates').description('templates that create workflows');
  clientCommand(templates, 'list', 'list workflow templates').action(listTemplates);
  clientCommand(templates, 'new', 'create a workflow from a template: a draft, or active with --publish')
    .argument('<template>', 'its id')
    .requiredOption('--name <text>', 'name of the new workflow')
    .option('--values <json>', "values for the template's config schema; @file reads a file, - reads standard input")
    .option('--publish', 'publish it at once')
    .action(newWorkflow);
}

function placeOf(document: string): { set: string; id: string } {
  const [set, id, ...rest] = document.split('/');
  if (set === undefined || id === undefined || set === '' || id === '' || rest.length > 0)
    throw new UsageError(`"${document}" is not a document such as letters/welcome`);
  return { set, id };
}

async function listDocuments(flags: ClientFlags): Promise<void> {
  const { documents } = connect(flags);
  const found = await allItems((cursor) => documents.list({ limit: MAX_PAGE, cursor }));
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no documents\n');
  const rows = found.map(({ templateSetId, id, version, isEnabled, displayName }) => [
    `${templateSetId}/${id}`,
    String(version),
    isEnabled ? 'enabled' : 'disabled',
    printable(displayName),
  ]);
  process.stdout.write(table(['DOCUMENT', 'VERSION', 'STATUS', 'NAME'], rows));
}

async function addDocument(document: string, json: string, flags: ClientFlags): Promise<void> {
  const { set, id } = placeOf(document);
  const request = jsonOption('<json>', json) as unknown as DocumentRequest;
  const { documents } = connect(flags);
  const isKnown = (await allItems((cursor) => documents.sets({ limit: MAX_PAGE, cursor }))).some((it) => it.id === set);
  if (!isKnown) await documents.putSet(set, { displayName: set, team: 'default' });
  const added = await documents.add(set, id, request);
  if (flags.json === true) return printJson(added);
  process.stdout.write(`${set}/${id}: version ${added.version}\n`);
}

async function render(document: string, flags: RenderFlags): Promise<void> {
  const ref = document.includes('/') ? placeOf(document) : document;
  const request = {
    answers: jsonOption('--answers', flags.answers) ?? {},
    ...(flags.extras === undefined ? {} : { extras: jsonOption('--extras', flags.extras) }),
  } as RenderRequest;
  const version = flags.ofVersion === undefined ? {} : { version: Number(flags.ofVersion) };
  const answer = await connect(flags).documents.render(ref, request, version);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`${answer.renderedBody}\n`);
}

async function listTemplates(flags: ClientFlags): Promise<void> {
  const { workflowTemplates } = connect(flags);
  const found = await allItems((cursor) => workflowTemplates.list({ limit: MAX_PAGE, cursor }));
  if (flags.json === true) return printJson({ data: found });
  const rows = found.map(({ id, category, displayName }) => [id, printable(category), printable(displayName)]);
  process.stdout.write(table(['TEMPLATE', 'CATEGORY', 'NAME'], rows));
}

async function newWorkflow(template: string, flags: NewFlags): Promise<void> {
  const client = connect(flags);
  const config = (jsonOption('--values', flags.values) ?? {}) as Record<string, never>;
  const made = await client.workflowTemplates.instantiate(template, { displayName: flags.name, config });
  const status = flags.publish === true ? 'Active' : made.status;
  if (flags.publish === true) await client.workflows.publish(made.workflowId);
  if (flags.json === true) return printJson({ ...made, status });
  process.stdout.write(`${made.workflowId}: ${status}\n`);
}
