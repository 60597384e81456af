import { expect, test } from 'vitest';
import { contextSnapshot } from './snapshot.ts';
import { startRun } from './test-run.testing.ts';

const NODES = [
  { id: 'a', edges: [{ to: 'b' }, { to: 'c', condition: 'false' }], retain: true },
  { id: 'b', retain: true },
  { id: 'c', retain: true },
];

function ended(snapshot: Parameters<typeof startRun>[0]['snapshot']) {
  const run = startRun({ format: 'graph', nodes: NODES, ...(snapshot === undefined ? {} : { snapshot }) });
  run.succeed('a', { item: 1 });
  run.succeed('b', ['x']);
  return run.state;
}

test('a full snapshot holds the data of every node', () => {
  expect(contextSnapshot(ended({ mode: 'Full' }))).toEqual({ a: { item: 1 }, b: ['x'] });
});

test('a snapshot of keys holds only keys that have data', () => {
  const state = ended({ mode: 'KeysOnly', keysToInclude: ['b', 'c', 'nobody'] });
  expect(contextSnapshot(state)).toEqual({ b: ['x'] });
});

test('a snapshot holds status, size and type of dropped outputs that it was to include', () => {
  const room = { maxContextSizeBytes: 12, overflowBehavior: 'DropOversize' } as const;
  const dropped = { status: 'Succeeded', bytes: 5, type: 'array' };
  expect(contextSnapshot(ended({ mode: 'Full', ...room }))).toEqual({ a: { item: 1 }, b: dropped });
  expect(contextSnapshot(ended({ mode: 'KeysOnly', keysToInclude: ['b', 'c'], ...room }))).toEqual({ b: dropped });
  const pruning = { ...room, overflowBehavior: 'AutoPruneOldest' } as const;
  expect(contextSnapshot(ended({ mode: 'Full', ...pruning }))).toEqual({ b: ['x'] });
});

test('a summary snapshot holds status, size and type, and no data', () => {
  expect(contextSnapshot(ended({ mode: 'SummaryOnly' }))).toEqual({
    a: { status: 'Succeeded', bytes: 10, type: 'object' },
    b: { status: 'Succeeded', bytes: 5, type: 'array' },
    c: { status: 'Skipped' },
  });
});
