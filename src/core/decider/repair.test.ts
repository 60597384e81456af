// Repairs by hand: rerunning an ended execution from a step, and completing a step with given outputs.

import { describe, expect, test } from 'vitest';
import type { NodeSpec } from './plan-builder.testing.ts';
import { startRun, T0 } from './test-run.testing.ts';

const graph = (...nodes: NodeSpec[]) => startRun({ format: 'graph', nodes });
const chain: NodeSpec[] = [{ id: 'a', edges: [{ to: 'b' }] }, { id: 'b', edges: [{ to: 'c' }] }, { id: 'c' }];

describe('RERUN_FROM', () => {
  test('RERUN_FROM runs a succeeded step and everything after it again, and keeps the steps before', () => {
    const run = graph(...chain);
    for (const id of ['a', 'b', 'c']) run.succeed(id, { from: id });
    expect(run.state.status).toBe('Succeeded');
    run.signal('RERUN_FROM', { stepId: 'b' });
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Running', c: 'Pending' });
    run.succeed('b', {});
    run.succeed('c', { again: true });
    expect(run.state.outputs).toEqual({ again: true });
    expect([run.attemptsOf('a'), run.attemptsOf('b'), run.attemptsOf('c')]).toEqual([1, 2, 2]);
  });

  test('I7: RERUN_FROM gives the steps it runs again new idempotency keys', () => {
    const run = graph({ id: 'a' });
    run.succeed('a');
    run.signal('RERUN_FROM', { stepId: 'a' });
    const keys = run.commands.flatMap((command) => (command.type === 'runAction' ? [command.idempotencyKey] : []));
    expect(new Set(keys).size).toBe(2);
  });

  test('RERUN_FROM frees the space of the old outputs in the context', () => {
    const run = graph(...chain);
    for (const id of ['a', 'b', 'c']) run.succeed(id, { text: 'x'.repeat(100) });
    const full = run.state.contextBytes;
    run.signal('RERUN_FROM', { stepId: 'a' });
    expect(run.state.contextBytes).toBe(0);
    for (const id of ['a', 'b', 'c']) run.succeed(id, { text: 'x'.repeat(100) });
    expect(run.state.contextBytes).toBe(full);
  });

  test('RERUN_FROM also restarts the steps that a cancel cut off', () => {
    const run = graph({ id: 'root', edges: [{ to: 'a' }, { to: 'b' }] }, { id: 'a' }, { id: 'b' });
    run.succeed('root');
    run.succeed('a');
    run.send({ type: 'cancel', reason: 'enough' });
    run.fail('b', { aborted: true });
    expect(run.state.status).toBe('Cancelled');
    run.signal('RERUN_FROM', { stepId: 'a' });
    expect(run.statuses()).toEqual({ root: 'Succeeded', a: 'Running', b: 'Running' });
  });

  test('RERUN_FROM is refused for a running execution, a skipped step and an unknown step', () => {
    const run = graph({ id: 'a', edges: [{ to: 'b', when: 'failure' }] }, { id: 'b' });
    run.signal('RERUN_FROM', { stepId: 'a' });
    expect(run.find('SignalApplied').refused).toMatch(/has not ended/);
    run.succeed('a');
    run.signal('RERUN_FROM', { stepId: 'b' });
    run.signal('RERUN_FROM', { stepId: 'nowhere' });
    const refusals = run.facts.flatMap((fact) => (fact.type === 'SignalApplied' ? [fact.refused] : []));
    expect(refusals.slice(1)).toEqual(['the step was skipped: name a step that ran', 'no step "nowhere"']);
    expect(run.state.status).toBe('Succeeded');
  });

  test('RERUN_FROM is refused when the engine gave up before the execution ended', () => {
    const run = graph(...chain);
    run.state.status = 'Failed';
    run.signal('RERUN_FROM', { stepId: 'a' });
    expect(run.find('SignalApplied').refused).toMatch(/requeue its dead letter/);
  });
});

