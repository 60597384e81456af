import { describe, expect, it } from 'vitest';
import type { Problem } from '../problem/problem.ts';
import { compileDefinition } from './compile.ts';
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

describe('compiling a graph', () => {
  it('a graph starts at its start node, fails fast, and has a deadline of one hour', () => {
    const plan = compiled(graph([node('b'), node('a', to('b'))]));
    expect(plan).toMatchObject({
      planVersion: 1,
      format: 'graph',
      id: 'test',
      start: [1],
      onUnhandledFailure: 'failFast',
      timeoutMs: 3_600_000,
      outputs: null,
      vars: {},
      scope: {},
      snapshot: { mode: 'SummaryOnly', keysToInclude: [], maxContextSizeBytes: 10_485_760, overflowBehavior: 'Fail' },
    });
    expect(plan.edges).toEqual([{ from: 1, to: 0, when: 'success', condition: null, implicit: false }]);
    expect(plan.nodes[0]).toMatchObject({ id: 'b', join: 'any', incoming: [0], outgoing: [], condition: null });
  });

  it('a graph keeps the settings of its workflow', () => {
    const plan = compiled(
      graph([node('a')], {
        timeoutMs: 5,
        vars: { region: 'eu' },
        outputs: { done: '{{ context.data.a.ok }}' },
        snapshot: { mode: 'KeysOnly', keysToInclude: ['a'], maxContextSizeBytes: 9, overflowBehavior: 'DropOversize' },
      }),
    );
    expect(plan).toMatchObject({
      timeoutMs: 5,
      vars: { region: 'eu' },
      snapshot: { mode: 'KeysOnly', keysToInclude: ['a'], maxContextSizeBytes: 9, overflowBehavior: 'DropOversize' },
    });
    expect(plan.outputs).toMatchObject({ kind: 'object' });
  });

  it('the implicit edge of onFailure comes last', () => {
    const plan = compiled(
      graph([
        node('a', {
          onFailure: 'c',
          edges: [
            { targetNode: 'b', when: 'always' },
            { targetNode: 'c', when: 'failure' },
          ],
        }),
        node('b'),
        node('c'),
      ]),
    );
    expect(plan.nodes[0]!.outgoing).toEqual([0, 1, 2]);
    expect(plan.edges.map(({ when, implicit }) => [when, implicit])).toEqual([
      ['always', false],
      ['failure', false],
      ['failure', true],
    ]);
  });

  it('conditions and the route policy are compiled into the plan', () => {
    const plan = compiled(
      graph([
        node('a', { routePolicy: 'firstMatch', edges: [{ targetNode: 'b', condition: 'trigger.n > 1' }] }),
        node('b'),
      ]),
    );
    expect(plan.nodes[0]!.routePolicy).toBe('firstMatch');
    expect(plan.edges[0]!.condition).toMatchObject({ source: 'trigger.n > 1' });
  });
});

describe('policies of a graph node', () => {
  const policyOf = (fields: object) => nodeOf(graph([{ ...node('a'), ...fields }]), 'a').policy;

  it('a node has three attempts with a backoff from two seconds, and five minutes for each', () => {
    expect(policyOf({})).toEqual({
      timeoutMs: 300_000,
      rerenderOnRetry: false,
      retry: { maxAttempts: 3, baseDelayMs: 2_000, backoffFactor: 2, maxDelayMs: null, jitter: true },
    });
  });

  it('a partial policy inherits the fields it leaves out', () => {
    const policies = { timeoutMs: 7, rerenderOnRetry: true, retry: { maxAttempts: 0, jitter: false } };
    expect(policyOf({ policies })).toEqual({
      timeoutMs: 7,
      rerenderOnRetry: true,
      retry: { maxAttempts: 0, baseDelayMs: 2_000, backoffFactor: 2, maxDelayMs: null, jitter: false },
    });
    expect(policyOf({ policies: { retry: { baseDelayMs: 1, backoffFactor: 3 } } }).retry).toMatchObject({
      maxAttempts: 3,
      baseDelayMs: 1,
      backoffFactor: 3,
    });
  });

  it('a subworkflow has one attempt and no timeout by default', () => {
    const child = { nodeType: 'subworkflow', workflowId: 'child', actionType: undefined };
    const policyOfChild = (policies?: object) => {
      const { actionType: _none, ...fields } = { ...node('a'), ...child, ...(policies ? { policies } : {}) };
      return nodeOf(graph([fields]), 'a').policy;
    };
    expect(policyOfChild()).toMatchObject({ timeoutMs: null, retry: { maxAttempts: 1 } });
    expect(policyOfChild({ timeoutMs: 9 })).toMatchObject({ timeoutMs: 9, retry: { maxAttempts: 1 } });
    expect(policyOfChild({ retry: {} })).toMatchObject({ retry: { maxAttempts: 3 } });
  });
});

