// The data that nodes leave: what expressions read, its limits, and the outputs of the execution.

import { describe, expect, test } from 'vitest';
import type { SnapshotPolicy } from '../plan/plan.ts';
import type { NodeSpec } from './plan-builder.testing.ts';
import { startRun } from './test-run.testing.ts';

describe('the data of a node', () => {
  test('the data of a graph node is its outputs', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'a' }] });
    run.succeed('a', { n: 1 });
    expect(run.state.data).toEqual({ a: { n: 1 } });
  });

  test('the data of a failed node is { error: { code, message }, errorNode }', () => {
    const run = startRun({
      format: 'graph',
      nodes: [
        { id: 'a', onFailure: 'h' },
        {
          id: 'h',
          parameters: {
            text: "failed at {{ context.data['a'].errorNode ?? 'unknown' }}: {{ context.data['a'].error.code }}",
          },
        },
      ],
    });
    run.fail('a');
    expect(run.state.data.a).toEqual({ error: { code: 'BROKEN', message: 'it broke' }, errorNode: 'a' });
    expect(run.paramsOf('h')).toEqual([{ text: 'failed at a: BROKEN' }]);
  });

  test('data that nothing reads later is not kept', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', retain: false, edges: [{ to: 'b' }] }, { id: 'b' }] });
    run.succeed('a', { n: 1 });
    expect(run.state.data).toEqual({});
    expect(run.find('NodeSucceeded', 'a').outputs).toEqual({ n: 1 });
  });

  test('the data of a pipeline task holds its status next to the response', () => {
    const run = startRun({ format: 'pipeline', nodes: [{ id: 'a' }, { id: 'b', needs: ['a'] }] });
    run.succeed('a', { status_code: 201, body: { id: 5 } });
    expect(run.state.data.a).toMatchObject({ status: 'success', status_code: 201, body: { id: 5 } });
    run.fail('b', { outputs: { status_code: 500, body: null } });
    expect(run.state.data.b).toMatchObject({ status: 'failed', status_code: 500 });
  });
});

