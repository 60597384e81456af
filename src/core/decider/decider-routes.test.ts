import { describe, expect, it } from 'vitest';
import type { RetryRule } from '../plan/plan.ts';
import type { NodeSpec } from './plan-builder.testing.ts';
import { startRun } from './test-run.testing.ts';

const rule = (on: string[], maxAttempts: number): RetryRule => ({
  on,
  maxAttempts,
  baseDelayMs: 100,
  backoffFactor: 1,
  maxDelayMs: null,
  jitter: false,
});

describe('errors by code', () => {
  it('only errors that a retry rule names are retried', () => {
    const spec: NodeSpec = { id: 'a', rules: [rule(['HTTP_503'], 3)] };
    const busy = { error: { code: 'HTTP_STATUS', message: 'busy' }, outputs: { status: 503 } };
    const run = startRun({ format: 'graph', nodes: [spec] });
    run.fail('a', busy);
    expect(run.statusOf('a')).toBe('Retrying');
    run.ring();
    run.fail('a', { ...busy, outputs: { status: 500 } });
    expect(run.statusOf('a')).toBe('Failed');
  });

  it('an edge with codes is taken for those errors, and the data holds the outputs of the attempt', () => {
    const edges = [
      { to: 'b', when: 'failure' as const, codes: ['HTTP_404'] },
      { to: 'c', when: 'failure' as const, codes: ['TIMEOUT'] },
    ];
    const b: NodeSpec = { id: 'b', parameters: { s: '{{ context.data.a.error.details.status }}' } };
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', edges }, b, { id: 'c' }] });
    run.fail('a', { retryable: false, outputs: { status: 404, body: 'x'.repeat(20_000) } });
    expect(run.statuses()).toEqual({ a: 'Failed', b: 'Running', c: 'Skipped' });
    expect(run.paramsOf('b')).toEqual([{ s: 404 }]);
    const { error } = run.state.data.a as { error: { details: { body: string } } };
    expect(error.details.body).toHaveLength(16 * 1024 + 1);
  });

  it('outputs of a failed attempt that are not an object are kept unchanged', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', onFailure: 'b' }, { id: 'b' }] });
    run.fail('a', { retryable: false, outputs: 'sorry' });
    expect(run.state.data.a).toMatchObject({ error: { details: 'sorry' } });
  });

  it('the error of a child is reported once, at any depth', () => {
    const step = { kind: 'subworkflow', workflowId: 'w', version: null, waitForCompletion: true } as const;
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', step }] });
    const childId = run.state.nodes[0]!.childId!;
    const cause = { code: 'BROKEN', message: 'it broke', nodeId: 'deep' };
    const error = { code: 'CHILD_FAILED', message: 'Subworkflow x ended as Failed: BROKEN: it broke', cause };
    run.send({ type: 'childFinished', nodeId: 'a', childId, status: 'Failed', error });
    expect(run.state.error).toEqual({
      code: 'CHILD_FAILED',
      message: `Subworkflow ${childId} ended as Failed: BROKEN: it broke`,
      nodeId: 'a',
      cause: error,
    });
    expect(run.state.data.a).toMatchObject({ error: { cause: error } });
  });
});

