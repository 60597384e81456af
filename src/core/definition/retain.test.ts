import { describe, expect, it } from 'vitest';
import { call, compiled, graph, node, pipeline, plan, step, to } from './definition.testing.ts';

const retained = (definition: unknown) =>
  compiled(definition)
    .nodes.filter(({ retain }) => retain)
    .map(({ id }) => id);

describe('retained data', () => {
  it('data is retained for nodes that something reads, and for end nodes', () => {
    const nodes = [
      node('a', to('b')),
      node('b', { ...to('c'), parameters: { x: '{{ context.data.a.x }}' } }),
      node('c', to('d')),
      node('d'),
    ];
    expect(retained(graph(nodes))).toEqual(['a', 'd']);
  });

  it('data of end nodes is not retained when the definition has outputs of its own', () => {
    const nodes = [node('a', to('b')), node('b')];
    expect(retained(graph(nodes, { outputs: { x: 1 } }))).toEqual([]);
    expect(retained(graph(nodes, { outputs: { x: '{{ context.data.a }}' } }))).toEqual(['a']);
  });

  it('data is retained for nodes that may turn out to be ends', () => {
    const edge = { targetNode: 'z' };
    const ending = (fields: Record<string, unknown>) => retained(graph([node('a', fields), node('z')])).includes('a');
    expect(ending({ edges: [edge] })).toBe(false);
    expect(ending({ edges: [{ ...edge, when: 'always' }] })).toBe(false);
    expect(ending({ edges: [{ ...edge, condition: 'trigger.x' }] })).toBe(true);
    expect(ending({ edges: [{ ...edge, when: 'failure' }] })).toBe(true);
    expect(ending({ onFailure: 'z' })).toBe(true);
    expect(ending({ edges: [edge], routePolicy: 'firstMatch' })).toBe(true);
  });

  it('data is retained for nodes that a condition reads', () => {
    const nodes = [
      node('a', to('b')),
      node('b', { edges: [{ targetNode: 'c' }, { targetNode: 'c', condition: 'context.data.a.x' }] }),
      node('c'),
    ];
    expect(retained(graph(nodes))).toEqual(['a', 'c']);
  });

  it.each(['context', 'context.data', 'Object.keys(context.data)', 'context.data[trigger.name]'])(
    'data of all nodes is retained when one reads %s',
    (expression) => {
      const nodes = [node('a', to('b')), node('b', { parameters: { x: `{{ ${expression} }}` } })];
      expect(retained(graph(nodes))).toEqual(['a', 'b']);
    },
  );

  it('data is retained for nodes that the snapshot includes', () => {
    const nodes = [node('a', to('b')), node('b', to('c')), node('c')];
    expect(retained(graph(nodes, { snapshot: { mode: 'Full' } }))).toEqual(['a', 'b', 'c']);
    expect(retained(graph(nodes, { snapshot: { mode: 'KeysOnly', keysToInclude: ['b'] } }))).toEqual(['b', 'c']);
  });

  it('data of tasks and steps is retained by the same rule', () => {
    const tasks = { a: call(), b: call({ needs: ['a'] }), c: call({ needs: ['b'], body: '{{ tasks.b.body }}' }) };
    expect(retained(pipeline(tasks))).toEqual(['b', 'c']);
    expect(retained(pipeline({ ...tasks, d: call({ body: '{{ tasks }}', needs: ['c'] }) }))).toHaveLength(4);
    expect(retained(plan([step('a'), step('b', { dependsOn: ['a'] })]))).toEqual(['b']);
  });
});
