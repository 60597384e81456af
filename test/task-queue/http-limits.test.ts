// Workers over HTTP have the same limits as every other worker: the number of heavy steps, the size of outputs, the shape of
// StepOutput. Their attempts are counted. And a worker that sends false claims changes nothing.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useServer } from '../server/api-server.ts';
import { on, planOf } from './plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-http-worker-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const tenantId = 'acme';
const server = useServer({
  artifact: { folder },
  server: { port: 0, bodyLimitBytes: 4_000_000 },
  rateLimit: { perTenantHeavyStepsPerMinute: 1, whenExceeded: 'QUEUE', maxHoldMs: 600_000 },
});

async function start(planId: string, steps: readonly JsonObject[]): Promise<string> {
  await server.pawl.publish(planOf(planId, steps), { tenantId });
  return (await server.pawl.start(planId, { tenantId, requestId: `run-of-${planId}` })).executionId;
}
const poll = async (queue: string, more: JsonObject = {}) => {
  const { status, body } = await server.post(`/api/v1/task-queues/${queue}/poll`, {
    worker: 'w',
    waitMs: 10_000,
    ...more,
  });
  expect({ status, body }).toMatchObject({ status: 200 });
  return (body as unknown as { tasks: { leaseId: string; nodeId: string; attempt: number }[] }).tasks;
};
const complete = (queue: string, result: JsonObject) => server.post(`/api/v1/task-queues/${queue}/complete`, result);
const result = (executionId: string) => server.pawl.result(executionId, { tenantId });

describe('a heavy step for a worker over HTTP', () => {
  it('a heavy step waits while its tenant runs enough of them, and a cancel ends the wait', async () => {
    const heavy = (stepId: string) => ({ stepId, type: 'DBT_RUN', ...on('heavy') });
    const executionId = await start('heavy', [heavy('first'), heavy('second')]);
    const [first, ...more] = await poll('heavy', { limit: 5 });
    expect(more).toEqual([]);
    expect(await poll('heavy', { waitMs: 0 })).toEqual([]);
    const queues = (await server.get('/api/v1/task-queues')).body as unknown as { data: JsonObject[] };
    expect(queues.data).toContainEqual(expect.objectContaining({ taskQueue: 'heavy', ready: 0, running: 1 }));
    const output = { status: 'SUCCESS', artifactRefs: [], metadata: {} };
    expect((await complete('heavy', { leaseId: first!.leaseId, outputs: output })).status).toBe(200);
    await server.post(`/api/v1/executions/${executionId}/cancel`, {});
    expect(await result(executionId)).toMatchObject({ status: 'Cancelled' });
  });
});

describe('the result of a worker over HTTP', () => {
  it('a large result becomes an artifact, and a later step reads it', async () => {
    const executionId = await start('large', [
      { stepId: 'rows', ...on('large') },
      { stepId: 'back', dependsOn: ['rows'], inputs: { rows: '{{ steps.rows.output.rows }}' }, ...on('large') },
    ]);
    const [task] = await poll('large');
    const outputs = { count: 3, rows: 'x'.repeat(1_500_000) };
    expect(await complete('large', { leaseId: task!.leaseId, outputs })).toMatchObject({ status: 200 });
    const [back] = await poll('large');
    await complete('large', { leaseId: back!.leaseId, outputs: {} });
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded' });
    const { body } = await server.get(`/api/v1/executions/${executionId}/artifacts`);
    expect(body).toMatchObject({ data: [{ nodeId: 'rows', kind: 'custom', name: 'output.json' }] });
  });

  it('results are counted, and slots and workers are shown by queue', async () => {
    const executionId = await start('counted', [{ stepId: 'a', type: 'COUNTED', ...on('counted') }]);
    const [task] = await poll('counted', { limit: 4 });
    await complete('counted', { leaseId: task!.leaseId, outputs: {} });
    await result(executionId);
    const text = String((await server.get('/metrics')).body);
    expect(text).toContain('engine_steps_executed_total{type="COUNTED",status="Succeeded"} 1');
    expect(text).toContain('engine_queue_slots{taskQueue="counted"} 4');
    expect(text).toContain('engine_queue_workers{taskQueue="counted"} 1');
  });

  it('a result that claims to be a StepOutput and is invalid fails the step', async () => {
    const executionId = await start('shaped', [{ stepId: 'a', ...on('shaped') }]);
    const [task] = await poll('shaped');
    const outputs = { status: 'SUCCESS', artifactRefs: [{ uri: 's3://b/k', kind: 'novel' }], metadata: {} };
    await complete('shaped', { leaseId: task!.leaseId, outputs });
    expect(await result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'STEP_OUTPUT_INVALID' } });
  });
});

describe('a worker that lies about its lease', () => {
  it('a forged or ended lease changes nothing and is not renewed, and no lease is endless', async () => {
    const executionId = await start('lied', [{ stepId: 'a', ...on('lied') }]);
    const invented = crypto.randomUUID();
    const lost = { status: 409, body: { error: { code: 'TASK_LEASE_LOST' } } };
    expect(await complete('lied', { leaseId: invented, outputs: { from: 'nobody' } })).toMatchObject(lost);
    const path = '/api/v1/task-queues/lied/heartbeat';
    expect((await server.post(path, { leaseIds: [invented] })).body).toMatchObject({ leases: [{ state: 'lost' }] });
    expect((await server.post(path, { leaseIds: [invented], leaseMs: 86_400_000 })).status).toBe(400);
    const [task] = await poll('lied');
    await complete('lied', { leaseId: task!.leaseId, outputs: { from: 'the worker' } });
    // A reported attempt is over: neither a heartbeat nor a second result brings it back.
    expect((await server.post(path, { leaseIds: [task!.leaseId] })).body).toMatchObject({
      leases: [{ state: 'lost' }],
    });
    expect(await complete('lied', { leaseId: task!.leaseId, outputs: { from: 'later' } })).toMatchObject(lost);
    expect(await result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { from: 'the worker' } });
    expect(await complete('lied', { leaseId: task!.leaseId, outputs: { from: 'the end' } })).toMatchObject(lost);
  });
});
