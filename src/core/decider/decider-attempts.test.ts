// Behaviour within a node: retries, parameters, attempt timeouts, webhooks and subworkflows.

import { describe, expect, test } from 'vitest';
import type { RetryPolicy, Step } from '../plan/plan.ts';
import { decide } from './decide.ts';
import { nextDue } from './next-due.ts';
import { buildPlan, type NodeSpec, START } from './plan-builder.testing.ts';
import { initialState } from './state.ts';
import { startRun, T0 } from './test-run.testing.ts';

const graph = (...nodes: NodeSpec[]) => startRun({ format: 'graph', nodes });
const pipeline = (...nodes: NodeSpec[]) => startRun({ format: 'pipeline', nodes });

describe('retries', () => {
  test.each([
    { maxAttempts: 0, tries: 1 },
    { maxAttempts: 1, tries: 1 },
    { maxAttempts: 3, tries: 3 },
  ])('maxAttempts $maxAttempts gives $tries attempts in all', ({ maxAttempts, tries }) => {
    const run = graph({ id: 'a', retry: { maxAttempts } });
    for (let attempt = 1; attempt < tries; attempt++) {
      run.fail('a');
      expect(run.statusOf('a')).toBe('Retrying');
      run.ring();
    }
    run.fail('a');
    expect(run.statusOf('a')).toBe('Failed');
    expect(run.attemptsOf('a')).toBe(tries);
    expect(run.state.status).toBe('Failed');
  });

  test('the nth retry waits base × factor^(n−1)', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 4, baseDelayMs: 1_000, backoffFactor: 3 } });
    for (const delay of [1_000, 3_000, 9_000]) {
      run.fail('a');
      expect(run.find('RetryScheduled', 'a').until - run.now).toBe(delay);
      run.ring();
    }
  });

  test('the delay of a retry is capped by maxDelayMs', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 3, baseDelayMs: 1_000, backoffFactor: 10, maxDelayMs: 2_500 } });
    run.fail('a');
    run.ring();
    run.fail('a');
    expect(run.find('RetryScheduled', 'a').until - run.now).toBe(2_500);
  });

  test('a retry with jitter waits between half and all of the delay, and the wait varies', () => {
    const retry = { maxAttempts: 2, baseDelayMs: 10_000, backoffFactor: 2, maxDelayMs: null, jitter: true };
    const delays = Array.from({ length: 50 }, (_, seed) => firstDelay(retry, seed));
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(5_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(10_000);
    expect(new Set(delays).size).toBeGreaterThan(25);
    expect(firstDelay(retry, 7)).toBe(firstDelay(retry, 7));
  });

  test('a retry waits as long as the action asks for when that is longer than its backoff', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 3, baseDelayMs: 1_000, backoffFactor: 1 } });
    run.fail('a', { retryAfterMs: 60_000 });
    expect(run.find('RetryScheduled', 'a').until).toBe(T0 + 60_000);
    run.ring();
    run.fail('a', { retryAfterMs: 1 });
    expect(run.find('RetryScheduled', 'a').until - run.now).toBe(1_000);
  });

  test('a retry never starts before it is due', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2, baseDelayMs: 1_000 } });
    run.fail('a');
    run.now = T0 + 999;
    expect(run.send({ type: 'timerDue' })).toEqual([]);
    run.now = T0 + 1_000;
    run.send({ type: 'timerDue' });
    expect(run.statusOf('a')).toBe('Running');
  });

  test('a terminal failure is not retried', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 3 } });
    run.fail('a', { retryable: false });
    expect(run.statusOf('a')).toBe('Failed');
    expect(run.attemptsOf('a')).toBe(1);
  });

  test('a retry keeps the idempotency key', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2 } });
    run.fail('a');
    run.ring();
    const keys = run.commands.flatMap((command) => (command.type === 'runAction' ? [command.idempotencyKey] : []));
    expect(keys).toEqual([`${START.executionId}:a`, `${START.executionId}:a`]);
  });

  test('a result of an earlier attempt is ignored after a retry started', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2 } });
    run.fail('a');
    run.ring();
    const late = { type: 'attemptSucceeded', node: 0, attempt: 1, outputs: {}, bytes: 2 } as const;
    expect(run.send(late)).toEqual([]);
    expect(run.statusOf('a')).toBe('Running');
  });
});

