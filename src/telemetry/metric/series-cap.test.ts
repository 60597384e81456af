import { expect, it } from 'vitest';
import { largest, seriesCap } from './series-cap.ts';

it('the first names keep their own series, and all others share one', () => {
  const named = seriesCap(2);
  expect(['a', 'b', 'c', 'a', 'd'].map(named)).toEqual(['a', 'b', 'other', 'a', 'other']);
});

it('the largest counts keep their names, and the rest is added up', () => {
  const counts = new Map(Object.entries({ a: 1, b: 5, c: 2, d: 4 }));
  expect(largest(counts, 2)).toEqual([
    ['b', 5],
    ['d', 4],
    ['other', 3],
  ]);
  expect(largest(counts, 4)).toEqual([...counts]);
});
