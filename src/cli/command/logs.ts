// `pawl logs ID`: the events of an execution; with --follow, until it ends. A broken connection resumes where it broke, because a
// server may restart meanwhile.

import type { Command } from 'commander';
import type { EventJson } from '../../protocol/execution.ts';
import { everyItem, type PawlClient } from '../../sdk/client.ts';
import { executionId } from '../argument.ts';
import { PATIENCE } from '../execution-there.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';

interface LogFlags extends ClientFlags {
  readonly follow?: boolean;
  readonly verbose?: boolean;
}

export function register(program: Command): void {
  clientCommand(program, 'logs', 'show the events of an execution')
    .argument('<id>', 'the execution', executionId)
    .option('-f, --follow', 'keep printing until the execution ends')
    .option('-v, --verbose', 'show the parameters and outputs of every attempt')
    .addHelpText('after', '\nWith --json every event is one line, for `jq` and the like.')
    .action(logs);
}

async function logs(id: string, flags: LogFlags): Promise<void> {
  const { executions } = connect(flags);
  // An unknown execution is reported at once. Retries are for later failures.
  await executions.get(id);
  const events =
    flags.follow === true
      ? connect(flags, { patience: PATIENCE }).executions.events(id)
      : everyItem((cursor) => executions.eventPage(id, cursor === undefined ? {} : { after: Number(cursor) }));
  for await (const event of events) {
    process.stdout.write(flags.json === true ? `${JSON.stringify(event)}\n` : line(event));
    if (flags.verbose === true && flags.json !== true) process.stdout.write(await payloads(executions, id, event));
  }
}

function line({ ts, level, type, nodeId, category, data }: EventJson): string {
  const { message, ...rest } = (data ?? {}) as { message?: string };
  const said = message === undefined ? '' : `: ${message}`;
  const what = type === 'Log' ? `${category}${said}` : `${type}${said}`;
  const details = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  const where = nodeId === undefined ? '' : `[${printable(nodeId)}] `;
  return `${ts} ${level.toUpperCase().padEnd(5)} ${where}${printable(what + details)}\n`;
}

const ENDS_AN_ATTEMPT: ReadonlySet<string> = new Set(['NodeSucceeded', 'NodeFailed', 'RetryScheduled']);

async function payloads(executions: PawlClient['executions'], id: string, event: EventJson): Promise<string> {
  const { type, nodeId, data } = event;
  if (nodeId === undefined || !ENDS_AN_ATTEMPT.has(type)) return '';
  const { attempt } = (data ?? {}) as { attempt?: number };
  const found = (await executions.node(id, nodeId)).attempts.find((one) => one.attempt === attempt);
  const shown = [
    ['parameters', found?.parameters],
    ['outputs', found?.outputs],
  ] as const;
  return shown
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => `    ${name.padEnd(10)} ${printable(JSON.stringify(value))}\n`)
    .join('');
}
