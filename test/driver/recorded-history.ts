// Histories of the interpreter, one file for each run and one line for each event, kept in test/driver/history. They are recorded
// from cases of the conformance suite on a real server, and replayed without a server. Who ran them, and where, is left out.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Pawl } from '../../src/main.ts';
import { parseRef } from '../../src/protocol/driver.ts';
import { TENANT } from '../conformance/driver-pair.ts';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;

export interface RecordedHistory {
  readonly workflowId: string;
  readonly history: History;
}

const FOLDER = join(import.meta.dirname, 'history');

/** Everything that the interpreter does: each of these cases does something with its history that the others do not. */
export const RECORDED_CASES: readonly string[] = [
  'a diamond joins once',
  'a retry succeeds',
  'an unhandled failure fails the execution',
  'an attempt that takes too long times out, and is tried again',
  'a sleep',
  'an execution times out',
  'a cancel stops what runs',
  'a pause lets what runs finish and starts nothing new',
  'a failed execution is reopened by RETRY_STEP',
  'parameters are updated and overridden for attempts to come',
  'a child runs and gives its outputs',
  'a child that nobody waits for',
  'a cancel reaches the child',
  'a webhook is waited for',
  'a join of the first starts without the others, and stops them',
  'a forEach runs its items and gives their results in order',
  'what succeeded is undone in reverse order when the execution fails, and finally runs',
];
/** Not a case of the conformance suite: only in Temporal can a run be cancelled on the other side. */
export const CANCELLED_THERE = 'a cancel over there';
/** Recorded a second time, with histories that continue in a new run after a few events. */
export const CONTINUED_CASES: readonly string[] = ['a forEach runs its items and gives their results in order'];

export function recordedHistories(): RecordedHistory[] {
  return readdirSync(FOLDER).map((file) => {
    const lines = readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
    return { workflowId: file, history: { events: lines.map((line) => JSON.parse(line, revived)) } };
  });
}

export function forgetHistories(): void {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
}

/** The histories of an execution: of every epoch, of every run that continued one, and of its children. */
export async function record(pawl: Pawl, address: string, executionId: string, name: string): Promise<void> {
  const { Client, Connection } = await import('@temporalio/client');
  const connection = await Connection.connect({ address });
  const { engineRunRef } = await pawl.executions.get(TENANT, executionId);
  const ref = parseRef(engineRunRef!);
  const namespace = ref.provider === 'temporal' ? ref.namespace : '';
  const { workflow } = new Client({ connection, namespace });
  const children = await pawl.store.executionChildren({ executionId });
  const ids = [executionId, ...children.map((child) => child.executionId)];
  const query = ids.map((id) => `WorkflowId starts_with "pawl/${id}/"`).join(' or ');
  let number = 0;
  for await (const { workflowId, runId } of workflow.list({ query })) {
    const handle = workflow.getHandle(workflowId, runId);
    await handle.result().catch(() => undefined);
    const { events } = await handle.fetchHistory();
    const file = `${name.replaceAll(/[^a-zA-Z]+/g, '-')}-${++number}.jsonl`;
    writeFileSync(join(FOLDER, file), `${events!.map((event) => JSON.stringify(plain(event))).join('\n')}\n`);
  }
  await connection.close();
}

/**
 * Numbers instead of Long, and bytes as text. The SDK's own conversion needs one particular version of protobufjs, which npm
 * does not promise.
 */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(plain);
  // The queue of a worker's own tasks is named after its machine.
  if (typeof value === 'string') return value.replaceAll(/\d+@[\w.-]+/g, 'worker');
  if (value === null || typeof value !== 'object') return value;
  if ('low' in value && 'high' in value) return Number(String(value));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => inner !== null && key !== 'stackTrace')
      .map(([key, inner]) => [key, plain(inner)]),
  );
}

function revived(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && 'base64' in value;
  return isBytes ? new Uint8Array(Buffer.from(String(value.base64), 'base64')) : value;
}
