// Executions that only wait hold nobody up: between two attempts, in a delay, or for a child (I22).

import { describe, expect, it } from 'vitest';
import { engineUnderTest, eventually } from './engine-under-test.ts';
import { delay, echo, graph, subworkflow, to } from './workflow-definition.ts';

// No execution leaves memory because of time, only because too many wait there.
const engine = engineUnderTest({ engine: { maxResident: 20, parkAfterMs: 600_000 } });
const parked = () => engine.pawl.metrics.get('parked') ?? 0;

const retry = { maxAttempts: 3, baseDelayMs: 300_000, backoffFactor: 1, jitter: false };
const failing = { id: 'no', actionType: 'core.fail', parameters: { retryable: true }, policies: { retry } };

describe('a parent that waits for a quick child', () => {
  it('a parent that waits for a quick child stays in memory until the child has ended', async () => {
    await engine.pawl.publish(graph('child', [echo('a', { from: 'child' })]));
    const before = parked();
    expect(await engine.run(graph('parent', [subworkflow('call', 'child')]))).toMatchObject({ status: 'Succeeded' });
    expect(parked()).toBe(before);
  });

  it('a parent with 30 children takes each result once', async () => {
    const calls = Array.from({ length: 30 }, (_, n) => subworkflow(`call-${n}`, 'child'));
    const definition = graph('many', [echo('first', {}, to(...calls.map(({ id }) => id))), ...calls]);
    expect(await engine.run(definition)).toMatchObject({ status: 'Succeeded' });
  });
});

describe('a runner full of executions that wait', () => {
  it('a runner full of executions waiting for a retry runs another workflow at once', async () => {
    const { workflowId } = await engine.pawl.publish(graph('storm', [failing]));
    await Promise.all(Array.from({ length: 100 }, () => engine.pawl.start(workflowId)));
    const retrying = `select count(*)::int as count from action_executions where status = 'RetriableFailure'`;
    await eventually(async () => (await engine.sql<{ count: number }>(retrying))[0]?.count).toBe(100);
    // As many executions as may run at once wait in memory; the others have left it.
    expect(parked()).toBeGreaterThanOrEqual(60);
    expect(await engine.run(graph('victim', [echo('a', { well: true })]))).toMatchObject({ outputs: { well: true } });
  });

  it('a runner takes more delays than it has places for, and no delay waits for another', async () => {
    const { workflowId } = await engine.pawl.publish(graph('naps', [delay('nap', 400, to('awake')), echo('awake')]));
    const napping = await Promise.all(Array.from({ length: 60 }, () => engine.pawl.start(workflowId)));
    const results = await Promise.all(napping.map(({ executionId }) => engine.pawl.result(executionId)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['Succeeded']));
  });
});
