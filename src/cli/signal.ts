// `pawl retry`, `pawl cancel` and `pawl signal`: what an operator does to an execution. Safe to repeat.

import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { ApiClient, type ClientFlags, clientCommand, printJson } from './api-client.ts';
import { UsageError } from './exit.ts';

interface SignalFlags extends ClientFlags {
  readonly payload?: string;
  readonly id?: string;
}

interface CancelFlags extends ClientFlags {
  readonly reason?: string;
}

export function registerSignals(program: Command): void {
  clientCommand(program, 'retry', 'run the failed nodes of an execution again')
    .argument('<id>', 'the execution')
    .action(retry);
  clientCommand(program, 'cancel', 'cancel an execution')
    .argument('<id>', 'the execution')
    .option('--reason <text>', 'why')
    .action(cancel);
  clientCommand(
    program,
    'signal',
    'send a signal: PAUSE, RESUME, RETRY_STEP, UPDATE_PARAMS, INJECT_OVERRIDE, ESCALATE_ALERT',
  )
    .argument('<execution>', 'the execution')
    .argument('<type>', 'the signal, e.g. PAUSE')
    .option('--payload <json>', 'what it carries, e.g. {"stepId":"a"}')
    .option('--id <uuid>', 'the same id twice is one signal')
    .action(signal);
}

async function retry(id: string, flags: ClientFlags): Promise<void> {
  const answer = await new ApiClient(flags).post<{ nodes: string[] }>(`${pathOf(id)}/retry`);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`running again: ${answer.nodes.join(', ')}\n`);
}

async function cancel(id: string, flags: CancelFlags): Promise<void> {
  const body = flags.reason === undefined ? {} : { reason: flags.reason };
  const answer = await new ApiClient(flags).post<{ status: string }>(`${pathOf(id)}/cancel`, body);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(answer.status === 'Cancelled' ? 'cancelled\n' : 'cancelling\n');
}

async function signal(id: string, type: string, flags: SignalFlags): Promise<void> {
  const body = { signalId: flags.id ?? randomUUID(), type: type.toUpperCase(), payload: payloadOf(flags.payload) };
  const answer = await new ApiClient(flags).post<{ repeated: boolean }>(`${pathOf(id)}/signals`, body);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(answer.repeated ? 'was sent before\n' : 'sent\n');
}

const pathOf = (id: string): string => `/api/v1/executions/${encodeURIComponent(id)}`;

function payloadOf(text: string | undefined): unknown {
  if (text === undefined) return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`--payload is not JSON: ${(error as Error).message}`);
  }
}
