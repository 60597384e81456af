// `pawl logs ID`: what happened, and with --follow what happens, until the execution has ended. A connection that breaks is
// taken up again where it broke.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { EventJson } from '../protocol/execution.ts';
import { ApiClient, type ClientFlags, clientCommand, RefusedError } from './api-client.ts';
import { printable } from './line-map.ts';

interface LogFlags extends ClientFlags {
  readonly follow?: boolean;
}

type Show = (event: EventJson) => void;

const RECONNECT_MS = 1_000;

export function registerLogs(program: Command): void {
  clientCommand(program, 'logs', 'show the events of an execution')
    .argument('<id>', 'the execution')
    .option('-f, --follow', 'go on until it has ended')
    .action(logs);
}

async function logs(id: string, flags: LogFlags): Promise<void> {
  const path = `/api/v1/executions/${encodeURIComponent(id)}/events`;
  const show: Show = (event) => {
    process.stdout.write(flags.json === true ? `${JSON.stringify(event)}\n` : line(event));
  };
  const client = new ApiClient(flags);
  await (flags.follow === true ? follow(client, path, show) : showAll(client, path, show));
}

async function showAll(client: ApiClient, path: string, show: Show): Promise<void> {
  for (let query = ''; ; ) {
    const page = await client.get<{ data: EventJson[]; nextCursor?: string }>(`${path}${query}`);
    page.data.forEach(show);
    if (page.nextCursor === undefined) return;
    query = `?after=${page.nextCursor}`;
  }
}

async function follow(client: ApiClient, path: string, show: Show): Promise<void> {
  for (let seen: number | null = null; ; ) {
    try {
      for await (const { event, data } of client.events(seen === null ? path : `${path}?after=${seen}`)) {
        if (event === 'end') return;
        const shown = JSON.parse(data) as EventJson;
        show(shown);
        // A log line comes before the fact whose number it has.
        if (shown.type !== 'Log') seen = shown.seq;
      }
    } catch (error) {
      // Gone in the middle, it may come back; refused, it stays refused.
      const isRefused = error instanceof RefusedError && error.code !== undefined;
      if (seen === null || isRefused) throw error;
    }
    await sleep(RECONNECT_MS);
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
