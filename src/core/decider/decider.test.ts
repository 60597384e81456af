// The course and end of executions, one behaviour per test. Behaviour within a node is in decider-attempts.test.ts, signals are
// in decider-signals.test.ts, data and outputs in decider-data.test.ts.

import { describe, expect, test } from 'vitest';
import type { NodeSpec } from './plan-builder.testing.ts';
import { createRun, GRACE_MS, startRun, T0 } from './test-run.testing.ts';

const graph = (...nodes: NodeSpec[]) => startRun({ format: 'graph', nodes });
const pipeline = (...nodes: NodeSpec[]) => startRun({ format: 'pipeline', nodes });
const plan = (...nodes: NodeSpec[]) => startRun({ format: 'plan', nodes });

describe('routing in a graph', () => {
  test('every satisfied edge is taken, and a join waits for the last of its parents', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 'b' }, { to: 'c' }] },
      { id: 'b', edges: [{ to: 'd' }] },
      { id: 'c', edges: [{ to: 'd' }] },
      { id: 'd' },
    );
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Running', c: 'Running', d: 'Pending' });
    run.succeed('c');
    expect(run.statusOf('d')).toBe('Pending');
    run.succeed('b');
    expect(run.statusOf('d')).toBe('Running');
    run.succeed('d');
    expect(run.state.status).toBe('Succeeded');
  });

  test('a join does not wait for a branch that is not taken (15.3)', () => {
    const run = graph(
      {
        id: 'a',
        edges: [
          { to: 'b', condition: 'true' },
          { to: 'c', condition: 'false' },
        ],
      },
      { id: 'b', edges: [{ to: 'd' }] },
      { id: 'c', edges: [{ to: 'd' }] },
      { id: 'd' },
    );
    run.succeed('a');
    expect(run.statusOf('c')).toBe('Skipped');
    expect(run.reasonOf('c')).toContain('no satisfied edge');
    run.succeed('b');
    expect(run.statusOf('d')).toBe('Running');
  });

  test('firstMatch takes the first satisfied edge only', () => {
    const run = graph(
      {
        id: 'a',
        routePolicy: 'firstMatch',
        edges: [{ to: 'b', condition: "context.data['a'].ok === true" }, { to: 'c' }, { to: 'd' }],
      },
      { id: 'b' },
      { id: 'c' },
      { id: 'd' },
    );
    run.succeed('a', { ok: false });
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Skipped', c: 'Running', d: 'Skipped' });
  });

  test('a condition that throws counts as false and causes a warning', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 'b', condition: "context.data['nowhere'].x === 1" }, { to: 'c' }] },
      { id: 'b' },
      { id: 'c' },
    );
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Skipped', c: 'Running' });
    expect(run.find('Warning').message).not.toBe('');
  });
});

