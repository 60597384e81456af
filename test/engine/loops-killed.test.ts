import { expect, it } from 'vitest';
import { engineUnderTest, QUICK } from './engine-under-test.ts';
import { spawnRunner } from './spawned-runner.ts';
import { echo, graph, held, to } from './workflow-definition.ts';

// The engine of this file only accepts requests; the tests start and stop the runners.
const engine = engineUnderTest({ runner: false });
const { work } = engine;
const short = { leaseMs: 700, leaseMarginMs: 200 };

it('a loop whose runner is killed loses no item and repeats no finished item', async () => {
  const doomed = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...short } });
  const body = { startNode: 'done', nodes: [echo('done', { n: '{{ item }}' }, to('doing')), held('doing')] };
  const { workflowId } = await engine.pawl.publish(
    graph('killed', [{ id: 'each', forEach: { items: '{{ trigger.items }}', parallel: 2 }, body }]),
  );
  const { executionId } = await engine.pawl.start(workflowId, { trigger: { items: ['x', 'y', 'z'] } });
  const began = [await doomed.nextBegan(), await doomed.nextBegan()].map(({ nodeId }) => nodeId);
  expect(began.sort()).toEqual(['each[0].doing', 'each[1].doing']);
  await doomed.kill();

  const heir = await engine.open({ engine: short });
  const first = await work.next('each[0].doing');
  expect(first.context).toMatchObject({ attempt: 1, idempotencyKey: `${executionId}:each:0:doing` });
  first.succeed({ of: 0 });
  (await work.next('each[1].doing')).succeed({ of: 1 });
  (await work.next('each[2].doing')).succeed({ of: 2 });
  expect(await heir.result(executionId)).toMatchObject({
    status: 'Succeeded',
    outputs: { succeeded: 3, results: [{ of: 0 }, { of: 1 }, { of: 2 }] },
  });
  const attempts = await engine.attempts(executionId);
  expect(attempts.filter(({ nodeId }) => nodeId.endsWith('.done')).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
});