function firstDelay(retry: RetryPolicy, seed: number): number {
  const state = initialState(buildPlan({ format: 'graph', nodes: [{ id: 'a', retry }] }), START);
  const context = { now: T0, seed, abortGraceMs: 0 };
  decide(state, { type: 'started' }, context);
  const error = { code: 'BROKEN', message: 'it broke' };
  decide(state, { type: 'attemptFailed', node: 0, attempt: 1, error, retryable: true }, context);
  return nextDue(state)! - T0;
}

describe('an attempt timeout', () => {
  test('an attempt timeout is retried, and the node is TimedOut after the last attempt', () => {
    const run = graph({ id: 'a', timeoutMs: 300, retry: { maxAttempts: 2 } });
    expect(run.commands[0]).toMatchObject({ type: 'runAction', timeoutMs: 300 });
    run.fail('a', { timedOut: true });
    expect(run.find('RetryScheduled', 'a').timedOut).toBe(true);
    run.ring();
    run.fail('a', { timedOut: true });
    expect(run.statusOf('a')).toBe('TimedOut');
    expect(run.has('NodeTimedOut', 'a')).toBe(true);
    expect(run.state.status).toBe('Failed');
  });

  test('an attempt timeout takes the failure route', () => {
    const run = graph({ id: 'a', onFailure: 'h' }, { id: 'h' });
    run.fail('a', { timedOut: true });
    expect(run.statuses()).toEqual({ a: 'TimedOut', h: 'Running' });
  });

  test('an attempt timeout has the status timeout in a pipeline', () => {
    const run = pipeline({ id: 'a' }, { id: 'b', needs: ['a'], condition: "tasks.a.status == 'timeout'" });
    run.fail('a', { timedOut: true });
    expect(run.statusOf('b')).toBe('Running');
  });
});

describe('parameters', () => {
  const changing: NodeSpec[] = [
    { id: 'root', edges: [{ to: 'a' }, { to: 'other' }] },
    {
      id: 'a',
      parameters: { seen: "{{ context.data['other'].n ?? 'nothing' }}", fixed: '{{ trigger.value }}' },
      retry: { maxAttempts: 3 },
    },
    { id: 'other' },
  ];

  test('parameters are rendered when the node starts, recorded with the start, and reused by retries', () => {
    const run = graph(...changing);
    run.succeed('root');
    run.succeed('other', { n: 1 });
    run.fail('a');
    run.ring();
    expect(run.paramsOf('a')).toEqual([
      { seen: 'nothing', fixed: 7 },
      { seen: 'nothing', fixed: 7 },
    ]);
  });

  test('parameters are rendered again on a retry when rerenderOnRetry is set', () => {
    const run = graph(...changing.map((node) => ({ ...node, rerenderOnRetry: true })));
    run.succeed('root');
    run.succeed('other', { n: 1 });
    run.fail('a');
    run.ring();
    expect(run.paramsOf('a')).toEqual([
      { seen: 'nothing', fixed: 7 },
      { seen: 1, fixed: 7 },
    ]);
  });

  test('parameters that cannot be rendered fail the attempt, and the attempt is not retried', () => {
    const run = graph({ id: 'a', parameters: { x: '{{ trigger.absent.y }}' }, retry: { maxAttempts: 3 } });
    const ofNode = run.facts.filter((fact) => 'node' in fact && fact.type !== 'Warning');
    expect(ofNode.map((fact) => fact.type)).toEqual(['NodeStarted', 'NodeFailed']);
    expect(run.find('NodeFailed', 'a').error).toMatchObject({ code: 'TEMPLATE_ERROR' });
    expect(run.find('NodeFailed', 'a').error.message).toContain('trigger.absent');
    expect(run.paramsOf('a')).toEqual([]);
    expect(run.state.status).toBe('Failed');
  });

  test('parameters that cannot be rendered take the failure route like any other failure', () => {
    const run = graph({ id: 'a', parameters: { x: '{{ trigger.absent }}' }, onFailure: 'h' }, { id: 'h' });
    expect(run.statuses()).toEqual({ a: 'Failed', h: 'Running' });
  });
});

