// I21, S4: the parameters that an execution renders are budgeted in bytes, and a process takes on no more executions than fit
// into its memory.

import { describe, expect, it } from 'vitest';
import { type EngineUnderTest, engineUnderTest, eventually } from '../engine/engine-under-test.ts';
import { echo, graph, held, to } from '../engine/workflow-definition.ts';

describe('rendered parameters', () => {
  const engine = engineUnderTest({ expression: { maxRenderedBytes: 8 * 1024 * 1024 } });

  it('parameters that repeat a large payload fail the node with a clear code and are not stored', async () => {
    const fields = Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`f${index}`, '{{ trigger }}']));
    const trigger = { text: 'x'.repeat(900_000) };
    const { executionId, error, status } = await engine.run(graph('copies', [echo('a', fields)]), { trigger });
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'PARAMETERS_TOO_LARGE' });
    expect(error?.message).toContain('expression.maxBytes');
    const [attempt] = await engine.attempts(executionId);
    expect(JSON.stringify(attempt?.parameters ?? null).length).toBeLessThan(100);
  });

  it('the items of loops count toward the limit of parameters', async () => {
    const items = "{{ ['x'.repeat(900000)] }}";
    const loops = Array.from({ length: 12 }, (_, index) => echo(`n${index}`, {}, { forEach: { items } }));
    const fan = graph('lists', [echo('begin', {}, to(...loops.map(({ id }) => id))), ...loops]);
    expect(await engine.run(fan)).toMatchObject({ status: 'Failed', error: { code: 'PARAMETERS_TOO_LARGE' } });
  });

  it('parameters of all nodes together have a budget, and a node beyond the budget fails', async () => {
    const large = { text: "{{ 'x'.repeat(900000) }}" };
    const nodes = Array.from({ length: 60 }, (_, index) => held(`n${index}`, { parameters: large }));
    const fan = graph('wide', [echo('begin', {}, to(...nodes.map(({ id }) => id))), ...nodes]);
    const executionId = await engine.start(fan);
    await eventually(() => engine.queueState(executionId)).toBeNull();
    const result = await engine.pawl.result(executionId);
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'PARAMETERS_TOO_LARGE' } });
    const [{ bytes }] = (await engine.sql<{ bytes: number }>(
      `select coalesce(sum(octet_length(inputs::text)), 0)::int as bytes from execution_events where execution_id = $1`,
      [executionId],
    )) as [{ bytes: number }];
    expect(bytes).toBeLessThan(10 * 1024 * 1024);
  });
});

describe('a process whose executions fill its memory budget', () => {
  const engine = engineUnderTest({ engine: { maxResidentBytes: 200_000 } });

  it('a full process begins further executions only when others end, and in the end all of them', async () => {
    const { workflowId } = await engine.pawl.publish(graph('heavy', [held('a')]));
    const trigger = { text: 'x'.repeat(90_000) };
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push((await engine.pawl.start(workflowId, { trigger })).executionId);
    await eventually(() => engine.work.begun.length).toBe(2);
    for (let count = 0; count < 5; count++) (await engine.work.next('a')).succeed();
    for (const id of ids) await eventually(() => engine.queueState(id)).toBeNull();
  });

  it('I22: a process full with one tenant still begins executions of another tenant', async () => {
    const { workflowId } = await engine.pawl.publish(graph('heavy', [held('a')]), { tenantId: 'greedy' });
    const trigger = { text: 'x'.repeat(90_000) };
    const before = engine.work.begun.length;
    for (let count = 0; count < 5; count++) await engine.pawl.start(workflowId, { trigger, tenantId: 'greedy' });
    await eventually(() => engine.work.begun.length - before).toBe(2);
    const small = graph('small', [echo('a', {}, to('b')), echo('b')]);
    expect(await engine.run(small, { tenantId: 'neighbour' })).toMatchObject({ status: 'Succeeded' });
    for (let count = 0; count < 5; count++) (await engine.work.next('a')).succeed();
  });
});

describe('executions that grow after their start', () => {
  const engine = engineUnderTest({ engine: { maxResidentBytes: 200_000, parkAfterMs: 600_000 } });

  it('executions of a tenant over its share leave memory, and come back for their retries', async () => {
    const policies = { retry: { maxAttempts: 2, baseDelayMs: 3_000, backoffFactor: 1, jitter: false } };
    const nodes = [held('small', to('large')), held('large', to('after')), held('after', { policies })];
    const { workflowId } = await engine.pawl.publish(graph('grown', nodes));
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await engine.pawl.start(workflowId)).executionId);
    for (const id of ids) (await engine.work.of(id).next('small')).succeed();
    const results = await Promise.all(ids.map((id) => engine.work.of(id).next('large')));
    for (const result of results) result.succeed({ text: 'x'.repeat(150_000) });
    const attempts = await Promise.all(ids.map((id) => engine.work.of(id).next('after')));
    for (const attempt of attempts) attempt.fail(new Error('try again'));
    await eventually(() => states(engine, ids)).toContain('parked');
    for (let count = 0; count < 3; count++) (await engine.work.next('after')).succeed();
    for (const id of ids) await eventually(() => engine.queueState(id)).toBeNull();
  });
});

describe('a runner that finds more in the queue than it has memory for', () => {
  const engine = engineUnderTest({ runner: false, engine: { maxResidentBytes: 200_000 } });

  it('a runner loads what fits into memory, gives the rest back, and runs all in the end', async () => {
    const { workflowId } = await engine.pawl.publish(graph('queued', [held('a')]));
    const trigger = { text: 'x'.repeat(90_000) };
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push((await engine.pawl.start(workflowId, { trigger })).executionId);
    await engine.open({ engine: { maxResidentBytes: 200_000 } });
    await eventually(() => engine.work.begun.length).toBeGreaterThan(0);
    await eventually(async () => (await states(engine, ids)).filter((state) => state === 'ready').length).toBe(3);
    for (let count = 0; count < 5; count++) (await engine.work.next('a')).succeed();
    for (const id of ids) await eventually(() => engine.queueState(id)).toBeNull();
  });
});

const states = (engine: EngineUnderTest, ids: readonly string[]) => Promise.all(ids.map((id) => engine.queueState(id)));
