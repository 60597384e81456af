// `pawl task-queues`: waiting attempts and workers by queue.

import type { Command } from 'commander';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

export function register(program: Command): void {
  clientCommand(program, 'task-queues', 'list task queues: waiting attempts, running attempts, workers').action(show);
}

async function show(flags: ClientFlags): Promise<void> {
  const page = await connect(flags).taskQueues.list();
  if (flags.json === true) return printJson(page);
  if (page.data.length === 0) {
    process.stdout.write('no attempt waits for a worker, and no worker was seen in the last minute\n');
    return;
  }
  const head = ['QUEUE', 'READY', 'RUNNING', 'OLDEST', 'WORKERS', 'SLOTS'];
  const rows = page.data.map(({ taskQueue, ready, running, oldestQueuedAt, workers, slots }) => [
    ...[taskQueue, String(ready), String(running), oldestQueuedAt ?? '-'],
    ...[workers.length === 0 ? 'none' : workers.map(({ worker }) => worker).join(', '), String(slots)],
  ]);
  process.stdout.write(table(head, rows));
}
