// `pawl publish FILE`: sends a definition to a server and makes it live. A graph becomes a draft, which is published; a
// pipeline is created or replaced. What the server refuses is shown where it stands in the file. Exit code 0 when it is
// published, 1 when it is not, 2 when the file cannot be read.

import type { Command } from 'commander';
import { terminalPreferences } from '../config.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import type { Problem } from '../core/definition/problem.ts';
import type { Json } from '../core/json/json.ts';
import { ApiClient, type ClientFlags, clientCommand, RefusedError } from './api-client.ts';
import { type DefinitionFile, readDefinitionFile } from './definition-file.ts';
import { EXIT } from './exit.ts';
import type { JsonSource } from './json-source.ts';
import { LineMap, printable } from './line-map.ts';
import { coloured, plain, reportProblem } from './problem-report.ts';
import { validate } from './validate.ts';

const API = '/api/v1';

interface PublishFlags extends ClientFlags {
  readonly activate: boolean;
}

interface Published {
  readonly workflowId: string;
  readonly version: number;
  readonly status: string;
  readonly warnings?: readonly Problem[];
}

export function registerPublish(program: Command): void {
  const description = 'publish a workflow file (graph, pipeline or execution plan) to a running server';
  clientCommand(program, 'publish', description)
    .argument('<file>', 'the definition, a JSON file')
    .option('--no-activate', 'make the version of a graph, but do not activate it')
    .action(async (file: string, flags: PublishFlags) => {
      process.exitCode = await publish(file, flags);
    });
}

async function publish(fileName: string, flags: PublishFlags): Promise<number> {
  const asJson = flags.json === true;
  const read = readDefinitionFile(fileName);
  if (read.kind !== 'json') return validate(fileName, asJson);
  const definition = read.source.value as Json;
  const compiled = compileDefinition(definition);
  if (!compiled.ok) return validate(fileName, asJson);
  const server = new ApiClient(flags);
  try {
    const { format, plan } = compiled;
    const published =
      format === 'pipeline'
        ? await putPipeline(server, plan.id, definition)
        : await publishDraft(server, plan.id, definition, flags.activate);
    report({ ok: true, format, ...published }, published.warnings ?? [], read.file, read.source, asJson);
    return EXIT.ok;
  } catch (error) {
    // Whatever has no problems of the definition in it is said by main.ts, like every other refusal.
    if (!(error instanceof RefusedError) || !Array.isArray(error.details)) throw error;
    const problems = error.details as Problem[];
    const refusal = { code: error.code ?? '', message: error.message };
    report({ ok: false, error: refusal, problems }, problems, read.file, read.source, asJson);
    return EXIT.failed;
  }
}

// ── What is asked of the server ─────────────────────────────────────────────────────────────────────────────────────

async function publishDraft(server: ApiClient, id: string, definition: Json, activate: boolean): Promise<Published> {
  const save = () => server.post(`${API}/workflows`, definition);
  await save().catch(async (error: unknown) => {
    if (!(error instanceof RefusedError) || error.code !== 'WORKFLOW_IMMUTABLE') throw error;
    await server.post(`${API}/workflows/${id}/draft`);
    await save();
  });
  return server.post<Published>(`${API}/workflows/${id}/publish?autoActivate=${activate}`);
}

async function putPipeline(server: ApiClient, name: string, definition: Json): Promise<Published> {
  const put = await server.put<PipelineAnswer>(`${API}/workflows/${name}`, definition).catch((error: unknown) => {
    if (!(error instanceof RefusedError) || error.code !== 'WORKFLOW_NOT_FOUND') throw error;
    return server.post<PipelineAnswer>(`${API}/workflows`, definition);
  });
  return { workflowId: name, version: put.data.version, status: put.data.enabled ? 'Active' : 'Disabled' };
}

interface PipelineAnswer {
  readonly data: { readonly version: number; readonly enabled: boolean };
}

// ── What is printed ─────────────────────────────────────────────────────────────────────────────────────────────────

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
  if (asJson) {
    process.stdout.write(`${JSON.stringify(outcome, null, 2)}\n`);
    return;
  }
  const paint = terminalPreferences(process.stdout).colour ? coloured : plain;
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