describe('a failure in a graph', () => {
  test('a failure takes the failure and always edges, not the success edges', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 's' }, { to: 'f', when: 'failure' }, { to: 'x', when: 'always' }] },
      { id: 's' },
      { id: 'f' },
      { id: 'x' },
    );
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'Failed', s: 'Skipped', f: 'Running', x: 'Running' });
  });

  test('a failure takes onFailure when no explicit failure edge was satisfied', () => {
    const run = graph(
      { id: 'a', onFailure: 'h', edges: [{ to: 'f', when: 'failure', condition: 'false' }] },
      { id: 'f' },
      { id: 'h' },
    );
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'Failed', f: 'Skipped', h: 'Running' });
  });

  test('a failure does not take onFailure when an explicit failure edge was satisfied', () => {
    const run = graph({ id: 'a', onFailure: 'h', edges: [{ to: 'f', when: 'failure' }] }, { id: 'f' }, { id: 'h' });
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'Failed', f: 'Running', h: 'Skipped' });
  });

  test('a failure takes both onFailure and a satisfied always edge', () => {
    const run = graph({ id: 'a', onFailure: 'h', edges: [{ to: 'x', when: 'always' }] }, { id: 'x' }, { id: 'h' });
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'Failed', x: 'Running', h: 'Running' });
  });

  test('onFailure is the last candidate under firstMatch', () => {
    const nodes = (condition: string): NodeSpec[] => [
      { id: 'a', routePolicy: 'firstMatch', onFailure: 'h', edges: [{ to: 'x', when: 'always', condition }] },
      { id: 'x' },
      { id: 'h' },
    ];
    const taken = graph(...nodes('true'));
    taken.fail('a');
    expect(taken.statuses()).toEqual({ a: 'Failed', x: 'Running', h: 'Skipped' });
    const open = graph(...nodes('false'));
    open.fail('a');
    expect(open.statuses()).toEqual({ a: 'Failed', x: 'Skipped', h: 'Running' });
  });

  test('onFailure is not taken on success', () => {
    const run = graph({ id: 'a', onFailure: 'h' }, { id: 'h' });
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', h: 'Skipped' });
    expect(run.state.status).toBe('Succeeded');
  });

  test('an execution with a handled failure succeeds', () => {
    const run = graph({ id: 'a', onFailure: 'h' }, { id: 'h' });
    run.fail('a');
    run.succeed('h');
    expect(run.state.status).toBe('Succeeded');
  });

  test('a failure is unhandled when the only handler has a false condition', () => {
    const run = graph({ id: 'a', edges: [{ to: 'f', when: 'failure', condition: 'false' }] }, { id: 'f' });
    run.fail('a');
    expect(run.state.status).toBe('Failed');
    expect(run.find('ExecutionFailed').error.nodeId).toBe('a');
  });
});

