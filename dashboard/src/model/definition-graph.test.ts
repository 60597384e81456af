import { describe, expect, it } from 'vitest';
import { fixOf, graphOfDefinition, wrongNodes } from './definition-graph.ts';

describe('a definition as a graph', () => {
  it('reads nodes and edges of a graph, also while it is wrong', () => {
    const graph = graphOfDefinition({
      nodes: [
        {
          id: 'a',
          actionType: 'core.echo',
          edges: [{ targetNode: 'b', condition: 'x' }, { targetNode: 'gone' }, 7],
          onFailure: 'b',
        },
        { id: 'b', actionType: 'core.echo' },
        { id: 5 },
      ],
    });
    expect(graph.nodes.map(({ id, pointer }) => [id, pointer])).toEqual([
      ['a', '/nodes/0'],
      ['b', '/nodes/1'],
    ]);
    expect(graph.edges).toEqual([
      { from: 'a', to: 'b', when: 'success', condition: 'x' },
      { from: 'a', to: 'b', when: 'failure' },
    ]);
    expect([...wrongNodes(graph, [{ path: '/nodes/1/edges/0' }])]).toEqual(['b']);
  });

  it('reads tasks of a pipeline and steps of a plan', () => {
    const pipeline = graphOfDefinition({
      tasks: {
        a: { url: 'https://x' },
        'b/c': { sleep: '1s', needs: ['a'] },
        d: { wait_for_webhook: {}, needs: ['a'], if: 'true' },
        e: {},
        f: 1,
      },
    });
    expect(pipeline.nodes.map(({ id, type, pointer }) => [id, type, pointer])).toEqual([
      ['a', 'POST https://x', '/tasks/a'],
      ['b/c', 'sleep', '/tasks/b~1c'],
      ['d', 'wait for webhook', '/tasks/d'],
      ['e', 'task', '/tasks/e'],
    ]);
    const plan = graphOfDefinition({ steps: [{ stepId: 'a', type: 'X' }, { stepId: 'b', dependsOn: ['a'] }, {}] });
    expect(plan.edges).toEqual([{ from: 'a', to: 'b', when: 'success' }]);
  });

  it('tells loops, waits and ends by their types, and what runs at the end by its edges', () => {
    const graph = {
      finally: ['unlock'],
      nodes: [
        { id: 'each', forEach: {}, body: { nodes: [{ id: 'charge' }, { id: 'ship' }] } },
        { id: 'poll', actionType: 'http.request', repeat: {}, compensate: 'undo' },
        { id: 'child', nodeType: 'subworkflow', workflowId: 'other' },
        { id: 'rest', nodeType: 'wait' },
        { id: 'wait', nodeType: 'wait', callback: true, events: [{ type: 'paid' }, { type: 'paid' }, 1] },
        { id: 'undo', actionType: 'core.echo' },
        { id: 'unlock', actionType: 'core.echo' },
      ],
    };
    const { nodes, edges } = graphOfDefinition(graph);
    expect(nodes.map(({ type }) => type)).toEqual([
      'for each: charge, ship',
      'repeat: http.request',
      'other',
      'wait',
      'wait for callback or paid',
      'core.echo',
      'core.echo',
    ]);
    expect(edges.filter(({ isAside }) => isAside).map(({ from, to, when }) => `${from} ${when} ${to}`)).toEqual([
      'poll undo undo',
      ...['each', 'poll', 'child', 'rest', 'wait'].map((id) => `${id} finally unlock`),
    ]);
    const pipeline = graphOfDefinition({
      tasks: {
        a: { url: 'https://x', for_each: [] },
        b: { url: 'https://x', method: 'GET', until: 'true' },
        c: { wait_for: { webhook: true, events: [{ type: 'paid' }] }, needs: { first: 1, of: ['a', 'b'] } },
        d: { end: true },
      },
    });
    expect(pipeline.nodes.map(({ type }) => type)).toEqual([
      'for each: POST https://x',
      'repeat: GET https://x',
      'wait for callback or paid',
      'end',
    ]);
    expect(pipeline.edges.map(({ from }) => from)).toEqual(['a', 'b']);
  });

  it('makes nothing of what is no definition', () => {
    for (const value of [null, 1, 'x', [], {}]) expect(graphOfDefinition(value)).toEqual({ nodes: [], edges: [] });
  });

  it('takes a suggestion for a fix only when it is a name', () => {
    expect(fixOf({ code: 'UNKNOWN_NODE', suggestion: 'did you mean `report`?' })).toEqual({
      name: 'report',
      where: 'value',
    });
    expect(fixOf({ code: 'UNKNOWN_KEY', suggestion: 'did you mean `edges`?' })).toEqual({
      name: 'edges',
      where: 'key',
    });
    expect(fixOf({ code: 'X', suggestion: 'write it' })).toBeNull();
    expect(fixOf({ code: 'X' })).toBeNull();
  });
});
