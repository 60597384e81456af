import { describe, expect, it } from 'vitest';
import { call, codesOf, compiled, graph, node, nodeOf, pipeline, problemsOf, to } from './definition.testing.ts';

const warningsOf = (definition: object, raisedCodes: Map<string, string[]>) => {
  const result = compileWarnings(definition, raisedCodes);
  return result.map(({ code, path, suggestion }) => `${code} ${path} ${suggestion}`);
};

import type { Problem } from '../problem/problem.ts';
import { compileDefinition } from './compile.ts';

function compileWarnings(definition: object, raisedCodes: Map<string, string[]>): Problem[] {
  const result = compileDefinition(definition, { raisedCodes });
  return result.ok ? result.warnings : result.problems;
}

describe('retry by code', () => {
  it('retry may be a list of policies, each with its own codes', () => {
    const retry = [
      { on: ['HTTP_503', 'TIMEOUT'], maxAttempts: 5, maxDelayMs: 9 },
      { on: ['*'], maxAttempts: 1 },
    ];
    const { policy } = nodeOf(graph([node('a', { policies: { retry } })]), 'a');
    expect(policy.rules).toMatchObject([
      { on: ['HTTP_503', 'TIMEOUT'], maxAttempts: 5, baseDelayMs: 2000, maxDelayMs: 9 },
      { on: ['*'], maxAttempts: 1 },
    ]);
    expect(policy.retry.maxAttempts).toBe(5);
  });

  it('retries of a pipeline name statuses, "timeout" and "network"', () => {
    const retries = { times: 4, on: [503, 'timeout', 'network', 'SSRF_BLOCKED'], delay: '3s' };
    const { policy } = nodeOf(pipeline({ a: call({ retries }) }), 'a');
    expect(policy.rules).toMatchObject([
      { on: ['HTTP_503', 'TIMEOUT', 'NETWORK', 'SSRF_BLOCKED'], maxAttempts: 5, baseDelayMs: 3000 },
    ]);
    expect(nodeOf(pipeline({ a: call({ retries: { times: 1 } }) }), 'a').policy.retry.maxAttempts).toBe(2);
    expect(codesOf(pipeline({ a: call({ retries: { delay: 'soon' } }) }))).toEqual([
      'BAD_DURATION /tasks/a/retries/delay',
    ]);
    expect(codesOf(pipeline({ a: call({ retries: { on: [7] } }) }))).toEqual(['OUT_OF_RANGE /tasks/a/retries/on/0']);
  });

  it('problems in a list of retry policies are reported at their place', () => {
    const wrong = (retry: unknown) => codesOf(graph([node('a', { policies: { retry } })]));
    expect(wrong([{ maxAttempts: 2 }])).toEqual(['REQUIRED /nodes/0/policies/retry/0/on']);
    expect(wrong([{ on: ['*'], maxAttemps: 2 }])).toEqual(['UNKNOWN_KEY /nodes/0/policies/retry/0/maxAttemps']);
    expect(wrong({ maxAttempts: 'x' })).toEqual(['WRONG_TYPE /nodes/0/policies/retry/maxAttempts']);
    expect(wrong('x')).toEqual(['WRONG_TYPE /nodes/0/policies/retry']);
  });

  it('a code that the action never raises causes a warning', () => {
    const edges = [
      { targetNode: 'b', when: 'failure', codes: ['PAYMENT_DECLIND', 'HTTP_503', 'PAYMENT_DECLINED', '*'] },
    ];
    const definition = graph([
      node('a', { edges, policies: { retry: [{ on: ['NO_SUCH_THING'] }] } }),
      node('b', { actionType: 'other', policies: { retry: [{ on: ['WHATEVER'] }] } }),
    ]);
    expect(warningsOf(definition, new Map([['core.echo', ['PAYMENT_DECLINED']]]))).toEqual([
      'UNKNOWN_CODE /nodes/0/edges/0/codes/0 did you mean `PAYMENT_DECLINED`?',
      'UNKNOWN_CODE /nodes/0/policies/retry/0/on/0 it fails with PAYMENT_DECLINED',
    ]);
  });

  it('codes are not checked for subworkflows, and the warning says when an action has no codes', () => {
    const edges = [{ targetNode: 'b', when: 'failure', codes: ['REFUSED'] }];
    const child = { id: 'a', nodeType: 'subworkflow', workflowId: 'child', edges };
    const raised = new Map([['core.echo', []]]);
    expect(warningsOf(graph([child, node('b')]), raised)).toEqual([]);
    expect(warningsOf(graph([node('a', { edges }), node('b')]), raised)).toEqual([
      'UNKNOWN_CODE /nodes/0/edges/0/codes/0 it has no codes of its own',
    ]);
  });

  it('codes on an edge that is not a failure edge are refused', () => {
    const edges = [{ targetNode: 'b', codes: ['TIMEOUT'] }];
    expect(codesOf(graph([node('a', { edges }), node('b')]))).toEqual(['CODES_UNUSED /nodes/0/edges/0/codes/0']);
  });
});

