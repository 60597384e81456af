// DBT_COMPILE, DBT_RUN and DBT_TEST: the real dbt on a project of the installation. Each returns a StepOutput: manifest, run
// results and log as artifacts, counts as metadata, rows and time as metrics. A failed model or test is not retried; an
// unreachable database is. dbt writes into a folder of its attempt, so two attempts never meet.

import { createReadStream } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { z } from 'zod';
import { RetryableError, TerminalError } from '../../core/error/error.ts';
import type { Json } from '../../core/json/json.ts';
import { type ArtifactKind, type ArtifactRef, type StepOutput, stepOutputSchema } from '../../protocol/step-output.ts';
import { type ActionContext, type ActionDefinition, defineAction } from '../action.ts';
import type { ConnectorDefinition } from '../connector.ts';
import { runDbt } from './dbt-process.ts';
import { countResults, type DbtCommand, failureOf, readResults, rowsWritten } from './dbt-results.ts';

export interface DbtOptions {
  /** The program: a path, or a name to look up. */
  readonly command: string;
  /** Projects must be below these folders. */
  readonly folders: readonly string[];
  /** PATH and HOME of the process; profiles may add variables with `env`. */
  readonly env: Readonly<Record<string, string>>;
}

const params = z.strictObject({
  project: z.string().min(1).describe('folder of the dbt project, below dbt.folder'),
  profilesDir: z
    .string()
    .optional()
    .describe('folder with profiles.yml, within the project; by default the project itself'),
  target: z.string().optional(),
  select: z.union([z.string(), z.array(z.string())]).optional(),
  exclude: z.union([z.string(), z.array(z.string())]).optional(),
  vars: z.record(z.string(), z.json()).optional(),
  threads: z.int().min(1).max(64).optional(),
  fullRefresh: z.boolean().optional(),
  env: z
    .record(z.string().regex(/^DBT_[A-Z0-9_]+$/, 'names begin with DBT_'), z.string())
    .optional()
    .describe('variables for profiles.yml; no secrets: those are named by reference'),
  revision: z.string().optional().describe('kept in the metadata'),
  manifest: z.string().optional().describe('the manifest of an earlier step, kept in the metadata'),
});

type Params = z.output<typeof params>;

export const dbtConnector: ConnectorDefinition = {
  id: 'dbt',
  displayName: 'dbt',
  description: 'Compiles, runs and tests dbt projects with the real dbt program.',
  version: '1.0.0',
  documentationUrl: '/docs',
  config: z.strictObject({}),
};

export const dbtActions = (options: DbtOptions): ActionDefinition[] => [
  dbtAction('DBT_COMPILE', 'compile', 'Compile a dbt project', options),
  dbtAction('DBT_RUN', 'run', 'Run the models of a dbt project', options),
  dbtAction('DBT_TEST', 'test', 'Run the tests of a dbt project', options),
];

function dbtAction(type: string, command: DbtCommand, displayName: string, options: DbtOptions): ActionDefinition {
  return defineAction({
    type,
    version: '1.0.0',
    connector: 'dbt',
    category: 'Data',
    displayName,
    params,
    outputs: stepOutputSchema,
    run: async (given, context) => ({ outputs: await runStep(command, given, context, options) }),
  }) as ActionDefinition;
}

