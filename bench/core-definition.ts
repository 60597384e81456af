// The cost of compiling: validation, templates and checksum of a large graph, in milliseconds of one warm call.

import { compileDefinition } from '../src/core/definition/compile.ts';

const NODES = 1_000;
const WARM_UP = 20;
const ROUNDS = 31;

export function benchDefinition(): { name: string; value: number; unit: string }[] {
  return [
    { name: 'compile a graph, chain of 1,000 nodes', value: median(chain()), unit: 'ms' },
    { name: 'compile a graph, fan-out and fan-in over 998 nodes', value: median(fan()), unit: 'ms' },
    { name: 'compile a pipeline, 1,000 tasks', value: median(pipeline()), unit: 'ms' },
  ];
}

function median(definition: object): number {
  for (let round = 0; round < WARM_UP; round++) compile(definition);
  const times = Array.from({ length: ROUNDS }, () => {
    const start = performance.now();
    compile(definition);
    return performance.now() - start;
  });
  return times.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)]!;
}

function compile(definition: object): void {
  const result = compileDefinition(definition);
  if (!result.ok) throw new Error(JSON.stringify(result.problems.slice(0, 3)));
}

/** Each node reads the one before it and the trigger, and every edge has a condition. */
function chain(): object {
  const nodes = Array.from({ length: NODES }, (_, index) => ({
    id: `node-${index}`,
    actionType: 'core.echo',
    parameters: {
      order: '{{ trigger.orderId }}',
      text: `Step ${index} of order {{ trigger.orderId }}`,
      previous: index === 0 ? null : `{{ context.data['node-${index - 1}'].value }}`,
    },
    policies: { timeoutMs: 1_000, retry: { maxAttempts: 2 } },
    edges:
      index === NODES - 1
        ? []
        : [{ targetNode: `node-${index + 1}`, condition: `context.data['node-${index}'].value !== 'stop'` }],
  }));
  return { id: 'chain', displayName: 'Chain', startNode: 'node-0', nodes };
}

function fan(): object {
  const middle = Array.from({ length: NODES - 2 }, (_, index) => ({
    id: `work-${index}`,
    actionType: 'core.echo',
    parameters: { item: `{{ context.data.start.items[${index}] }}` },
    edges: [{ targetNode: 'end' }],
  }));
  const start = { id: 'start', actionType: 'core.echo', edges: middle.map(({ id }) => ({ targetNode: id })) };
  const end = { id: 'end', actionType: 'core.echo', parameters: { all: '{{ Object.keys(context.data).length }}' } };
  return { id: 'fan', displayName: 'Fan', startNode: 'start', nodes: [start, ...middle, end] };
}

function pipeline(): object {
  const tasks = Array.from({ length: NODES }, (_, index) => [
    `task-${index}`,
    {
      url: 'https://example.com/orders/{{trigger.body.order_id}}',
      body: { id: '{{trigger.body.order_id}}' },
      ...(index === 0 ? {} : { needs: [`task-${index - 1}`], if: `tasks.task-${index - 1}.status_code == 200` }),
    },
  ]);
  return { name: 'pipeline', tasks: Object.fromEntries(tasks) };
}
