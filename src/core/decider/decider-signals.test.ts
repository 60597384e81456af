// Operators' signals, their repeats and their refusals.

import { describe, expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import type { NodeSpec } from './plan-builder.testing.ts';
import { START } from './plan-builder.testing.ts';
import { heeds } from './signal.ts';
import { startRun, T0 } from './test-run.testing.ts';

const graph = (...nodes: NodeSpec[]) => startRun({ format: 'graph', nodes });
const chain: NodeSpec[] = [{ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' }];

describe('any signal', () => {
  test('a signal is recorded with its payload', () => {
    const run = graph(...chain);
    const facts = run.signal('ESCALATE_ALERT', { level: 'HIGH', note: 'look' }, 's1');
    expect(facts).toEqual([
      { type: 'SignalApplied', signalId: 's1', signal: 'ESCALATE_ALERT', payload: { level: 'HIGH', note: 'look' } },
    ]);
  });

  test('a repeated signal changes nothing', () => {
    const run = graph(...chain);
    run.signal('PAUSE', {}, 's1');
    run.signal('RESUME', {}, 's2');
    expect(run.signal('PAUSE', {}, 's1')).toEqual([]);
    expect(run.state.status).toBe('Running');
  });

  test.each([
    ['RESUME', {}],
    ['RETRY_STEP', { stepId: 'nowhere' }],
    ['RETRY_STEP', { stepId: 'a' }],
    ['RETRY_STEP', {}],
    ['UPDATE_PARAMS', { stepId: 'nowhere', newParams: {} }],
    ['UPDATE_PARAMS', { stepId: 'a', newParams: 'text' }],
    ['INJECT_OVERRIDE', { stepId: 'nowhere', override: {} }],
    ['INJECT_OVERRIDE', { stepId: 'a' }],
  ] as const)('a signal that cannot apply is refused with a reason: %s %j', (signal, payload) => {
    const run = graph(...chain);
    const before = run.statuses();
    const facts = run.signal(signal, { ...payload });
    expect(facts).toHaveLength(1);
    expect(run.find('SignalApplied').refused).toEqual(expect.stringMatching(/./));
    expect(run.statuses()).toEqual(before);
    expect(run.state.status).toBe('Running');
  });

  test.each(['PAUSE', 'RESUME', 'ESCALATE_ALERT'] as const)('%s does not change an execution that has ended', (it) => {
    const run = graph({ id: 'a' });
    run.succeed('a');
    run.signal(it, { stepId: 'a' });
    expect(run.state.status).toBe('Succeeded');
    expect(run.find('SignalApplied').refused).toEqual(expect.stringMatching(/./));
  });
});

describe('a signal that only a newer version knows', () => {
  test.each(['before', 'after'])('an unknown signal is refused and changes nothing %s the end', (when) => {
    const run = graph({ id: 'a' });
    if (when === 'after') run.succeed('a');
    const before = run.statuses();
    run.signal('TELEPORT' as 'PAUSE', { stepId: 'a' });
    expect(run.find('SignalApplied').refused).toBe('this version knows no signal "TELEPORT"');
    expect(run.statuses()).toEqual(before);
    expect(heeds(run.state, 'TELEPORT' as 'PAUSE')).toBe(false);
  });
});

describe('PAUSE and RESUME', () => {
  test('PAUSE aborts nothing: running attempts finish, and nothing new starts until RESUME', () => {
    const run = graph(...chain);
    run.signal('PAUSE');
    expect(run.state.status).toBe('Paused');
    expect(run.commands.some((command) => command.type === 'abort')).toBe(false);
    run.succeed('a');
    expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Pending' });
    run.signal('RESUME');
    expect(run.statusOf('b')).toBe('Running');
  });

  test('PAUSE holds a retry back', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2, baseDelayMs: 1_000 } });
    run.fail('a');
    run.signal('PAUSE');
    run.now = T0 + 5_000;
    expect(run.send({ type: 'timerDue' }).filter((fact) => fact.type === 'NodeStarted')).toEqual([]);
    run.signal('RESUME');
    if (run.statusOf('a') === 'Retrying') run.send({ type: 'timerDue' });
    expect(run.statusOf('a')).toBe('Running');
    expect(run.attemptsOf('a')).toBe(2);
  });

  test('an execution whose last attempt ended during the pause ends at the resume', () => {
    const run = graph({ id: 'a' });
    run.signal('PAUSE');
    run.succeed('a');
    expect(run.state.status).toBe('Paused');
    run.signal('RESUME');
    expect(run.state.status).toBe('Succeeded');
  });

  test('an unhandled failure during the pause stops the execution at the resume', () => {
    const run = graph({ id: 'root', edges: [{ to: 'a' }, { to: 'b' }] }, { id: 'a' }, { id: 'b' });
    run.succeed('root');
    run.signal('PAUSE');
    run.fail('a');
    expect(run.state.status).toBe('Paused');
    expect(run.commands.some((command) => command.type === 'abort')).toBe(false);
    run.signal('RESUME');
    expect(run.commands).toContainEqual({ type: 'abort', node: 2, attempt: 1 });
    run.succeed('b');
    expect(run.state.status).toBe('Failed');
  });

  test('an execution succeeds when a failure during the pause is retried before the resume', () => {
    const run = graph(...chain);
    run.signal('PAUSE');
    run.fail('a');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.statusOf('a')).toBe('Pending');
    run.signal('RESUME');
    run.succeed('a');
    run.succeed('b');
    expect(run.state.status).toBe('Succeeded');
  });

  test('a paused execution can be cancelled', () => {
    const run = graph(...chain);
    run.signal('PAUSE');
    run.send({ type: 'cancel', reason: 'enough' });
    run.succeed('a');
    expect(run.state.status).toBe('Cancelled');
  });
});

