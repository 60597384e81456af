import { expect, it } from 'vitest';
import { ERROR_CATEGORIES, errorCategory } from './category.ts';
import { ERROR_CODES } from './codes.ts';

it('every error code belongs to one of the categories', () => {
  for (const code of Object.keys(ERROR_CODES)) expect(ERROR_CATEGORIES).toContain(errorCategory(code));
});

it.each([
  ['TEMPLATE_ERROR', 'VALIDATION'],
  ['ATTEMPT_TIMEOUT', 'TIMEOUT'],
  ['POISON', 'ENGINE'],
  ['NO_LUCK', 'ACTION'],
  ['constructor', 'ACTION'],
])('%s is %s', (code, category) => {
  expect(errorCategory(code)).toBe(category);
});
