// Workers with their own database connection: `createPawl({ taskQueues })`, which is `pawl runner --task-queue`; and which queues
// a runner leaves to them.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createPawl, createWorker, defineAction, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { on, planOf } from './plan.ts';

const seen: { worker: string; nodeId: string; attempt: number; mayHaveRun: boolean }[] = [];
let interrupt: (() => void) | null = null;

const score = (worker: string) =>
  defineAction({
    type: 'SCORE',
    version: '1.0.0',
    connector: 'test',
    category: 'Test',
    params: z.looseObject({ hang: z.boolean().optional() }),
    outputs: z.unknown(),
    async run({ hang }, { nodeId, attempt, mayHaveRun, signal }) {
      seen.push({ worker, nodeId, attempt, mayHaveRun });
      if (hang === true && worker === 'first') {
        interrupt?.();
        await new Promise<void>((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new Error('stopped')));
        });
      }
      return { outputs: { by: worker } };
    },
  });

let database: TestDatabase;
let pawl: Pawl;
const options = (worker: string) => ({
  database: { url: database.connectionString },
  engine: { name: worker, pollMs: 50, inboxPollMs: 50, drainMs: 50, abortGraceMs: 500 },
  taskQueue: { leaseMs: 2_000, pollMs: 100, isolatedTenants: ['apart'] },
  actions: [score(worker)],
});

beforeAll(async () => {
  database = await testDatabase();
  pawl = await createPawl(options('runner'));
});

afterAll(async () => {
  await pawl?.close();
  await database?.drop();
});

async function run(planId: string, steps: Parameters<typeof planOf>[1], tenantId = 'acme') {
  await pawl.publish(planOf(planId, steps), { tenantId });
  const { executionId } = await pawl.start(planId, { tenantId, environmentId: 'test' });
  return { executionId, result: () => pawl.result(executionId, { tenantId }) };
}

describe('a runner', () => {
  it('a runner runs the inferred queues itself, and leaves a queue named by a plan to its workers', async () => {
    const worker = await createWorker({ ...options('worker'), taskQueues: ['gpu'] });
    const { result } = await run('mixed', [
      { stepId: 'here' },
      { stepId: 'there', dependsOn: ['here'], ...on('gpu') },
      { stepId: 'back', dependsOn: ['there'], ...on('tq-control-test') },
    ]);
    expect(await result()).toMatchObject({ status: 'Succeeded', outputs: { by: 'runner' } });
    expect(seen.map(({ worker: by, nodeId }) => [nodeId, by])).toEqual([
      ['here', 'runner'],
      ['there', 'worker'],
      ['back', 'runner'],
    ]);
    await worker.close();
    const [queue] = await pawl.store.taskQueueList({ tenantId: null });
    expect(queue).toBeUndefined();
  });

  it('a worker takes only attempts of its pool, runtime and class', async () => {
    const labels = { workerPool: 'blue', runtime: 'node', resourceClass: 'heavy' };
    const made = async (name: string, workerPool: string) => {
      const { taskQueue, ...rest } = options(name);
      return createWorker({ ...rest, taskQueue: { ...taskQueue, ...labels, workerPool }, taskQueues: ['picky'] });
    };
    const workers = [await made('green', 'green'), await made('blue', 'blue')];
    const { result } = await run('picky', [{ stepId: 'a', ...on('picky', labels) }]);
    expect(await result()).toMatchObject({ status: 'Succeeded', outputs: { by: 'blue' } });
    for (const worker of workers) await worker.close();
  });

  it('every attempt of an isolated tenant goes to the queue of that tenant', async () => {
    const { result } = await run('isolated', [{ stepId: 'a' }], 'apart');
    const worker = await createWorker({ ...options('isolated'), taskQueues: ['tq-isolation-apart-test'] });
    expect(await result()).toMatchObject({ status: 'Succeeded', outputs: { by: 'isolated' } });
    await worker.close();
  });
});

describe('a worker that stops', () => {
  it('a worker that stops gives its attempt back, and the next worker runs the same attempt', async () => {
    const first = await createWorker({ ...options('first'), taskQueues: ['stopping'] });
    const hanging = new Promise<void>((resolve) => {
      interrupt = resolve;
    });
    const { result } = await run('stopping', [{ stepId: 'slow', inputs: { hang: true }, ...on('stopping') }]);
    await hanging;
    const second = await createWorker({ ...options('second'), taskQueues: ['stopping'] });
    await first.close();
    expect(await result()).toMatchObject({ status: 'Succeeded', outputs: { by: 'second' } });
    expect(seen.filter(({ nodeId }) => nodeId === 'slow')).toEqual([
      { worker: 'first', nodeId: 'slow', attempt: 1, mayHaveRun: false },
      { worker: 'second', nodeId: 'slow', attempt: 1, mayHaveRun: false },
    ]);
    await second.close();
  });
});

describe('attempts of several tenants', () => {
  it('attempts of several tenants are taken in turns', async () => {
    const { store } = pawl;
    for (const [tenantId, count] of [
      ['greedy', 5],
      ['modest', 1],
    ] as const) {
      const steps = Array.from({ length: count }, (_, index) => ({ stepId: `s${index}`, ...on('shared') }));
      await run(`turns-${tenantId}`, steps, tenantId);
    }
    const isQueued = async () => (await store.taskQueueList({ tenantId: null })).find(({ ready }) => ready === 6);
    while ((await isQueued()) === undefined) await new Promise((resolve) => setImmediate(resolve));
    const offer = { taskQueues: ['shared'], worker: 'w', tenantId: null, slots: 2, busy: 0 };
    const taken = await store.attemptQueueTake({ ...offer, limit: 2, leaseMs: 5_000 });
    expect(taken.map(({ tenantId }) => tenantId).sort()).toEqual(['greedy', 'modest']);
  });
});

describe('an attempt without a result', () => {
  it('an attempt over its timeout ends as timed out, and one that keeps losing workers is given up', async () => {
    const { store } = pawl;
    const offer = { worker: 'w', tenantId: null, slots: 1, busy: 0, limit: 1, leaseMs: 1 };
    const slow = await run('slow', [{ stepId: 'a', timeout: 1, ...on('slow') }]);
    const lost = await run('lost', [{ stepId: 'a', timeout: '1h', ...on('lost') }]);
    const take = async (queue: string) => {
      for (;;) {
        const [taken] = await store.attemptQueueTake({ ...offer, taskQueues: [queue] });
        if (taken !== undefined) return taken;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    for (let time = 0; time < 5; time++) await take('lost');
    await take('slow');
    const overdue = async () =>
      (await store.attemptQueueOverdue()).map(({ taskQueue, takes }) => [taskQueue, takes]).sort();
    await expect.poll(overdue).toEqual([
      ['lost', 5],
      ['slow', 1],
    ]);
    // Both would be retried, but the test has seen enough.
    for (const { executionId } of [slow, lost]) await pawl.executions.cancel('acme', executionId, 'seen');
    expect(await slow.result()).toMatchObject({ status: 'Cancelled' });
    expect(await lost.result()).toMatchObject({ status: 'Cancelled' });
  });
});
