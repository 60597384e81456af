// What `pawl run FILE` does: publish, start, follow to the end on the embedded database, with a live view of the nodes.
// Durable like any other execution: if this process is killed, the next `pawl run` or `pawl dev` on the same folder goes on
// with it. Ctrl-C cancels it, a second one leaves at once. The exit code is the outcome.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { terminalPreferences } from '../config.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import { createPawl, type Pawl, type PawlOptions } from '../main.ts';
import { readDefinitionFile } from './definition-file.ts';
import { EXIT, exitCodeOf, SAME_KEYSTROKE_MS, UsageError } from './exit.ts';
import { printable } from './line-map.ts';
import { createNodeView } from './node-view.ts';
import { reportRun } from './run-report.ts';
import { validate } from './validate.ts';

const TENANT = 'default';

export interface RunFlags {
  readonly trigger?: string;
  readonly spec?: string;
  readonly also?: string[];
  readonly actions?: string;
  readonly data: string;
  readonly json?: boolean;
}

export async function runFile(file: string, flags: RunFlags): Promise<number> {
  const asJson = flags.json === true;
  const trigger = parseFlag('--trigger', flags.trigger);
  const spec = parseFlag('--spec', flags.spec);
  const files = [...(flags.also ?? []), file];
  const definitions: Json[] = [];
  for (const name of files) {
    const read = readDefinitionFile(name);
    if (read.kind === 'json') definitions.push(read.source.value as Json);
    else return validate(name, asJson);
  }
  const pawl = await openPawl(flags);
  try {
    let workflowId = '';
    for (const [index, definition] of definitions.entries()) {
      const published = await publish(pawl, definition);
      if (published === null) return validate(files[index]!, asJson, pawl.actionTypes);
      workflowId = published;
    }
    const start = { ...(trigger === undefined ? {} : { trigger }), ...(spec === undefined ? {} : { spec }) };
    const { executionId } = await pawl.start(workflowId, start);
    return await follow(pawl, executionId, asJson);
  } finally {
    await pawl.close();
  }
}

/** null: the definition has problems. */
async function publish(pawl: Pawl, definition: Json): Promise<string | null> {
  try {
    return (await pawl.publish(definition)).workflowId;
  } catch (error) {
    if (error instanceof PawlError && error.code === 'WFENG005') return null;
    throw error;
  }
}

/** The folder's own database; a temporary one when another process has the folder. */
async function openPawl(flags: RunFlags): Promise<Pawl & { temporary?: string }> {
  const progress = (step: string) => {
    if (flags.json !== true && process.stderr.isTTY) process.stderr.write(`… ${step}\n`);
  };
  const { debug } = terminalPreferences(process.stderr);
  const options = (dataDir: string): PawlOptions => ({
    database: { dataDir },
    http: { allowLoopback: true },
    action: { folder: flags.actions },
    onProgress: progress,
    onWarning: (event, details) => {
      if (debug) process.stderr.write(`pawl: ${event} ${JSON.stringify(details)}\n`);
    },
  });
  try {
    return await createPawl(options(flags.data));
  } catch (error) {
    if (!(error instanceof Error && error.name === 'FolderInUseError')) throw error;
    const temporary = mkdtempSync(join(tmpdir(), 'pawl-'));
    process.stderr.write(`pawl: ${printable(flags.data)} is in use; running on a temporary database\n`);
    const pawl = await createPawl(options(temporary));
    const close = async () => {
      await pawl.close();
      rmSync(temporary, { recursive: true, force: true });
    };
    return { ...pawl, close };
  }
}

async function follow(pawl: Pawl, executionId: string, asJson: boolean): Promise<number> {
  const startedAt = performance.now();
  const view = asJson ? null : createNodeView(process.stdout);
  const stopListening = cancelOnInterrupt(pawl, executionId);
  const result = pawl.result(executionId);
  let ended = false;
  const finished = result.then(() => {
    ended = true;
  });
  while (view !== null && !ended) {
    view.show(await pawl.executions.inspect(TENANT, executionId));
    await Promise.race([finished, new Promise((resolve) => setTimeout(resolve, view.intervalMs))]);
  }
  const { status } = await result;
  stopListening();
  const inspection = await pawl.executions.inspect(TENANT, executionId);
  const durationMs = Math.round(performance.now() - startedAt);
  if (view === null) process.stdout.write(`${JSON.stringify(reportRun(inspection, durationMs), null, 2)}\n`);
  else view.end(inspection, durationMs);
  return exitCodeOf(status);
}

function cancelOnInterrupt(pawl: Pawl, executionId: string): () => void {
  let askedAt: number | null = null;
  const interrupt = () => {
    if (askedAt !== null && performance.now() - askedAt > SAME_KEYSTROKE_MS) process.exit(EXIT.cancelled);
    if (askedAt !== null) return;
    askedAt = performance.now();
    process.stderr.write(
      '\npawl: cancelling; press Ctrl-C again to leave at once (the execution then goes on next time)\n',
    );
    pawl.executions.cancel(TENANT, executionId, 'interrupted').catch(() => undefined);
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  return () => {
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  };
}

function parseFlag(name: string, text: string | undefined): Json | undefined {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new UsageError(`${name} is not JSON: ${(error as Error).message}`);
  }
}
