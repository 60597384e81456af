// `pawl logs ID`: what happened, and with --follow what happens, until the execution has ended.

import type { Command } from 'commander';
import type { EventJson } from '../protocol/execution.ts';
import { ApiClient, type ClientFlags, clientCommand } from './api-client.ts';
import { printable } from './line-map.ts';

interface LogFlags extends ClientFlags {
  readonly follow?: boolean;
}

export function registerLogs(program: Command): void {
  clientCommand(program, 'logs', 'show the events of an execution')
    .argument('<id>', 'the execution')
    .option('-f, --follow', 'go on until it has ended')
    .action(logs);
}

async function logs(id: string, flags: LogFlags): Promise<void> {
  const client = new ApiClient(flags);
  const path = `/api/v1/executions/${encodeURIComponent(id)}/events`;
  const show = (event: EventJson) => {
    process.stdout.write(flags.json === true ? `${JSON.stringify(event)}\n` : line(event));
  };
  if (flags.follow === true) {
    for await (const { event, data } of client.events(path)) if (event !== 'end') show(JSON.parse(data) as EventJson);
    return;
  }
  for (let after: string | undefined = '', query = ''; after !== undefined; query = `?after=${after}`) {
    const page: { data: EventJson[]; nextCursor?: string } = await client.get(`${path}${query}`);
    page.data.forEach(show);
    after = page.nextCursor;
  }
}

function line({ ts, level, type, nodeId, category, data }: EventJson): string {
  const { message, ...rest } = (data ?? {}) as { message?: string };
  const what =
    type === 'Log' ? `${category} ${message ?? ''}` : `${type}${message === undefined ? '' : `: ${message}`}`;
  const details = Object.keys(rest).length === 0 ? '' : ` ${JSON.stringify(rest)}`;
  return `${ts} ${level.toUpperCase().padEnd(5)} ${nodeId === undefined ? '' : `[${printable(nodeId)}] `}${printable(what + details)}\n`;
}