describe('steps of a graph', () => {
  it('an action step keeps its parameters', () => {
    expect(nodeOf(graph([node('a', { parameters: { n: 1 } })]), 'a')).toMatchObject({
      step: { kind: 'action', actionType: 'core.echo' },
      parameters: { kind: 'literal', value: { n: 1 } },
    });
    expect(nodeOf(graph([node('a')]), 'a').parameters).toEqual({ kind: 'literal', value: {} });
  });

  it('a subworkflow step waits for its child by default', () => {
    const child = { id: 'a', nodeType: 'subworkflow', workflowId: 'child' };
    expect(nodeOf(graph([child]), 'a').step).toEqual({
      kind: 'subworkflow',
      workflowId: 'child',
      version: null,
      waitForCompletion: true,
    });
    expect(nodeOf(graph([{ ...child, workflowVersion: 4, waitForCompletion: false }]), 'a').step).toMatchObject({
      version: 4,
      waitForCompletion: false,
    });
  });

  it('a sleep has no timeout unless the node sets one', () => {
    const policyOf = (policies: object) =>
      nodeOf(graph([node('a', { actionType: 'core.delay', parameters: { durationMs: 9 }, policies })]), 'a').policy;
    expect(policyOf({ retry: { maxAttempts: 2 } })).toMatchObject({ timeoutMs: null });
    const retry = { maxAttempts: 2, baseDelayMs: 2_000 };
    expect(policyOf({ timeoutMs: 5, retry: { maxAttempts: 2 } })).toMatchObject({ timeoutMs: 5, retry });
  });

  it('the action core.delay becomes a sleep', () => {
    const delay = (durationMs: unknown) =>
      nodeOf(graph([node('a', { actionType: 'core.delay', parameters: { durationMs } })]), 'a');
    expect(delay(1_500)).toMatchObject({
      step: { kind: 'sleep', durationMs: 1_500 },
      parameters: null,
      policy: { timeoutMs: null, retry: { maxAttempts: 1 } },
    });
    expect(delay('5m').step).toEqual({ kind: 'sleep', durationMs: 300_000 });
    expect(delay('{{ trigger.ms }}').step).toMatchObject({ kind: 'sleep', durationMs: { kind: 'value' } });
  });

  it.each([
    [{}, 'REQUIRED /nodes/0/parameters/durationMs'],
    [{ durationMs: -1 }, 'BAD_DURATION /nodes/0/parameters/durationMs'],
    [{ durationMs: 1e15 }, 'BAD_DURATION /nodes/0/parameters/durationMs'],
    [{ durationMs: '5 weeks' }, 'BAD_DURATION /nodes/0/parameters/durationMs'],
    [{ durationMs: '{{ trigger. }}' }, 'BAD_TEMPLATE /nodes/0/parameters/durationMs'],
  ])('a delay of %j is refused', (parameters, problem) => {
    expect(codesOf(graph([node('a', { actionType: 'core.delay', parameters })]))).toEqual([problem]);
  });

  it('durations may be text wherever milliseconds are allowed', () => {
    const policies = { timeoutMs: '30s', retry: { baseDelayMs: '2s', maxDelayMs: '1m' } };
    const definition = graph([node('a', { policies })], { timeoutMs: '2h', compensationTimeoutMs: '90s' });
    expect(compiled(definition)).toMatchObject({
      timeoutMs: 7_200_000,
      compensationTimeoutMs: 90_000,
      nodes: [{ policy: { timeoutMs: 30_000, retry: { baseDelayMs: 2_000, maxDelayMs: 60_000 } } }],
    });
    expect(nodeOf(pipeline({ a: call({ timeout: '30s' }) }), 'a')).toMatchObject({ policy: { timeoutMs: 30_000 } });
  });

  it('a sleep longer than the timeout of the execution causes a warning', () => {
    const sleeper = node('a', { actionType: 'core.delay', parameters: { durationMs: '2h' } });
    const warningsOf = (definition: unknown) => (compileDefinition(definition) as { warnings: Problem[] }).warnings;
    expect(warningsOf(graph([sleeper]))).toMatchObject([
      { code: 'SLEEP_TOO_LONG', path: '/nodes/0', suggestion: 'raise `timeoutMs`, or sleep for less' },
    ]);
    expect(warningsOf(graph([sleeper], { timeoutMs: '2h' }))).toEqual([]);
    expect(warningsOf(pipeline({ a: { sleep: '2d' } }, { max_duration_seconds: 60 }))).toMatchObject([
      { code: 'SLEEP_TOO_LONG', suggestion: 'raise `max_duration_seconds`, or sleep for less' },
    ]);
    expect(compiled(plan([step('a', { type: 'core.delay', inputs: { durationMs: '2d' } })])).timeoutMs).toBeNull();
  });

  it.each([
    ['soon', 'BAD_FORMAT', 'is not a duration: write'],
    ['0s', 'BAD_FORMAT', 'is too short or too long'],
    ['99999d', 'BAD_FORMAT', 'is too short or too long'],
  ])('a timeout of %s is refused', (timeoutMs, code, message) => {
    const [problem, ...more] = problemsOf(graph([node('a')], { timeoutMs }));
    expect(problem).toMatchObject({ code, path: '/timeoutMs', message: expect.stringContaining(message) });
    expect(more).toEqual([]);
  });

  it('a delay refuses unknown parameters, and suggests the right name', () => {
    const [unknown, missing] = problemsOf(
      graph([node('a', { actionType: 'core.delay', parameters: { durationMS: 5 } })]),
    );
    expect(unknown).toMatchObject({ code: 'UNKNOWN_KEY', suggestion: 'did you mean `durationMs`?' });
    expect(missing).toMatchObject({ code: 'REQUIRED' });
  });
});

