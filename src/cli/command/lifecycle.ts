// `pawl lifecycle import|list|trigger|show|timeline|ack` and the commands in the files beside this one. All are safe to repeat:
// an unchanged import does nothing, and a trigger with the same --request-id is applied once.

import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import type { AckRequest } from '../../protocol/delivery.ts';
import { everyItem } from '../../sdk/client.ts';
import type { LifecycleApi } from '../../sdk/lifecycles.ts';
import { jsonOption, oneOf } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { machineView, timelineView } from '../terminal/lifecycle-view.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';
import { register as registerDeliveries } from './lifecycle-deliveries.ts';
import { importLifecycle } from './lifecycle-import.ts';

interface TriggerFlags extends ClientFlags {
  readonly requestId?: string;
  readonly actor?: string;
  readonly payload?: string;
}

interface ShowFlags extends ClientFlags {
  readonly mermaid?: boolean;
  readonly svg?: boolean;
}

interface AckFlags extends ClientFlags {
  readonly consumer: string;
  readonly stage: AckRequest['stage'];
  readonly failed?: boolean;
  readonly message?: string;
  readonly result?: string;
  readonly retryAt?: string;
}

const PLACE = 'env/name, e.g. prod/loan';

export function register(program: Command): void {
  const lifecycle = program
    .command('lifecycle')
    .description('state machines of business objects: import, trigger, inspect, acknowledge')
    .addHelpText('after', EXAMPLES);
  clientCommand(lifecycle, 'import', 'import a lifecycle and its policies')
    .argument('<file>', 'the lifecycle, or { definition, policies }, a JSON file; - for standard input')
    .option('--policies <file>', 'the policies, if they are in a separate file')
    .action(async (file: string, flags) => {
      process.exitCode = await importLifecycle(file, flags);
    });
  clientCommand(lifecycle, 'list', 'list lifecycles').action(list);
  clientCommand(lifecycle, 'trigger', 'trigger an event; the first one creates the instance')
    .argument('<lifecycle>', PLACE)
    .argument('<ref>', 'your own key of the business object')
    .argument('<event>', 'its name, id or code')
    .option('--request-id <id>', 'the same id is applied once (default: a new id)')
    .option('--actor <name>', 'the person or system that caused the event')
    .option('--payload <json>', 'payload of the event; @file reads a file, - reads standard input')
    .action(trigger);
  clientCommand(lifecycle, 'create', 'create an instance in its initial state, without an event')
    .argument('<lifecycle>', PLACE)
    .argument('<ref>', 'your name for it')
    .option('--actor <name>', 'the person or system that does it')
    .option('--payload <json>', 'payload for the timeline; @file reads a file, - reads standard input')
    .action(create);
  clientCommand(lifecycle, 'show', 'print a lifecycle, with the state of an instance')
    .argument('<lifecycle>', PLACE)
    .argument('[ref]', 'an instance')
    .option('--mermaid', 'print Mermaid text')
    .option('--svg', 'print an SVG')
    .action(show);
  clientCommand(lifecycle, 'timeline', 'print the timeline of an instance')
    .argument('<lifecycle>', PLACE)
    .argument('<ref>', 'the instance')
    .action(timeline);
  registerDeliveries(lifecycle);
  clientCommand(lifecycle, 'ack', 'acknowledge a message for a consumer')
    .argument('<ackGuid>', 'of the message')
    .requiredOption('--consumer <code>', 'who acknowledges')
    .option('--stage <stage>', 'Delivered or Processed', oneOf(['Delivered', 'Processed']), 'Processed')
    .option('--failed', 'report that processing failed')
    .option('--message <text>', 'why')
    .option(
      '--result <json>',
      'for a hook: payload of the event that it triggers; @file reads a file, - reads standard input',
    )
    .option(
      '--retry-at <time>',
      'with --failed: when to send it again (ISO 8601); without it, the delivery becomes a dead letter',
    )
    .action(ack);
}

const EXAMPLES = `
Examples:
  pawl lifecycle import loan.json --policies loan-policies.json
  pawl lifecycle trigger prod/loan loan-17 submit --payload '{"amount":5000}' --request-id form-9
  pawl lifecycle show prod/loan loan-17
  pawl lifecycle show prod/loan --svg > loan.svg
  pawl lifecycle timeline prod/loan loan-17
  pawl lifecycle deliveries --consumer kyc         # with the guid that acknowledges each
  pawl lifecycle ack $guid --consumer kyc
  pawl lifecycle deliveries --stage Dead           # and to send one again: pawl lifecycle requeue $guid`;

