// Runs `pawl run FILE`: publish, start, and follow to the end with a live view of the nodes. Uses the embedded database of the
// folder, or the server of a running `pawl dev`, where the execution can be looked up afterwards. Durable either way: if this
// process is killed, the next one on the folder goes on.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { resolveConfig, terminalPreferences } from '../config/config.ts';
import { compileDefinition } from '../core/definition/compile.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import type { Problem } from '../core/problem/problem.ts';
import { createPawl, type Pawl, type PawlOptions } from '../main.ts';
import type { Driver } from '../protocol/driver.ts';
import { presentExecution, presentGraph } from '../server/present/execution.ts';
import { jsonOption } from './argument.ts';
import { serverOf } from './dev-address.ts';
import { executionThere, PATIENCE } from './execution-there.ts';
import { offerOwnModules } from './file/action-imports.ts';
import { type DefinitionText, readDefinitionFile } from './file/definition-file.ts';
import { printable } from './file/line-map.ts';
import type { FinalSnapshot, Followed } from './follow.ts';
import { follow } from './follow.ts';
import { publishTo, refusedProblems } from './publication.ts';
import { connect } from './server-client.ts';
import { explained } from './start-problem.ts';
import { surviveStrayErrors } from './stray-error.ts';
import { reportDefinition, warnOf } from './terminal/definition-report.ts';

export interface RunFlags {
  readonly trigger?: string;
  readonly spec?: string;
  readonly also?: string[];
  readonly actions?: string;
  readonly data?: string;
  readonly json?: boolean;
  readonly driver?: Driver;
  readonly failOnTaskFailure?: boolean;
}

type DefinitionSource = Extract<DefinitionText, { kind: 'json' }>;

interface Run {
  readonly definitions: readonly DefinitionSource[];
  readonly request: { readonly trigger?: Json; readonly spec?: Json };
  readonly flags: RunFlags;
}

export async function runFile(file: string, flags: RunFlags): Promise<number> {
  const trigger = jsonOption('--trigger', flags.trigger);
  const spec = jsonOption('--spec', flags.spec);
  const definitions: DefinitionSource[] = [];
  for (const name of [...(flags.also ?? []), file]) {
    const read = readDefinitionFile(name);
    if (read.kind !== 'json') return reportDefinition(read, { asJson: flags.json === true });
    definitions.push(read);
  }
  const request = { ...(trigger === undefined ? {} : { trigger }), ...(spec === undefined ? {} : { spec }) };
  return explained(() => runSomewhere({ definitions, request, flags }));
}

async function runSomewhere(run: Run): Promise<number> {
  const { flags } = run;
  const { dataDir } = resolveConfig({ database: { dataDir: flags.data } }).database;
  try {
    return await runHere(run, dataDir);
  } catch (error) {
    if (!(error instanceof Error && error.name === 'FolderInUseError')) throw error;
    const url = await serverOf(dataDir);
    // A server only knows the actions it was started with.
    if (url === null || flags.actions !== undefined) return runAside(run, dataDir);
    if (flags.json !== true) process.stderr.write(`pawl: running on ${url}, which uses ${printable(dataDir)}\n`);
    return runThere(run, url);
  }
}

// ── With an engine in this process ──────────────────────────────────────────────────────────────────────────────────

async function runHere({ definitions, request, flags }: Run, dataDir: string, isKept = true): Promise<number> {
  const asJson = flags.json === true;
  offerOwnModules();
  surviveStrayErrors(Object.values(resolveConfig().connectorTokens));
  const pawl = await createPawl(options(flags, dataDir, dbtFolders(definitions)));
  try {
    let workflowId = '';
    const warnings: Problem[] = [];
    for (const read of definitions) {
      const published = await publishHere(pawl, read.source.value as Json);
      if (published === null) return reportDefinition(read, { asJson, actions: pawl.actionTypes });
      workflowId = published.workflowId;
      warnings.push(...published.warnings);
      if (!asJson) warnOf(read, published.warnings);
    }
    const { executionId } = await pawl.start(workflowId, request);
    const otherwise = isKept ? 'goes on next time' : 'is lost';
    const { failOnTaskFailure } = flags;
    return await follow(executionHere(pawl, executionId), {
      asJson,
      printsId: isKept,
      otherwise,
      warnings,
      failOnTaskFailure,
    });
  } finally {
    await pawl.close();
  }
}

