import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseExpression } from './parse.ts';
import { readPlainPath } from './plain-path.ts';

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
const source = fc
  .tuple(
    fc.constantFrom('', ' ', '\n'),
    fc.constantFrom('trigger', 'context', 'tasks', 'nobody', 'undefined'),
    fc.array(step, { maxLength: 6 }),
    fc.constantFrom('', ' ', '\t\n', ' x', ' + 1', '()'),
  )
  .map(([before, root, steps, after]) => `${before}${root}${steps.join('')}${after}`);

test.each(['javascript', 'pipeline'] as const)('reads what the parser reads, in %s', (dialect) => {
  fc.assert(
    fc.property(source, (text) => {
      // A comment is nothing to the parser, and too much for the plain reader.
      const parsed = parseExpression(`${text}/**/`, { roots: ROOTS, dialect });
      const read = parseExpression(text, { roots: ROOTS, dialect });
      expect(read.ok).toBe(parsed.ok);
      if (read.ok && parsed.ok) expect(read.expr).toEqual(parsed.expr);
    }),
    { numRuns: 2_000 },
  );
});

test('reads plain paths by itself, and leaves the rest to the parser', () => {
  expect(readPlainPath(" context.data['get-item'].items[0]\n", ROOTS)).not.toBeNull();
  for (const text of ['a.b', 'trigger.x + 1', 'trigger?.x', 'trigger.__proto__', `trigger${'.a'.repeat(60)}`]) {
    expect(readPlainPath(text, ROOTS)).toBeNull();
  }
});
