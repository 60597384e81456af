import { expect, it } from 'vitest';
import type { Problem } from '../problem/problem.ts';
import { requestInvalid, requestProblems } from './request-invalid.ts';

const problems = (count: number): Problem[] =>
  Array.from({ length: count }, (_, index) => ({ code: 'BAD', path: `/${index}`, message: 'is bad' }));

it('the message gives the first problem, and the number of the others', () => {
  expect(requestInvalid(problems(1))).toMatchObject({ code: 'REQUEST_INVALID', message: '/0 is bad' });
  expect(requestInvalid(problems(3))).toMatchObject({ message: '/0 is bad (and 2 more)', details: problems(3) });
  expect(requestInvalid([{ code: 'BAD', path: '', message: 'is bad' }]).message).toBe('is bad');
});

it('a list of problems that were added one by one is accepted', () => {
  const found = requestProblems();
  for (const problem of problems(2)) found.add(() => problem);
  expect(requestInvalid(found)).toMatchObject({ message: '/0 is bad (and 1 more)', details: problems(2) });
});

it('S4: an error has at most 100 details, and one that counts the rest', () => {
  const { message, details } = requestInvalid(problems(60_000));
  expect(message).toBe('/0 is bad (and 59999 more)');
  expect(details).toHaveLength(101);
  expect((details as Problem[]).at(-1)).toMatchObject({ code: 'MORE_PROBLEMS', message: 'and 59900 more problems' });
});