describe('fail fast', () => {
  const fork = () => {
    const run = graph(
      { id: 'root', edges: [{ to: 'a' }, { to: 'b' }, { to: 'c' }] },
      { id: 'a' },
      { id: 'b', edges: [{ to: 'd' }] },
      { id: 'c', edges: [{ to: 'd' }] },
      { id: 'd' },
    );
    run.succeed('root');
    return run;
  };

  test('fail fast aborts the running attempts and waits for them', () => {
    const run = fork();
    run.fail('a');
    expect(run.state.status).toBe('Running');
    expect(run.find('ExecutionStopping')).toMatchObject({ outcome: 'Failed', graceUntil: T0 + GRACE_MS });
    expect(run.commands.filter((command) => command.type === 'abort')).toEqual([
      { type: 'abort', node: 2, attempt: 1 },
      { type: 'abort', node: 3, attempt: 1 },
    ]);
  });

  test('fail fast records the real outcomes of running attempts, and never starts the rest', () => {
    const run = fork();
    run.fail('a');
    run.succeed('b');
    expect(run.state.status).toBe('Running');
    run.fail('c', { aborted: true, retryable: false });
    expect(run.statuses()).toEqual({ root: 'Succeeded', a: 'Failed', b: 'Succeeded', c: 'Cancelled', d: 'Skipped' });
    expect(run.reasonOf('d')).toContain('fail fast');
    expect(run.state.status).toBe('Failed');
    expect(run.commands.at(-1)).toEqual({ type: 'complete', status: 'Failed' });
  });

  test('fail fast cancels attempts that are still running after the grace period', () => {
    const run = fork();
    run.fail('a');
    run.succeed('b');
    run.now = T0 + GRACE_MS - 1;
    expect(run.send({ type: 'timerDue' })).toEqual([]);
    run.ring();
    expect(run.now).toBe(T0 + GRACE_MS);
    expect(run.statusOf('c')).toBe('Cancelled');
    expect(run.state.status).toBe('Failed');
    expect(run.succeed('c')).toEqual([]);
  });

  test('fail fast does not retry an attempt that fails during the grace period', () => {
    const run = graph(
      { id: 'root', edges: [{ to: 'a' }, { to: 'b' }] },
      { id: 'a' },
      { id: 'b', retry: { maxAttempts: 3 } },
    );
    run.succeed('root');
    run.fail('a');
    run.fail('b');
    expect(run.statusOf('b')).toBe('Failed');
    expect(run.state.status).toBe('Failed');
    expect(run.find('ExecutionFailed').error.nodeId).toBe('a');
  });

  test('fail fast ends at once when nothing is running', () => {
    const run = graph({ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' });
    run.fail('a');
    expect(run.state.status).toBe('Failed');
    expect(run.statusOf('b')).toBe('Skipped');
  });
});

describe('a pipeline', () => {
  test('a pipeline goes on after a failure, and completes with any outcome of its steps', () => {
    const run = pipeline({ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['b'] });
    run.fail('a');
    expect(run.statusOf('b')).toBe('Running');
    run.succeed('b');
    run.succeed('c');
    expect(run.state.status).toBe('Succeeded');
  });

  test('a pipeline skips all steps that need a failed or skipped step, and names the need', () => {
    const run = pipeline({ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c', needs: ['b'] });
    run.fail('a');
    expect(run.statuses()).toEqual({ a: 'Failed', b: 'Skipped', c: 'Skipped' });
    expect(run.reasonOf('b')).toContain('a');
    expect(run.reasonOf('c')).toContain('b');
    expect(run.state.status).toBe('Succeeded');
  });

  test('a step is skipped only when all its needs have ended', () => {
    const run = pipeline({ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['a', 'b'] });
    run.fail('a');
    expect(run.state.status).toBe('Running');
    run.succeed('b');
    expect(run.statusOf('c')).toBe('Skipped');
  });

  test('an if is evaluated for every outcome of the needs', () => {
    const run = pipeline(
      { id: 'charge' },
      { id: 'refund', needs: ['charge'], condition: "tasks.charge.status == 'failed'" },
      { id: 'ship', needs: ['charge'], condition: 'tasks.charge.status_code == 200' },
    );
    run.fail('charge', { outputs: { status_code: 402, body: null } });
    expect(run.statuses()).toEqual({ charge: 'Failed', refund: 'Running', ship: 'Skipped' });
    expect(run.reasonOf('ship')).toContain('condition');
  });

  test('a skipped step has the status skipped and no data', () => {
    const run = pipeline(
      { id: 'a' },
      { id: 'b', needs: ['a'], condition: 'false' },
      { id: 'handled', needs: ['b'], condition: "tasks.b.status == 'skipped'" },
      { id: 'never', needs: ['b'], condition: 'tasks.b.status_code == 200' },
      { id: 'nulls', needs: ['b'], condition: 'tasks.b.status_code != 200' },
    );
    run.succeed('a', { status_code: 200 });
    expect(run.statuses()).toEqual({
      a: 'Succeeded',
      b: 'Skipped',
      handled: 'Running',
      never: 'Skipped',
      nulls: 'Running',
    });
  });

  test('a pipeline fails only when the engine gives up', () => {
    const run = pipeline({ id: 'a' }, { id: 'b', needs: ['a'] });
    run.send({ type: 'giveUp', error: { code: 'POISON', message: 'crashed too often' } });
    run.fail('a', { aborted: true, retryable: false });
    expect(run.state.status).toBe('Failed');
    expect(run.find('ExecutionFailed').error.code).toBe('POISON');
  });
});

test('an execution that never started fails when the engine gives up because its workflow was archived', () => {
  const run = createRun({ format: 'graph', nodes: [{ id: 'a' }] });
  run.send({ type: 'giveUp', error: { code: 'WORKFLOW_NOT_ACTIVE', message: 'archived' } });
  expect(run.state.status).toBe('Failed');
  expect(run.find('ExecutionFailed').error.code).toBe('WORKFLOW_NOT_ACTIVE');
});

describe('an execution plan', () => {
  test('a plan starts nothing new after a failure, lets running steps finish, then fails', () => {
    const run = plan({ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['b'] }, { id: 'd', needs: ['a'] });
    run.fail('a');
    expect(run.state.status).toBe('Running');
    expect(run.commands.some((command) => command.type === 'abort')).toBe(false);
    run.succeed('b');
    expect(run.statuses()).toEqual({ a: 'Failed', b: 'Succeeded', c: 'Skipped', d: 'Skipped' });
    expect(run.reasonOf('c')).not.toBe('');
    expect(run.state.status).toBe('Failed');
    expect(run.find('ExecutionFailed').error.nodeId).toBe('a');
  });

  test('a plan skips a step whose when is false, and the steps that depend on it', () => {
    const run = plan(
      { id: 'a' },
      { id: 'b', needs: ['a'], condition: 'inputs.go === false' },
      { id: 'c', needs: ['b'] },
    );
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Skipped', c: 'Skipped' });
    expect(run.state.status).toBe('Succeeded');
  });
});

describe('a cancel', () => {
  test('a cancel aborts, waits for the real outcomes, and ends the execution as Cancelled', () => {
    const run = graph({ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' });
    run.send({ type: 'cancel', reason: 'changed my mind' });
    expect(run.commands.at(-1)).toEqual({ type: 'abort', node: 0, attempt: 1 });
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Skipped' });
    expect(run.state.status).toBe('Cancelled');
    expect(run.find('ExecutionCancelled').error.message).toContain('changed my mind');
  });

  test('a cancel before the start ends the execution at once', () => {
    const run = createRun({ format: 'graph', nodes: [{ id: 'a' }] });
    run.send({ type: 'cancel', reason: 'never mind' });
    expect(run.state.status).toBe('Cancelled');
    expect(run.send({ type: 'started' })).toEqual([]);
    expect(run.statusOf('a')).toBe('Skipped');
  });

  test('a cancel after a failure is ignored: the first decides the status', () => {
    const run = graph({ id: 'root', edges: [{ to: 'a' }, { to: 'b' }] }, { id: 'a' }, { id: 'b' });
    run.succeed('root');
    run.fail('a');
    expect(run.send({ type: 'cancel', reason: 'too late' })).toEqual([]);
    run.succeed('b');
    expect(run.state.status).toBe('Failed');
    expect(run.send({ type: 'cancel', reason: 'far too late' })).toEqual([]);
  });

  test('a cancel is passed on to the children', () => {
    const child = { kind: 'subworkflow', workflowId: 'w', version: null, waitForCompletion: true } as const;
    const run = graph({ id: 'a', step: child });
    run.send({ type: 'cancel', reason: 'stop' });
    const { childId } = run.find('NodeStarted', 'a');
    const reason = 'its parent: No longer waiting: stop';
    expect(run.commands).toContainEqual({ type: 'cancelChild', childId, reason });
  });
});

describe('the deadline of the execution', () => {
  const slow = (nodes: NodeSpec[]) => startRun({ format: 'graph', nodes, timeoutMs: 10_000 });

  test('the deadline counts from the start, aborts running attempts, and ends the execution as TimedOut', () => {
    const run = slow([{ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' }]);
    expect(run.find('ExecutionStarted').deadline).toBe(T0 + 10_000);
    run.ring();
    expect(run.now).toBe(T0 + 10_000);
    run.succeed('a');
    expect(run.state.status).toBe('TimedOut');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Skipped' });
  });

  test('an early timer message does not bring the deadline forward', () => {
    const run = slow([{ id: 'a' }]);
    run.now = T0 + 9_999;
    expect(run.send({ type: 'timeout' })).toEqual([]);
    expect(run.send({ type: 'timerDue' })).toEqual([]);
    run.now = T0 + 10_000;
    run.send({ type: 'timeout' });
    expect(run.find('ExecutionStopping').outcome).toBe('TimedOut');
  });

  test('a deadline that passes during a pause ends the execution at the resume', () => {
    const run = slow([{ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' }]);
    run.signal('PAUSE');
    run.now = T0 + 20_000;
    expect(run.send({ type: 'timerDue' })).toEqual([]);
    expect(run.send({ type: 'timeout' })).toEqual([]);
    run.succeed('a');
    expect(run.state.status).toBe('Paused');
    run.signal('RESUME');
    expect(run.state.status).toBe('TimedOut');
    expect(run.statusOf('b')).toBe('Skipped');
  });

  test('an execution that is resumed before its deadline goes on', () => {
    const run = slow([{ id: 'a' }]);
    run.signal('PAUSE');
    run.now = T0 + 9_999;
    run.signal('RESUME');
    run.succeed('a');
    expect(run.state.status).toBe('Succeeded');
  });
});
