import { describe, expect, it } from 'vitest';
import { compileDefinition } from './compile.ts';
import { call, codesOf, graph, node, pipeline, plan, problemsOf, step, to } from './definition.testing.ts';

const reads = (expression: string, fields: object = {}) => ({ parameters: { x: `{{ ${expression} }}` }, ...fields });

describe('conditions and templates that do not parse', () => {
  it('a condition or template that does not parse is reported at its path, with the column', () => {
    const definition = graph([
      node('a', {
        parameters: { list: ['fine', { text: 'Hello {{ trigger..name }}' }] },
        edges: [{ targetNode: 'b', condition: 'trigger.n >' }],
      }),
      node('b'),
    ]);
    expect(problemsOf(definition)).toMatchObject([
      {
        code: 'BAD_CONDITION',
        path: '/nodes/0/edges/0/condition',
        message: expect.stringMatching(/\(column 12\)$/),
        line: 1,
        column: 12,
      },
      {
        code: 'BAD_TEMPLATE',
        path: '/nodes/0/parameters/list/1/text',
        message: expect.stringMatching(/\(column 18\)$/),
        line: 1,
        column: 18,
      },
    ]);
  });

  it('a problem in an expression of several lines gives the line as well', () => {
    const condition = 'trigger.a\n  && whatever';
    expect(problemsOf(graph([node('a', { edges: [{ targetNode: 'b', condition }] }), node('b')]))).toMatchObject([
      { code: 'BAD_CONDITION', message: expect.stringMatching(/\(line 2, column 6\)$/), line: 2, column: 6 },
    ]);
    expect(problemsOf(graph([node('a', { parameters: { x: '1\n{{ whatever }}' } })]))).toMatchObject([
      { code: 'BAD_TEMPLATE', message: expect.stringMatching(/\(line 2, column 4\)$/), line: 2, column: 4 },
    ]);
  });

  it('a bad condition is found even on an edge to an unknown node', () => {
    expect(codesOf(graph([node('a', { edges: [{ targetNode: 'nowhere', condition: '(' }] })]))).toEqual([
      'UNKNOWN_NODE /nodes/0/edges/0/targetNode',
      'BAD_CONDITION /nodes/0/edges/0/condition',
    ]);
  });

  it('conditions and templates are limited in size', () => {
    expect(codesOf(graph([node('a', { parameters: { x: 'y'.repeat(1_000_001) } })]))).toEqual([
      'TOO_LARGE /nodes/0/parameters',
    ]);
    const long = `'${'y'.repeat(10_000)}'`;
    expect(codesOf(pipeline({ a: call({ if: long, body: `{{ ${long} }}` }) }))).toEqual([
      'BAD_TEMPLATE /tasks/a/body',
      'BAD_CONDITION /tasks/a/if',
    ]);
  });

  it.each(['{{tasks.a.status_code}} == 200', '${{ tasks.a.status_code == 200 }}'])(
    'a condition in braces is refused: %s',
    (source) => {
      const problems = problemsOf(pipeline({ a: call(), b: call({ needs: ['a'], if: source }) }));
      expect(problems).toMatchObject([{ code: 'BAD_CONDITION', suggestion: expect.stringContaining('without {{ }}') }]);
    },
  );

  it('an expression knows only the names of its format', () => {
    expect(codesOf(graph([node('a', reads('tasks.a'))]))).toEqual(['BAD_TEMPLATE /nodes/0/parameters/x']);
    expect(codesOf(pipeline({ a: call({ body: '{{ context.data.a }}' }) }))).toEqual(['BAD_TEMPLATE /tasks/a/body']);
    expect(codesOf(plan([step('a', { inputs: { x: '{{ trigger.a }}' } })]))).toEqual([
      'BAD_TEMPLATE /steps/0/inputs/x',
    ]);
    const every = ['trigger.x', 'vars.x', 'spec.x', 'execution.id', 'principal.userId', 'context.data'];
    expect(codesOf(graph([node('a', { parameters: every.map((name) => `{{ ${name} }}`) })]))).toEqual([
      'WRONG_TYPE /nodes/0/parameters',
    ]);
    expect(codesOf(graph([node('a', { parameters: { x: every.map((name) => `{{ ${name} }}`) } })]))).toEqual([]);
  });
});