describe('RETRY_STEP', () => {
  test('RETRY_STEP reopens a failed run, and runs again only what the failure stopped', () => {
    const run = graph({ id: 'root', edges: [{ to: 'a' }] }, { id: 'a', edges: [{ to: 'b' }] }, { id: 'b' });
    run.succeed('root');
    run.fail('a', { retryable: false });
    expect(run.state.status).toBe('Failed');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.state.status).toBe('Running');
    expect(run.find('ExecutionReopened').generation).toBe(1);
    expect(run.statuses()).toEqual({ root: 'Succeeded', a: 'Running', b: 'Pending' });
    run.succeed('a');
    run.succeed('b');
    expect(run.state.status).toBe('Succeeded');
    expect(run.attemptsOf('root')).toBe(1);
  });

  test('RETRY_STEP gives the step a new idempotency key, and its attempts new numbers', () => {
    const run = graph({ id: 'a' });
    run.fail('a');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    const commands = run.commands.filter((command) => command.type === 'runAction');
    expect(commands.map((command) => command.attempt)).toEqual([1, 2]);
    expect(commands.map((command) => command.idempotencyKey)).toEqual([
      `${START.executionId}:a`,
      `${START.executionId}:a:1`,
    ]);
  });

  test('RETRY_STEP without force is refused when the step has no attempts left', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 1 } });
    run.fail('a');
    run.signal('RETRY_STEP', { stepId: 'a' });
    expect(run.find('SignalApplied').refused).toEqual(expect.stringMatching(/attempt/));
    expect(run.state.status).toBe('Failed');
  });

  test('RETRY_STEP without force is applied when attempts are left', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2 } });
    run.fail('a', { retryable: false });
    run.signal('RETRY_STEP', { stepId: 'a' });
    expect(run.statusOf('a')).toBe('Running');
    run.fail('a');
    expect(run.statusOf('a')).toBe('Failed');
  });

  test('RETRY_STEP restores the nodes that fail fast skipped and cancelled elsewhere', () => {
    const run = graph(
      { id: 'root', edges: [{ to: 'a' }, { to: 'b' }] },
      { id: 'a', edges: [{ to: 'd' }] },
      { id: 'b', edges: [{ to: 'c' }] },
      { id: 'c', edges: [{ to: 'd' }] },
      { id: 'd' },
    );
    run.succeed('root');
    run.fail('a');
    run.succeed('b');
    expect(run.statuses()).toEqual({ root: 'Succeeded', a: 'Failed', b: 'Succeeded', c: 'Skipped', d: 'Skipped' });
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.statusOf('c')).toBe('Running');
    run.succeed('c');
    run.succeed('a');
    run.succeed('d');
    expect(run.state.status).toBe('Succeeded');
    expect(run.attemptsOf('b')).toBe(1);
  });

  test('RETRY_STEP starts a step that waits for its next attempt at once', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2, baseDelayMs: 60_000 } });
    run.fail('a');
    run.signal('RETRY_STEP', { stepId: 'a' });
    expect(run.statusOf('a')).toBe('Running');
    run.succeed('a');
    expect(run.state.status).toBe('Succeeded');
  });

  test('RETRY_STEP starts nothing during a pause', () => {
    const run = graph({ id: 'a', retry: { maxAttempts: 2, baseDelayMs: 60_000 } });
    run.fail('a');
    run.signal('PAUSE');
    run.signal('RETRY_STEP', { stepId: 'a' });
    expect(run.attemptsOf('a')).toBe(1);
    run.signal('RESUME');
    expect(run.statusOf('a')).toBe('Running');
  });

  test('RETRY_STEP reopens a cancelled run at a step that was cancelled', () => {
    const run = graph(...chain);
    run.send({ type: 'cancel', reason: 'wrong button' });
    run.fail('a', { aborted: true, retryable: false });
    expect(run.state.status).toBe('Cancelled');
    run.signal('RETRY_STEP', { stepId: 'a' });
    run.succeed('a');
    run.succeed('b');
    expect(run.state.status).toBe('Succeeded');
  });

  test('RETRY_STEP leaves the run failed while another step has failed', () => {
    const run = startRun({ format: 'plan', nodes: [{ id: 'a' }, { id: 'b' }] });
    run.fail('a');
    run.fail('b');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    run.succeed('a');
    expect(run.state.status).toBe('Failed');
    run.signal('RETRY_STEP', { stepId: 'b', force: true });
    run.succeed('b');
    expect(run.state.status).toBe('Succeeded');
  });

  test('RETRY_STEP of all failed nodes together reopens the run once', () => {
    const run = startRun({ format: 'plan', nodes: [{ id: 'a' }, { id: 'b' }, { id: 'c', needs: ['a', 'b'] }] });
    run.fail('a');
    run.fail('b');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    run.signal('RETRY_STEP', { stepId: 'b', force: true });
    run.succeed('a');
    run.succeed('b');
    run.succeed('c');
    expect(run.state.status).toBe('Succeeded');
    expect(run.state.generation).toBe(1);
  });

  test('RETRY_STEP restores the skipped steps of a completed pipeline', () => {
    const nodes = [{ id: 'a' }, { id: 'b', needs: ['a'] }, { id: 'c', needs: ['b'] }];
    const run = startRun({ format: 'pipeline', nodes });
    run.fail('a');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.statuses()).toEqual({ a: 'Running', b: 'Pending', c: 'Pending' });
    run.succeed('a');
    expect(run.statusOf('b')).toBe('Running');
  });

  test('RETRY_STEP gives a run with a deadline a new deadline', () => {
    const run = startRun({ format: 'graph', nodes: [{ id: 'a' }], timeoutMs: 1_000 });
    run.fail('a');
    run.now = T0 + 50_000;
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.find('ExecutionReopened').deadline).toBe(T0 + 51_000);
    run.succeed('a');
    expect(run.state.status).toBe('Succeeded');
  });
});

