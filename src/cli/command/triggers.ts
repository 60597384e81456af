// `pawl triggers`: lists the triggers of a server, and sends a webhook a signed test request.

import type { Command } from 'commander';
import type { Verification } from '../../core/definition/webhook-schema.ts';
import type { BackfillAnswerJson, TriggerJson, WebhookTestAnswerJson } from '../../protocol/answer.ts';
import { MAX_PAGE } from '../../protocol/page.ts';
import { everyItem } from '../../sdk/client.ts';
import { sampleFor } from '../../trigger/webhook/sample.ts';
import { kindOf } from '../../trigger/webhook/scheme.ts';
import { jsonOption } from '../argument.ts';
import { UsageError } from '../exit.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';
import { registerChanges } from './trigger-changes.ts';

interface ListFlags extends ClientFlags {
  readonly workflow?: string;
}

interface BackfillFlags extends ClientFlags {
  readonly from: string;
  readonly until?: string;
}

interface TestFlags extends ClientFlags {
  readonly data?: string;
  readonly secret?: string;
}

export function register(program: Command): void {
  const triggers = program.command('triggers').description('the triggers that start workflows on a server');
  clientCommand(triggers, 'list', 'list the triggers of a server')
    .option('--workflow <id>', 'only triggers of this workflow')
    .action(list);
  clientCommand(triggers, 'test', 'send a webhook trigger a signed sample')
    .argument('<id>', 'the trigger')
    .option('--data <json>', 'payload of the sample; @file reads a file, - reads standard input')
    .option(
      '--secret <secret>',
      'sign it here and send it to the public address, through everything that is in between',
    )
    .addHelpText('after', EXAMPLES)
    .action(test);
  clientCommand(triggers, 'backfill', 'start the missed slots of a schedule between two times')
    .argument('<id>', 'the trigger')
    .requiredOption('--from <time>', 'e.g. 2026-01-31T09:30:00Z')
    .option('--until <time>', 'end of the range (default: now)')
    .action(backfill);
  registerChanges(triggers);
}

const EXAMPLES = `
Examples:
  pawl triggers test $id                              the server signs a sample with the trigger's own secret
  pawl triggers test $id --data '{"order":7}'
  pawl triggers test $id --secret "$WEBHOOK_SECRET"   from here, over the network, as the provider would`;

async function list(flags: ListFlags): Promise<void> {
  const server = connect(flags);
  const filter = flags.workflow === undefined ? {} : { workflowId: flags.workflow };
  const found: TriggerJson[] = [];
  for await (const trigger of everyItem((cursor) => server.triggers.list({ ...filter, limit: MAX_PAGE, cursor }))) {
    found.push(trigger);
  }
  if (flags.json === true) return printJson({ data: found });
  if (found.length === 0) return void process.stdout.write('no triggers\n');
  const rows = found.map((trigger) => [
    trigger.id,
    trigger.triggerType,
    trigger.workflowId,
    trigger.isEnabled ? 'enabled' : 'disabled',
    trigger.webhookUrl ?? trigger.nextFireTimes?.[0] ?? '',
  ]);
  process.stdout.write(table(['TRIGGER', 'TYPE', 'WORKFLOW', 'STATUS', 'ADDRESS OR NEXT TIME'], rows));
}

async function test(id: string, flags: TestFlags): Promise<void> {
  const server = connect(flags);
  const payload = jsonOption('--data', flags.data) ?? { test: true };
  const answer =
    flags.secret === undefined
      ? await server.triggers.test(id, payload)
      : await sendFromHere(await server.triggers.get(id), JSON.stringify(payload), flags.secret);
  if (flags.json === true) return printJson(answer);
  const outcome = answer.executionId === undefined ? `not started: ${answer.reason}` : `started ${answer.executionId}`;
  process.stdout.write(`${outcome} (verification: ${answer.verification})\n`);
}

async function backfill(id: string, flags: BackfillFlags): Promise<void> {
  const server = connect(flags);
  const until = flags.until ?? new Date().toISOString();
  let next: string | undefined = flags.from;
  const sum = { slots: 0, started: 0, repeated: 0, refused: 0 };
  while (next !== undefined) {
    const { nextFrom, ...counts }: BackfillAnswerJson = await server.triggers.backfill(id, { from: next, until });
    for (const name of Object.keys(sum) as (keyof typeof sum)[]) sum[name] += counts[name];
    next = nextFrom;
  }
  if (flags.json === true) return printJson(sum);
  const { slots, started, repeated, refused } = sum;
  process.stdout.write(`${slots} slots: ${started} started, ${repeated} had been started before, ${refused} refused\n`);
}

async function sendFromHere(trigger: TriggerJson, body: string, secret: string): Promise<WebhookTestAnswerJson> {
  if (trigger.webhookUrl === undefined)
    throw new UsageError(`${trigger.id} is a ${trigger.triggerType} trigger, not a webhook`);
  const { verification = 'standard' } = trigger.config as { verification?: Verification };
  const stamp = { id: `test-${crypto.randomUUID()}`, now: Date.now() };
  const sample = sampleFor(verification, secret, Buffer.from(body), stamp);
  const kind = kindOf(verification);
  if (sample === null) throw new UsageError(`only the sender can sign a request with the verification ${kind}`);
  const url = new URL(trigger.webhookUrl);
  for (const [name, value] of Object.entries(sample.query)) url.searchParams.set(name, value);
  const headers = { 'content-type': 'application/json', ...sample.headers };
  const answer = await fetch(url, { method: 'POST', body, headers }).catch((error: Error) => {
    throw new Error(`${url.origin} cannot be reached: ${error.message}`);
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`the webhook answered ${answer.status}: ${text.slice(0, 500)}`);
  return { verification: kind, ...(JSON.parse(text) as object) };
}