describe('references in a graph', () => {
  it('a reference to an unknown node is refused, and a similar name is suggested', () => {
    const definition = graph([node('charge', to('b')), node('b', reads("context.data['chrage'].id"))], {
      startNode: 'charge',
    });
    expect(problemsOf(definition)).toEqual([
      {
        code: 'UNKNOWN_NODE',
        path: '/nodes/1/parameters/x',
        message: 'unknown node `chrage`',
        suggestion: 'did you mean `charge`?',
      },
    ]);
    expect(codesOf(graph([node('a', reads('context.data.nowhere ?? 1'))]))).toEqual([
      'UNKNOWN_NODE /nodes/0/parameters/x',
    ]);
  });

  it('a node must run before its reader on some path, and failure edges count', () => {
    const diamond = (expression: string) =>
      graph([
        node('a', { ...to('b', 'c'), onFailure: 'e' }),
        node('b', to('d')),
        node('c'),
        node('d', reads(expression)),
        node('e', reads('context.data.a.error.message')),
      ]);
    expect(codesOf(diamond('context.data.a.x + context.data.b.y'))).toEqual([]);
    expect(problemsOf(diamond('context.data.c.x'))).toEqual([
      {
        code: 'NOT_UPSTREAM',
        path: '/nodes/3/parameters/x',
        message: '`d` reads `context.data.c.x`, but `c` does not run before it',
        suggestion: 'lead a path from `c` here, or allow for its absence with `?.` or `??`',
      },
    ]);
    expect(codesOf(diamond('context.data.c?.x'))).toEqual([]);
    expect(codesOf(diamond("context.data.c.x ?? 'none'"))).toEqual([]);
    expect(problemsOf(diamond('context.data.d.x'))).toMatchObject([
      {
        code: 'NOT_UPSTREAM',
        message: '`d` reads its own result, `context.data.d.x`, before it has one',
        suggestion: 'read a node that runs before it, or read it in the condition of an edge that leaves it',
      },
    ]);
  });

  it('the condition of an edge may read the node that the edge leaves', () => {
    const withCondition = (condition: string) =>
      graph([node('a', { edges: [{ targetNode: 'b', condition }] }), node('b')]);
    expect(codesOf(withCondition('context.data.a.ok'))).toEqual([]);
    expect(codesOf(withCondition('context.data.b.ok'))).toEqual(['NOT_UPSTREAM /nodes/0/edges/0/condition']);
  });

  it('the outputs may read any node', () => {
    const outputs = { a: '{{ context.data.a.x }}', b: '{{ context.data.b.x }}' };
    expect(codesOf(graph([node('a', to('b')), node('b')], { outputs }))).toEqual([]);
    expect(codesOf(graph([node('a')], { outputs: { z: '{{ context.data.z }}' } }))).toEqual([
      'UNKNOWN_NODE /outputs/z',
    ]);
  });

  it('reading a field that the action does not return causes a warning', () => {
    const outputFields = new Map([['http.request', ['status', 'body']]]);
    const warningsOf = (path: string, more: object = {}) => {
      const fetch = node('fetch', { actionType: 'http.request', ...to('use'), ...more });
      const use = node('use', { parameters: { x: `{{ ${path} }}` } });
      const result = compileDefinition(graph([fetch, use], { startNode: 'fetch' }), { outputFields });
      return (result.ok ? result.warnings : result.problems).map(({ code, suggestion }) => `${code} ${suggestion}`);
    };
    expect(warningsOf('context.data.fetch.bdoy.id')).toEqual(['UNKNOWN_OUTPUT write `context.data.fetch.body.id`']);
    expect(warningsOf('context.data.fetch.answer')).toEqual([
      'UNKNOWN_OUTPUT `pawl actions http.request` shows what it returns',
    ]);
    for (const path of ['fetch.body', 'fetch.error.code', 'fetch', 'fetch?.bdoy', 'fetch[0]'])
      expect(warningsOf(`context.data.${path}`)).toEqual([]);
    expect(warningsOf('context.data.fetch.bdoy', { actionType: 'my.own' })).toEqual([]);
    const loop = { forEach: { items: '{{ [1] }}' } };
    expect(warningsOf('context.data.fetch.succeeded', loop)).toEqual([]);
  });

  it('a reference that leaves out context.data is refused, with the right path', () => {
    expect(problemsOf(graph([node('a', to('b')), node('b', reads('context.a.x'))]))).toEqual([
      {
        code: 'UNKNOWN_REFERENCE',
        path: '/nodes/1/parameters/x',
        message: '`context.a.x` does not exist: the outputs of nodes are in `context.data`',
        suggestion: 'write `context.data.a.x`',
      },
    ]);
    expect(codesOf(graph([node('a', reads('context.a?.x'))]))).toEqual([]);
  });

  it('references are not checked in a broken graph, or where a misspelt edge explains them', () => {
    const cyclic = graph([node('a', to('b')), node('b', to('a')), node('c', reads('context.data.a'))]);
    expect(codesOf(cyclic)).toEqual(['CYCLE /nodes/1/edges/0/targetNode', 'UNREACHABLE /nodes/2']);
    const slip = graph([node('a', to('chrage')), node('charge', reads('context.data.a'))]);
    expect(codesOf(slip)).toEqual(['UNKNOWN_NODE /nodes/0/edges/0/targetNode']);
    const worse = graph(
      [node('first', to('second')), node('second', { ...to('frist'), ...reads('context.data.first') })],
      {
        startNode: 'first',
      },
    );
    expect(codesOf(worse)).toEqual(['UNKNOWN_NODE /nodes/1/edges/0/targetNode']);
  });
});

