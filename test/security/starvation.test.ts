// I22: a tenant whose calls never return holds its own share of the places, and no more.

import { describe, expect, it } from 'vitest';
import { engineUnderTest, eventually } from '../engine/engine-under-test.ts';
import { echo, graph, held, to } from '../engine/workflow-definition.ts';

const PLACES = 20;
const engine = engineUnderTest({ engine: { maxParallelActions: PLACES, maxResident: 40 } });

async function neighboursAreServed(): Promise<void> {
  for (const tenantId of ['neighbour', 'another', 'third']) {
    for (let times = 0; times < 5; times++) {
      const result = await engine.run(graph('beside', [echo('a', {}, to('b')), echo('b')]), { tenantId });
      expect(result).toMatchObject({ status: 'Succeeded' });
    }
    const slow = await engine.start(graph('also-slow', [held('slow')]), { tenantId });
    (await engine.work.next('slow')).succeed();
    await eventually(() => engine.queueState(slow)).toBeNull();
  }
}

describe('a tenant whose calls never come back', () => {
  it('one execution with more stuck calls than places holds its share only, and others run', async () => {
    const stuck = Array.from({ length: PLACES + 10 }, (_, index) => held(`stuck${index}`));
    const fan = graph('fan', [echo('begin', {}, to(...stuck.map(({ id }) => id))), ...stuck]);
    const executionId = await engine.start(fan, { tenantId: 'greedy' });
    await eventually(() => engine.work.begun.length).toBe(PLACES);
    await neighboursAreServed();
    expect(engine.pawl.runner?.places()).toMatchObject({
      total: PLACES,
      used: PLACES,
      waiting: 10,
      holders: [{ tenantId: 'greedy', held: PLACES }],
    });
    const waits = { attempts: 10, heldByTenant: PLACES, places: PLACES };
    expect(engine.pawl.runner?.placeWait('greedy', executionId)).toMatchObject(waits);
    expect(engine.pawl.runner?.placeWait('neighbour', executionId)).toBeNull();
    expect(await engine.queueState(executionId)).toBe('owned');
    for (let left = stuck.length; left > 0; left--) (await engine.work.next()).succeed();
    await eventually(() => engine.queueState(executionId)).toBeNull();
  });

  it('more stuck executions than fit into memory hold their share only, and others run', async () => {
    const { workflowId } = await engine.pawl.publish(graph('many', [held('stuck')]), { tenantId: 'greedy' });
    const starts = Array.from({ length: 120 }, () => engine.pawl.start(workflowId, { tenantId: 'greedy' }));
    await Promise.all(starts);
    await eventually(() => engine.work.begun.filter(({ context }) => context.nodeId === 'stuck').length).toBe(PLACES);
    await neighboursAreServed();
    const stillThere = engine.work.begun.filter(({ context }) => context.nodeId === 'stuck');
    expect(stillThere).toHaveLength(PLACES);
    for (let left = 120; left > 0; left--) (await engine.work.next()).succeed();
  });
});