async function runStep(
  command: DbtCommand,
  given: Params,
  context: ActionContext,
  options: DbtOptions,
): Promise<StepOutput> {
  const project = await projectFolder(given.project, options.folders);
  const scratch = await mkdtemp(join(tmpdir(), 'pawl-dbt-'));
  const startedMs = Date.now();
  try {
    const args = argumentsOf(command, given, project, scratch);
    const env = { ...options.env, ...given.env, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' };
    const { signal, log } = context;
    const exit = await runDbt({ command: options.command, args, projectFolder: project, env, signal, log });
    const results = readResults(await readJson(join(scratch, 'target', 'run_results.json')));
    const output: StepOutput = {
      status: 'SUCCESS',
      artifactRefs: await keepArtifacts(scratch, context),
      metadata: {
        command,
        project: given.project,
        ...(given.revision === undefined ? {} : { revision: given.revision }),
        counts: countResults(results),
        nodes: results.map(({ uniqueId, status }) => ({ uniqueId, status })),
      },
      metrics: metricsOf(startedMs, Date.now(), rowsWritten(results)),
    };
    const failure = signal.aborted ? null : failureOf(command, exit, results);
    if (signal.aborted) throw new Error('dbt was told to stop');
    if (failure === null) return output;
    const failedOutput: StepOutput = { ...output, status: 'FAILED', error: failure };
    const outputs = JSON.parse(JSON.stringify(failedOutput)) as Json;
    const Failure = failure.retryable ? RetryableError : TerminalError;
    throw new Failure(failure.code, failure.message, { outputs });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

function metricsOf(startedMs: number, finishedMs: number, rows: number | undefined): StepOutput['metrics'] {
  return {
    startedAt: new Date(startedMs).toISOString(),
    finishedAt: new Date(finishedMs).toISOString(),
    durationMs: finishedMs - startedMs,
    ...(rows === undefined ? {} : { rowsWritten: rows }),
  };
}

function argumentsOf(command: DbtCommand, given: Params, project: string, scratch: string): string[] {
  const several = (flag: string, value: string | readonly string[] | undefined) =>
    value === undefined ? [] : [flag, ...(typeof value === 'string' ? value.split(/\s+/) : value)];
  return [
    command,
    ...['--log-format', 'json', '--no-use-colors', '--project-dir', project],
    ...['--profiles-dir', within(project, given.profilesDir ?? '.')],
    ...['--target-path', join(scratch, 'target'), '--log-path', join(scratch, 'logs')],
    ...(given.target === undefined ? [] : ['--target', given.target]),
    ...several('--select', given.select),
    ...several('--exclude', given.exclude),
    ...(given.vars === undefined ? [] : ['--vars', JSON.stringify(given.vars)]),
    ...(given.threads === undefined ? [] : ['--threads', String(given.threads)]),
    ...(given.fullRefresh === true && command === 'run' ? ['--full-refresh'] : []),
  ];
}

/** A project below one of the folders, by its real path, so that no link leads out of them. */
async function projectFolder(project: string, folders: readonly string[]): Promise<string> {
  if (folders.length === 0)
    throw new TerminalError('DBT_PROJECT_NOT_FOUND', 'no folder of dbt projects is configured: set dbt.folder');
  for (const folder of folders) {
    const root = await realpath(folder).catch(() => null);
    const path = root === null ? null : await realpath(resolve(root, project)).catch(() => null);
    if (root === null || path === null || !(path === root || path.startsWith(root + sep))) continue;
    if ((await stat(join(path, 'dbt_project.yml')).catch(() => null)) !== null) return path;
  }
  throw new TerminalError('DBT_PROJECT_NOT_FOUND', `there is no dbt_project.yml in "${project}" below dbt.folder`);
}

function within(project: string, folder: string): string {
  const path = resolve(project, folder);
  if (path === project || path.startsWith(project + sep)) return path;
  throw new TerminalError('PARAMETERS_INVALID', 'profilesDir must lie within the project');
}

async function readJson(path: string): Promise<Json | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Json;
  } catch {
    return null;
  }
}

const KEPT: readonly { path: string; kind: ArtifactKind; contentType: string }[] = [
  { path: 'target/manifest.json', kind: 'dbt-manifest', contentType: 'application/json' },
  { path: 'target/run_results.json', kind: 'dbt-run-results', contentType: 'application/json' },
  { path: 'logs/dbt.log', kind: 'log-bundle', contentType: 'text/plain' },
];

async function keepArtifacts(scratch: string, { artifacts }: ActionContext): Promise<ArtifactRef[]> {
  const refs: ArtifactRef[] = [];
  for (const { path, kind, contentType } of KEPT) {
    const file = join(scratch, path);
    if ((await stat(file).catch(() => null)) === null) continue;
    const name = path.slice(path.lastIndexOf('/') + 1);
    refs.push(await artifacts.put({ kind, name, contentType }, createReadStream(file)));
  }
  return refs;
}
