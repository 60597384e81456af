// Sleeps: durable timers of literal or rendered length, cut short by an attempt timeout.

import { describe, expect, test } from 'vitest';
import { type NodeSpec, template } from './plan-builder.testing.ts';
import { startRun, T0 } from './test-run.testing.ts';

const graph = (...nodes: NodeSpec[]) => startRun({ format: 'graph', nodes });

describe('a sleep', () => {
  test('a sleep waits on a durable timer, runs no action, and succeeds when due', () => {
    const run = graph({ id: 'a', step: { kind: 'sleep', durationMs: 3_600_000 }, edges: [{ to: 'b' }] }, { id: 'b' });
    expect(run.statusOf('a')).toBe('Sleeping');
    expect(run.find('NodeSleeping', 'a').until).toBe(T0 + 3_600_000);
    expect(run.commands).toEqual([]);
    run.now = T0 + 3_599_999;
    expect(run.send({ type: 'timerDue' })).toEqual([]);
    run.ring();
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Running' });
  });

  test('a sleep longer than its attempt timeout fails at the timeout and is retried', () => {
    const run = graph({
      id: 'a',
      step: { kind: 'sleep', durationMs: 3_600_000 },
      timeoutMs: 50,
      retry: { maxAttempts: 2, baseDelayMs: 100 },
    });
    expect(run.find('NodeSleeping', 'a')).toMatchObject({ until: T0 + 50, cut: true });
    run.ring();
    expect(run.find('RetryScheduled', 'a')).toMatchObject({ timedOut: true, error: { code: 'ATTEMPT_TIMEOUT' } });
    run.ring();
    expect(run.statusOf('a')).toBe('Sleeping');
    run.ring();
    expect(run.statusOf('a')).toBe('TimedOut');
    expect(run.state.error).toMatchObject({ code: 'ATTEMPT_TIMEOUT', nodeId: 'a' });
  });

  test.each([49, 50])('a sleep of %d ms with a timeout of 50 ms succeeds', (durationMs) => {
    const run = graph({ id: 'a', step: { kind: 'sleep', durationMs }, timeoutMs: 50 });
    run.ring();
    expect(run.statusOf('a')).toBe('Succeeded');
    expect(run.find('NodeSucceeded', 'a').outputs).toEqual({ sleptMs: durationMs });
  });

  test('a sleep half a millisecond longer than its timeout times out', () => {
    const step = { kind: 'sleep', durationMs: template('graph', '{{ trigger.value }}') } as const;
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', step, timeoutMs: 50 }] }, { trigger: { value: 50.5 } });
    run.ring();
    expect(run.find('NodeTimedOut', 'a').error.code).toBe('ATTEMPT_TIMEOUT');
  });

  test('the length of a sleep may come from a template', () => {
    const run = graph({
      id: 'a',
      step: { kind: 'sleep', durationMs: template('graph', '{{ trigger.value * 1000 }}') },
    });
    expect(run.find('NodeSleeping', 'a').until).toBe(T0 + 7_000);
  });

  test('a sleep whose length cannot be rendered fails', () => {
    const run = graph({ id: 'a', step: { kind: 'sleep', durationMs: template('graph', '{{ trigger.absent }}') } });
    expect(run.find('NodeFailed', 'a').error.code).toBe('TEMPLATE_ERROR');
    expect(run.state.status).toBe('Failed');
  });

  test.each(['-1', 'soon', 1e300])('a sleep of %j ms has bad parameters, fails and is not retried', (value) => {
    const step = { kind: 'sleep', durationMs: template('graph', '{{ trigger.value }}') } as const;
    const nodes = [{ id: 'a', step, retry: { maxAttempts: 3 } }];
    const run = startRun({ format: 'graph', nodes }, { trigger: { value } });
    expect(run.statusOf('a')).toBe('Failed');
    expect(run.find('NodeFailed', 'a').error.message).toContain(String(value));
  });

  test('a sleep accepts its length as a number in a string', () => {
    const step = { kind: 'sleep', durationMs: template('graph', '{{ trigger.value }}') } as const;
    const run = startRun({ format: 'graph', nodes: [{ id: 'a', step }] }, { trigger: { value: '1500' } });
    expect(run.find('NodeSleeping', 'a').until).toBe(T0 + 1_500);
  });

  test('fail fast cuts a sleep short', () => {
    const run = graph(
      { id: 'root', edges: [{ to: 'a' }, { to: 's' }] },
      { id: 'a' },
      { id: 's', step: { kind: 'sleep', durationMs: 1_000 } },
    );
    run.succeed('root');
    run.fail('a');
    expect(run.statusOf('s')).toBe('Cancelled');
    expect(run.state.status).toBe('Failed');
  });
});
