// `pawl triggers create|enable|disable|fire|firings|rotate|delete`: changes triggers by hand.

import type { Command } from 'commander';
import type { TriggerCreateRequest } from '../../protocol/answer.ts';
import { jsonOption, oneOf } from '../argument.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface CreateFlags extends ClientFlags {
  readonly type: TriggerCreateRequest['triggerType'];
  readonly settings?: string;
}

interface FireFlags extends ClientFlags {
  readonly data?: string;
}

const TYPES = [
  'Webhook',
  'Schedule',
  'Event',
  'Manual',
] as const satisfies readonly TriggerCreateRequest['triggerType'][];
const NEWEST = 50;

export function registerChanges(triggers: Command): void {
  const of = (name: string, description: string) =>
    clientCommand(triggers, name, description).argument('<id>', 'the trigger');
  clientCommand(triggers, 'create', 'create a trigger that starts a workflow')
    .argument('<workflow>', 'its id')
    .requiredOption('--type <type>', TYPES.join(', '), oneOf(TYPES))
    .option('--settings <json>', `such as '{"cron":"30 2 * * *"}'; @file or - read it from there`)
    .action(create);
  for (const name of ['enable', 'disable'] as const)
    of(name, name === 'enable' ? 'let a trigger fire again' : 'stop a trigger from firing').action(
      async (id: string, flags: ClientFlags) => {
        const changed = await connect(flags).triggers.update(id, { isEnabled: name === 'enable' });
        tell(flags, changed, `${id}: ${changed.isEnabled ? 'enabled' : 'disabled'}`);
      },
    );
  of('fire', 'fire a trigger by hand, enabled or not')
    .option('--data <json>', 'its payload; @file or - read it from there')
    .action(async (id: string, flags: FireFlags) => {
      const fired = await connect(flags).triggers.fire(id, jsonOption('--data', flags.data) ?? {});
      tell(flags, fired, 'executionId' in fired ? fired.executionId : `not started: ${fired.reason}`);
    });
  of('firings', 'list what a trigger has fired, newest first').action(firings);
  of('rotate', 'give a webhook a new secret and print it, once').action(async (id: string, flags: ClientFlags) => {
    const rotated = await connect(flags).triggers.rotateSecret(id);
    tell(flags, rotated, rotated.secret ?? `${id}: the secret has changed`);
  });
  of('delete', 'delete a trigger').action(async (id: string, flags: ClientFlags) => {
    await connect(flags).triggers.delete(id);
    tell(flags, { id, deleted: true }, `${id}: deleted`);
  });
}

async function create(workflowId: string, flags: CreateFlags): Promise<void> {
  const config = jsonOption('--settings', flags.settings) as TriggerCreateRequest['config'];
  const request = { workflowId, triggerType: flags.type, ...(config === undefined ? {} : { config }) };
  const made = await connect(flags).triggers.create(request);
  tell(flags, made, [made.id, made.webhookUrl, made.secret].filter((part) => part !== undefined).join('\n'));
}

async function firings(id: string, flags: ClientFlags): Promise<void> {
  const page = await connect(flags).triggers.firings(id, { limit: NEWEST });
  if (flags.json === true) return printJson(page);
  if (page.data.length === 0) return void process.stdout.write('it has not fired\n');
  const rows = page.data.map(({ firedAt, outcome, executionId, reason }) => [
    firedAt,
    outcome,
    executionId ?? '',
    printable(reason ?? ''),
  ]);
  process.stdout.write(table(['FIRED AT', 'OUTCOME', 'EXECUTION', 'REASON'], rows));
}

function tell({ json }: ClientFlags, answer: object, text: string): void {
  if (json === true) printJson(answer);
  else process.stdout.write(`${text}\n`);
}
