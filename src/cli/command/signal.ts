// `pawl retry`, `pawl cancel` and `pawl signal`: an operator's commands. Safe to repeat.

import type { Command } from 'commander';
import { SIGNAL_TYPES, type SignalType } from '../../core/decider/signal-type.ts';
import type { Json } from '../../core/json/json.ts';
import { requiredFields } from '../../protocol/signal.ts';
import type { PawlClient } from '../../sdk/client.ts';
import { executionId, jsonOption, oneOf, signalId } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { printJson } from '../terminal/terminal.ts';

interface SignalFlags extends ClientFlags {
  readonly payload?: string;
  readonly id?: string;
}

interface CancelFlags extends ClientFlags {
  readonly terminate?: boolean;
  readonly reason?: string;
}

export function register(program: Command): void {
  clientCommand(program, 'retry', 'run the failed nodes of an execution again')
    .argument('<id>', 'the execution', executionId)
    .action(retry);
  clientCommand(program, 'cancel', 'cancel an execution')
    .argument('<id>', 'the execution', executionId)
    .option('--reason <text>', 'why')
    .option('--terminate', 'skip compensation, and stop one that is running')
    .action(cancel);
  clientCommand(program, 'signal', 'send a signal to an execution: pause, resume, retry a step, change parameters')
    .argument('<id>', 'the execution', executionId)
    .argument('<type>', SIGNAL_TYPES.join(', '), oneOf(SIGNAL_TYPES))
    .option(
      '--payload <json>',
      'payload of the signal, e.g. {"stepId":"a"}; @file reads a file, - reads standard input',
    )
    .option('--id <uuid>', 'id of the signal; sending the same id twice sends one signal', signalId)
    .addHelpText('after', EXAMPLES)
    .action(signal);
}

const EXAMPLES = `
Examples:
  pawl signal $id PAUSE --payload '{"reason":"maintenance"}'
  pawl signal $id RESUME
  pawl signal $id RETRY_STEP --payload '{"stepId":"charge"}'
  pawl signal $id RERUN_FROM --payload '{"stepId":"charge"}'
  pawl signal $id COMPLETE_STEP --payload '{"stepId":"charge","outputs":{"paid":true}}'
  pawl signal $id UPDATE_PARAMS --payload '{"stepId":"charge","newParams":{"amount":5}}'
  pawl signal $id INJECT_OVERRIDE --payload '{"stepId":"charge","override":{"paid":true}}'
  pawl signal $id ESCALATE_ALERT --payload '{"level":"HIGH","note":"look at this"}'`;

async function retry(id: string, flags: ClientFlags): Promise<void> {
  const answer = await connect(flags).executions.retry(id);
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`running again: ${answer.nodes.join(', ')}\n`);
}

async function cancel(id: string, flags: CancelFlags): Promise<void> {
  const answer = await connect(flags).executions.cancel(id, {
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(flags.terminate === true ? { terminate: true } : {}),
  });
  if (flags.json === true) return printJson(answer);
  process.stdout.write(answer.status === 'Cancelled' ? 'cancelled\n' : 'cancelling\n');
}

async function signal(id: string, type: SignalType, flags: SignalFlags): Promise<void> {
  const payload = jsonOption('--payload', flags.payload) ?? {};
  const lacking = requiredFields(type).find((key) => !hasKey(payload, key));
  if (lacking !== undefined) {
    throw new UsageError(`${type} needs "${lacking}" in its --payload: see \`pawl help signal\` for an example`);
  }
  const message = { type, payload, ...(flags.id === undefined ? {} : { signalId: flags.id }) };
  const answer = await connect(flags).executions.signal(
    id,
    message as Parameters<PawlClient['executions']['signal']>[1],
  );
  if (flags.json === true) return printJson(answer);
  process.stdout.write(answer.repeated ? 'was sent before\n' : 'sent\n');
}

const hasKey = (payload: Json, key: string): boolean =>
  typeof payload === 'object' && payload !== null && Object.hasOwn(payload, key);
