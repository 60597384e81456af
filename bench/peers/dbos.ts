// DBOS Transact: workflows whose steps are recorded in PostgreSQL. Measured in both ways that it offers, and the better one
// counts: called directly with many calls in flight, and through a queue that was filled before it started.

import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk';
import {
  concurrently,
  countdown,
  oneByOne,
  STEPS,
  seconds,
  settings,
  tellAwaited,
  tellLatency,
  tellProgress,
  tellRate,
  warmUpFor,
} from './protocol.ts';

const AT_ONCE = 200;
const QUEUE = 'bench';
const NAME = 'pawl-bench';
const VERSION = '1';

const { databaseUrl, oneStep, tenStep, latency, warmUpMs } = settings();
const ends = countdown();
const step = (name: string, x: number) => DBOS.runStep(async () => ({ x }), { name });

const workflows = {
  'one-step': DBOS.registerWorkflow(
    async (x: number) => {
      const result = await step('n0', x);
      ends.tick();
      return result;
    },
    { name: 'one-step' },
  ),
  'ten-step': DBOS.registerWorkflow(
    async (x: number) => {
      let result = { x };
      for (let index = 0; index < STEPS; index++) result = await step(`n${index}`, result.x);
      ends.tick();
      return result;
    },
    { name: 'ten-step' },
  ),
};
type Name = keyof typeof workflows;

DBOS.setConfig({
  name: NAME,
  applicationVersion: VERSION,
  systemDatabaseUrl: databaseUrl,
  systemDatabasePoolSize: 20,
  logLevel: 'error',
});

await DBOS.launch();
await DBOS.registerQueue(QUEUE, { workerConcurrency: AT_ONCE, minPollingIntervalMs: 10 });
await warmUpFor(warmUpMs, async () => {
  await concurrently(AT_ONCE, AT_ONCE, () => runOne('one-step'));
  await concurrently(AT_ONCE, AT_ONCE, () => runOne('ten-step'));
});
const direct = {
  'one-step': await callDirectly('one-step', oneStep),
  'ten-step': await callDirectly('ten-step', tenStep),
};
tellAwaited(oneStep / direct['one-step']);
tellProgress('ten steps, one at a time');
tellLatency(await oneByOne(latency, () => runOne('ten-step')));
await DBOS.shutdown();

tellRate('one-step', 'executions/s', oneStep, { direct: direct['one-step'], queue: await queued('one-step', oneStep) });
tellRate('ten-step', 'steps/s', tenStep * STEPS, {
  direct: direct['ten-step'],
  queue: await queued('ten-step', tenStep),
});
process.exit();

async function runOne(name: Name): Promise<void> {
  const handle = await DBOS.startWorkflow(workflows[name])(1);
  await handle.getResult();
}

function callDirectly(name: Name, count: number): Promise<number> {
  tellProgress(`${name}: ${count} called directly, ${AT_ONCE} at once`);
  return seconds(() => concurrently(count, AT_ONCE, () => runOne(name)));
}

/** From the start of its executor to the last end. */
async function queued(name: Name, count: number): Promise<number> {
  tellProgress(`${name}: ${count} through a queue`);
  const client = await DBOSClient.create({ systemDatabaseUrl: databaseUrl, applicationName: NAME });
  const options = { queueName: QUEUE, workflowName: name, appVersion: VERSION };
  await concurrently(count, 20, () => client.enqueue(options, 1));
  await client.destroy();
  const all = ends.expect(count);
  const measured = await seconds(async () => {
    await DBOS.launch();
    await all;
    while ((await DBOS.listWorkflows({ status: 'PENDING', limit: 1 })).length > 0);
  });
  await DBOS.shutdown();
  return measured;
}
