import { expect, test } from 'vitest';
import { evolve } from './evolve.ts';
import { createRun, startRun } from './test-run.testing.ts';

const GAVE_UP = { code: 'POISON', message: 'deciding failed' };

test('an execution that has not ended cannot be reopened', () => {
  const run = startRun({ format: 'graph', nodes: [{ id: 'a' }] });
  expect(run.send({ type: 'reopened' })).toEqual([]);
});

test('a reopened execution restarts the nodes that were running when the engine gave up, and no others', () => {
  const run = startRun({
    format: 'graph',
    nodes: [
      { id: 'a', edges: [{ to: 'b' }, { to: 'c' }] },
      { id: 'b', edges: [{ to: 'd' }] },
      { id: 'c', edges: [{ to: 'd' }] },
      { id: 'd' },
    ],
  });
  run.succeed('a');
  run.succeed('b');
  run.send({ type: 'giveUp', error: GAVE_UP });
  run.now += 10_000;
  run.send({ type: 'timerDue' });
  expect(run.state.status).toBe('Failed');

  run.send({ type: 'reopened' });
  expect(run.statuses()).toEqual({ a: 'Succeeded', b: 'Succeeded', c: 'Running', d: 'Pending' });
  run.succeed('c');
  run.succeed('d');
  expect(run.state.status).toBe('Succeeded');
});

test('reopening retries the failure that ended the run, not a handled failure or a branch not taken', () => {
  const run = startRun({
    format: 'graph',
    nodes: [
      { id: 'a', edges: [{ to: 'x', condition: 'false' }, { to: 'b' }, { to: 'c' }] },
      { id: 'x' },
      { id: 'b', onFailure: 'handler' },
      { id: 'handler' },
      { id: 'c' },
    ],
  });
  run.succeed('a');
  run.fail('b', { retryable: false });
  run.succeed('handler');
  run.fail('c', { retryable: false, timedOut: true });
  expect(run.state.status).toBe('Failed');

  run.send({ type: 'reopened' });
  expect(run.statuses()).toEqual({ a: 'Succeeded', x: 'Skipped', b: 'Failed', handler: 'Succeeded', c: 'Running' });
  run.succeed('c');
  expect(run.state.status).toBe('Succeeded');
});

test('a reopened execution with nothing to restart ends with its old status', () => {
  const run = startRun({ format: 'pipeline', nodes: [{ id: 'a' }] });
  run.fail('a', { retryable: false });
  expect(run.state.status).toBe('Succeeded');
  run.send({ type: 'reopened' });
  expect(run.state.status).toBe('Succeeded');
  expect(run.statusOf('a')).toBe('Failed');
});

test('nodes that were running or not started go on after the engine itself failed the execution', () => {
  const run = startRun({ format: 'graph', nodes: [{ id: 'a', edges: [{ to: 'b' }] }, { id: 'b' }] });
  evolve(run.state, { type: 'ExecutionFailed', error: GAVE_UP });
  run.send({ type: 'reopened' });
  expect(run.statuses()).toEqual({ a: 'Running', b: 'Pending' });
  expect(run.attemptsOf('a')).toBe(2);
  run.succeed('a');
  run.succeed('b');
  expect(run.state.status).toBe('Succeeded');
});

test('a reopened execution that never started starts now', () => {
  const run = createRun({ format: 'graph', nodes: [{ id: 'a' }] });
  evolve(run.state, { type: 'ExecutionFailed', error: GAVE_UP });
  run.send({ type: 'reopened' });
  expect(run.state.startedAt).toBe(run.now);
  run.succeed('a');
  expect(run.state.status).toBe('Succeeded');
});
