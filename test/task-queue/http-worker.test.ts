// Workers over HTTP: what they take, keep and report; and what happens to an execution whose worker dies, lies or is late.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as passed } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createClient } from '../../src/sdk/client.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { on, planOf } from './plan.ts';

const server = useServer();
const tenantId = 'acme';

async function start(planId: string, steps: readonly JsonObject[]): Promise<string> {
  await server.pawl.publish(planOf(planId, steps), { tenantId });
  return (await server.pawl.start(planId, { tenantId })).executionId;
}

interface Task {
  leaseId: string;
  nodeId: string;
  attempt: number;
  actionType: string;
  parameters: JsonObject;
  mayHaveRun: boolean;
}

async function poll(queue: string, more: JsonObject = {}): Promise<Task[]> {
  const body = { worker: 'w', waitMs: 10_000, ...more };
  const reply = await server.post(`/api/v1/task-queues/${queue}/poll`, body);
  expect(reply.status).toBe(200);
  return (reply.body as unknown as { tasks: Task[] }).tasks;
}

const complete = (queue: string, result: JsonObject) => server.post(`/api/v1/task-queues/${queue}/complete`, result);
const result = (executionId: string) => server.pawl.result(executionId, { tenantId });

async function until<Value>(look: () => Promise<Value | null | undefined | false>): Promise<Value> {
  for (;;) {
    const found = await look();
    if (found) return found;
    await passed(20);
  }
}

