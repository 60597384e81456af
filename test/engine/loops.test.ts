import { describe, expect, it } from 'vitest';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph, to } from './workflow-definition.ts';

const engine = engineUnderTest({});

describe('loops on a real database', () => {
  it('forEach runs every item once and returns the results in order', async () => {
    const items = Array.from({ length: 250 }, (_, n) => n);
    const result = await engine.run(
      graph('each', [
        echo(
          'e',
          { twice: '{{ item * 2 }}' },
          { forEach: { items: '{{ trigger.items }}', parallel: 25 }, ...to('sum') },
        ),
        echo('sum', { total: '{{ context.data.e.results.reduce((sum, one) => sum + one.twice, 0) }}' }),
      ]),
      { trigger: { items } },
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { total: 250 * 249 } });
    const attempts = await engine.attempts(result.executionId);
    expect(attempts.filter(({ nodeId }) => nodeId.startsWith('e['))).toHaveLength(250);
    const graphView = await engine.pawl.executions.inspect(TENANT, result.executionId);
    expect(graphView.state.status).toBe('Succeeded');
  });

  it('forEach runs a body of several nodes, and a child for each item', async () => {
    await engine.pawl.publish(graph('double', [echo('calc', { twice: '{{ trigger.n * 2 }}' })]));
    const child = { id: 'sub', nodeType: 'subworkflow', workflowId: 'double', parameters: { n: '{{ item }}' } };
    const body = {
      startNode: 'first',
      nodes: [
        echo('first', { n: '{{ item }}' }, to('second')),
        echo('second', { n: '{{ context.data.first.n + 1 }}' }),
      ],
    };
    const result = await engine.run(
      graph('bodies', [
        { id: 'each', forEach: { items: [1, 2, 3], parallel: 2 }, body, ...to('sub') },
        { ...child, forEach: { items: [1, 2, 3] } },
      ]),
    );
    expect(result).toMatchObject({ status: 'Succeeded' });
    const { outputs } = result as unknown as { outputs: { results: { outputs: object }[] } };
    expect(outputs.results.map((one) => one.outputs)).toEqual([{ twice: 2 }, { twice: 4 }, { twice: 6 }]);
    const attempts = await engine.attempts(result.executionId);
    expect(attempts.find(({ nodeId }) => nodeId === 'each')?.outputs).toMatchObject({
      results: [{ n: 2 }, { n: 3 }, { n: 4 }],
    });
  });

  it('repeat runs its body until the condition holds, with durable delays in between', async () => {
    const repeat = { until: 'output.round >= 3', delayMs: 5, collect: '{{ [output.round] }}' };
    const result = await engine.run(graph('polls', [echo('poll', { round: '{{ round }}' }, { repeat })]));
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { round: 3, rounds: 4, collected: [0, 1, 2, 3] } });
  });
});
