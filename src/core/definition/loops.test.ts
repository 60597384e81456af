import { describe, expect, it } from 'vitest';
import { nodeIdAt, nodeIndexOf, placeOf, planNodeAt } from '../plan/virtual-node.ts';
import {
  call,
  codesOf,
  compiled,
  graph,
  node,
  nodeOf,
  pipeline,
  plan,
  problemsOf,
  step,
  to,
} from './definition.testing.ts';

const each = (fields: object = {}) => node('a', { forEach: { items: '{{ trigger.items }}', ...fields } });

describe('forEach', () => {
  it('forEach has its defaults, and its own step as the body', () => {
    const { step: made, parameters } = nodeOf(graph([each()]), 'a');
    expect(made).toMatchObject({
      kind: 'forEach',
      parallel: 10,
      tolerate: { count: 0 },
      body: { isSingle: true, base: 1, limit: 1000, nodes: [{ id: 'a', step: { actionType: 'core.echo' } }] },
    });
    expect(parameters).toBeNull();
    expect(nodeOf(graph([each({ parallel: 5, maxItems: 7, tolerate: '10%' })]), 'a').step).toMatchObject({
      parallel: 5,
      tolerate: { percent: 10 },
      body: { limit: 7 },
    });
  });

  it('forEach may have a body in a workflow with `finally`', () => {
    const body = { startNode: 'in', nodes: [node('in')] };
    const each = { id: 'each', forEach: { items: [1] }, body };
    const definition = graph([each, node('last')], { startNode: 'each', finally: ['last'] });
    expect(compiled(definition).finally).toEqual([1]);
  });

  it('forEach refuses a literal list that is too long, and text that can never be a list', () => {
    const wrong = (items: unknown, fields: object = {}) => codesOf(graph([each({ items, ...fields })]));
    expect(wrong([1, 2, 3], { maxItems: 3 })).toEqual([]);
    expect(wrong([1, 2, '{{ trigger.x }}'], { maxItems: 3 })).toEqual([]);
    expect(wrong([1, 2, 3], { maxItems: 2 })).toEqual(['TOO_MANY_ITEMS /nodes/0/forEach/items']);
    expect(wrong([1, 2, '{{ trigger.x }}'], { maxItems: 2 })).toEqual(['TOO_MANY_ITEMS /nodes/0/forEach/items']);
    expect(wrong('a, b')).toEqual(['NOT_A_LIST /nodes/0/forEach/items']);
    expect(wrong('{{ trigger.a }}, {{ trigger.b }}')).toEqual(['NOT_A_LIST /nodes/0/forEach/items']);
  });

  it('forEach binds `item` and `index` in its parameters and nowhere else', () => {
    const definition = graph([
      node('a', { forEach: { items: '{{ item }}' }, parameters: { x: '{{ item }} {{ index }}' }, ...to('b') }),
      node('b', { parameters: { x: '{{ item }}' } }),
    ]);
    expect(codesOf(definition)).toEqual(['BAD_TEMPLATE /nodes/0/forEach/items', 'BAD_TEMPLATE /nodes/1/parameters/x']);
  });

  it('forEach reports bad fields at their place', () => {
    expect(codesOf(graph([each({ parallel: 0 })]))).toEqual(['OUT_OF_RANGE /nodes/0/forEach/parallel']);
    expect(codesOf(graph([each({ maxItems: 100_001 })]))).toEqual(['OUT_OF_RANGE /nodes/0/forEach/maxItems']);
    expect(codesOf(graph([each({ tolerate: 'some' })]))).toEqual(['BAD_FORMAT /nodes/0/forEach/tolerate']);
    expect(problemsOf(graph([each({ tolerate: '101%' })]))[0]!.message).toBe(
      '"101%" must be a number of items, or a share from "0%" to "100%"',
    );
    expect(codesOf(graph([node('a', { forEach: {} })]))).toEqual(['REQUIRED /nodes/0/forEach/items']);
    expect(codesOf(graph([node('a', { forEach: { items: [] }, repeat: { until: 'true' } })]))).toEqual([
      'LOOP_CONFLICT /nodes/0/repeat',
    ]);
  });

  it('forEach over a delay sleeps as long as each item says', () => {
    const nap = node('a', {
      actionType: 'core.delay',
      forEach: { items: [1, 2] },
      parameters: { durationMs: '{{ item }}' },
    });
    expect(nodeOf(graph([nap]), 'a').step).toMatchObject({ body: { nodes: [{ step: { kind: 'sleep' } }] } });
  });
});

