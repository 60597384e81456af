import { expect, it } from 'vitest';
import type { Problem } from './problem.ts';
import { ProblemList } from './problem-list.ts';

function listOf(count: number, max: number) {
  const list = new ProblemList(max);
  const made: number[] = [];
  for (let index = 0; index < count; index++) {
    list.add((): Problem => {
      made.push(index);
      return { code: 'BAD', path: `/${index}`, message: 'is bad' };
    });
  }
  return { list, made };
}

it('a list within its limit holds all problems', () => {
  const { list } = listOf(2, 2);
  expect(list.all().map(({ path }) => path)).toEqual(['/0', '/1']);
});

it('S4: a list builds only the first problems, and counts the rest', () => {
  const { list, made } = listOf(60_000, 2);
  expect(made).toEqual([0, 1]);
  expect(list.count).toBe(60_000);
  expect(list.all().at(-1)).toEqual({ code: 'MORE_PROBLEMS', path: '', message: 'and 59998 more problems' });
  expect(listOf(3, 2).list.all().at(-1)!.message).toBe('and 1 more problem');
});