describe('UPDATE_PARAMS', () => {
  test('UPDATE_PARAMS is merged shallowly into attempts that have not started', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 'b' }] },
      { id: 'b', parameters: { deep: { x: 1, y: 2 }, kept: true }, retry: { maxAttempts: 2 } },
    );
    run.signal('UPDATE_PARAMS', { stepId: 'b', newParams: { deep: { x: 9 } } });
    run.succeed('a');
    run.signal('UPDATE_PARAMS', { stepId: 'b', newParams: { more: 1 } });
    run.fail('b');
    run.ring();
    expect(run.paramsOf('b')).toEqual([
      { deep: { x: 9 }, kept: true },
      { deep: { x: 9 }, kept: true, more: 1 },
    ]);
  });

  test('UPDATE_PARAMS replaces parameters that are not an object', () => {
    const run = graph({ id: 'a', edges: [{ to: 'b' }] }, { id: 'b', parameters: '{{ trigger.value }}' });
    run.signal('UPDATE_PARAMS', { stepId: 'b', newParams: { n: 1 } });
    run.succeed('a');
    expect(run.paramsOf('b')).toEqual([{ n: 1 }]);
  });

  test('UPDATE_PARAMS without a step changes every node that has not started', () => {
    const run = graph(
      { id: 'a', parameters: { own: 'a' }, edges: [{ to: 'b' }] },
      { id: 'b', parameters: { own: 'b' } },
    );
    run.signal('UPDATE_PARAMS', { newParams: { region: 'eu' } });
    run.succeed('a');
    expect(run.paramsOf('a')).toEqual([{ own: 'a' }]);
    expect(run.paramsOf('b')).toEqual([{ own: 'b', region: 'eu' }]);
  });
});