describe('a loop body', () => {
  const body = (nodes: object[], fields: object = {}) =>
    graph([node('s', to('l')), { id: 'l', forEach: { items: [1] }, body: { startNode: 'x', nodes, ...fields } }], {
      startNode: 's',
    });

  it('a loop body is compiled like a workflow, and reads the nodes before the loop', () => {
    const made = compiled(body([node('x', { parameters: { a: '{{ context.data.s.b }}' }, ...to('y') }), node('y')]));
    expect(made.loops).toEqual([1]);
    expect(made.nodes[1]!.step).toMatchObject({ body: { isSingle: false, start: [0], edges: [{ from: 0, to: 1 }] } });
    expect(made.nodes[0]!.retain).toBe(true);
  });

  it('a loop body is checked like a workflow, with its own paths', () => {
    expect(codesOf(body([node('x', to('z')), node('y')]))).toEqual([
      'UNKNOWN_NODE /nodes/1/body/nodes/0/edges/0/targetNode',
      'UNREACHABLE /nodes/1/body/nodes/1',
    ]);
    expect(codesOf(body([node('x', { parameters: { a: '{{ context.data.nobody }}' } })]))).toEqual([
      'UNKNOWN_NODE /nodes/1/body/nodes/0/parameters/a',
    ]);
    expect(codesOf(body([node('x', { join: { first: 2 } })]))).toEqual([
      'JOIN_IMPOSSIBLE /nodes/1/body/nodes/0/join/first',
    ]);
    expect(codesOf(body([node('x', { forEach: { items: [] } })]))).toEqual([
      'UNKNOWN_KEY /nodes/1/body/nodes/0/forEach',
    ]);
    expect(codesOf(body([node('x', to('s')), node('s')]))).toEqual(['DUPLICATE_ID /nodes/1/body/nodes/1/id']);
    expect(codesOf(body([node('x')], { outputs: { a: '{{ context.data.y }}' } }))).toEqual([
      'UNKNOWN_NODE /nodes/1/body/outputs/a',
    ]);
  });

  it('the actions and codes in a loop body are checked', () => {
    const definition = body([
      node('x', { actionType: 'no.such', edges: [{ targetNode: 'y', codes: ['A'] }] }),
      node('y'),
    ]);
    expect(codesOf(definition, { actions: new Set(['core.echo']) })).toEqual([
      'CODES_UNUSED /nodes/1/body/nodes/0/edges/0/codes/0',
      'UNKNOWN_ACTION /nodes/1/body/nodes/0/actionType',
    ]);
  });

  it('a body without a loop is refused', () => {
    expect(codesOf(graph([{ id: 'a', body: { startNode: 'x', nodes: [node('x')] } }]))).toEqual([
      'BODY_WITHOUT_LOOP /nodes/0/body',
    ]);
  });
});

describe('repeat', () => {
  const poll = (repeat: object, fields: object = {}) => graph([node('a', { repeat, ...fields })]);

  it('repeat has its defaults', () => {
    expect(nodeOf(poll({ until: 'output.done' }), 'a').step).toMatchObject({
      kind: 'repeat',
      until: { source: 'output.done' },
      delayMs: 0,
      backoffFactor: 1,
      maxDelayMs: null,
      collect: null,
      body: { limit: 100 },
    });
  });

  it('repeat binds `round` and `previous` in its parameters, and `output` in until and collect', () => {
    const parameters = { a: "{{ previous?.next ?? '' }} {{ round }}" };
    expect(codesOf(poll({ until: 'output.x && round > 1', collect: '{{ output.y }}' }, { parameters }))).toEqual([]);
    expect(codesOf(poll({ until: 'previous.x' }))).toEqual(['BAD_CONDITION /nodes/0/repeat/until']);
    expect(codesOf(poll({ until: 'true' }, { parameters: { a: '{{ output }}' } }))).toEqual([
      'BAD_TEMPLATE /nodes/0/parameters/a',
    ]);
    expect(codesOf(poll({ until: 'true', collect: 'x {{ output.y }}' }))).toEqual([
      'NOT_A_LIST /nodes/0/repeat/collect',
    ]);
    expect(codesOf(poll({ until: 'true', collect: '{{ nobody }}' }))).toEqual(['BAD_TEMPLATE /nodes/0/repeat/collect']);
  });
});

