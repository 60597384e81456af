// Delivery: messages to a webhook in a process of its own, and what the outbox costs executions. Started as a child process,
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
/** Started, step started, step completed, completed. */
const EVENTS_EACH = 4;
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
    about: 'one step without the publisher, with it, and with a consumer of every event',
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
    // The first is code being compiled.
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

/** Its looks are so far apart that none falls into a run. */
const NO_PUBLISHER: PawlOptions = { monitor: { intervalMs: 3_600_000 } };
/** It looks so often that it is at work all the time: a run takes little longer than the usual second between two looks. */
const PUBLISHER: PawlOptions = { monitor: { intervalMs: 20 } };

async function measureOutbox({ database, report, scaled, quick }: Bench): Promise<void> {
  await database.clear();
  const door = await openPawl(database, { ...NO_PUBLISHER, runner: false });
  const { consumers } = door.messaging;
  try {
    const workload = await publish(door, chainWorkflow('one-step', 1));
    const count = scaled(EXECUTIONS);
    const run = async (pawl: PawlOptions) => {
      await database.clear();
      await clearLifecycles(database);
      await enqueue(door, workload, count);
      return count / (await runQueue(database, count, { pawl })).seconds;
    };
    const rates = { without: [] as number[], with: [] as number[], heard: [] as number[] };
    await run(PUBLISHER);
    for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
      rates.without.push(await run(NO_PUBLISHER));
      rates.with.push(await run(PUBLISHER));
      await consumers.register(TENANT, {
        code: 'every-event',
        kind: 'pull',
        subscriptions: [{ kinds: ['execution'] }],
      });
      rates.heard.push(await run(PUBLISHER));
      const [{ told }] = (await database.query('select count(*)::int as told from messages')) as [{ told: number }];
      report.progress(
        `outbox: ${told} of ${count * EVENTS_EACH} events were published before the last execution had ended`,
      );
      await consumers.remove(TENANT, 'every-event');
    }
    const [bare, published, heard] = [rates.without, rates.with, rates.heard].map(median) as [number, number, number];
    report.row('outbox', 'not published', 'executions/s', bare);
    report.row('outbox', 'published', 'executions/s', published);
    report.row('outbox', 'published to a consumer', 'executions/s', heard);
    report.ratio('outbox/cost', 1 - published / bare, { atMost: 0.15 });
    report.ratio('outbox/cost-with-a-consumer', 1 - heard / bare, { atMost: 0.15 });
  } finally {
    await door.close();
  }
}
