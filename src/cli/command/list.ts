// `pawl list`: executions, newest first. `pawl describe ID`: one of them, node by node, and what it waits for.

import type { Command } from 'commander';
import { EXECUTION_STATUSES, type ExecutionJson, type GraphJson, WHY, type Why } from '../../protocol/execution.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { undoneText } from '../../protocol/step-text.ts';
import { executionId, oneOf, someOf, wholeNumber } from '../argument.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { standing } from '../terminal/node-view.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface ListFlags extends ClientFlags {
  readonly workflow?: string;
  readonly status?: ExecutionJson['status'][];
  readonly why?: Why;
  readonly error?: string;
  readonly limit: number;
  readonly cursor?: string;
}

export function register(program: Command): void {
  clientCommand(program, 'list', 'list executions, newest first')
    .option('-w, --workflow <id>', 'of this workflow')
    .option(
      '-s, --status <statuses>',
      'with these statuses, comma separated, e.g. Failed,TimedOut',
      someOf(EXECUTION_STATUSES),
    )
    .option('--why <reason>', `live ones that are ${WHY.join(', ')}`, oneOf(WHY))
    .option('--error <text>', 'whose error has this in it')
    .option('-n, --limit <number>', 'how many', wholeNumber(1, MAX_PAGE), 20)
    .option('--cursor <text>', 'go on where an earlier list ended (its `nextCursor`)')
    .addHelpText('after', EXAMPLES)
    .action(list);
  clientCommand(program, 'describe', 'show an execution, node by node')
    .argument('<id>', 'the execution', executionId)
    .action(describe);
}

const EXAMPLES = `
Examples:
  pawl list --status Failed,TimedOut
  pawl list --workflow orders --why retrying
  pawl list --json | jq -r '.data[].executionId'`;

async function list(flags: ListFlags): Promise<void> {
  const { workflow: workflowId, status, why, error: text, limit, cursor } = flags;
  const wanted = Object.entries({ workflowId, status, why, error: text, cursor });
  const filter = Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
  const page = await connect(flags).executions.list({ ...filter, limit });
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
  if (page.nextCursor !== undefined) process.stderr.write(`there are more: --cursor ${page.nextCursor}\n`);
}

async function describe(id: string, flags: ClientFlags): Promise<void> {
  const { executions } = connect(flags);
  const execution = await executions.get(id);
  const graph = await executions.graph(id);
  if (flags.json === true) return printJson({ ...execution, graph });
  const { workflowId, version, status, createdAt, startedAt, completedAt, error, outputs } = execution;
  const facts: [string, string | undefined][] = [
    ['Execution', execution.executionId],
    ['Workflow', `${workflowId}, version ${version}`],
    ['Status', execution.why === undefined || execution.why === 'running' ? status : `${status} (${execution.why})`],
    ['Waits', execution.engineError === undefined ? undefined : printable(execution.engineError)],
    ['Created', createdAt],
    ['Started', startedAt],
    ['Completed', completedAt],
    ['Error', error === undefined ? undefined : printable(`${error.code}: ${error.message}`)],
    ['Undone', undoneText(execution.compensation)?.text],
    ['Outputs', outputs === undefined ? undefined : printable(JSON.stringify(outputs))],
  ];
  for (const [name, value] of facts) if (value !== undefined) process.stdout.write(`${name.padEnd(10)} ${value}\n`);
  process.stdout.write(`\n${table(['NODE', 'TYPE', 'STATUS', 'ATTEMPTS', 'WHY'], graph.nodes.map(nodeRow))}`);
}

function nodeRow(node: GraphJson['nodes'][number]): string[] {
  const { id, type, status, attempts, reason, error, until, childExecutionId } = node;
  const why = [
    childExecutionId === undefined ? '' : `${status === 'Waiting' ? 'for' : 'by'} ${childExecutionId}`,
    ...standing(node),
    until === undefined ? '' : `until ${until}`,
    reason ?? (error === undefined ? '' : `${error.code}: ${error.message}`),
  ];
  return [id, type, status, String(attempts), printable(why.filter((part) => part !== '').join(', '))];
}