describe('a webhook node', () => {
  const hook = (timeoutMs: number | null): Step => ({ kind: 'webhook', timeoutMs });
  const call = (payload: { n: number }) => ({ type: 'webhookReceived', nodeId: 'pay', payload }) as const;

  test('a callback read after the deadline of its execution does not prevent the timeout', () => {
    const run = startRun({ format: 'pipeline', timeoutMs: 1_000, nodes: [{ id: 'pay', step: hook(5_000) }] });
    run.now = T0 + 1_000;
    run.send(call({ n: 1 }));
    expect(run.state.status).toBe('TimedOut');
  });

  test('a webhook node waits, and succeeds with the payload it received', () => {
    const run = pipeline(
      { id: 'pay', step: hook(5_000) },
      { id: 'ship', needs: ['pay'], condition: "tasks.pay.status == 'received'" },
    );
    expect(run.statusOf('pay')).toBe('Waiting');
    expect(run.find('NodeWaiting', 'pay')).toMatchObject({ kind: 'webhook', until: T0 + 5_000 });
    run.send(call({ n: 1 }));
    expect(run.statuses()).toEqual({ pay: 'Succeeded', ship: 'Running' });
    expect(JSON.stringify(run.find('NodeSucceeded', 'pay').outputs)).toContain('"n":1');
  });

  test('a webhook node called early succeeds as soon as it is reached', () => {
    const run = pipeline({ id: 'a' }, { id: 'pay', step: hook(null), needs: ['a'] });
    run.send(call({ n: 1 }));
    expect(run.statusOf('pay')).toBe('Pending');
    run.succeed('a', { status_code: 200 });
    expect(run.statusOf('pay')).toBe('Succeeded');
    expect(JSON.stringify(run.find('NodeSucceeded', 'pay').outputs)).toContain('"n":1');
    expect(run.state.status).toBe('Succeeded');
  });

  test('an early call to a webhook node is kept when an earlier step is retried', () => {
    const run = pipeline({ id: 'a' }, { id: 'pay', step: hook(null), needs: ['a'] });
    run.send(call({ n: 1 }));
    run.fail('a');
    expect(run.statusOf('pay')).toBe('Skipped');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    run.succeed('a', { status_code: 200 });
    expect(run.statusOf('pay')).toBe('Succeeded');
  });

  test('a webhook node ignores a second call and a late call', () => {
    const run = pipeline({ id: 'pay', step: hook(null) }, { id: 'b', needs: ['pay'] });
    run.send(call({ n: 1 }));
    expect(run.send(call({ n: 2 }))).toEqual([]);
    run.succeed('b', { status_code: 200 });
    expect(run.send(call({ n: 3 }))).toEqual([]);
  });

  test('a webhook node that times out is not retried, and later steps can branch on the timeout', () => {
    const run = pipeline(
      { id: 'pay', step: hook(5_000), retry: { maxAttempts: 3 } },
      { id: 'remind', needs: ['pay'], condition: "tasks.pay.status == 'timeout'" },
    );
    run.ring();
    expect(run.now).toBe(T0 + 5_000);
    expect(run.statuses()).toEqual({ pay: 'TimedOut', remind: 'Running' });
    expect(run.send(call({ n: 1 }))).toEqual([]);
  });
});