describe('loops of a pipeline', () => {
  it('a loop of a pipeline is written on a task', () => {
    const items = call({
      for_each: '{{trigger.body.items}}',
      parallel: 5,
      max_items: 9,
      tolerate: 1,
      body: '{{item.id}}',
    });
    expect(nodeOf(pipeline({ a: items }), 'a').step).toMatchObject({
      kind: 'forEach',
      parallel: 5,
      body: { limit: 9 },
    });
    const poll = call({
      until: "output.body.state != 'RUNNING'",
      every: '1m',
      max_rounds: 60,
      collect: '{{output.body.items}}',
    });
    expect(nodeOf(pipeline({ a: poll }), 'a').step).toMatchObject({
      kind: 'repeat',
      delayMs: 60_000,
      body: { limit: 60 },
    });
  });

  it('a bad loop of a pipeline is reported at its place', () => {
    const wrong = (fields: Record<string, unknown>) => codesOf(pipeline({ a: call(fields) }));
    expect(wrong({ for_each: '{{nobody}}' })).toEqual(['BAD_TEMPLATE /tasks/a/for_each']);
    expect(wrong({ until: 'nobody', collect: '{{nobody}}' })).toEqual([
      'BAD_CONDITION /tasks/a/until',
      'BAD_TEMPLATE /tasks/a/collect',
    ]);
    expect(wrong({ every: '1m', parallel: 2 })).toEqual([
      'LOOP_UNUSED /tasks/a/parallel',
      'LOOP_UNUSED /tasks/a/every',
    ]);
    expect(wrong({ until: 'true', every: 'soon' })).toEqual(['BAD_DURATION /tasks/a/every']);
    expect(wrong({ until: 'true', for_each: [] })).toEqual(['LOOP_CONFLICT /tasks/a/until']);
    expect(codesOf(pipeline({ a: { sleep: 1, for_each: [] } }))).toEqual(['STEP_TYPE_CONFLICT /tasks/a/for_each']);
  });
});

describe('foreach of an execution plan', () => {
  it('foreach of an execution plan becomes the same loop as forEach', () => {
    const steps = [
      step('x'),
      step('a', { dependsOn: ['x'], foreach: { from: 'x.output.models', itemVar: 'item', parallel: 2 } }),
    ];
    expect(nodeOf(plan(steps), 'a').step).toMatchObject({ kind: 'forEach', parallel: 2 });
    expect(problemsOf(plan([step('a', { foreach: { from: 'nobody.output' } })]))).toMatchObject([
      { code: 'UNKNOWN_NODE', path: '/steps/0/foreach/from' },
    ]);
  });
});

describe('virtual nodes', () => {
  const made = compiled(
    graph([
      node('a', { forEach: { items: [1], maxItems: 3 }, ...to('b') }),
      {
        id: 'b',
        repeat: { until: 'true', maxRounds: 4 },
        body: { startNode: 'x', nodes: [node('x', to('y')), node('y')] },
      },
    ]),
  );

  it('every virtual node has a number and a name that follow from the plan', () => {
    const names = ['a', 'b', 'a[0]', 'a[1]', 'a[2]', 'b[0].x', 'b[0].y', 'b[1].x'];
    expect(names.map((_, index) => nodeIdAt(made, index))).toEqual(names);
    expect(names.map((name) => nodeIndexOf(made, name))).toEqual(names.map((_, index) => index));
    expect(placeOf(made, 6)).toMatchObject({ owner: 1, item: 0, base: 5, local: 1 });
    expect(planNodeAt(made, 3).id).toBe('a');
  });

  it('a virtual node that does not exist has no number and no name', () => {
    expect(nodeIdAt(made, 99)).toBe('#99');
    for (const name of ['a[3]', 'a[0].x', 'b[0]', 'b[0].z', 'c[0]', 'a[x]', 7, undefined]) {
      expect(nodeIndexOf(made, name)).toBe(-1);
    }
  });
});

describe('the checksum', () => {
  it('the checksum depends on the fields of a loop', () => {
    const sum = (fields: Record<string, unknown>) => compiled(graph([node('a', fields)])).checksum;
    const different = [
      sum({ forEach: { items: '{{ trigger.a }}' } }),
      sum({ forEach: { items: '{{ trigger.b }}' } }),
      sum({ forEach: { items: '{{ trigger.a }}', parallel: 2 } }),
      sum({ repeat: { until: 'output.a' } }),
      sum({ repeat: { until: 'output.b' } }),
      sum({ repeat: { until: 'output.a', collect: '{{ output.x }}' } }),
    ];
    expect(new Set(different).size).toBe(different.length);
  });
});
