import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { echo, graph, held, to } from './workflow-definition.ts';

/** Several times more executions than fit into memory. */
const COUNT = 120;
const capped = { maxParallelActions: 20, maxResident: 40 };

async function startMany(engine: ReturnType<typeof engineUnderTest>, definition: JsonObject, tenantId: string) {
  const { workflowId } = await engine.pawl.publish(definition, { tenantId });
  const starts = Array.from({ length: COUNT }, () => engine.pawl.start(workflowId, { tenantId }));
  return (await Promise.all(starts)).map(({ executionId }) => executionId);
}

/** Lets the held attempts succeed one after the other, as they begin. */
async function finishAll(engine: ReturnType<typeof engineUnderTest>, count: number): Promise<void> {
  for (let left = count; left > 0; left--) (await engine.work.next()).succeed();
}

const ended = async (engine: ReturnType<typeof engineUnderTest>, workflowId: string) =>
  (
    await engine.sql<{ count: number }>(
      `select count(*)::int as count from execution_outcomes o join workflow_executions e on e.id = o.execution_id
       where e.workflow_id = $1 and o.status = 'Succeeded'`,
      [workflowId],
    )
  )[0]!.count;

describe('a backlog behind the limit of one action type', () => {
  const engine = engineUnderTest({ engine: { ...capped, maxParallelPerAction: { 'test.work': 1 } } });

  it.each([
    ['at their first step', [held('slow')]],
    ['after another step', [echo('quick', {}, to('slow')), held('slow')]],
  ])(
    'a backlog behind an action limit keeps no other tenant or workflow waiting, its executions being %s',
    async (_, nodes) => {
      const id = `behind-${nodes.length}`;
      await startMany(engine, graph(id, nodes), TENANT);
      await engine.work.next();
      const { length } = engine.work.begun;
      const others = Array.from({ length: 10 }, (_unused, n) => graph(`beside-${nodes.length}-${n}`, [echo('a')]));
      for (const other of others) expect(await engine.run(other)).toMatchObject({ status: 'Succeeded' });
      for (const other of others) {
        expect(await engine.run(other, { tenantId: 'neighbour' })).toMatchObject({ status: 'Succeeded' });
      }
      // One attempt was running all the time, and no other began.
      expect(engine.work.begun).toHaveLength(length);
      engine.work.begun.at(-1)!.succeed();
      await finishAll(engine, COUNT - 1);
      await eventually(() => ended(engine, id)).toBe(COUNT);
    },
  );
});

describe('a backlog behind the limit of its tenant', () => {
  const engine = engineUnderTest({ engine: { ...capped, maxParallelPerTenant: 2 } });

  it('a backlog behind the limit of its tenant does not keep other tenants waiting', async () => {
    await startMany(engine, graph('crowd', [held('slow')]), 'crowded');
    await engine.work.next();
    await engine.work.next();
    for (let n = 0; n < 10; n++)
      expect(await engine.run(graph('free', [echo('a')]))).toMatchObject({ status: 'Succeeded' });
    for (const attempt of engine.work.begun.slice(-2)) attempt.succeed();
    await finishAll(engine, COUNT - 2);
    await eventually(() => ended(engine, 'crowd')).toBe(COUNT);
  });
});
