// `pawl bulk ACTION`: cancel, retry, pause, resume or replay many executions. It counts first and asks for --yes.

import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { BULK_ACTIONS, type BulkJson } from '../../protocol/bulk.ts';
import { EXECUTION_STATUSES, type ExecutionJson, WHY, type Why } from '../../protocol/execution.ts';
import { oneOf, someOf } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { printJson } from '../terminal/terminal.ts';

interface BulkFlags extends ClientFlags {
  readonly workflow?: string;
  readonly status?: ExecutionJson['status'][];
  readonly why?: Why;
  readonly error?: string;
  readonly olderThan?: string;
  readonly ids?: string;
  readonly reason: string;
  readonly requestId?: string;
  readonly yes?: boolean;
}

const LOOK_MS = 500;

export function register(program: Command): void {
  clientCommand(program, 'bulk', 'cancel, retry, pause, resume or replay many executions')
    .argument('<action>', BULK_ACTIONS.join(', '), oneOf(BULK_ACTIONS))
    .requiredOption('--reason <text>', 'why; it stands in the audit log')
    .option('-w, --workflow <id>', 'only this workflow')
    .option('-s, --status <statuses>', 'only these statuses, comma separated', someOf(EXECUTION_STATUSES))
    .option('--why <reason>', `only live executions that are ${WHY.join(', ')}`, oneOf(WHY))
    .option('--error <text>', 'only executions whose error contains this text')
    .option('--older-than <duration>', 'only executions that started at least this long ago, e.g. 1h')
    .option('--ids <ids>', 'only these executions, comma separated')
    .option('--request-id <id>', 'id of the bulk action; sending the same id twice does it once')
    .option('--yes', 'carry it out; without this flag the executions are only counted')
    .addHelpText('after', EXAMPLES)
    .action(bulk);
}

const EXAMPLES = `
Examples:
  pawl bulk retry --workflow orders --status Failed --error HTTP_503 --reason 'the shop is back'
  pawl bulk cancel --why sleeping --older-than 7d --reason 'nobody waits for them' --yes`;

async function bulk(action: (typeof BULK_ACTIONS)[number], flags: BulkFlags): Promise<void> {
  const { workflow: workflowId, status, why, error, olderThan, ids, reason, requestId = randomUUID() } = flags;
  const wanted = Object.entries({ workflowId, status, why, error, olderThan });
  const filter = Object.fromEntries(wanted.filter(([, value]) => value !== undefined));
  if (ids === undefined && Object.keys(filter).length === 0) {
    throw new UsageError('say which executions: --workflow, --status, --why, --error, --older-than or --ids');
  }
  const chosen = ids === undefined ? { filter } : { ids: ids.split(',') };
  const client = connect(flags).bulk;
  const order = { requestId, action, reason, ...chosen };
  if (flags.yes !== true) {
    const counted = await client.order({ ...order, dryRun: true });
    if (flags.json === true) return printJson(counted);
    process.stdout.write(
      `${action}: ${counted.count}${counted.isCapped ? ' or more' : ''} executions. Do it with --yes\n`,
    );
    return;
  }
  const { bulkId } = await client.order(order);
  let now: BulkJson;
  do {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    now = await client.get(bulkId!);
  } while (now.state === 'running');
  if (flags.json === true) return printJson(now);
  const { done, skipped, failed, lastError } = now;
  process.stdout.write(`${now.state}: ${done} done, ${skipped} skipped, ${failed} failed\n`);
  if (failed > 0 && lastError !== undefined) process.stderr.write(`the last: ${lastError}\n`);
}