describe('required fields of each node type', () => {
  it('an action needs a type', () => {
    expect(problemsOf(graph([{ id: 'a' }]))).toEqual([
      {
        code: 'MISSING_ACTION_TYPE',
        path: '/nodes/0',
        message: 'an action node needs `actionType`',
        suggestion: 'add "actionType", e.g. "core.echo"',
      },
    ]);
    expect(problemsOf(graph([{ id: 'a', workflowId: 'x' }]))[0]!.suggestion).toBe('add "nodeType": "subworkflow"');
    expect(codesOf(graph([{ id: 'a', actionType: 5 }]))).toEqual(['WRONG_TYPE /nodes/0/actionType']);
  });

  it('a subworkflow needs a workflow', () => {
    expect(codesOf(graph([{ id: 'a', nodeType: 'subworkflow' }]))).toEqual(['MISSING_WORKFLOW_ID /nodes/0']);
    expect(codesOf(graph([{ id: 'a', nodeType: 'subworkflow', workflowId: 5 }]))).toEqual([
      'WRONG_TYPE /nodes/0/workflowId',
    ]);
  });

  it('a field without meaning for the node type causes a warning', () => {
    const result = compileDefinition(
      graph([
        node('a', { workflowId: 'x', ...to('b') }),
        { id: 'b', nodeType: 'subworkflow', workflowId: 'y', actionType: 'core.echo' },
      ]),
    );
    expect(result).toMatchObject({
      ok: true,
      warnings: [
        { code: 'IGNORED_FIELD', path: '/nodes/0/workflowId', severity: 'warning' },
        { code: 'IGNORED_FIELD', path: '/nodes/1/actionType', severity: 'warning' },
      ],
    });
  });
});

describe('names of a graph', () => {
  it('the start node, edges, onFailure and snapshot keys must name existing nodes', () => {
    const problems = problemsOf(
      graph([node('a', { edges: [{ targetNode: 'chrage' }], onFailure: 'zzz' }), node('charge')], {
        startNode: 'aa',
        snapshot: { keysToInclude: ['chargee', 5] },
      }),
    );
    expect(problems.filter(({ code }) => code === 'UNKNOWN_NODE')).toEqual([
      {
        code: 'UNKNOWN_NODE',
        path: '/nodes/0/edges/0/targetNode',
        message: 'unknown node `chrage`',
        suggestion: 'did you mean `charge`?',
      },
      { code: 'UNKNOWN_NODE', path: '/nodes/0/onFailure', message: 'unknown node `zzz`' },
      { code: 'UNKNOWN_NODE', path: '/startNode', message: 'unknown node `aa`', suggestion: 'did you mean `a`?' },
      {
        code: 'UNKNOWN_NODE',
        path: '/snapshot/keysToInclude/0',
        message: 'unknown node `chargee`',
        suggestion: 'did you mean `charge`?',
      },
    ]);
  });

  it('node names must be unique', () => {
    expect(problemsOf(graph([node('a', to('b')), node('b'), node('b')]))).toEqual([
      {
        code: 'DUPLICATE_ID',
        path: '/nodes/2/id',
        message: 'the name `b` is taken by /nodes/1',
        suggestion: 'give each node a name of its own',
      },
    ]);
  });

  it('a node name must not be empty, too long or __proto__', () => {
    expect(codesOf(graph([node('a', to('__proto__')), node('__proto__')]))).toEqual([
      'BAD_ID /nodes/1/id',
      'UNKNOWN_NODE /nodes/0/edges/0/targetNode',
    ]);
    const long = 'x'.repeat(201);
    expect(codesOf(graph([node('a'), node(long)]))).toEqual(['OUT_OF_RANGE /nodes/1/id', 'UNREACHABLE /nodes/1']);
    expect(codesOf(graph([node('a'), node('')]))).toEqual(['OUT_OF_RANGE /nodes/1/id']);
    expect(compiled(graph([node('a', to('x y/~é')), node('x y/~é')])).nodes[1]!.id).toBe('x y/~é');
  });
});
