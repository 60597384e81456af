// The cost of loops and of waits for events: items of a forEach compared with the same number of separate actions, the last items
// and rounds compared with the first, and an event among many open waits. A test proves that a saga is undone once after kill -9:
// test/engine/saga-killed.test.ts.

import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { defineAction, type Pawl } from '../../src/main.ts';
import { liveHeapBytes } from '../heap.ts';
import { median, percentile } from '../measurement.ts';
import { ended, openPawl, runQueue } from '../native-run.ts';
import type { Bench, Scenario } from '../scenario.ts';
import { enqueue, publish, TENANT } from '../workload.ts';

const STUCK_AFTER_MS = 300_000;
const WRITTEN = 900;
const PARALLEL = 100;
const MARK = 'core.bench-mark';

export const languageScenario: Scenario = {
  name: 'language',
  about: 'forEach, repeat and waits for events: their rates, flat from the first to the last',
  async run(bench) {
    await measureLoops(bench);
    await measureChildren(bench);
    await measureEvents(bench);
  },
};

async function measureLoops({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const marks: number[] = [];
  const pawl = await openPawl(database, { actions: [markAction(() => marks.push(performance.now()))] });
  try {
    // Fewer items would be little more than the first batch, with no end to compare.
    const items = Math.max(20 * PARALLEL, scaled(10_000));
    const heaps: number[] = [];
    /** The growth is the time of the last tenth divided by that of the first. */
    const measured = async (definition: Json, count: number) => {
      const rates: number[] = [];
      const growths: number[] = [];
      const { workflowId } = await pawl.publish(definition);
      for (let round = -1; round < 3; round++) {
        marks.length = 0;
        const startedAt = performance.now();
        await run(pawl, workflowId, { items: Array.from({ length: count }, (_, n) => n) });
        // The first round warms up.
        if (round < 0) continue;
        rates.push((1_000 * marks.length) / (performance.now() - startedAt));
        const tenth = Math.floor(marks.length / 10);
        growths.push(spanOf(marks.slice(-tenth)) / spanOf(marks.slice(0, tenth)));
        heaps.push(await liveHeapBytes());
      }
      return { rate: median(rates), growth: median(growths) };
    };
    const written = await measured(wideGraph(), 0);
    report.row('language-written-out', 'pawl', 'actions/s', written.rate);
    const each = await measured(loopGraph('bench-each', { id: 'each', ...MARKS, forEach: forEach(items) }), items);
    report.row('language-for-each', 'pawl', 'items/s', each.rate);
    report.ratio('for-each/written-out', each.rate / written.rate, { atLeast: 0.5 });
    report.ratio('for-each/last-to-first', each.growth, { atMost: 1.3 });
    const body = {
      startNode: 'one',
      nodes: [
        { id: 'one', ...MARKS, edges: [{ targetNode: 'two' }] },
        { id: 'two', ...MARKS },
      ],
    };
    const bodies = await measured(loopGraph('bench-bodies', { id: 'each', forEach: forEach(items), body }), items);
    report.row('language-bodies', 'pawl', 'nodes/s', bodies.rate);
    report.ratio('bodies/written-out', bodies.rate / written.rate, { atLeast: 0.5 });
    report.ratio('bodies/last-to-first', bodies.growth, { atMost: 1.3 });
    report.row('language-heap', 'pawl', 'MB highest after a loop', Math.max(...heaps) / 2 ** 20);

    const rounds = Math.max(100, scaled(1_000));
    const repeat = { until: `round >= ${rounds - 1}`, maxRounds: rounds };
    const repeated = await measured(loopGraph('bench-rounds', { id: 'each', ...MARKS, repeat }), 0);
    report.row('language-rounds', 'pawl', 'rounds/s', repeated.rate);
    report.ratio('rounds/last-to-first', repeated.growth, { atMost: 1.3 });
  } finally {
    await pawl.close();
  }
}

/** A child for each item, compared with one-step executions that are started directly. */
async function measureChildren({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const count = scaled(4_000);
  const actions = [markAction(() => {})];
  const filling = await openPawl(database, { actions, runner: false });
  const workload = await publish(filling, loopGraph('bench-child', { id: 'only', ...MARKS }));
  await enqueue(filling, workload, count);
  await filling.close();
  const oneStep = count / (await runQueue(database, count, { pawl: { actions } })).seconds;
  const pawl = await openPawl(database, { actions });
  try {
    const child = { id: 'each', nodeType: 'subworkflow', workflowId: 'bench-child', forEach: forEach(count) };
    const { workflowId } = await pawl.publish(loopGraph('bench-children', child));
    const startedAt = performance.now();
    await run(pawl, workflowId, { items: Array.from({ length: count }, (_, n) => n) });
    const rate = (1_000 * count) / (performance.now() - startedAt);
    report.row('language-children', 'pawl', 'children/s', rate);
    report.ratio('children/one-step', rate / oneStep, { atLeast: 0.5 });
  } finally {
    await pawl.close();
  }
}

async function measureEvents({ database, report, scaled }: Bench): Promise<void> {
  await database.clear();
  const count = scaled(100_000);
  const pawl = await openPawl(database);
  try {
    const events = [{ type: 'bench.paid', key: '{{ trigger.order }}', at: 'order' }];
    const wait = { id: 'wait', nodeType: 'wait', events };
    const { workflowId } = await pawl.publish({
      id: 'bench-waits',
      displayName: 'waits',
      startNode: 'wait',
      nodes: [wait],
    });
    const tell = async (order: number | string): Promise<number> => {
      const startedAt = performance.now();
      await pawl.executions.tellWaiting(TENANT, { id: `event-${order}`, type: 'bench.paid', data: { order } });
      return performance.now() - startedAt;
    };
    const nobody: number[] = [];
    for (let n = 0; n < 200; n++) nobody.push(await tell(`nobody-${n}`));
    report.row('language-event-nobody', 'pawl: no waits', 'ms p50', percentile(nobody, 0.5));
    const AT_ONCE = 500;
    for (let from = 0; from < count; from += AT_ONCE) {
      const orders = Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, n) => from + n);
      await Promise.all(orders.map((order) => pawl.start(workflowId, { trigger: { order } })));
    }
    await parked(pawl, count);
    const lookups: number[] = [];
    for (let n = 0; n < 200; n++) lookups.push(await tell(`nobody-then-${n}`));
    report.row('language-event-nobody', `pawl: ${count} waits`, 'ms p50', percentile(lookups, 0.5));
    report.ratio('event-nobody-waits-for/ms', percentile(lookups, 0.5), { atMost: 1 });
    const found: number[] = [];
    // One after the other: this measures how long an event takes, not how many are accepted per second.
    for (let n = 0; n < Math.min(200, count); n++) {
      found.push(await tell(Math.floor((n * count) / 200)));
      await ended(pawl, n + 1);
    }
    report.row('language-event', `pawl: ${count} waits`, 'ms p50', percentile(found, 0.5));
    // The least cost of an event: one write that reaches the disk.
    const commits: number[] = [];
    for (let n = 0; n < 200; n++) {
      const startedAt = performance.now();
      await database.query(`select pg_logical_emit_message(true, 'bench', 'x', true)`);
      commits.push(performance.now() - startedAt);
    }
    report.row('language-event-floor', 'one commit', 'ms p50', percentile(commits, 0.5));
    report.ratio('event-finds-its-wait/ms', percentile(found, 0.5), { atMost: 2 });
  } finally {
    await pawl.close();
  }
}

