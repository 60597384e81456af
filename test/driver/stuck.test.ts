// Executions that stand still are noticed, whichever engine runs them, and a stuck attempt of another engine is retried if the
// configuration says so.

import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemTimers } from '../../src/clock/system-timers.ts';
import { StuckWatch } from '../../src/execution/stuck-watch.ts';
import { emptyHistogram } from '../../src/statistics/histogram.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { delay, graph, to } from '../engine/workflow-definition.ts';
import { attemptRows, outsideUnderTest, TENANT } from './outside-engine.ts';

const outside = outsideUnderTest();
const MINUTE_MS = 60_000;
const quick = (id: string, rest = {}) => ({
  id,
  actionType: 'test.outside',
  policies: { timeoutMs: 1_000, retry: { maxAttempts: 1 } },
  ...rest,
});
const alertsOf = async (executionId: string) => {
  const rows = await outside.pawl.store.executionJournal({ executionId, afterSeq: -1, limit: 1_000 });
  return rows
    .flatMap(({ facts }) => JSON.parse(facts) as { type: string; signal?: string; payload?: { note?: string } }[])
    .flatMap(({ signal, payload }) => (signal === 'ESCALATE_ALERT' ? [payload?.note] : []));
};

function watch(recover: boolean, laterMs = MINUTE_MS) {
  const told: unknown[] = [];
  const counts: string[] = [];
  const { store, executions, statistics } = outside.pawl;
  const wallClockMs = () => Date.now() + laterMs;
  const stuck = new StuckWatch({
    store,
    executions,
    turns: outside.process(),
    p99Ms: (tenantId, workflowId) => statistics.p99Ms(tenantId, workflowId, Date.now()),
    timers: systemTimers,
    wallClockMs,
    warn: (event, details) => told.push({ event, ...details }),
    count: (metric) => counts.push(metric),
    options: { watchMs: 0, recover },
  });
  return { stuck, told, counts, look: () => stuck.runOnce(0) };
}

test('a stuck attempt is reported once, by whichever process looks first', async () => {
  const id = await outside.start(graph(`w-${randomUUID()}`, [quick('a')]));
  const turns = outside.process();
  await turns.advance({ executionId: id, epoch: 1 });
  const [early, one, other] = [watch(false, 0), watch(false), watch(false)];
  await early.look();
  expect(early.told).toEqual([]);
  await one.look();
  await one.look();
  await turns.advance({ executionId: id, epoch: 1 });
  await other.look();
  expect(one.told).toMatchObject([{ event: 'an execution is stuck', executionId: id }]);
  expect(one.counts).toEqual(['stuck']);
  expect(other.told).toEqual([]);
  expect(await alertsOf(id)).toEqual([expect.stringContaining('attempt 1 of a has been open for')]);
  await outside.drive(turns, id);
  expect(await outside.status(id)).toBe('Succeeded');
});

test('a stuck attempt with recover times out, and its step is retried although it is out of attempts', async () => {
  const id = await outside.start(graph(`w-${randomUUID()}`, [quick('a', to('b')), quick('b')]));
  const turns = outside.process();
  await turns.advance({ executionId: id, epoch: 1 });
  const { look, counts } = watch(true);
  await look();
  expect(counts).toEqual(['stuck', 'stuckRetried']);
  await turns.advance({ executionId: id, epoch: 1 });
  // The failure ended the execution, and the signal reopens it.
  const epoch = async () => (await outside.pawl.store.externalGet({ executionId: id }))?.epoch ?? 0;
  await eventually(epoch).toBeGreaterThan(1);
  await outside.drive(turns, id, await epoch());
  expect(await outside.status(id)).toBe('Succeeded');
  expect(await attemptRows(outside, id)).toEqual(['a:1 Failed', 'a:2 Succeeded', 'b:1 Succeeded']);
});

test('an execution that takes three times its p99 is reported, and a sleeping one is not', async () => {
  const [busy, asleep] = [`w-${randomUUID()}`, `w-${randomUUID()}`];
  const durations = emptyHistogram();
  durations[2] = 50;
  const none = { started: 50, succeeded: 50, failed: 0, timedOut: 0, cancelled: 0, waits: emptyHistogram(), durations };
  const executions = [busy, asleep].map((workflowId) => ({
    ...none,
    tenantId: TENANT,
    workflowId,
    version: 1,
    at: Date.now() - MINUTE_MS,
  }));
  await outside.pawl.store.statsAdd({ executions, actions: [], failures: [] });
  const long = { policies: { timeoutMs: 3_600_000 } };
  const ids = [
    await outside.start(graph(busy, [quick('a', long)])),
    await outside.start(graph(asleep, [delay('nap', 50)])),
  ];
  const turns = outside.process();
  for (const executionId of ids) await turns.advance({ executionId, epoch: 1 });
  const { look, told } = watch(true);
  await look();
  expect(told).toMatchObject([{ executionId: ids[0], note: expect.stringContaining('99 of 100 executions') }]);
  for (const id of ids) await outside.drive(turns, id);
});