async function list(flags: ClientFlags): Promise<void> {
  const { lifecycles } = connect(flags);
  const found = await allOf((cursor) => lifecycles.list({ cursor, limit: 200 }));
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no lifecycles\n');
  const rows = found.map(({ env, name, version, importedAt }) => [`${env}/${name}`, String(version), importedAt]);
  process.stdout.write(table(['LIFECYCLE', 'VERSION', 'IMPORTED'], rows));
}

async function trigger(place: string, externalRef: string, event: string, flags: TriggerFlags): Promise<void> {
  const { requestId = randomUUID(), actor } = flags;
  const payload = jsonOption('--payload', flags.payload);
  const optional = { ...(actor === undefined ? {} : { actor }), ...(payload === undefined ? {} : { payload }) };
  const answer = await lifecycleAt(place, flags).trigger({ externalRef, event, requestId, ...optional });
  if (flags.json === true) return printJson(answer);
  const { applied, from, to, notice } = answer;
  process.stdout.write(`${externalRef}: ${applied ? `${from} → ${to}` : `not applied (${notice}): ${from} → ${to}`}\n`);
}

async function create(
  place: string,
  externalRef: string,
  flags: Pick<TriggerFlags, 'actor' | 'payload'> & ClientFlags,
): Promise<void> {
  const payload = jsonOption('--payload', flags.payload);
  const optional = {
    ...(flags.actor === undefined ? {} : { actor: flags.actor }),
    ...(payload === undefined ? {} : { payload }),
  };
  const instance = await lifecycleAt(place, flags).create({ externalRef, ...optional });
  if (flags.json === true) return printJson(instance);
  const { state, timeoutAt } = instance;
  process.stdout.write(`${externalRef}: ${state}${timeoutAt === undefined ? '' : `, until ${timeoutAt}`}\n`);
}

async function show(place: string, externalRef: string | undefined, flags: ShowFlags): Promise<void> {
  const lifecycle = lifecycleAt(place, flags);
  if (flags.svg === true || flags.mermaid === true) {
    const marked = externalRef === undefined ? {} : { externalRef };
    process.stdout.write(await lifecycle.diagram(flags.svg === true ? 'svg' : 'mmd', marked));
    return;
  }
  const instance = externalRef === undefined ? null : await lifecycle.instance(externalRef);
  const detail = await lifecycle.get(instance === null ? {} : { version: instance.version });
  if (flags.json === true) return printJson(instance === null ? detail : { ...detail, instance });
  process.stdout.write(machineView(detail, instance));
}

async function timeline(place: string, externalRef: string, flags: ClientFlags): Promise<void> {
  const lifecycle = lifecycleAt(place, flags);
  const entries = await allOf((cursor) => lifecycle.timeline(externalRef, { cursor, limit: 200 }));
  if (flags.json === true) return printJson({ data: entries });
  process.stdout.write(timelineView(entries));
}

async function ack(ackGuid: string, flags: AckFlags): Promise<void> {
  const { consumer, stage, failed, message, result, retryAt } = flags;
  const answer = await connect(flags).deliveries.ack(ackGuid, {
    consumer,
    stage,
    ...(failed === true ? { outcome: 'failed' } : {}),
    ...(message === undefined ? {} : { message }),
    ...(result === undefined ? {} : { result: jsonOption('--result', result) }),
    ...(retryAt === undefined ? {} : { retryAt: timeOf(retryAt) }),
  });
  if (flags.json === true) return printJson(answer);
  process.stdout.write(`${answer.stage}${answer.changed ? '' : ' (it was before)'}\n`);
}

async function allOf<Item>(list: Parameters<typeof everyItem<Item>>[0]): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of everyItem(list)) items.push(item);
  return items;
}

function lifecycleAt(place: string, flags: ClientFlags): LifecycleApi {
  const [env, name, ...rest] = place.split('/');
  if (!env || !name || rest.length > 0) throw new UsageError(`"${place}" is not an env and a name such as prod/loan`);
  return connect(flags).lifecycles.of(env, name);
}

function timeOf(text: string): string {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new UsageError(`--retry-at "${text}" is not a time such as 2030-01-31T12:00:00Z`);
  return new Date(time).toISOString();
}