describe('the size limit of the context', () => {
  const overflowing = (overflowBehavior: SnapshotPolicy['overflowBehavior']) => {
    const nodes: NodeSpec[] = [
      { id: 'a', edges: [{ to: 'b' }] },
      { id: 'b', edges: [{ to: 'c' }] },
      { id: 'c', onFailure: 'h' },
      { id: 'h' },
    ];
    const run = startRun({ format: 'graph', nodes, snapshot: { maxContextSizeBytes: 100, overflowBehavior } });
    run.succeed('a', { text: 'x'.repeat(30) });
    run.succeed('b', { text: 'y'.repeat(30) });
    run.succeed('c', { text: 'z'.repeat(30) });
    return run;
  };

  test('Fail fails the node that exceeds the limit, without a retry', () => {
    const run = overflowing('Fail');
    expect(run.statusOf('c')).toBe('Failed');
    expect(run.statusOf('h')).toBe('Running');
    expect(run.find('NodeFailed', 'c').error.code).toMatch(/CONTEXT/);
  });

  test.each([
    ['graph', 'snapshot.maxContextSizeBytes'],
    ['plan', 'definition.maxContextSizeBytes'],
  ] as const)('the error over the context limit of a %s names %s', (format, option) => {
    const snapshot = { maxContextSizeBytes: 10, overflowBehavior: 'Fail' } as const;
    const run = startRun({ format, nodes: [{ id: 'a' }], snapshot });
    run.succeed('a', { text: 'x'.repeat(30) });
    expect(run.find('NodeFailed', 'a').error.message).toContain(`(${option})`);
  });

  test('a pipeline task over the limit loses its body and still counts as a success', () => {
    const snapshot = { maxContextSizeBytes: 10, overflowBehavior: 'Fail' } as const;
    const nodes: NodeSpec[] = [
      { id: 'charge', retain: true },
      { id: 'ship', needs: ['charge'], condition: 'tasks.charge.status_code == 200' },
      { id: 'refund', needs: ['charge'], condition: 'tasks.charge.status_code != 200' },
    ];
    const run = startRun({ format: 'pipeline', nodes, snapshot });
    run.succeed('charge', { status_code: 200, headers: { a: 'x' }, body: 'x'.repeat(30), duration_ms: 3 });
    expect(run.find('NodeSucceeded', 'charge').outputs).toEqual({
      status_code: 200,
      headers: {},
      body: '',
      duration_ms: 3,
      is_truncated: true,
    });
    expect([run.statusOf('ship'), run.statusOf('refund')]).toEqual(['Running', 'Skipped']);
    expect(run.find('Warning')).toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      message: expect.stringMatching(/^the body was left out: \d+ bytes .*\(definition.maxContextSizeBytes\)$/),
    });
  });

  test('a callback over the limit loses its payload, and outputs without a body are kept', () => {
    const paid = { id: 'paid', retain: true, step: { kind: 'webhook', timeoutMs: null } } as const;
    const snapshot = { maxContextSizeBytes: 10, overflowBehavior: 'Fail' } as const;
    const run = startRun({
      format: 'pipeline',
      nodes: [paid, { id: 'nap', step: { kind: 'sleep', durationMs: 1 } }],
      snapshot,
    });
    run.send({ type: 'webhookReceived', nodeId: 'paid', payload: { id: 'x'.repeat(30) } });
    expect(run.find('NodeSucceeded', 'paid')).toMatchObject({ outputs: '', truncated: true });
    expect(run.state.data.paid).toMatchObject({ status: 'received', body: '', is_truncated: true });
    run.ring();
    expect(run.find('NodeSucceeded', 'nap').outputs).toEqual({ sleptMs: 1 });
  });

  test('AutoPruneOldest makes room by dropping the oldest outputs', () => {
    const run = overflowing('AutoPruneOldest');
    expect(run.statusOf('c')).toBe('Succeeded');
    expect(run.find('NodeSucceeded', 'c').pruned).toEqual([0]);
    expect(Object.keys(run.state.data)).toEqual(['b', 'c']);
    expect(run.find('Warning')).toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      message: 'the outputs of `a` were left out of the context, which holds at most 100 bytes (AutoPruneOldest)',
    });
    expect(run.state.status).toBe('Succeeded');
  });

  test('the warning about many pruned outputs names the first ten and counts the rest', () => {
    const small = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const nodes = [...small, 'large'].map((id) => ({ id }));
    const snapshot = { maxContextSizeBytes: 120, overflowBehavior: 'AutoPruneOldest' } as const;
    const run = startRun({ format: 'plan', nodes, snapshot });
    for (const id of small) run.succeed(id, { x: 1 });
    run.succeed('large', { text: 'x'.repeat(100) });
    expect(run.find('Warning').message).toMatch(/^the outputs of `n0`, .*`n9` and 1 more were left out of the context/);
  });

  test('DropOversize leaves out the outputs that do not fit', () => {
    const run = overflowing('DropOversize');
    expect(run.statusOf('c')).toBe('Succeeded');
    expect(run.find('NodeSucceeded', 'c')).toMatchObject({ dropped: true, outputs: { text: 'z'.repeat(30) } });
    expect(run.find('Warning').message).toContain('the outputs of `c` were left out');
    expect(JSON.stringify(run.state.data)).not.toContain('zzz');
    expect(JSON.stringify(run.state.data)).toContain('xxx');
  });
});

describe('an expression that reads data of a node without data', () => {
  const reading = (edges: NodeSpec['edges'], snapshot = {}) =>
    startRun({
      format: 'graph',
      nodes: [
        { id: 'a', edges: [{ to: 'b' }, { to: 'c', condition: 'false' }] },
        { id: 'b', edges: edges! },
        { id: 'c', edges: [{ to: 'd' }] },
        { id: 'd', parameters: { read: '{{ context.data.a.text }} {{ context.data.c.text }}' } },
      ],
      snapshot,
    });

  test('the error of a template that reads a skipped node says that the node was skipped', () => {
    const run = reading([{ to: 'd' }]);
    run.succeed('a', { text: 'x' });
    run.succeed('b');
    expect(run.find('NodeFailed', 'd').error).toEqual({
      code: 'TEMPLATE_ERROR',
      message: '`context.data.c` is missing: `c` was skipped (no satisfied edge) (in {{ context.data.c.text }})',
    });
  });

  test('the error of a template that reads the loser of a race says that the node was cancelled', () => {
    const run = startRun({
      format: 'graph',
      nodes: [
        { id: 's', edges: [{ to: 'a' }, { to: 'b' }] },
        { id: 'a', edges: [{ to: 'd' }] },
        { id: 'b', edges: [{ to: 'd' }] },
        { id: 'd', join: { first: 1, rest: [1, 2] }, parameters: { read: '{{ context.data.a.text }}' } },
      ],
    });
    run.succeed('s');
    run.succeed('b');
    expect(run.find('NodeFailed', 'd').error.message).toContain('`a` was cancelled (No longer needed: "d" went on');
  });

  test('a condition that reads a skipped node warns that the node was skipped', () => {
    const run = reading([{ to: 'd', condition: 'context.data.c.text === 1' }]);
    run.succeed('a', { text: 'x' });
    run.succeed('b');
    expect(run.find('Warning').message).toMatch(
      /`context\.data\.c` is missing: `c` was skipped \(no satisfied edge\)$/,
    );
  });

  test('the error of a template that reads a pruned node says how many bytes were left out', () => {
    const run = reading([{ to: 'd' }], { maxContextSizeBytes: 60, overflowBehavior: 'AutoPruneOldest' });
    run.succeed('a', { text: 'x'.repeat(30) });
    run.succeed('b', { text: 'y'.repeat(30) });
    expect(run.find('NodeFailed', 'd').error.message).toBe(
      '`context.data.a` is missing: its 41 bytes were left out of the context, which holds at most 60 (AutoPruneOldest) (in {{ context.data.a.text }})',
    );
  });
});