describe('COMPLETE_STEP', () => {
  test('COMPLETE_STEP turns a failed step into a success, and the ended execution goes on', () => {
    const run = graph(...chain);
    run.succeed('a');
    run.fail('b', { retryable: false });
    expect(run.state.status).toBe('Failed');
    run.signal('COMPLETE_STEP', { stepId: 'b', outputs: { paid: true } });
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Succeeded', c: 'Running' });
    expect(run.state.data.b).toEqual({ paid: true });
    expect(run.attemptsOf('b')).toBe(2);
    expect(run.commands.filter((command) => command.type === 'runAction' && command.attempt === 2)).toEqual([]);
    run.succeed('c');
    expect(run.state.status).toBe('Succeeded');
  });

  test('COMPLETE_STEP ends a wait for a callback, or a sleep, without a new attempt', () => {
    const webhook = graph({ id: 'w', step: { kind: 'webhook', timeoutMs: null } });
    webhook.signal('COMPLETE_STEP', { stepId: 'w', outputs: { approved: true } });
    expect(webhook.state.outputs).toEqual({ approved: true });
    expect(webhook.attemptsOf('w')).toBe(1);
    const sleep = graph({ id: 's', step: { kind: 'sleep', durationMs: 60_000 } });
    sleep.signal('COMPLETE_STEP', { stepId: 's' });
    expect(sleep.state).toMatchObject({ status: 'Succeeded', at: T0 });
  });

  test('COMPLETE_STEP ends the backoff of a step that waits for its retry', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 3, baseDelayMs: 60_000 } });
    run.fail('a');
    run.signal('COMPLETE_STEP', { stepId: 'a', outputs: { ok: true } });
    expect(run.state.status).toBe('Succeeded');
    expect(run.attemptsOf('a')).toBe(2);
  });

  test('COMPLETE_STEP in a paused execution holds back the steps that follow', () => {
    const run = graph(...chain);
    run.signal('PAUSE');
    run.fail('a', { retryable: false });
    run.signal('COMPLETE_STEP', { stepId: 'a' });
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Pending', c: 'Pending' });
    run.signal('RESUME');
    expect(run.statusOf('b')).toBe('Running');
  });

  test.each([
    ['pending', 'b', /has not started/],
    ['running', 'a', /is running/],
  ])('COMPLETE_STEP is refused for a step that is %s', (_, stepId, reason) => {
    const run = graph(...chain);
    run.signal('COMPLETE_STEP', { stepId });
    expect(run.find('SignalApplied').refused).toMatch(reason);
  });

  test('COMPLETE_STEP is refused for a succeeded, skipped or given up step, and one that waits for a child', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 'b', when: 'failure' }, { to: 'kid' }] },
      { id: 'b' },
      { id: 'kid', step: { kind: 'subworkflow', workflowId: 'other', version: null, waitForCompletion: true } },
    );
    run.succeed('a');
    const refusalOf = (stepId: string) => {
      run.signal('COMPLETE_STEP', { stepId });
      const applied = run.facts.findLast((fact) => fact.type === 'SignalApplied');
      return applied?.type === 'SignalApplied' ? applied.refused : undefined;
    };
    expect(refusalOf('a')).toBe('the step has already succeeded');
    expect(refusalOf('b')).toBe('the step was skipped: name a step that ran');
    expect(refusalOf('kid')).toMatch(/waits for execution/);
    run.state.status = 'Failed';
    expect(refusalOf('kid')).toMatch(/requeue its dead letter/);
  });
});

describe('a parameter that could not be rendered', () => {
  test.each([
    ['UPDATE_PARAMS', { stepId: 'a', newParams: { region: 'us' } }],
    ['INJECT_OVERRIDE', { stepId: 'a', override: { region: 'us' } }],
  ] as const)('%s repairs the parameter it names and no other', (signal, payload) => {
    const broken = () =>
      graph({ id: 'a', parameters: { region: '{{ trigger.nowhere.region }}', size: '{{ trigger.value }}' } });
    const run = broken();
    expect(run.state.error).toMatchObject({ code: 'TEMPLATE_ERROR' });
    run.signal(signal, { ...payload });
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.paramsOf('a')).toEqual([{ region: 'us', size: 7 }]);
    const other = broken();
    other.signal('UPDATE_PARAMS', { stepId: 'a', newParams: { size: 1 } });
    other.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(other.paramsOf('a')).toEqual([]);
    expect(other.state.error).toMatchObject({ code: 'TEMPLATE_ERROR' });
  });
});