describe('signals to an ended execution before it is reopened', () => {
  const failed = () => {
    const run = graph({ id: 'a', parameters: { region: 'eu' } });
    run.fail('a', { retryable: false });
    return run;
  };

  const corrections = [
    ['UPDATE_PARAMS', { stepId: 'a', newParams: { region: 'us' } }],
    ['INJECT_OVERRIDE', { stepId: 'a', override: { region: 'us' } }],
  ] as const;

  test.each(corrections)('%s applies when the execution is reopened', (signal, payload) => {
    const run = failed();
    run.signal(signal, { ...payload });
    expect(run.state.status).toBe('Failed');
    run.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(run.paramsOf('a')).toEqual([{ region: 'eu' }, { region: 'us' }]);
  });

  test.each(corrections)('%s does not change a succeeded step until that step runs again', (signal, payload) => {
    const run = graph({ id: 'a', parameters: { region: 'eu' } });
    run.succeed('a');
    expect(run.signal(signal, { ...payload })).toMatchObject([{ type: 'SignalApplied' }]);
    expect(run.find('SignalApplied')).not.toHaveProperty('refused');
    expect(run.state.status).toBe('Succeeded');
    run.signal('RERUN_FROM', { stepId: 'a' });
    expect(run.paramsOf('a')).toEqual([{ region: 'eu' }, { region: 'us' }]);
  });

  test('a signal that cannot apply to an ended execution is refused', () => {
    const run = failed();
    run.signal('UPDATE_PARAMS', { stepId: 'b', newParams: {} });
    expect(run.find('SignalApplied').refused).toBe('no step "b"');
    const given = graph(...chain);
    evolve(given.state, { type: 'ExecutionFailed', error: { code: 'POISON', message: 'the engine gave up' } });
    given.signal('UPDATE_PARAMS', { stepId: 'b', newParams: {} });
    expect(given.find('SignalApplied').refused).toBe('the execution has ended (Failed)');
  });
});

describe('INJECT_OVERRIDE', () => {
  test('INJECT_OVERRIDE applies to the next attempt only', () => {
    const run = graph({ id: 'a', parameters: { mode: 'normal' }, retry: { maxAttempts: 3 } });
    run.signal('INJECT_OVERRIDE', { stepId: 'a', override: { mode: 'safe' } });
    run.fail('a');
    run.ring();
    run.fail('a');
    run.ring();
    expect(run.paramsOf('a')).toEqual([{ mode: 'normal' }, { mode: 'safe' }, { mode: 'normal' }]);
  });

  test('INJECT_OVERRIDE before the first attempt applies to the first attempt only', () => {
    const run = graph(
      { id: 'a', edges: [{ to: 'b' }] },
      { id: 'b', parameters: { mode: 'normal' }, retry: { maxAttempts: 2 } },
    );
    run.signal('INJECT_OVERRIDE', { stepId: 'b', override: { mode: 'safe', once: true } });
    run.succeed('a');
    run.fail('b');
    run.ring();
    expect(run.paramsOf('b')).toEqual([{ mode: 'safe', once: true }, { mode: 'normal' }]);
  });

  test('INJECT_OVERRIDE takes precedence over UPDATE_PARAMS', () => {
    const run = graph(...chain);
    run.signal('INJECT_OVERRIDE', { stepId: 'b', override: { mode: 'safe' } });
    run.signal('UPDATE_PARAMS', { stepId: 'b', newParams: { mode: 'fast', more: 1 } });
    run.succeed('a');
    expect(run.paramsOf('b')).toEqual([{ mode: 'safe', more: 1 }]);
  });
});

test('ESCALATE_ALERT is recorded and changes nothing else', () => {
  const run = graph(...chain);
  const before = run.statuses();
  run.signal('ESCALATE_ALERT', { level: 'LOW' });
  expect(run.statuses()).toEqual(before);
  expect(run.state.status).toBe('Running');
});
