// Lifecycles: triggers of many instances compared with the floor of the same rows, and the cost of a monitor's look while a
// million instances wait for their timeouts.

import type { Pawl } from '../../src/main.ts';
import { runTriggerFloor } from '../lifecycle-floor.ts';
import { clearLifecycles, importMachine, triggerMany } from '../lifecycle-workload.ts';
import { median, percentile } from '../measurement.ts';
import { openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';

const INSTANCES = 5_000;
const TURNS = 4;
const ROUNDS = 5;
const QUIET = 1_000_000;
const LOOKS = 300;

export const lifecycleScenarios: readonly Scenario[] = [
  {
    name: 'triggers',
    about: 'triggers/s of many instances with one consumer each, ours and the floor',
    run: measureTriggers,
  },
  { name: 'monitor', about: `a monitor's look at ${QUIET} quiet instances with timeouts`, run: measureMonitor },
];

async function measureTriggers({ database, report, scaled, quick }: Bench): Promise<void> {
  const pawl = await openPawl(database, { runner: false });
  try {
    const instances = scaled(INSTANCES);
    await clearLifecycles(database);
    await importMachine(pawl);
    await subscribe(pawl);
    await triggerMany(pawl, 'warm', scaled(1_000), TURNS);
    await runTriggerFloor(database, scaled(1_000), TURNS);
    const ours: number[] = [];
    const floor: number[] = [];
    for (let round = 0; round < (quick ? 2 : ROUNDS); round++) {
      await clearLifecycles(database);
      const started = performance.now();
      await triggerMany(pawl, `r${round}`, instances, TURNS);
      ours.push((instances * TURNS) / ((performance.now() - started) / 1000));
      const body = await keepOneMessage(database);
      floor.push((instances * TURNS) / (await runTriggerFloor(database, instances, TURNS)));
      report.progress(
        `triggers: ${Math.round(ours.at(-1)!)}/s, floor ${Math.round(floor.at(-1)!)}/s, body ${body} bytes`,
      );
    }
    report.row('triggers', 'pawl', 'triggers/s', median(ours));
    report.row('triggers', 'floor', 'triggers/s', median(floor));
    report.ratio('triggers/per-second', median(ours), { atLeast: 8_000 });
    report.ratio('triggers/floor', median(ours) / median(floor), { atLeast: 0.5 });
  } finally {
    await pawl.close();
  }
}

/** A pull consumer that takes no messages during the measurement: messages are written, and nothing is sent. */
async function subscribe(pawl: Pawl): Promise<void> {
  await pawl.messaging.consumers.register('default', {
    code: 'quiet',
    kind: 'pull',
    subscriptions: [{ kinds: ['transition'] }],
  });
}

/** Keeps one message, which the floor learns from. */
async function keepOneMessage(database: Bench['database']): Promise<number> {
  const [row] = await database.query<{ guid: string; bytes: number }>(
    'select ack_guid as guid, length(body::text) as bytes from messages limit 1',
  );
  await database.query('truncate lifecycle_instances, lifecycle_timeline, deliveries');
  await database.query('delete from messages where ack_guid <> $1', [row!.guid]);
  await database.query('vacuum messages');
  await database.query('checkpoint');
  return row!.bytes;
}

async function measureMonitor({ database, report, scaled }: Bench): Promise<void> {
  // The monitor's own schedule is switched off: this scenario makes every look.
  const pawl = await openPawl(database, { runner: false, monitor: { intervalMs: 3_600_000 } });
  try {
    const quiet = scaled(QUIET);
    await clearLifecycles(database);
    await importMachine(pawl);
    report.progress(`monitor: making ${quiet} instances, and a message to a paused consumer for each`);
    const { consumerId } = await pausedConsumer(pawl);
    await makeQuiet(database, quiet, consumerId);
    const { monitor } = pawl.messaging;
    for (let look = 0; look < LOOKS; look++) await monitor.runOnce();
    const took: number[] = [];
    for (let look = 0; look < LOOKS; look++) {
      const started = performance.now();
      await monitor.runOnce();
      took.push(performance.now() - started);
    }
    report.row('monitor', 'pawl', 'ms p50 of a look', median(took));
    report.row('monitor', 'pawl', 'ms p99 of a look', percentile(took, 0.99));
    report.ratio('monitor/look-ms', median(took), { atMost: 5 });
  } finally {
    await pawl.close();
    await clearLifecycles(database);
  }
}

async function pausedConsumer(pawl: Pawl) {
  const { consumers, book } = pawl.messaging;
  await consumers.register('default', { code: 'paused', kind: 'process' });
  await consumers.pause('default', 'paused');
  return { consumerId: book.idOf('default', 'paused')! };
}

async function makeQuiet(database: Bench['database'], count: number, consumerId: string): Promise<void> {
  await database.query(
    `insert into lifecycle_instances (id, definition_id, external_ref, version, state, revision, state_since, timeouts_fired, due_at, created_at)
     select gen_random_uuid(), d.id, 'quiet-' || n, 1, 'moving', 1, now(), 0, now() + interval '1 day' + n * interval '1 ms', now()
     from generate_series(1, $1::int) n cross join (select id from lifecycle_definitions limit 1) d`,
    [count],
  );
  await database.query(
    `insert into deliveries (ack_guid, consumer_id, subject_id, seq, next_attempt_at)
     select gen_random_uuid(), $1::int, id, 256, now() from lifecycle_instances`,
    [consumerId],
  );
  await database.query('vacuum analyze lifecycle_instances, deliveries');
}
