// `pawl publish FILE`: sends a definition to a server and makes it live. Refused parts are shown in the file. Exit code 0 when it
// is published, 1 when it is refused, 2 when the file cannot be read.

import type { Command } from 'commander';
import { compileDefinition } from '../../core/definition/compile.ts';
import type { Json } from '../../core/json/json.ts';
import type { Problem } from '../../core/problem/problem.ts';
import { EXIT } from '../exit.ts';
import { type DefinitionFile, readDefinitionFile } from '../file/definition-file.ts';
import type { JsonSource } from '../file/json-source.ts';
import { LineMap, printable } from '../file/line-map.ts';
import { type Published, publishTo, refusedProblems } from '../publication.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { reportDefinition } from '../terminal/definition-report.ts';
import { reportProblem } from '../terminal/problem-report.ts';
import { paintOn, printJson } from '../terminal/terminal.ts';

interface PublishFlags extends ClientFlags {
  readonly activate: boolean;
}

export function register(program: Command): void {
  const description = 'publish a workflow file (graph, pipeline or execution plan) to a running server';
  clientCommand(program, 'publish', description)
    .argument('<file>', 'the definition, a JSON file; - for standard input')
    .option('--no-activate', 'publish the version of a graph without activating it')
    .addHelpText('after', EXAMPLES)
    .action(async (file: string, flags: PublishFlags) => {
      process.exitCode = await publish(file, flags);
    });
}

const EXAMPLES = `
Examples:
  pawl publish flow.json && pawl start flow --wait
  pawl publish flow.json --url https://pawl.example.com     (with PAWL_TOKEN set)`;

async function publish(fileName: string, flags: PublishFlags): Promise<number> {
  const asJson = flags.json === true;
  const read = readDefinitionFile(fileName);
  if (read.kind !== 'json') return reportDefinition(read, { asJson });
  const json = read.source.value as Json;
  const compiled = compileDefinition(json);
  if (!compiled.ok) return reportDefinition(read, { asJson });
  const { format, plan } = compiled;
  try {
    const published = await publishTo(connect(flags), { id: plan.id, format, json }, flags.activate);
    report({ ok: true, format, ...published }, published.warnings ?? [], read.file, read.source, asJson);
    return EXIT.ok;
  } catch (thrown) {
    // main.ts reports refusals without definition problems, like every other refusal.
    const refused = refusedProblems(thrown);
    if (refused === null) throw thrown;
    const { error, problems } = refused;
    const refusal = { code: error.code, message: error.message };
    report({ ok: false, error: refusal, problems }, problems, read.file, read.source, asJson);
    return EXIT.failed;
  }
}

type Outcome =
  | ({ readonly ok: true; readonly format: string } & Published)
  | {
      readonly ok: false;
      readonly error: { readonly code: string; readonly message: string };
      readonly problems: readonly Problem[];
    };

function report(
  outcome: Outcome,
  problems: readonly Problem[],
  file: DefinitionFile,
  source: JsonSource,
  asJson: boolean,
): void {
  if (asJson) return printJson(outcome);
  const paint = paintOn(process.stdout);
  const lines = new LineMap(file.text);
  for (const problem of problems) {
    const span = source.locate(problem.path, 'value');
    const placed = { ...problem, span, ...lines.position(span.start) };
    process.stdout.write(`${reportProblem(placed, file.name, lines, paint)}\n\n`);
  }
  const text = outcome.ok
    ? `${paint('green', '✓')} ${outcome.workflowId}: version ${outcome.version}, ${outcome.status}`
    : `${paint('red', '✗')} ${printable(file.name)} was not published: ${printable(outcome.error.message)}`;
  process.stdout.write(`${text}\n`);
}
