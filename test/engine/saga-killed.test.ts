import { expect, it } from 'vitest';
import { DeadLetters } from '../../src/execution/dead-letters.ts';
import { engineUnderTest, QUICK, TENANT } from './engine-under-test.ts';
import { spawnRunner } from './spawned-runner.ts';
import { echo, type GraphNode, graph, held, to, tries } from './workflow-definition.ts';

// The engine of this file only accepts requests; the tests start and stop the runners.
const engine = engineUnderTest({ runner: false });
const { work } = engine;
const short = { leaseMs: 700, leaseMarginMs: 200 };

/** Ten steps that succeed, each with a compensation, and one step that fails. */
function saga(id: string, undo: (index: number) => GraphNode): ReturnType<typeof graph> {
  const steps = Array.from({ length: 10 }, (_, n) =>
    echo(`s${n}`, { n }, { compensate: `u${n}`, ...to(n === 9 ? 'fails' : `s${n + 1}`) }),
  );
  const fails = { id: 'fails', actionType: 'core.fail', parameters: { code: 'NO', retryable: false } };
  return graph(id, [...steps, fails, ...steps.map((_, n) => undo(n)), echo('release')], { finally: ['release'] });
}

it('a saga of ten steps is undone in reverse order after kill -9, each step under its own key', async () => {
  const doomed = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...short } });
  const { workflowId } = await engine.pawl.publish(saga('saga', (n) => (n === 5 ? held('u5') : echo(`u${n}`, { n }))));
  const { executionId } = await engine.pawl.start(workflowId);
  expect(await doomed.nextBegan()).toMatchObject({ nodeId: 'u5', attempt: 1 });
  await doomed.kill();

  const heir = await engine.open({ engine: short });
  const again = await work.next('u5');
  expect(again.context.idempotencyKey).toBe(`${executionId}:u5`);
  again.succeed();
  expect(await heir.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'NO', nodeId: 'fails' } });
  const { view } = await engine.pawl.executions.inspect(TENANT, executionId);
  expect(JSON.parse(view.contextSnapshot!)).toMatchObject({
    $compensation: {
      status: 'Succeeded',
      nodes: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((n) => ({ nodeId: `u${n}` })).concat({ nodeId: 'release' }),
    },
  });
  const undone = (await engine.attempts(executionId)).filter(({ nodeId }) => nodeId.startsWith('u'));
  expect(undone.map(({ attempt }) => attempt)).toEqual(Array(10).fill(1));
});

it('a failed compensation becomes a dead letter, and is retried when the letter is requeued', async () => {
  const runner = await engine.open({ engine: short });
  const { workflowId } = await engine.pawl.publish(
    saga('half-undone', (n) => (n === 3 ? held('u3', tries(1)) : echo(`u${n}`, { n }))),
  );
  const { executionId } = await engine.pawl.start(workflowId);
  (await work.next('u3')).fail(new Error('no way back'));
  expect(await runner.result(executionId)).toMatchObject({ status: 'Failed' });
  const letters = await engine.pawl.store.deadLetterList({ tenantId: TENANT, afterId: '0', limit: 10 });
  expect(letters).toMatchObject([
    { executionId, reason: 'COMPENSATION_FAILED', lastError: 'u3: ACTION_FAILED: no way back' },
  ]);
  const deadLetters = new DeadLetters({
    store: engine.pawl.store,
    workWanted: () => {},
    fireAgain: () => Promise.reject(new Error('it is no firing')),
  });
  expect(await deadLetters.requeue(TENANT, letters[0]!.id)).toBe(executionId);
  (await work.next('u3')).succeed();
  await expect
    .poll(async () => {
      const { view } = await engine.pawl.executions.inspect(TENANT, executionId);
      return view.contextSnapshot === null ? null : JSON.parse(view.contextSnapshot).$compensation?.status;
    })
    .toBe('Succeeded');
});