describe('references in a pipeline or plan', () => {
  it('a task may read only tasks that it needs, directly or indirectly', () => {
    const tasks = (needs: string[]) =>
      pipeline({ a: call(), b: call({ needs: ['a'] }), c: call({ needs, if: 'tasks.a.status_code == 200' }) });
    expect(codesOf(tasks(['b']))).toEqual([]);
    expect(problemsOf(tasks([]))).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/tasks/c/if', suggestion: 'add "a" to the task\'s `needs`' },
    ]);
  });

  it('a task that reads itself is refused, without the advice to need itself', () => {
    const tasks = pipeline({ b: call(), a: call({ needs: ['b'], if: "tasks.a.status == 'x'" }) });
    expect(problemsOf(tasks)).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/tasks/a/if', suggestion: 'read a task that it `needs`, or remove this' },
    ]);
    const steps = plan([step('a', { inputs: { x: '{{ steps.a.outputs.x }}' } })]);
    expect(problemsOf(steps)).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/steps/0/inputs/x', suggestion: expect.stringMatching(/^read a step that it/) },
    ]);
  });

  it('a task may read a callback URL before the wait begins', () => {
    const definition = (expression: string) =>
      pipeline({ pay: call({ body: `{{${expression}}}` }), done: { wait_for_webhook: {}, needs: ['pay'] } });
    expect(codesOf(definition('wait.done.url'))).toEqual([]);
    expect(codesOf(definition('wait'))).toEqual([]);
    expect(problemsOf(definition('wait.pay.url'))).toEqual([
      {
        code: 'NOT_A_WEBHOOK',
        path: '/tasks/pay/body',
        message: '`wait.pay` has no callback URL: `pay` does not wait for a webhook',
        suggestion: 'read its result as `tasks.pay`',
      },
    ]);
    expect(problemsOf(definition('wait.donne.url'))).toMatchObject([
      { code: 'UNKNOWN_NODE', suggestion: 'did you mean `done`?' },
    ]);
    expect(codesOf(pipeline({ a: call({ body: '{{ wait.b.url }}' }), b: {} }))).toEqual(['MISSING_STEP_TYPE /tasks/b']);
  });

  it('a task name with hyphens is read as written', () => {
    const definition = pipeline({
      'pay-now': call(),
      next: call({ needs: ['pay-now'], body: { id: '{{tasks.pay-now.body.id}}' } }),
      other: call({ body: '{{tasks.pay-nwo.body.id}}' }),
    });
    expect(problemsOf(definition)).toMatchObject([
      { code: 'UNKNOWN_NODE', path: '/tasks/other/body', suggestion: 'did you mean `pay-now`?' },
    ]);
  });

  it('a step may read only steps that it depends on', () => {
    const steps = (dependsOn: string[]) =>
      plan([step('a'), step('b', { dependsOn, inputs: { x: '{{ steps.a.output.uri }}', y: '{{ inputs.y }}' } })]);
    expect(codesOf(steps(['a']))).toEqual([]);
    expect(problemsOf(steps([]))).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/steps/1/inputs/x', suggestion: expect.stringContaining('`dependsOn`') },
    ]);
  });
});

describe('members of names that are known before a run', () => {
  it.each([
    [pipeline({ a: call({ body: '{{ trigger.order_id }}' }) }), '/tasks/a/body', 'write `trigger.body.order_id`'],
    [pipeline({ a: call({ if: 'trigger.bdy.x == 1' }) }), '/tasks/a/if', 'write `trigger.body.x`'],
    [
      graph([node('a', { parameters: { id: '{{ execution.executionId }}' } })]),
      '/nodes/0/parameters/id',
      'write `execution.id`',
    ],
    [graph([node('a', { parameters: { id: '{{ execution.owner }}' } })]), '/nodes/0/parameters/id', undefined],
  ])('%#: a member that never exists is refused', (definition, path, suggestion) => {
    const [problem, ...more] = problemsOf(definition);
    expect(problem).toMatchObject({ code: 'UNKNOWN_REFERENCE', path });
    expect(problem!.suggestion).toBe(suggestion);
    expect(more).toEqual([]);
  });

  it('members that exist are accepted', () => {
    const body = { a: '{{ trigger.body }}', b: '{{ trigger.headers.x ?? 1 }}', c: '{{ trigger?.order_id }}' };
    expect(codesOf(pipeline({ a: call({ body }) }))).toEqual([]);
    expect(
      codesOf(graph([node('a', { parameters: { id: '{{ execution.id }}', n: '{{ attempt.number }}' } })])),
    ).toEqual([]);
  });
});

it('an error that earlier versions did not report is accepted in a stored definition', () => {
  const definition = pipeline({ a: call({ body: '{{ trigger.order_id }}' }) });
  expect(compileDefinition(definition)).toMatchObject({ ok: false });
  expect(compileDefinition(definition, { isStored: true })).toMatchObject({ ok: true, warnings: [] });
});
