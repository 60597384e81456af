// Evaluates the examples of docs/expressions.md, and compares its lists with the tables.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ARRAY_METHODS, CALLBACK_METHODS, SORT_METHODS } from './array-methods.ts';
import { evaluate } from './evaluate.ts';
import { FUNCTIONS, NUMBER_METHODS } from './functions.ts';
import { parseExpression } from './parse.ts';
import { STRING_METHODS } from './string-methods.ts';

const page = readFileSync(new URL('../../../docs/expressions.md', import.meta.url), 'utf8');
const [, block = ''] = /^```\n(.*?)^```$/ms.exec(page) ?? [];
const [, given = ''] = /`trigger` = `(.*?)`/.exec(page) ?? [];

it.each(block.trimEnd().split('\n'))('the example of docs/expressions.md is right: %s', (line) => {
  const [source, value] = line.split(' → ') as [string, string];
  const parsed = parseExpression(source.trimEnd(), { roots: ['trigger'], dialect: 'javascript' });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  expect(evaluate(parsed.expr, { trigger: JSON.parse(given) })).toEqual(JSON.parse(value));
});

it.each<[string, Iterable<string>]>([
  ['Texts', ['length', ...STRING_METHODS.keys()]],
  ['Lists', ['length', ...ARRAY_METHODS.keys(), ...CALLBACK_METHODS.keys(), ...SORT_METHODS]],
  ['Numbers', NUMBER_METHODS.keys()],
  ['Functions', [...FUNCTIONS.keys()].filter((name) => !name.startsWith('Math.'))],
])('the page docs/expressions.md names all of the %s', (title, known) => {
  const [, item = ''] = new RegExp(`^- \\*\\*${title}\\*\\*: (.*?)\\.$`, 'ms').exec(page) ?? [];
  const [named = ''] = item.split(/, and those|\.\s/);
  expect([...named.matchAll(/`([\w.]+)`/g)].map(([, name]) => name).sort()).toEqual([...known].sort());
});