describe('a subworkflow node', () => {
  const child = (waitForCompletion: boolean): Step => ({
    kind: 'subworkflow',
    workflowId: 'child-workflow',
    version: 2,
    waitForCompletion,
  });
  const parameters = { input: '{{ trigger.value }}' };

  test('a subworkflow node starts a child with the id in its fact and its rendered parameters as trigger', () => {
    const run = graph({ id: 'a', step: child(true), parameters });
    const { childId } = run.find('NodeStarted', 'a');
    const command = { type: 'startChild', node: 0, attempt: 1, childId, workflowId: 'child-workflow', version: 2 };
    expect(run.commands).toEqual([{ ...command, trigger: { input: 7 } }]);
    expect(run.statusOf('a')).toBe('Waiting');
  });

  test('a subworkflow node succeeds with the outputs of its child', () => {
    const run = graph(
      { id: 'a', step: child(true), edges: [{ to: 'b', condition: "context.data['a'].outputs.result === 42" }] },
      { id: 'b' },
    );
    const childId = run.find('NodeStarted', 'a').childId!;
    run.send({ type: 'childFinished', nodeId: 'a', childId, status: 'Succeeded', outputs: { result: 42 } });
    const outputs = { executionId: childId, status: 'Succeeded', outputs: { result: 42 } };
    expect(run.find('NodeSucceeded', 'a').outputs).toEqual(outputs);
    expect(run.statusOf('b')).toBe('Running');
  });

  test('a subworkflow node whose child has no outputs succeeds with empty outputs', () => {
    const run = graph({ id: 'a', step: child(true) });
    const childId = run.find('NodeStarted', 'a').childId!;
    run.send({ type: 'childFinished', nodeId: 'a', childId, status: 'Succeeded' });
    expect(run.find('NodeSucceeded', 'a').outputs).toEqual({ executionId: childId, status: 'Succeeded', outputs: {} });
  });

  test('a subworkflow node cancels its child when its timeout is over', () => {
    const run = graph({ id: 'a', step: child(true), timeoutMs: 2_000, onFailure: 'h' }, { id: 'h' });
    expect(run.find('NodeWaiting', 'a').until).toBe(T0 + 2_000);
    run.ring();
    expect(run.statuses()).toEqual({ a: 'TimedOut', h: 'Running' });
    const { childId } = run.find('NodeStarted', 'a');
    expect(run.commands).toContainEqual({
      type: 'cancelChild',
      childId,
      reason: expect.stringMatching(/^its parent: /),
    });
  });

  test.each(['Failed', 'Cancelled', 'TimedOut'] as const)(
    'a subworkflow node fails when its child ended as %s',
    (status) => {
      const run = graph({ id: 'a', step: child(true), onFailure: 'h' }, { id: 'h' });
      const childId = run.find('NodeStarted', 'a').childId!;
      run.send({ type: 'childFinished', nodeId: 'a', childId, status, error: { code: 'X', message: 'its reason' } });
      expect(run.statuses()).toEqual({ a: 'Failed', h: 'Running' });
      expect(run.find('NodeFailed', 'a').error.message).toMatch(new RegExp(`${status}.*its reason`));
    },
  );

  test('a subworkflow node fails when its child gave no reason', () => {
    const run = graph({ id: 'a', step: child(true) });
    const childId = run.find('NodeStarted', 'a').childId!;
    run.send({ type: 'childFinished', nodeId: 'a', childId, status: 'Cancelled' });
    expect(run.find('NodeFailed', 'a').error.message).toContain('Cancelled');
  });

  test('a subworkflow node ignores the end of a child that is not its own', () => {
    const run = graph({ id: 'a', step: child(true) });
    const stranger = { type: 'childFinished', nodeId: 'a', childId: 'other', status: 'Succeeded' } as const;
    expect(run.send(stranger)).toEqual([]);
  });

  test('a subworkflow node keeps waiting when it hears only that its child was created', () => {
    const run = graph({ id: 'a', step: child(true) });
    expect(run.succeed('a', { executionId: 'x', status: 'Pending' })).toEqual([]);
    expect(run.statusOf('a')).toBe('Waiting');
  });

  test('a subworkflow node fails when the driver refuses to create the child', () => {
    const run = graph({ id: 'a', step: child(true), onFailure: 'h' }, { id: 'h' });
    run.fail('a', { retryable: false });
    expect(run.statuses()).toEqual({ a: 'Failed', h: 'Running' });
  });

  test('a subworkflow node that does not wait succeeds as soon as its child is durable', () => {
    const run = graph({ id: 'a', step: child(false), parameters, edges: [{ to: 'b' }] }, { id: 'b' });
    const childId = run.find('NodeStarted', 'a').childId!;
    const command = { type: 'startChild', node: 0, attempt: 1, childId, workflowId: 'child-workflow', version: 2 };
    expect(run.commands).toEqual([{ ...command, trigger: { input: 7 } }]);
    run.succeed('a', { executionId: childId, status: 'Pending' });
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Running' });
    expect(run.send({ type: 'childFinished', nodeId: 'a', childId, status: 'Failed' })).toEqual([]);
  });
});