describe('a worker over HTTP', () => {
  it('a worker runs the steps of its queue in order, and the execution continues with their outputs', async () => {
    const executionId = await start('chained', [
      { stepId: 'first', inputs: { n: 1 }, ...on('chained') },
      { stepId: 'second', inputs: { got: '{{ steps.first.output.n }}' }, dependsOn: ['first'], ...on('chained') },
    ]);
    const [first] = await poll('chained');
    expect(first).toMatchObject({ nodeId: 'first', attempt: 1, actionType: 'SCORE', parameters: { n: 1 } });
    const log = { level: 'info', message: 'scored' };
    expect(await complete('chained', { leaseId: first!.leaseId, outputs: { n: 7 }, logs: [log] })).toMatchObject({
      status: 200,
      body: { executionId },
    });
    const [second] = await poll('chained');
    expect(second).toMatchObject({ nodeId: 'second', parameters: { got: 7 }, mayHaveRun: false });
    await complete('chained', { leaseId: second!.leaseId, outputs: { ok: true } });
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { ok: true } });
  });

  it('a retryable error of a worker is retried, and any other error ends the run', async () => {
    const executionId = await start('failing', [{ stepId: 'a', ...on('failing') }]);
    const [first] = await poll('failing');
    const error = { code: 'GPU_BUSY', message: 'no card is free', retryable: true };
    await complete('failing', { leaseId: first!.leaseId, error, retryAfterMs: 1 });
    const [second] = await poll('failing');
    expect(second).toMatchObject({ attempt: 2, mayHaveRun: true });
    await complete('failing', { leaseId: second!.leaseId, error: { code: 'MODEL_BROKEN', message: 'it is broken' } });
    expect(await result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'MODEL_BROKEN', nodeId: 'a' } });
  });

  it('an execution without a worker is shown as noWorker, with the name of the queue', async () => {
    const executionId = await start('unserved', [{ stepId: 'a', ...on('unserved') }]);
    const shown = await until(async () => {
      const { body } = await server.get(`/api/v1/executions/${executionId}`);
      return body.why === 'noWorker' && body;
    });
    expect(shown).toMatchObject({ status: 'Running', why: 'noWorker', taskQueues: ['unserved'] });
    const queues = (await server.get('/api/v1/task-queues')).body as unknown as { data: JsonObject[] };
    expect(queues.data).toContainEqual(
      expect.objectContaining({ taskQueue: 'unserved', ready: 1, running: 0, slots: 0, workers: [] }),
    );
    const { body: listed } = await server.get('/api/v1/executions?why=noWorker');
    expect(JSON.stringify(listed)).toContain(executionId);
    expect(String((await server.get('/metrics')).body)).toContain(
      'engine_queue_depth{adapter="native",taskQueue="unserved"} 1',
    );
    const [task] = await poll('unserved', { limit: 3 });
    const { body } = await server.get('/api/v1/task-queues');
    expect((body as unknown as { data: JsonObject[] }).data).toContainEqual(
      expect.objectContaining({ taskQueue: 'unserved', ready: 0, running: 1, slots: 3 }),
    );
    await complete('unserved', { leaseId: task!.leaseId, outputs: {} });
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('a worker that dies loses its attempt to the next worker, and cannot report it any more', async () => {
    const executionId = await start('dying', [{ stepId: 'a', ...on('dying') }]);
    const [dead] = await poll('dying', { leaseMs: 1_000 });
    const [next] = await until(async () => {
      const tasks = await poll('dying', { waitMs: 1_000 });
      return tasks.length > 0 && tasks;
    });
    expect(next).toMatchObject({ nodeId: 'a', attempt: 1, mayHaveRun: true });
    expect(await complete('dying', { leaseId: dead!.leaseId, outputs: { from: 'the dead' } })).toMatchObject({
      status: 409,
      body: { error: { code: 'TASK_LEASE_LOST' } },
    });
    const beat = await server.post('/api/v1/task-queues/dying/heartbeat', {
      leaseIds: [dead!.leaseId, next!.leaseId],
    });
    expect(beat.body).toMatchObject({ leases: [{ state: 'lost' }, { state: 'held' }] });
    await complete('dying', { leaseId: next!.leaseId, outputs: { from: 'the living' } });
    // A result that is reported twice counts once.
    expect((await complete('dying', { leaseId: next!.leaseId, outputs: { from: 'an echo' } })).status).toBe(409);
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { from: 'the living' } });
  });

  it('a worker learns of a cancel by its heartbeat, and a step that nobody took never runs', async () => {
    const executionId = await start('cancelled', [
      { stepId: 'taken', ...on('cancelled') },
      { stepId: 'waiting', ...on('cancelled-too') },
    ]);
    const [task] = await poll('cancelled');
    await server.post(`/api/v1/executions/${executionId}/cancel`, { reason: 'enough' });
    const path = '/api/v1/task-queues/cancelled/heartbeat';
    await until(async () => {
      const { body } = await server.post(path, { leaseIds: [task!.leaseId] });
      return (body as { leases: JsonObject[] }).leases[0]!.state === 'stop';
    });
    await complete('cancelled', { leaseId: task!.leaseId, error: { code: 'CANCELLED', message: 'stopped' } });
    expect(await result(executionId)).toMatchObject({ status: 'Cancelled' });
    expect(await poll('cancelled-too', { waitMs: 0 })).toEqual([]);
  });

  it('a worker of another tenant sees neither attempts nor leases', async () => {
    const executionId = await start('foreign', [{ stepId: 'a', ...on('foreign') }]);
    const token = await tokenFor({ tenant: 'other' });
    const foreign = await server.post('/api/v1/task-queues/foreign/poll', { worker: 'spy' }, { token });
    expect(foreign.body).toEqual({ tasks: [] });
    const [task] = await poll('foreign');
    const { leaseId } = task!;
    const stolen = await server.post('/api/v1/task-queues/foreign/complete', { leaseId, outputs: {} }, { token });
    expect(stolen).toMatchObject({ status: 409, body: { error: { code: 'TASK_LEASE_LOST' } } });
    const queues = await server.get('/api/v1/task-queues', { token });
    expect(JSON.stringify(queues.body)).not.toContain('"ready":1');
    await complete('foreign', { leaseId, outputs: {} });
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('a worker needs the scope tasks:work', async () => {
    const token = await tokenFor({ scope: 'workflows:read' });
    expect((await server.post('/api/v1/task-queues/q/poll', { worker: 'w' }, { token })).status).toBe(403);
    const worker = await tokenFor({ scope: 'tasks:work' });
    expect((await server.get('/api/v1/task-queues', { token: worker })).status).toBe(200);
  });

  it('a worker that names a runtime, pool and class takes only matching attempts', async () => {
    const executionId = await start('picky', [
      { stepId: 'a', ...on('picky', { runtime: 'python', workerPool: 'blue' }) },
    ]);
    await until(async () => {
      const { body } = await server.get(`/api/v1/executions/${executionId}`);
      return body.taskQueues !== undefined;
    });
    expect(await poll('picky', { runtime: 'node', waitMs: 0 })).toEqual([]);
    expect(await poll('picky', { workerPool: 'green', waitMs: 0 })).toEqual([]);
    const [task] = await poll('picky', { runtime: 'python', workerPool: 'blue', resourceClass: 'heavy' });
    await complete('picky', { leaseId: task!.leaseId, outputs: {} });
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('each item of a loop is an attempt of its own for a worker', async () => {
    await server.pawl.publish(
      planOf('looped', [
        { stepId: 'list', type: 'core.echo', inputs: { items: [1, 2, 3] } },
        {
          stepId: 'each',
          dependsOn: ['list'],
          foreach: { from: 'list.output.items', parallel: 3 },
          inputs: { n: '{{ item }}' },
          ...on('looped'),
        },
      ]),
      { tenantId },
    );
    const { executionId } = await server.pawl.start('looped', { tenantId });
    const seen: unknown[] = [];
    while (seen.length < 3) {
      for (const { leaseId, nodeId, parameters } of await poll('looped', { limit: 3 })) {
        seen.push([nodeId, parameters.n]);
        await complete('looped', { leaseId, outputs: { square: (parameters.n as number) ** 2 } });
      }
    }
    expect(seen.sort()).toEqual([
      ['each[0]', 1],
      ['each[1]', 2],
      ['each[2]', 3],
    ]);
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded' });
  });
});

describe('a worker of the client', () => {
  it('a worker of the client handles attempts by type, and stops when the execution stops', async () => {
    const client = createClient({ url: server.url, token: await tokenFor({ scope: 'tasks:work' }) });
    const ending = new AbortController();
    const stopped = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const working = client.taskQueues.work(
      'client',
      {
        SCORE: ({ parameters }, { log }) => {
          log('info', 'here it is');
          return { scored: (parameters as JsonObject).n ?? null };
        },
        HANG: async (_task, { signal }) => {
          begun.resolve();
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          stopped.resolve();
          throw Object.assign(new Error('stopped'), { code: 'CANCELLED', retryable: false });
        },
      },
      { signal: ending.signal, leaseMs: 1_000 },
    );
    const scored = await start('client', [{ stepId: 'a', inputs: { n: 5 }, ...on('client') }]);
    expect(await result(scored)).toMatchObject({ status: 'Succeeded', outputs: { scored: 5 } });
    const unknown = await start('client-unknown', [{ stepId: 'a', type: 'NOBODY', ...on('client') }]);
    expect(await result(unknown)).toMatchObject({ status: 'Failed', error: { code: 'ACTION_NOT_FOUND' } });
    const hanging = await start('client-hang', [{ stepId: 'a', type: 'HANG', ...on('client') }]);
    await begun.promise;
    await server.post(`/api/v1/executions/${hanging}/cancel`, {});
    await stopped.promise;
    expect(await result(hanging)).toMatchObject({ status: 'Cancelled' });
    ending.abort();
    await working;
  });
});

describe('the example worker in Python', () => {
  it('the Python worker runs the step of the example plan and reports its outputs', async () => {
    const plan = JSON.parse(readFileSync(new URL('../../examples/worker/score.json', import.meta.url), 'utf8'));
    await server.pawl.publish({ ...plan, scope: { ...plan.scope, tenantId: 'acme' } }, { tenantId: 'acme' });
    const { executionId } = await server.pawl.start('score-orders', { tenantId: 'acme' });
    const script = new URL('../../examples/worker/worker.py', import.meta.url).pathname;
    const env = { PATH: process.env.PATH, PAWL_URL: server.url, PAWL_TOKEN: await tokenFor({ scope: 'tasks:work' }) };
    const worker = spawn('python3', [script], { env: { ...env, WORKER_ONCE: '1' }, stdio: 'inherit' });
    expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({
      status: 'Succeeded',
      outputs: { large: [700] },
    });
    expect(worker.exitCode ?? (await once(worker, 'exit'))[0]).toBe(0);
  });
});