describe('the outputs of an execution', () => {
  test('default outputs are those of the succeeded end nodes, merged in definition order', () => {
    const run = startRun({
      format: 'graph',
      nodes: [
        { id: 'late', parameters: {} },
        { id: 'a', edges: [{ to: 'late' }, { to: 'b' }, { to: 'skipped', condition: 'false' }] },
        { id: 'b' },
        { id: 'skipped' },
      ],
    });
    run.succeed('a', { fromA: 1 });
    run.succeed('b', { winner: 'b', b: 2 });
    run.succeed('late', { winner: 'late', late: 3 });
    expect(run.find('ExecutionSucceeded').outputs).toEqual({ winner: 'b', late: 3, b: 2 });
  });

  test('outputs are rendered from the templates of the definition when it has them', () => {
    const nodes = [{ id: 'a' }];
    const outputs = { doubled: "{{ context.data['a'].n * 2 }}", from: '{{ trigger.value }}' };
    const run = startRun({ format: 'graph', nodes, outputs });
    run.succeed('a', { n: 21 });
    expect(run.find('ExecutionSucceeded').outputs).toEqual({ doubled: 42, from: 7 });
    expect(run.state.outputs).toEqual({ doubled: 42, from: 7 });
  });

  test('outputs that cannot be rendered fail the execution with TEMPLATE_ERROR', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'a' }], outputs: { x: '{{ trigger.absent.y }}' } });
    run.succeed('a');
    expect(run.state.status).toBe('Failed');
    expect(run.find('ExecutionFailed').error.code).toBe('TEMPLATE_ERROR');
  });
});

test('a trigger without a spec of its own shows the spec of the request', () => {
  const nodes = [{ id: 'a', parameters: { one: '{{ trigger.spec.n }}', two: '{{ spec.n }}' } }];
  const run = startRun({ format: 'graph', nodes }, { trigger: {}, spec: { n: 4 } });
  expect(run.paramsOf('a')).toEqual([{ one: 4, two: 4 }]);
});

test('a trigger with a spec of its own keeps that spec', () => {
  const nodes = [{ id: 'a', parameters: { one: '{{ trigger.spec }}', two: '{{ spec.n }}' } }];
  const run = startRun({ format: 'graph', nodes }, { trigger: { spec: 'own' }, spec: { n: 4 } });
  expect(run.paramsOf('a')).toEqual([{ one: 'own', two: 4 }]);
});

describe('times of the execution', () => {
  test('templates read the start of the execution and the number and start of the attempt', () => {
    const parameters = { at: '{{ execution.startedAt }}', n: '{{ attempt.number }}', now: '{{ attempt.startedAt }}' };
    const spec = { id: 'a', parameters, rerenderOnRetry: true, retry: { maxAttempts: 2 } };
    const run = startRun({ format: 'graph', nodes: [spec] });
    run.fail('a');
    run.ring();
    const at = '1970-01-01T00:16:40.000Z';
    expect(run.paramsOf('a')).toEqual([
      { at, n: 1, now: at },
      { at, n: 2, now: '1970-01-01T00:16:40.100Z' },
    ]);
  });
});