describe('data of a failed node', () => {
  it('a failure edge and the node behind it may read only the error of a failed node', () => {
    const read = (when: string, field: string) =>
      codesOf(
        graph([
          node('a', { edges: [{ targetNode: 'b', when, condition: `context.data.a.${field} === 503` }] }),
          node('b', { parameters: { x: `{{ context.data.a.${field} }}` } }),
        ]),
      );
    expect(read('failure', 'status')).toEqual([
      'FAILED_NODE_DATA /nodes/0/edges/0/condition',
      'FAILED_NODE_DATA /nodes/1/parameters/x',
    ]);
    expect(read('failure', 'error.details.status')).toEqual([]);
    expect(read('failure', 'errorNode')).toEqual([]);
    expect(read('always', 'status')).toEqual([]);
  });

  it('reading other data of a failed node is refused, with the right path', () => {
    const edges = [{ targetNode: 'b', when: 'failure', condition: 'context.data.a.status === 503' }];
    expect(problemsOf(graph([node('a', { edges }), node('b')]))[0]).toMatchObject({
      suggestion: 'write `context.data.a.error.details.status` for what the failed attempt said',
    });
  });
});

describe('joins', () => {
  const race = (join: unknown) => [
    node('a', to('b', 'c', 'd')),
    node('b', to('j')),
    node('c', to('j')),
    node('d'),
    node('j', { join }),
  ];

  it('a join of the first cancels only the nodes that lead to nothing else', () => {
    expect(nodeOf(graph(race({ first: 1, cancelRest: true })), 'j').join).toEqual({ first: 1, rest: [1, 2] });
    expect(nodeOf(graph(race({ first: 2 })), 'j').join).toEqual({ first: 2, rest: [] });
    expect(nodeOf(graph(race('all')), 'j').join).toBe('all');
  });

  it('a join cannot wait for more edges than lead to it', () => {
    expect(problemsOf(graph(race({ first: 3 })))).toEqual([
      {
        code: 'JOIN_IMPOSSIBLE',
        path: '/nodes/4/join/first',
        message: 'the first 3 are waited for, but only 2 edges lead here',
        suggestion: 'write at most 2, or add edges',
      },
    ]);
    expect(codesOf(graph([node('a', { ...to('b') }), node('b', { join: { first: 2 } })]))).toEqual([
      'JOIN_IMPOSSIBLE /nodes/1/join/first',
    ]);
    expect(codesOf(graph(race('most')))).toEqual(['WRONG_TYPE /nodes/4/join']);
  });

  it('a join of a pipeline is written in `needs`', () => {
    const tasks = { a: call(), b: call(), c: call({ needs: { first: 1, of: ['a', 'b'], cancel_rest: true } }) };
    expect(nodeOf(pipeline(tasks), 'c').join).toEqual({ first: 1, rest: [0, 1] });
    expect(codesOf(pipeline({ ...tasks, c: call({ needs: { first: 3, of: ['a', 'x'] } }) }))).toEqual([
      'UNKNOWN_NODE /tasks/c/needs/of/1',
      'JOIN_IMPOSSIBLE /tasks/c/needs/first',
    ]);
    expect(codesOf(pipeline({ ...tasks, c: call({ needs: { first: 1 } }) }))).toContain('REQUIRED /tasks/c/needs/of');
  });
});

describe('an end node', () => {
  it('an end node of a graph has outputs or an error, and no edges', () => {
    const end = (fields: object) => graph([node('a', to('e')), { id: 'e', nodeType: 'end', ...fields }]);
    expect(nodeOf(end({ outputs: { x: 1 } }), 'e')).toMatchObject({
      step: { kind: 'end', status: 'Succeeded' },
      retain: true,
    });
    expect(nodeOf(end({ status: 'Failed', error: { code: 'NO' } }), 'e').step).toEqual({
      kind: 'end',
      status: 'Failed',
    });
    expect(nodeOf(end({}), 'e').parameters).toBeNull();
    expect(codesOf(end({ status: 'Failed', outputs: {} }))).toEqual(['END_CONFLICT /nodes/1/outputs']);
    expect(codesOf(end({ error: { code: 'NO' } }))).toEqual(['END_CONFLICT /nodes/1/error']);
    expect(codesOf(end({ onFailure: 'a', edges: [{ targetNode: 'a' }] }))).toEqual([
      'END_CONFLICT /nodes/1/edges',
      'END_CONFLICT /nodes/1/onFailure',
      'CYCLE /nodes/1/edges/0/targetNode',
    ]);
  });

  it('an end node of a pipeline is a task of its own', () => {
    expect(nodeOf(pipeline({ a: { end: true } }), 'a').step).toEqual({ kind: 'end', status: 'Succeeded' });
    const failed = { end: { status: 'failed', error: { code: 'NO', message: '{{trigger.body.why}}' } } };
    expect(nodeOf(pipeline({ a: failed }), 'a').step).toEqual({ kind: 'end', status: 'Failed' });
    expect(compiled(pipeline({ a: { end: { outputs: { x: 1 } } } })).nodes[0]!.parameters).not.toBeNull();
    expect(codesOf(pipeline({ a: { end: { error: { code: 'NO' } } } }))).toEqual(['END_CONFLICT /tasks/a/end/error']);
    expect(codesOf(pipeline({ a: { end: { status: 'failed', outputs: {} } } }))).toEqual([
      'END_CONFLICT /tasks/a/end/outputs',
    ]);
  });
});
