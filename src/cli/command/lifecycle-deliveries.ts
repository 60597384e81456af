// `pawl lifecycle deliveries|requeue`: lists messages and their deliveries, and sends failed ones again. Listing takes nothing
// away from a consumer that pulls.

import type { Command } from 'commander';
import type { DeliveryJson } from '../../protocol/delivery.ts';
import { oneOf } from '../argument.ts';
import { printable } from '../file/line-map.ts';
import { type ClientFlags, clientCommand, connect } from '../server-client.ts';
import { table } from '../terminal/table.ts';
import { printJson } from '../terminal/terminal.ts';

interface ListFlags extends ClientFlags {
  readonly stage: (typeof STAGES)[number];
  readonly consumer?: string;
}

interface RequeueFlags extends ClientFlags {
  readonly consumer?: string;
}

const STAGES = ['Pending', 'Delivered', 'Processed', 'Failed', 'Dead', 'any'] as const;
const HEAD = ['ACKGUID', 'CONSUMER', 'STAGE', 'KIND', 'EVENT', 'ATTEMPTS', 'CREATED', 'NEXT', 'MESSAGE'];

export function register(lifecycle: Command): void {
  clientCommand(lifecycle, 'deliveries', 'list messages to consumers by stage')
    .option('--stage <stage>', STAGES.join(', '), oneOf(STAGES), 'Pending')
    .option('--consumer <code>', 'only deliveries to this consumer')
    .action(list);
  clientCommand(lifecycle, 'requeue', 'send a dead or failed message again')
    .argument('<ackGuid>', 'of the message')
    .option('--consumer <code>', 'only to this consumer')
    .action(requeue);
  clientCommand(lifecycle, 'discard', 'discard an unacknowledged message')
    .argument('<ackGuid>', 'of the message')
    .action(async (ackGuid: string, flags: ClientFlags) => {
      await connect(flags).deliveries.discard(ackGuid);
      if (flags.json === true) return printJson({ ackGuid, discarded: true });
      process.stdout.write('discarded\n');
    });
}

async function list(flags: ListFlags): Promise<void> {
  const { stage, consumer } = flags;
  const page = await connect(flags).deliveries.list({
    stage,
    limit: 200,
    ...(consumer === undefined ? {} : { consumer }),
  });
  if (flags.json === true) return printJson(page);
  if (page.data.length === 0) {
    return void process.stdout.write(stage === 'any' ? 'no deliveries\n' : `no deliveries are ${stage}\n`);
  }
  const more = page.nextCursor === undefined ? '' : 'the first 200; --consumer narrows it down\n';
  process.stdout.write(`${table(HEAD, page.data.map(rowOf))}${more}`);
}

const rowOf = ({
  ackGuid,
  consumer,
  stage,
  kind,
  source,
  event,
  attempts,
  createdAt,
  nextAttemptAt,
  message,
}: DeliveryJson): string[] => [
  ackGuid,
  consumer,
  stage,
  kind,
  printable(`${source} ${event}`),
  String(attempts),
  createdAt,
  nextAttemptAt ?? '',
  printable(message ?? ''),
];

async function requeue(ackGuid: string, flags: RequeueFlags): Promise<void> {
  const { consumer } = flags;
  const count = await connect(flags).deliveries.requeue(ackGuid, consumer === undefined ? {} : { consumer });
  if (flags.json === true) return printJson({ count });
  process.stdout.write(`sent again to ${count} consumer${count === 1 ? '' : 's'}\n`);
}
