import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { loan, loanPolicies } from './loan.testing.ts';

const ROOT = join(import.meta.dirname, '../../..');
const readJson = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as object;
const ajv = new Ajv2020();

it.each([
  ['lifecycle', 'loan.json', loan()],
  ['policies', 'loan-policies.json', loanPolicies()],
])('the JSON Schema of a %s accepts the example, and refuses a misspelt field', (format, example, other) => {
  const validate = ajv.compile(readJson(`schemas/${format}.schema.json`));
  expect(validate(readJson(`examples/lifecycle/${example}`)) || validate.errors).toBe(true);
  expect(validate(other)).toBe(true);
  expect(validate({ ...other, statess: {} })).toBe(false);
  expect(validate({ ...other, env: 7 })).toBe(false);
});
