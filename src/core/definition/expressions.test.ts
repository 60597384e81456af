import { describe, expect, it } from 'vitest';
import { compileDefinition } from './compile.ts';
import { call, codesOf, graph, node, pipeline, plan, problemsOf, step, to } from './definition.testing.ts';

const reads = (expression: string, fields: object = {}) => ({ parameters: { x: `{{ ${expression} }}` }, ...fields });

describe('conditions and templates that do not parse', () => {
  it('are reported where they stand, with the column', () => {
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

  it('say the line as well where there are several', () => {
    const condition = 'trigger.a\n  && whatever';
    expect(problemsOf(graph([node('a', { edges: [{ targetNode: 'b', condition }] }), node('b')]))).toMatchObject([
      { code: 'BAD_CONDITION', message: expect.stringMatching(/\(line 2, column 6\)$/), line: 2, column: 6 },
    ]);
    expect(problemsOf(graph([node('a', { parameters: { x: '1\n{{ whatever }}' } })]))).toMatchObject([
      { code: 'BAD_TEMPLATE', message: expect.stringMatching(/\(line 2, column 4\)$/), line: 2, column: 4 },
    ]);
  });

  it('are found on edges that lead nowhere, too', () => {
    expect(codesOf(graph([node('a', { edges: [{ targetNode: 'nowhere', condition: '(' }] })]))).toEqual([
      'UNKNOWN_NODE /nodes/0/edges/0/targetNode',
      'BAD_CONDITION /nodes/0/edges/0/condition',
    ]);
  });

  it('are limited in size', () => {
    expect(codesOf(graph([node('a', { parameters: { x: 'y'.repeat(1_000_001) } })]))).toEqual([
      'TOO_LARGE /nodes/0/parameters',
    ]);
    const long = `'${'y'.repeat(10_000)}'`;
    expect(codesOf(pipeline({ a: call({ if: long, body: `{{ ${long} }}` }) }))).toEqual([
      'BAD_TEMPLATE /tasks/a/body',
      'BAD_CONDITION /tasks/a/if',
    ]);
  });

  it.each(['{{tasks.a.status_code}} == 200', '${{ tasks.a.status_code == 200 }}'])('have no braces: %s', (source) => {
    const problems = problemsOf(pipeline({ a: call(), b: call({ needs: ['a'], if: source }) }));
    expect(problems).toMatchObject([{ code: 'BAD_CONDITION', suggestion: expect.stringContaining('without {{ }}') }]);
  });

  it('know the names of their format only', () => {
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

describe('what an expression of a graph reads', () => {
  it('must be a node, and a near miss is named', () => {
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

  it('must come before the reader on some path, over failure edges as well', () => {
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

  it('may be its own node in the condition of an edge', () => {
    const withCondition = (condition: string) =>
      graph([node('a', { edges: [{ targetNode: 'b', condition }] }), node('b')]);
    expect(codesOf(withCondition('context.data.a.ok'))).toEqual([]);
    expect(codesOf(withCondition('context.data.b.ok'))).toEqual(['NOT_UPSTREAM /nodes/0/edges/0/condition']);
  });

  it('may be any node in the outputs', () => {
    const outputs = { a: '{{ context.data.a.x }}', b: '{{ context.data.b.x }}' };
    expect(codesOf(graph([node('a', to('b')), node('b')], { outputs }))).toEqual([]);
    expect(codesOf(graph([node('a')], { outputs: { z: '{{ context.data.z }}' } }))).toEqual([
      'UNKNOWN_NODE /outputs/z',
    ]);
  });

  it('is a field that its action returns, where it returns no others', () => {
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

  it('is in context.data', () => {
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

  it('is not judged where the graph is broken, or a slip of the keyboard explains it', () => {
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

describe('what an expression of a pipeline or plan reads', () => {
  it('must be needed, directly or not', () => {
    const tasks = (needs: string[]) =>
      pipeline({ a: call(), b: call({ needs: ['a'] }), c: call({ needs, if: 'tasks.a.status_code == 200' }) });
    expect(codesOf(tasks(['b']))).toEqual([]);
    expect(problemsOf(tasks([]))).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/tasks/c/if', suggestion: 'add "a" to the task\'s `needs`' },
    ]);
  });

  it('is not what reads it, and that cannot be needed either', () => {
    const tasks = pipeline({ b: call(), a: call({ needs: ['b'], if: "tasks.a.status == 'x'" }) });
    expect(problemsOf(tasks)).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/tasks/a/if', suggestion: 'read a task that it `needs`, or remove this' },
    ]);
    const steps = plan([step('a', { inputs: { x: '{{ steps.a.outputs.x }}' } })]);
    expect(problemsOf(steps)).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/steps/0/inputs/x', suggestion: expect.stringMatching(/^read a step that it/) },
    ]);
  });

  it('may be a callback URL, before the wait begins', () => {
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

  it('is named with hyphens as it is', () => {
    const definition = pipeline({
      'pay-now': call(),
      next: call({ needs: ['pay-now'], body: { id: '{{tasks.pay-now.body.id}}' } }),
      other: call({ body: '{{tasks.pay-nwo.body.id}}' }),
    });
    expect(problemsOf(definition)).toMatchObject([
      { code: 'UNKNOWN_NODE', path: '/tasks/other/body', suggestion: 'did you mean `pay-now`?' },
    ]);
  });

  it('must be a dependency of the step', () => {
    const steps = (dependsOn: string[]) =>
      plan([step('a'), step('b', { dependsOn, inputs: { x: '{{ steps.a.output.uri }}', y: '{{ inputs.y }}' } })]);
    expect(codesOf(steps(['a']))).toEqual([]);
    expect(problemsOf(steps([]))).toMatchObject([
      { code: 'NOT_UPSTREAM', path: '/steps/1/inputs/x', suggestion: expect.stringContaining('`dependsOn`') },
    ]);
  });
});

describe('members of roots that are known before anything runs', () => {
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

  it('the members that exist are not', () => {
    const body = { a: '{{ trigger.body }}', b: '{{ trigger.headers.x ?? 1 }}', c: '{{ trigger?.order_id }}' };
    expect(codesOf(pipeline({ a: call({ body }) }))).toEqual([]);
    expect(
      codesOf(graph([node('a', { parameters: { id: '{{ execution.id }}', n: '{{ attempt.number }}' } })])),
    ).toEqual([]);
  });
});

it('an error that earlier versions did not know is none in a stored definition', () => {
  const definition = pipeline({ a: call({ body: '{{ trigger.order_id }}' }) });
  expect(compileDefinition(definition)).toMatchObject({ ok: false });
  expect(compileDefinition(definition, { isStored: true })).toMatchObject({ ok: true, warnings: [] });
});
