import { expect, it } from 'vitest';
import type { Problem } from './problem.ts';
import { below, templateRefusal } from './template-refusal.ts';

const problem = (more: Partial<Problem>): Problem =>
  ({ severity: 'error', code: 'BAD', path: '/a', message: 'is bad', ...more }) as Problem;

it('a refusal gives the first problem with its place, and the number of the others', () => {
  const placed = problem({ line: 2, column: 7 });
  expect(templateRefusal('the template', [placed]).message).toBe('the template: is bad (at line 2, column 7)');
  expect(templateRefusal('the template', [problem({}), placed]).message).toBe(
    'the template: is bad (at /a), and 1 more',
  );
});

it('the problems of a part have paths below the path of the part', () => {
  expect(below('/fields', [problem({})])).toMatchObject([{ path: '/fields/a' }]);
});
