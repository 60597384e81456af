import { expect, it } from 'vitest';
import { MAX_WAITING_SPANS, SpanQueue } from './span-queue.ts';

it('the span queue reports when it begins to drop spans, and how many it dropped', () => {
  const said: unknown[] = [];
  const queue = new SpanQueue((event, details) => said.push([event, details]));
  for (let count = 0; count < MAX_WAITING_SPANS; count++) expect(queue.takes()).toBe(true);
  expect(said).toEqual([]);
  for (let count = 0; count < 3; count++) expect(queue.takes()).toBe(false);
  expect(said).toEqual([['spans are dropped: the collector is too slow for them', { waiting: MAX_WAITING_SPANS }]]);
  queue.left(512);
  expect(queue.takes()).toBe(true);
  expect(said).toHaveLength(1);
  queue.left(MAX_WAITING_SPANS / 2);
  expect(said.at(-1)).toEqual(['spans were dropped', { spans: 3 }]);
});
