// `pawl list`: executions, newest first. `pawl describe ID`: one execution, node by node, with the reason it waits.

import type { Command } from 'commander';
import { EXECUTION_STATUSES, type ExecutionJson, type GraphJson, WHY, type Why } from '../../protocol/execution.ts';
import { executionRef } from '../../protocol/identifier.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { skipText, undoneText } from '../../protocol/step-text.ts';
import type { PawlClient } from '../../sdk/client.ts';
import { EXECUTION_ID, oneOf, someOf, wholeNumber } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { failedOf, standing } from '../terminal/node-view.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface ListFlags extends ClientFlags {
  readonly workflow?: string;
  readonly status?: ExecutionJson['status'][];
  readonly why?: Why;
  readonly error?: string;
  readonly taskFailures?: boolean;
  readonly since?: string;
  readonly olderThan?: string;
  readonly request?: string;
  readonly limit: number;
  readonly cursor?: string;
}

interface DescribeFlags extends ClientFlags {
  readonly verbose?: boolean;
}

export function register(program: Command): void {
  clientCommand(program, 'list', 'list executions, newest first')
    .option('-w, --workflow <id>', 'only this workflow')
    .option(
      '-s, --status <statuses>',
      'with these statuses, comma separated, e.g. Failed,TimedOut',
      someOf(EXECUTION_STATUSES),
    )
    .option('--why <reason>', `only live executions that are ${WHY.join(', ')}`, oneOf(WHY))
    .option('--error <text>', 'only executions whose error contains this text')
    .option('--task-failures', 'only pipelines that completed with failed tasks')
    .option('--since <time>', 'only executions that were created since this time, e.g. 2026-01-31T09:30:00Z')
    .option('--older-than <duration>', 'only executions that were created at least so long ago, e.g. 1h')
    .option('--request <id>', 'only the execution of this request')
    .option('-n, --limit <number>', 'number of executions to list', wholeNumber(1, MAX_PAGE), 20)
    .option('--cursor <text>', 'continue an earlier list from its `nextCursor`')
    .addHelpText('after', EXAMPLES)
    .action(list);
  clientCommand(program, 'describe', 'show an execution, node by node')
    .argument('<id>', 'the execution, or the run of a plan')
    .option('-v, --verbose', 'show parameters and outputs in full')
    .action(describe);
}

const EXAMPLES = `
Examples:
  pawl list --status Failed,TimedOut
  pawl list --workflow orders --why retrying
  pawl list --status Running --older-than 1h
  pawl list --json | jq -r '.data[].executionId'`;

async function list(flags: ListFlags): Promise<void> {
  const { workflow: workflowId, status, why, error: text, taskFailures, limit, cursor, olderThan } = flags;
  const { since: createdAfter, request: requestId } = flags;
  const wanted = Object.entries({
    ...{ workflowId, status, why, error: text, taskFailures, cursor },
    ...{ createdAfter, olderThan, requestId },
  });
  const filter = Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
  const { executions } = connect(flags);
  if (flags.json === true) return printJson(await executions.list({ ...filter, limit }));
  const page = await executions.rows({ ...filter, limit });
  if (page.data.length === 0) return void process.stdout.write('no executions\n');
  process.stdout.write(
    table(
      ['EXECUTION', 'WORKFLOW', 'STATUS', 'CREATED', 'ERROR'],
      page.data.map(({ executionId, workflowId, version, createdAt, error, ...row }) => [
        executionId,
        `${workflowId}@${version}`,
        statusText(row, row.failedNodes),
        createdAt,
        error === undefined ? '' : `${error.code}: ${printable(error.message)}`,
      ]),
    ),
  );
  if (page.nextCursor !== undefined) process.stderr.write(`there are more: --cursor ${page.nextCursor}\n`);
}

