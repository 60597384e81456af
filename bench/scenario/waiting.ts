// Waiting executions: 100,000 that are all due at the same moment, the memory of one while it is parked and while it is resident,
// and how late the last one wakes.

import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Json } from '../../src/core/json/json.ts';
import { defineAction, type Pawl } from '../../src/main.ts';
import { liveHeapBytes } from '../heap.ts';
import { percentile } from '../measurement.ts';
import { ended, openPawl } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { enqueue, publish } from '../workload.ts';

const HOUR_MS = 3_600_000;
const STUCK_AFTER_MS = 300_000;
/** The first executions are not counted, because they create things that are created once. */
const FIRST = 100;
/** The time to get all executions asleep: a fixed part, and a part for each. */
const BEDTIME_MS = 10_000;
const BEDTIME_EACH_MS = 0.5;

export const waitingScenarios: readonly Scenario[] = [
  {
    name: 'sleepers',
    about: '100,000 sleeping executions, due at one moment: how late they wake, what they cost',
    run: measureSleepers,
  },
  { name: 'resident-memory', about: 'memory of one execution that is in memory', run: measureResidents },
];

async function measureSleepers(bench: Bench): Promise<void> {
  const { database, report } = bench;
  const count = bench.scaled(100_000);
  await database.clear();
  const wakeAt = { value: 0 };
  const lateness: number[] = [];
  const pawl = await openPawl(database, { actions: [untilAction(wakeAt), awakeAction(wakeAt, lateness)] });
  try {
    const workload = await publish(pawl, sleeper());
    wakeAt.value = Date.now() + BEDTIME_MS;
    await enqueue(pawl, workload, FIRST);
    await until(() => (pawl.metrics.get('parked') ?? 0) >= FIRST);
    const heapBefore = await liveHeapBytes();
    lateness.length = 0;
    await ended(pawl, FIRST);

    wakeAt.value = Date.now() + BEDTIME_MS + count * BEDTIME_EACH_MS;
    report.progress(`sleepers: putting ${count} to sleep`);
    await enqueue(pawl, workload, count);
    await until(() => (pawl.metrics.get('parked') ?? 0) >= count + FIRST || Date.now() > wakeAt.value);
    const parked = (pawl.metrics.get('parked') ?? 0) - FIRST;
    const heapParked = await liveHeapBytes();
    report.progress(
      `sleepers: ${parked} parked, ${Math.round((wakeAt.value - Date.now()) / 1000)} s before they are due`,
    );
    lateness.length = 0;
    const highest = await highestMemory(() => ended(pawl, count + FIRST));

    const each = Math.max(0, heapParked - heapBefore) / count;
    report.row('parked-memory', 'pawl', 'bytes/execution', each);
    report.row('sleepers-rss', 'pawl', 'MB highest while they wake', highest / 2 ** 20);
    report.row('sleepers-lateness', 'pawl', 's p50', percentile(lateness, 0.5) / 1000);
    report.row('sleepers-lateness-last', 'pawl', 's', Math.max(...chunkMaxima(lateness)) / 1000);
    report.ratio('parked-memory/bytes', each, { atMost: 64 });
    report.ratio('sleepers-lateness-last/s', Math.max(...chunkMaxima(lateness)) / 1000, { atMost: 60 });
    if (parked < count) report.skipped('100,000 at once', `only ${parked} slept when the first were due`);
  } finally {
    await pawl.close();
  }
}

/** Keeps executions in memory that wait so long that they would normally leave it. */
async function measureResidents({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const count = scaled(5_000);
  const engine = { maxResident: 2 * (count + FIRST), parkAfterMs: 2 * HOUR_MS, drainMs: 0 };
  const pawl = await openPawl(database, { engine });
  try {
    const workload = await publish(pawl, {
      id: 'waits',
      displayName: 'waits',
      startNode: 'sleep',
      nodes: [{ id: 'sleep', actionType: 'core.delay', parameters: { durationMs: HOUR_MS } }],
    });
    await enqueue(pawl, workload, FIRST);
    await until(() => asleep(pawl) >= FIRST);
    const before = await liveHeapBytes();
    await enqueue(pawl, workload, count);
    await until(() => asleep(pawl) >= count + FIRST);
    report.row('resident-memory', 'pawl', 'bytes/execution', ((await liveHeapBytes()) - before) / count);
  } finally {
    await pawl.close();
  }
}

const asleep = (pawl: Pawl): number => pawl.metrics.get('committedTransitions') ?? 0;

/** Asks for the time that is left, sleeps for it, and reports that it is awake. */
function sleeper(): Json {
  return {
    id: 'sleeper',
    displayName: 'sleeper',
    startNode: 'until',
    nodes: [
      { id: 'until', actionType: 'core.bench-until', edges: [{ targetNode: 'sleep' }] },
      {
        id: 'sleep',
        actionType: 'core.delay',
        parameters: { durationMs: '{{ context.data.until.ms }}' },
        edges: [{ targetNode: 'awake' }],
      },
      { id: 'awake', actionType: 'core.bench-awake' },
    ],
  };
}

const CATALOG = { version: '1.0.0', connector: 'core', category: 'Bench', params: z.object({}) };

const untilAction = (wakeAt: { readonly value: number }) =>
  defineAction({
    ...CATALOG,
    type: 'core.bench-until',
    outputs: z.object({ ms: z.number() }),
    run: () => ({ outputs: { ms: Math.max(0, wakeAt.value - Date.now()) } }),
  });

const awakeAction = (wakeAt: { readonly value: number }, lateness: number[]) =>
  defineAction({
    ...CATALOG,
    type: 'core.bench-awake',
    outputs: z.object({}),
    run() {
      lateness.push(Date.now() - wakeAt.value);
      return { outputs: {} };
    },
  });

async function until(condition: () => boolean): Promise<void> {
  const giveUpAt = performance.now() + STUCK_AFTER_MS;
  while (!condition()) {
    if (performance.now() > giveUpAt) throw new Error(`waited ${STUCK_AFTER_MS / 1000} s in vain for: ${condition}`);
    await delay(20);
  }
}

async function highestMemory(work: () => Promise<void>): Promise<number> {
  let highest = 0;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage.rss());
  }, 250);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(highest, process.memoryUsage.rss());
}

/** The values are too many for one call of Math.max. */
function chunkMaxima(values: readonly number[]): number[] {
  return Array.from({ length: Math.ceil(values.length / 1_000) }, (_, chunk) =>
    Math.max(...values.slice(chunk * 1_000, (chunk + 1) * 1_000)),
  );
}
