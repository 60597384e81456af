// `pawl list`: executions, newest first. `pawl describe ID`: one of them, node by node, and what it waits for.

import type { Command } from 'commander';
import type { ExecutionJson, GraphJson } from '../protocol/execution.ts';
import { ApiClient, type ClientFlags, clientCommand, printJson } from './api-client.ts';
import { printable } from './line-map.ts';
import { table } from './table.ts';

interface ListFlags extends ClientFlags {
  readonly workflow?: string;
  readonly status?: string;
  readonly why?: string;
  readonly error?: string;
  readonly limit: string;
}

export function registerList(program: Command): void {
  clientCommand(program, 'list', 'list executions, newest first')
    .option('-w, --workflow <id>', 'of this workflow')
    .option('-s, --status <statuses>', 'with these statuses, comma separated, e.g. Failed,TimedOut')
    .option('--why <reason>', 'that are queued, noWorker, running, retrying, waiting, sleeping or paused')
    .option('--error <text>', 'whose error has this in it')
    .option('-n, --limit <number>', 'how many', '20')
    .action(list);
  clientCommand(program, 'describe', 'show an execution, node by node')
    .argument('<id>', 'the execution')
    .action(describe);
}

async function list(flags: ListFlags): Promise<void> {
  const query = new URLSearchParams({ limit: flags.limit });
  if (flags.workflow !== undefined) query.set('workflowId', flags.workflow);
  for (const name of ['status', 'why', 'error'] as const) if (flags[name] !== undefined) query.set(name, flags[name]);
  const page = await new ApiClient(flags).get<{ data: ExecutionJson[] }>(`/api/v1/executions?${query}`);
  if (flags.json === true) return printJson(page);
  if (page.data.length === 0) return void process.stdout.write('no executions\n');
  process.stdout.write(
    table(
      ['EXECUTION', 'WORKFLOW', 'STATUS', 'CREATED', 'ERROR'],
      page.data.map(({ executionId, workflowId, version, status, why, createdAt, error }) => [
        executionId,
        `${workflowId}@${version}`,
        why === undefined || why === 'running' ? status : `${status} (${why})`,
        createdAt,
        error === undefined ? '' : `${error.code}: ${printable(error.message)}`,
      ]),
    ),
  );
}

async function describe(id: string, flags: ClientFlags): Promise<void> {
  const client = new ApiClient(flags);
  const path = `/api/v1/executions/${encodeURIComponent(id)}`;
  const execution = await client.get<ExecutionJson>(path);
  const graph = await client.get<GraphJson>(`${path}/graph`);
  if (flags.json === true) return printJson({ ...execution, graph });
  const { workflowId, version, status, createdAt, startedAt, completedAt, error, outputs } = execution;
  const facts: [string, string | undefined][] = [
    ['Execution', execution.executionId],
    ['Workflow', `${workflowId}, version ${version}`],
    ['Status', status],
    ['Created', createdAt],
    ['Started', startedAt],
    ['Completed', completedAt],
    ['Error', error === undefined ? undefined : printable(`${error.code}: ${error.message}`)],
    ['Outputs', outputs === undefined ? undefined : printable(JSON.stringify(outputs))],
  ];
  for (const [name, value] of facts) if (value !== undefined) process.stdout.write(`${name.padEnd(10)} ${value}\n`);
  process.stdout.write(`\n${table(['NODE', 'TYPE', 'STATUS', 'ATTEMPTS', 'WHY'], graph.nodes.map(nodeRow))}`);
}

function nodeRow({ id, type, status, attempts, reason, error, until }: GraphJson['nodes'][number]): string[] {
  const why = reason ?? (error === undefined ? '' : `${error.code}: ${error.message}`);
  return [id, type, status, String(attempts), printable(until === undefined ? why : `until ${until} ${why}`)];
}