/** Waits until all executions are parked: starting them is not measured. */
async function parked(pawl: Pawl, count: number): Promise<void> {
  const giveUpAt = performance.now() + STUCK_AFTER_MS;
  while ((pawl.metrics.get('parked') ?? 0) < count) {
    if (performance.now() > giveUpAt) throw new Error(`not all of ${count} executions are parked`);
    await delay(20);
  }
}

async function run(pawl: Pawl, workflowId: string, trigger: JsonObject): Promise<void> {
  const { executionId } = await pawl.start(workflowId, { trigger });
  const { status } = await pawl.result(executionId);
  if (status !== 'Succeeded') throw new Error(`${workflowId} is ${status}`);
}

const MARKS = { actionType: MARK, parameters: { x: 1 } };
const forEach = (maxItems: number) => ({ items: '{{ trigger.items }}', parallel: PARALLEL, maxItems });

const loopGraph = (id: string, node: JsonObject): JsonObject => ({
  id,
  displayName: id,
  startNode: node.id!,
  outputs: {},
  snapshot: { maxContextSizeBytes: 100 * 2 ** 20 },
  nodes: [node],
});

function wideGraph(): JsonObject {
  const names = Array.from({ length: WRITTEN }, (_, n) => `n${n}`);
  const start = { id: 'start', ...MARKS, edges: names.map((targetNode) => ({ targetNode })) };
  const nodes = [start, ...names.map((id) => ({ id, ...MARKS }))];
  return { id: 'bench-written-out', displayName: 'written out', startNode: 'start', outputs: {}, nodes };
}

/** From the first mark to the last, in ms. */
const spanOf = (marks: readonly number[]): number => Math.max(0.001, marks.at(-1)! - marks[0]!);

const markAction = (mark: () => void) =>
  defineAction({
    type: MARK,
    version: '1.0.0',
    connector: 'core',
    category: 'Bench',
    params: z.object({ x: z.number() }),
    outputs: z.object({ x: z.number() }),
    run(params) {
      mark();
      return { outputs: params };
    },
  });
