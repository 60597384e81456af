// Definitions with values of the wrong type: all problems at once, each at its place.

import { describe, expect, it } from 'vitest';
import { compileDefinition } from './compile.ts';
import { call, codesOf, compiled, graph, node, pipeline, plan, step, to } from './definition.testing.ts';

const ACTIONS = { actions: new Set(['core.echo', 'core.transform']) };
const failure = (codes: unknown) => ({ edges: [{ targetNode: 'b', when: 'failure', codes }] });

describe('values of the wrong kind', () => {
  it.each<[string, object, string[]]>([
    ['finally of a graph', graph([node('a')], { finally: [5] }), ['WRONG_TYPE /finally/0']],
    ['finally that names nobody', graph([node('a')], { finally: ['nobody'] }), ['UNKNOWN_NODE /finally/0']],
    ['finally of a pipeline', pipeline({ a: call() }, { finally: [5] }), ['WRONG_TYPE /finally/0']],
    ['codes of an edge', graph([node('a', failure([5])), node('b')]), ['WRONG_TYPE /nodes/0/edges/0/codes/0']],
    [
      'codes of a retry',
      graph([node('a', { policies: { retry: [{ on: [5] }] } })]),
      ['WRONG_TYPE /nodes/0/policies/retry/0/on/0'],
    ],
    ['codes of a task', pipeline({ a: call({ retries: { on: [{}] } }) }), ['WRONG_TYPE /tasks/a/retries/on/0']],
    ['until of a loop', graph([node('a', { repeat: { until: 5 } })]), ['WRONG_TYPE /nodes/0/repeat/until']],
    [
      'an event without a type',
      graph([{ id: 'a', nodeType: 'wait', events: [{}] }]),
      ['REQUIRED /nodes/0/events/0/type'],
    ],
    [
      'a webhook without its trigger',
      pipeline({ a: call() }, { webhook: { allowUnsigned: true } }),
      ['WEBHOOK_UNUSED /webhook'],
    ],
    [
      'a key in one form of several',
      pipeline(
        { a: call() },
        { trigger: 'webhook', webhook: { verification: { hmac: { header: 'x', algoritm: 'y' } } } },
      ),
      ['UNKNOWN_KEY /webhook/verification/hmac/algoritm'],
    ],
  ])('a value of the wrong kind is refused at its place: %s', (_, definition, problems) => {
    expect(codesOf(definition)).toEqual(problems);
  });
});

describe('accepted fields and expressions', () => {
  it('an action and a task may name a connection', () => {
    expect(compiled(graph([node('a', { connection: 'crm' })])).nodes[0]!.step).toMatchObject({ connection: 'crm' });
    expect(compiled(pipeline({ a: call({ connection: 'crm' }) })).nodes[0]!.step).toMatchObject({ connection: 'crm' });
  });

  it('a wait of a pipeline without a timeout never expires', () => {
    const { nodes } = compiled(pipeline({ a: { wait_for: { webhook: true } } }));
    expect(nodes[0]!.step).toMatchObject({ kind: 'wait', callback: true, timeoutMs: null });
  });

  it('an expression may read all callback URLs at once', () => {
    expect(compiled(graph([node('a', { parameters: { all: '{{ wait }}' } })])).nodes[0]!.parameters).not.toBeNull();
  });

  it('a plan step may have a foreach over a list', () => {
    const steps = [step('list'), step('each', { dependsOn: ['list'], foreach: { from: 'list.output.rows' } })];
    expect(compiled(plan(steps)).nodes[1]!.step).toMatchObject({ kind: 'forEach' });
  });
});

describe('an expression of core.transform', () => {
  const transform = (expression: unknown) =>
    codesOf(graph([node('a', { actionType: 'core.transform', parameters: { expression } })]), ACTIONS);

  it('a bad core.transform expression is refused at compile time, with its place', () => {
    expect(transform('input.items.')).toEqual(['BAD_EXPRESSION /nodes/0/parameters/expression']);
    expect(transform('input\n.items.')).toEqual(['BAD_EXPRESSION /nodes/0/parameters/expression']);
    expect(transform('other.items')).toEqual(['BAD_EXPRESSION /nodes/0/parameters/expression']);
  });

  it('a valid expression, a template and a value that is not text are left to the action', () => {
    for (const expression of ['input.items.length', '{{ trigger.expression }}', 5]) {
      expect(transform(expression)).toEqual([]);
    }
  });
});

describe('a workflow that starts itself', () => {
  it('a workflow that starts itself causes a warning, even in the body of a loop', () => {
    const self = { id: 'x', nodeType: 'subworkflow', workflowId: 'test' };
    const each = { id: 'a', forEach: { items: [1] }, body: { startNode: 'x', nodes: [self] } };
    const result = compileDefinition(
      graph([
        { ...each, ...to('b') },
        { ...self, id: 'b' },
      ]),
      ACTIONS,
    );
    expect(result).toMatchObject({
      ok: true,
      warnings: [
        { code: 'SUBWORKFLOW_RECURSION', path: '/nodes/0/body/nodes/0/workflowId' },
        { code: 'SUBWORKFLOW_RECURSION', path: '/nodes/1/workflowId' },
      ],
    });
  });
});
