// The workflows of examples/language, as they are published, against the services beside them. The runner of all of them is
// killed with -9 while each is in the middle of something. The next runner takes them to their ends, and every effect happens
// once, by its key (I7).

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openServices, type Services } from '../../examples/language/services.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { engineUnderTest, eventually, QUICK, TENANT } from '../engine/engine-under-test.ts';
import { spawnRunner } from '../engine/spawned-runner.ts';

const loopback = { http: { allowLoopback: true } };
// The engine of this file only accepts requests; the tests start and stop the runners.
const engine = engineUnderTest({ runner: false, ...loopback });
const short = { leaseMs: 700, leaseMarginMs: 200 };

/**
 * Calls that are not answered until the first runner is dead, with the number of the call that is held: the first, the second
 * …
 */
const HELD = new Map([
  ['POST /payments/refund', 1],
  ['GET /jobs/j1', 2],
  ['GET /customers', 2],
  ['POST /parcels', 1],
  ['GET /rates', 2],
  ['GET /suppliers/quick', 1],
  ['DELETE /locks/l1', 1],
]);
const calls = new Map<string, number>();
const reached = new Set<string>();
const dead = Promise.withResolvers<void>();
let services: Services;

beforeAll(async () => {
  services = await openServices(0, async (call) => {
    calls.set(call, (calls.get(call) ?? 0) + 1);
    if (HELD.get(call) !== calls.get(call)) return;
    reached.add(call);
    await dead.promise;
  });
});
afterAll(() => services.close());

function example(name: string): JsonObject {
  const text = readFileSync(new URL(`../../examples/language/${name}.json`, import.meta.url), 'utf8');
  return JSON.parse(text.replaceAll('http://127.0.0.1:7310', services.url));
}

const skus = (...names: string[]) => names.map((sku) => ({ sku }));

const RUNS = {
  saga: { orderId: 'o1', amount: 12, sku: 'sold-out' },
  'poll-job': { jobId: 'j1' },
  paging: {},
  'order-lines': { lines: skus('lamp', 'bulb', 'sold-out') },
  approval: { orderId: 'o2' },
  'retry-503': {},
  'fastest-supplier': {},
  lock: { name: 'l1', sku: 'sold-out' },
};

it('eight example workflows survive kill -9 of their runner, each in the middle of a call', async () => {
  const environment = { PAWL_HTTP_ALLOW_LOOPBACK: 'true' };
  const doomed = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...short }, environment });
  const ids = new Map<string, string>();
  for (const [name, trigger] of Object.entries(RUNS)) ids.set(name, await engine.start(example(name), { trigger }));
  await eventually(() => [...reached].toSorted()).toEqual([...HELD.keys()].toSorted());
  await eventually(async () => (await engine.nodes(ids.get('approval')!)).decision).toBe('Waiting');
  await doomed.kill();
  dead.resolve();
  // No runner is up, and nothing is lost.
  await engine.pawl.executions.tellWaiting(TENANT, { id: 'e1', type: 'order.approved', data: { orderId: 'o2' } });

  const heir = await engine.open({ engine: short });
  const resultOf = (name: keyof typeof RUNS) => heir.result(ids.get(name)!);
  expect(await resultOf('saga')).toMatchObject({ status: 'Failed', error: { nodeId: 'reserve' } });
  expect(await resultOf('poll-job')).toMatchObject({ status: 'Succeeded', outputs: { rows: 42, rounds: 3 } });
  expect(await resultOf('paging')).toMatchObject({ outputs: { customers: ['Ada', 'Bob', 'Cy', 'Dee', 'Eve'] } });
  expect(await resultOf('order-lines')).toMatchObject({ outputs: { packed: 2, missing: ['sold-out'] } });
  expect(await resultOf('approval')).toMatchObject({ status: 'Succeeded', outputs: { body: { ok: true } } });
  expect(await resultOf('retry-503')).toMatchObject({ outputs: { rate: 1.1, asOf: expect.stringMatching(/^\d{4}-/) } });
  expect(await resultOf('fastest-supplier')).toMatchObject({ status: 'Succeeded', outputs: { from: 'quick' } });
  expect(await resultOf('lock')).toMatchObject({ status: 'Failed', error: { nodeId: 'work' } });
  const once = ['POST /payments', 'POST /payments/refund', 'POST /approvals', 'POST /locks/l1', 'DELETE /locks/l1'];
  const expected = [
    ...once,
    'POST /shipments',
    ...Array(2).fill('POST /stock/reserve'),
    ...Array(2).fill('POST /parcels'),
  ];
  expect(services.done.toSorted()).toEqual(expected.toSorted());
});

it('the pipeline example does the same as the graph examples', async () => {
  const runner = await engine.open({ engine: short });
  const before = services.done.length;
  const trigger = { body: { orderId: 'o3', lines: skus('lamp', 'bulb') }, headers: {} };
  const executionId = await engine.start(example('language-pipeline'), { trigger });
  await eventually(async () => (await engine.nodes(executionId)).decision).toBe('Waiting');
  await engine.pawl.executions.tellWaiting(TENANT, { id: 'e2', type: 'order.approved', data: { orderId: 'o3' } });
  expect(await runner.result(executionId)).toMatchObject({
    status: 'Succeeded',
    outputs: { by: 'order.approved', first: 'success', reserved: 2 },
  });
  expect(services.done.slice(before).toSorted()).toEqual([
    'DELETE /locks/o3',
    'POST /payments',
    'POST /shipments',
    'POST /stock/reserve',
    'POST /stock/reserve',
  ]);
});

it('the report joins and groups its rows, knows the day, and ends early without orders', async () => {
  const runner = await engine.open({ engine: short });
  const definition = example('daily-report');
  const reportOf = async (trigger: JsonObject) => runner.result(await engine.start(definition, { trigger }));
  expect(await reportOf({ region: 'eu', scheduledFor: '2026-03-01T05:00:00.000Z' })).toMatchObject({
    status: 'Succeeded',
    outputs: { title: 'Orders of 2026-02-28', lines: ['Ada: 50', 'Bob: 2'] },
  });
  expect(await reportOf({ region: 'moon' })).toMatchObject({ outputs: { title: 'nothing to report' } });
});