describe('joins', () => {
  const race = (join: NodeSpec['join']): NodeSpec[] => [
    { id: 's', edges: [{ to: 'a' }, { to: 'b' }] },
    { id: 'a', edges: [{ to: 'j' }], retry: { maxAttempts: 2 } },
    { id: 'b', edges: [{ to: 'j' }], onFailure: 'j' },
    { id: 'j', ...(join === undefined ? {} : { join }) },
  ];

  it('a join of the first takes the fastest branch, aborts the loser and ignores its result', () => {
    const run = startRun({ format: 'graph', nodes: race({ first: 1, rest: [1, 2] }) });
    run.succeed('s');
    run.succeed('b', { by: 'b' });
    expect(run.statuses()).toEqual({ s: 'Succeeded', a: 'Cancelled', b: 'Succeeded', j: 'Running' });
    expect(run.commands).toContainEqual({ type: 'abort', node: 1, attempt: 1 });
    expect(run.succeed('a', { by: 'a' })).toEqual([]);
    run.succeed('j');
    expect(run.state.status).toBe('Succeeded');
    expect(run.signal('RETRY_STEP', { stepId: 'a' })).toMatchObject([
      { refused: expect.stringContaining('not needed') },
    ]);
  });

  it('a join of the first gives up a branch that waits for its next attempt', () => {
    const run = startRun({ format: 'graph', nodes: race({ first: 1, rest: [1, 2] }) });
    run.succeed('s');
    run.fail('a');
    run.succeed('b');
    expect(run.find('NodeCancelled', 'a')).toMatchObject({ lost: true, betweenAttempts: true });
  });

  it('a join of the first without cancelRest lets the other branches go on', () => {
    const run = startRun({ format: 'graph', nodes: race({ first: 1, rest: [] }) });
    run.succeed('s');
    run.succeed('b');
    expect(run.statuses()).toMatchObject({ a: 'Running', j: 'Running' });
  });

  it('a join of the first two is skipped as soon as two branches are no longer possible', () => {
    const nodes = race({ first: 3, rest: [] });
    const run = startRun({ format: 'graph', nodes });
    run.succeed('s');
    run.succeed('b');
    run.succeed('a');
    expect(run.reasonOf('j')).toBe('fewer than 3 satisfied edges are possible');
  });

  it('a join of all is skipped with the reason when one edge was not taken', () => {
    const nodes: NodeSpec[] = [
      { id: 's', edges: [{ to: 'a' }, { to: 'j', condition: 'false' }] },
      { id: 'a', edges: [{ to: 'j' }] },
      { id: 'j', join: 'all' },
    ];
    const run = startRun({ format: 'graph', nodes });
    run.succeed('s');
    run.succeed('a');
    expect(run.reasonOf('j')).toBe('cascade: "s" did not lead here');
  });
});

describe('an end node', () => {
  const nodes = (end: NodeSpec): NodeSpec[] => [
    { id: 's', edges: [{ to: 'a' }, { to: 'slow' }] },
    { id: 'a', edges: [{ to: 'e' }] },
    { id: 'slow', edges: [{ to: 'later' }] },
    { id: 'later' },
    { ...end, id: 'e' },
  ];
  const ended = (end: NodeSpec) => {
    const run = startRun({ format: 'graph', nodes: nodes(end) });
    run.succeed('s');
    run.succeed('a', { x: 1 });
    return run;
  };

  it('an end node ends the execution with its outputs, and running nodes are aborted', () => {
    const step = { kind: 'end', status: 'Succeeded' } as const;
    const run = ended({ id: 'e', step, parameters: { x: '{{ context.data.a.x }}' } });
    expect(run.commands).toContainEqual({ type: 'abort', node: 2, attempt: 1 });
    expect(run.reasonOf('later')).toBe('the execution ended at "e"');
    run.fail('slow', { aborted: true, retryable: false });
    expect(run.find('ExecutionSucceeded').outputs).toEqual({ x: 1 });
    expect(run.state.stopping).toBeNull();
  });

  it('an end node without outputs leaves the default outputs', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'e', step: { kind: 'end', status: 'Succeeded' } }] });
    expect(run.find('ExecutionSucceeded').outputs).toEqual({});
  });

  it('an end node with a named error ends the execution as failed with that error', () => {
    const step = { kind: 'end', status: 'Failed' } as const;
    const run = ended({ id: 'e', step, parameters: { code: 'REFUSED', message: 'no {{ context.data.a.x }}' } });
    run.fail('slow', { aborted: true, retryable: false });
    expect(run.state.error).toEqual({ code: 'REFUSED', message: 'no 1', nodeId: 'e' });
  });

  it('a failing end node without an error ends the execution with the code ENDED', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'e', step: { kind: 'end', status: 'Failed' } }] });
    expect(run.state.error).toEqual({ code: 'ENDED', message: 'the execution ended at "e"', nodeId: 'e' });
  });

  it('an end node that cannot be rendered fails like any node', () => {
    const step = { kind: 'end', status: 'Succeeded' } as const;
    const run = startRun({ format: 'graph', nodes: [{ id: 'e', step, parameters: { x: '{{ trigger.no.way }}' } }] });
    expect(run.state.error).toMatchObject({ code: 'TEMPLATE_ERROR', nodeId: 'e' });
  });
});
