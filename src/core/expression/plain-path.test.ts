import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExpression } from './parse.ts';
import { readPlainly } from './plain-path.ts';

const ROOTS = ['trigger', 'context', 'tasks'];

const step = fc.oneof(
  fc.constantFrom('.a', '.data', '.class', '.$x', "['get-item']", "['']", "['a b']", '[0]', '[12]', '["x"]', "['0']"),
  fc.constantFrom(
    '.constructor',
    "['__proto__']",
    '[01]',
    '[1.5]',
    '[-1]',
    "['a\\n']",
    '.2',
    '?.a',
    ' .a',
    '[x]',
    '.é',
  ),
);
const operator = fc.constantFrom('===', '!==', '==', '!=', '>=', '<=', '>', '<', '=', '+', '=>', '<<', '>>>', '-');
const literal = fc.constantFrom(
  "'Approved'",
  "''",
  '200',
  '0',
  '1.5',
  '01',
  '1.',
  '1e3',
  '9007199254740993',
  'true',
  'false',
  'null',
  'trues',
  '-1',
  "'a\\'b'",
  '"x"',
  'trigger',
  '1_000',
  '2n',
);
const comparison = fc
  .tuple(fc.constantFrom('', ' '), operator, fc.constantFrom('', ' ', '\n'), literal)
  .map((parts) => parts.join(''));
const source = fc
  .tuple(
    fc.constantFrom('', ' ', '\n'),
    fc.constantFrom('trigger', 'context', 'tasks', 'nobody', 'undefined'),
    fc.array(step, { maxLength: 6 }),
    fc.oneof(fc.constantFrom('', ' ', '\t\n', ' x', ' + 1', '()'), comparison, comparison),
    fc.constantFrom('', '', ' ', ' && true'),
  )
  .map(([before, root, steps, ...after]) => `${before}${root}${steps.join('')}${after.join('')}`);

test.each(['javascript', 'pipeline'] as const)('the plain reader reads what the parser reads, in %s', (dialect) => {
  fc.assert(
    fc.property(source, (text) => {
      // A comment is nothing to the parser, and too much for the plain reader.
      const parsed = parseExpression(`${text}/**/`, { roots: ROOTS, dialect });
      const read = parseExpression(text, { roots: ROOTS, dialect });
      expect(read.ok).toBe(parsed.ok);
      if (read.ok && parsed.ok) expect(read.expr).toEqual(parsed.expr);
    }),
    { numRuns: 5_000 },
  );
});

test('the plain reader reads plain paths, and leaves the rest to the parser', () => {
  expect(readPlainly(" context.data['get-item'].items[0]\n", ROOTS)).not.toBeNull();
  expect(readPlainly("context.data['get-item'].items[0].Status === 'Approved'", ROOTS)).not.toBeNull();
  expect(readPlainly('tasks.charge.status_code == 200', ROOTS)).not.toBeNull();
  for (const text of [
    'a.b',
    'trigger.x === y',
    "trigger.x === 'a' || true",
    'trigger.x + 1',
    'trigger?.x',
    'trigger.__proto__',
    `trigger${'.a'.repeat(60)}`,
  ]) {
    expect(readPlainly(text, ROOTS)).toBeNull();
  }
});