/** Another process uses the folder and cannot run the file for us. */
async function runAside(run: Run, taken: string): Promise<number> {
  const temporary = mkdtempSync(join(tmpdir(), 'pawl-'));
  process.stderr.write(
    `pawl: ${printable(taken)} is in use by another process: running on a temporary database, which is removed at the end\n`,
  );
  try {
    return await runHere(run, temporary, false);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

/** null: the definition has problems. */
async function publishHere(pawl: Pawl, definition: Json): Promise<Awaited<ReturnType<Pawl['publish']>> | null> {
  try {
    return await pawl.publish(definition);
  } catch (error) {
    if (error instanceof PawlError && error.code === 'WFENG005') return null;
    throw error;
  }
}

/** dbt projects are beside the file or in the working folder, unless an option says otherwise. */
function dbtFolders(definitions: readonly DefinitionSource[]): string[] {
  const configured = resolveConfig().dbt.folder;
  if (configured.length > 0) return configured;
  return [...definitions.map(({ file }) => dirname(resolve(file.name))), process.cwd()];
}

/** Prints why an execution waits, so that a silent terminal is explained. */
const KEEPS_WAITING = 'an execution could not be handed over; it waits';

function options({ actions, json, driver }: RunFlags, dataDir: string, projectFolders: string[]): PawlOptions {
  const { debug } = terminalPreferences(process.stderr);
  return {
    isWatched: false,
    database: { dataDir },
    driver: { default: driver },
    http: { allowLoopback: true },
    action: { folder: actions },
    dbt: { folder: projectFolders },
    // No other process would run the attempts of other task queues.
    taskQueue: { serve: ['*'] },
    onProgress: (step) => {
      if (json !== true && process.stderr.isTTY) process.stderr.write(`… ${step}\n`);
    },
    onWarning: (event, details) => {
      if (event === KEEPS_WAITING) process.stderr.write(`pawl: ${event}: ${String(details.error)}\n`);
      else if (debug) process.stderr.write(`pawl: ${event} ${JSON.stringify(details)}\n`);
    },
  };
}

// ── On a server ─────────────────────────────────────────────────────────────────────────────────────────────────────

async function runThere({ definitions, request, flags }: Run, url: string): Promise<number> {
  const asJson = flags.json === true;
  const server = connect({ url }, { patience: PATIENCE });
  let workflowId = '';
  const warnings: Problem[] = [];
  for (const read of definitions) {
    const json = read.source.value as Json;
    const compiled = compileDefinition(json);
    if (!compiled.ok) return reportDefinition(read, { asJson });
    const { format, plan } = compiled;
    try {
      const published = await publishTo(server, { id: plan.id, format, json });
      workflowId = published.workflowId;
      warnings.push(...(published.warnings ?? []));
      if (!asJson) warnOf(read, published.warnings ?? []);
    } catch (error) {
      const refused = refusedProblems(error);
      if (refused === null) throw error;
      return reportDefinition(read, { asJson, refused: refused.problems });
    }
  }
  const driver = flags.driver === undefined ? {} : { driver: flags.driver };
  const { executionId } = await server.workflows.execute(workflowId, { ...request, ...driver });
  return follow(executionThere(server, executionId), {
    asJson,
    printsId: true,
    otherwise: 'goes on without you',
    warnings,
    failOnTaskFailure: flags.failOnTaskFailure,
  });
}

const TENANT = 'default';

/** An execution of the engine in this process, as a command follows it. */
function executionHere({ executions, result }: Pawl, executionId: string): Followed {
  const inspect = () => executions.inspect(TENANT, executionId);
  return {
    nodes: async () => presentGraph(await inspect()).nodes,
    ended: () => result(executionId),
    cancel: (reason) => executions.cancel(TENANT, executionId, reason),
    async result(): Promise<FinalSnapshot> {
      const inspection = await inspect();
      const { nodes } = presentGraph(inspection);
      return { execution: presentExecution(inspection.view), nodes, outputs: inspection.outputs };
    },
  };
}