async function describe(wanted: string, flags: DescribeFlags): Promise<void> {
  const server = connect(flags);
  const { executions } = server;
  const id = await executionNamed(server, wanted);
  const execution = await executions.get(id);
  const graph = await executions.graph(id);
  if (flags.json === true) return printJson({ ...execution, graph });
  const { workflowId, version, createdAt, startedAt, completedAt, error, outputs } = execution;
  const facts: [string, string | undefined][] = [
    ['Execution', execution.executionId],
    ['Workflow', `${workflowId}, version ${version}`],
    ['Status', statusText(execution, failedOf(graph.nodes))],
    ['Waits', waitsText(execution)],
    ['Trigger', shortened(execution.trigger, flags)],
    ['Created', createdAt],
    ['Started', startedAt],
    ['Completed', completedAt],
    ['Error', error === undefined ? undefined : printable(`${error.code}: ${error.message}`)],
    ['Undone', undoneText(execution.compensation)?.text],
    ['Outputs', shortened(outputs, flags)],
  ];
  for (const [name, value] of facts) if (value !== undefined) process.stdout.write(`${name.padEnd(10)} ${value}\n`);
  process.stdout.write(`\n${table(['NODE', 'TYPE', 'STATUS', 'ATTEMPTS', 'WHY'], graph.nodes.map(nodeRow))}`);
  const ran = graph.nodes.filter(({ attempts }) => attempts > 0).slice(0, flags.verbose === true ? MAX_SHOWN : FEW);
  for (const { id: nodeId } of ran) {
    const last = (await executions.node(id, nodeId)).attempts.at(-1);
    const lines = [
      ['parameters', shortened(last?.parameters, flags)],
      ['outputs', shortened(last?.outputs, flags)],
    ].filter(([, text]) => text !== undefined);
    if (lines.length > 0) process.stdout.write(`\n${printable(nodeId)}\n`);
    for (const [name, text] of lines) process.stdout.write(`  ${name!.padEnd(10)} ${text}\n`);
  }
}

/** How many nodes are shown with their inputs and outputs. */
const FEW = 20;
const MAX_SHOWN = 1_000;
const SHORT = 300;

function shortened(value: unknown, { verbose = false }: DescribeFlags): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = printable(JSON.stringify(value));
  return verbose || text.length <= SHORT ? text : `${text.slice(0, SHORT)}… (-v shows all of it)`;
}

/** Finds an execution by its id, or by the runId of a planner. */
async function executionNamed({ plans }: PawlClient, wanted: string): Promise<string> {
  const { success, data } = executionRef.safeParse(wanted);
  if (success) return data;
  const run = await plans.inspect(wanted).catch(() => null);
  if (run !== null) return run.execution.executionId;
  throw new UsageError(`'${printable(wanted)}' is not a valid id. ${EXECUTION_ID}`);
}

/** Why nothing happens, and the command that changes it. */
function waitsText({ engineError, why, taskQueues = [] }: Pick<ExecutionJson, 'why'> & Waiting): string | undefined {
  if (engineError !== undefined) return printable(engineError);
  if (why !== 'noWorker') return undefined;
  if (taskQueues.length === 0) return 'for a runner: no process with one is alive (`pawl runner`, or `pawl serve`)';
  const queues = taskQueues.map(printable).join(', ');
  return `for a worker of task queue ${queues} (\`pawl runner --task-queue ${printable(taskQueues[0]!)}\`)`;
}

interface Waiting {
  readonly engineError?: string | undefined;
  readonly taskQueues?: readonly string[] | undefined;
}

/** A succeeded execution with failed nodes must not look plainly successful. */
function statusText(
  { status, why, dueAt }: Pick<ExecutionJson, 'status' | 'why'> & { readonly dueAt?: string | undefined },
  failed = 0,
): string {
  if (status === 'Succeeded' && failed > 0) return `Succeeded (${failed} failed)`;
  if (why === 'delayed' && dueAt !== undefined) return `${status} (delayed until ${dueAt})`;
  return why === undefined || why === 'running' ? status : `${status} (${why})`;
}

function nodeRow(node: GraphJson['nodes'][number]): string[] {
  const { id, type, status, attempts, reason, error, until, childExecutionId } = node;
  const why = [
    childExecutionId === undefined ? '' : `${status === 'Waiting' ? 'for' : 'by'} ${childExecutionId}`,
    ...standing(node),
    until === undefined ? '' : `until ${until}`,
    reason === undefined ? '' : skipText(reason),
    reason !== undefined || error === undefined ? '' : `${error.code}: ${error.message}`,
  ];
  return [id, type, status, String(attempts), printable(why.filter((part) => part !== '').join(', '))];
}
