// Delivery: messages to a webhook in a separate process, and what the outbox costs executions. When started as a child process,
// this file is that webhook.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { PawlOptions } from '../../src/main.ts';
import { clearLifecycles, importMachine, triggerMany } from '../lifecycle-workload.ts';
import { median } from '../measurement.ts';
import { openPawl, runQueue } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { chainWorkflow, enqueue, publish } from '../workload.ts';

const MESSAGES = 10_000;
const EXECUTIONS = 20_000;
const ROUNDS = 5;
const LOOK_EVERY_MS = 5;
const STUCK_AFTER_MS = 120_000;
const TENANT = 'default';

export const deliveryScenarios: readonly Scenario[] = [
  {
    name: 'webhooks',
    about: 'messages/s to a webhook on this machine, processed when it answers',
    run: measureWebhooks,
  },
  {
    name: 'outbox',
    about: 'one step without the publisher, with it, and with somebody who listens',
    run: measureOutbox,
  },
];

// ── Webhooks ────────────────────────────────────────────────────────────────────────────────────────────────────────

async function measureWebhooks({ database, report, scaled, quick }: Bench): Promise<void> {
  const receiver = await startReceiver();
  const pawl = await openPawl(database, { runner: false, http: { allowLoopback: true } });
  try {
    const count = scaled(MESSAGES);
    const { consumers } = pawl.messaging;
    await clearLifecycles(database);
    await importMachine(pawl);
    const subscriptions = [{ kinds: ['transition'] }];
    // Consumers of other scenarios would get messages as well, and never answer.
    await database.query('delete from consumers');
    await consumers.register(TENANT, { code: 'hook', kind: 'webhook', url: receiver.url, subscriptions });
    const rates: number[] = [];
    for (let round = 0; round <= (quick ? 1 : 3); round++) {
      await consumers.pause(TENANT, 'hook');
      await clearLifecycles(database);
      await triggerMany(pawl, `hook${round}`, count, 1);
      const cpuBefore = process.cpuUsage();
      const started = performance.now();
      await consumers.resume(TENANT, 'hook');
      await allProcessed(database, count);
      rates.push(count / ((performance.now() - started) / 1000));
      const { user, system } = process.cpuUsage(cpuBefore);
      const each = Math.round((user + system) / count);
      report.progress(`webhooks: ${Math.round(rates.at(-1)!)}/s, ${each} µs of JavaScript each`);
    }
    // The first round compiles the code.
    report.row('webhooks', 'pawl', 'messages/s', median(rates.slice(1)));
    report.ratio('webhooks/per-second', median(rates.slice(1)), { atLeast: 2_000 });
  } finally {
    await pawl.close();
    receiver.stop();
    await database.query(`delete from consumers where code = 'hook'`);
  }
}

async function allProcessed(database: Bench['database'], count: number): Promise<void> {
  const giveUpAt = performance.now() + STUCK_AFTER_MS;
  for (;;) {
    const [row] = await database.query<{ open: boolean }>(
      'select exists (select from deliveries where stage in (0, 1, 3)) as open',
    );
    if (!row!.open) break;
    if (performance.now() > giveUpAt) throw new Error('the webhook did not get everything');
    await delay(LOOK_EVERY_MS);
  }
  const [row] = await database.query<{ done: number }>('select count(*)::int as done from deliveries where stage = 2');
  if (row!.done !== count) throw new Error(`${row!.done} of ${count} messages were processed`);
}

async function startReceiver(): Promise<{ readonly url: string; stop(): void }> {
  const child = fork(fileURLToPath(import.meta.url), ['receive'], { stdio: 'inherit' });
  const [url] = (await once(child, 'message')) as [string];
  return { url, stop: () => child.kill() };
}

if (process.send !== undefined && process.argv[2] === 'receive') {
  process.on('disconnect', () => process.exit());
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json');
      response.end('{"stage":"Processed"}');
    });
  });
  server.listen(0, '127.0.0.1', () => {
    process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
}

// ── The outbox ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** The publisher looks so rarely that no look falls into a run. */
const NO_PUBLISHER: PawlOptions = { monitor: { intervalMs: 3_600_000 } };
/** The publisher looks so often that it works all the time: a run takes little longer than the usual second between two looks. */
const PUBLISHER: PawlOptions = { monitor: { intervalMs: 20 } };

/**
 * A consumer of every event has no target of its own: four messages and four deliveries are more rows than the execution
 * itself has, written by the same two cores.
 */
const SETTINGS = [
  { system: 'not published', options: NO_PUBLISHER, subscriptions: null, cost: null },
  { system: 'published', options: PUBLISHER, subscriptions: null, cost: 'outbox/cost' },
  {
    system: 'published, the ends of runs to a consumer',
    options: PUBLISHER,
    subscriptions: [{ types: ['RunCompleted', 'RunFailed'] }],
    cost: 'outbox/cost-with-a-consumer',
  },
  {
    system: 'published, every event to a consumer',
    options: PUBLISHER,
    subscriptions: [{ kinds: ['execution'] }],
    cost: null,
  },
];

async function measureOutbox({ database, report, scaled, quick }: Bench): Promise<void> {
  await database.clear();
  const door = await openPawl(database, { ...NO_PUBLISHER, runner: false });
  const { consumers } = door.messaging;
  const count = scaled(EXECUTIONS);
  try {
    const workload = await publish(door, chainWorkflow('one-step', 1));
    const run = async ({ system, options, subscriptions }: (typeof SETTINGS)[number]) => {
      await database.clear();
      await clearLifecycles(database);
      if (subscriptions !== null) await consumers.register(TENANT, { code: 'listener', kind: 'pull', subscriptions });
      await enqueue(door, workload, count);
      const { seconds } = await runQueue(database, count, { pawl: options });
      if (subscriptions !== null) await consumers.remove(TENANT, 'listener');
      const [{ told }] = (await database.query('select count(*)::int as told from messages')) as [{ told: number }];
      report.progress(`outbox: ${system}: ${Math.round(count / seconds)}/s, ${told} events told by then`);
      return count / seconds;
    };
    await run(SETTINGS[1]!);
    const rates = SETTINGS.map(() => [] as number[]);
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      for (const [index, setting] of SETTINGS.entries()) rates[index]!.push(await run(setting));
    }
    const bare = median(rates[0]!);
    for (const [index, { system, cost }] of SETTINGS.entries()) {
      const rate = median(rates[index]!);
      report.row('outbox', system, 'executions/s', rate);
      if (cost !== null) report.ratio(cost, 1 - rate / bare, { atMost: 0.15 });
    }
  } finally {
    await door.close();
  }
}
