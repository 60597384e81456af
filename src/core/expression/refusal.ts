// Constructs of JavaScript that expressions do not have, and the alternative to each. Data only: convert.ts refuses every unknown
// node, and takes better words from here.

import type { Finding } from './problem.ts';

/** By the parser's node type. */
export const REFUSED_NODES: ReadonlyMap<string, Omit<Finding, 'code'>> = new Map([
  [
    'ArrowFunctionExpression',
    {
      message: 'A function can only be an argument of an array method',
      hint: 'e.g. `items.filter(item => item.active)`',
    },
  ],
  ['AwaitExpression', { message: '`await` is not available', hint: 'expressions only compute; use a node to wait' }],
  ['ClassExpression', { message: 'Classes are not available' }],
  [
    'FunctionExpression',
    { message: '`function` is not available', hint: 'write an arrow function: `item => item.name`' },
  ],
  ['ImportExpression', { message: '`import()` is not available', hint: 'expressions only see their scope' }],
  ['MetaProperty', { message: '`import.meta` and `new.target` are not available' }],
  ['NewExpression', { message: '`new` is not available', hint: 'expressions work on JSON values only' }],
  ['SequenceExpression', { message: 'The comma operator is not available', hint: 'write one expression' }],
  ['Super', { message: '`super` is not available' }],
  [
    'TaggedTemplateExpression',
    { message: 'Tagged templates are not available', hint: 'write the template literal without a tag' },
  ],
  ['ThisExpression', { message: '`this` is not available', hint: 'start from a name of the scope' }],
  ['UpdateExpression', { message: '`++` and `--` would change data', hint: 'write `+ 1` or `- 1`' }],
  ['YieldExpression', { message: '`yield` is not available' }],
]);

/** By operator. */
export const REFUSED_OPERATORS: ReadonlyMap<string, string> = new Map([
  ['&', 'did you mean `&&`?'],
  ['|', 'did you mean `||`?'],
  ['~', 'did you mean `!`?'],
  ['delete', 'expressions cannot change data'],
  ['instanceof', 'use `typeof` or `Array.isArray`'],
  ['void', 'write `undefined`'],
]);

/** By method or function name, where a near miss would mislead. */
export const REFUSED_CALLS: ReadonlyMap<string, string> = new Map([
  ...['push', 'unshift'].map((name) => [name, 'it would change data; use `concat` or `[...items, item]`'] as const),
  ...['pop', 'shift', 'splice', 'fill', 'copyWithin'].map(
    (name) => [name, 'it would change data; use `slice`'] as const,
  ),
  ...['match', 'matchAll', 'search'].map(
    (name) => [name, 'regular expressions are not available; use `includes`, `startsWith` or `split`'] as const,
  ),
  ...['localeCompare', 'toLocaleString', 'toLocaleLowerCase', 'toLocaleUpperCase'].map(
    (name) => [name, 'the result would depend on the machine'] as const,
  ),
  ['forEach', 'use `map`'],
  ['Math.random', 'the same expression must always give the same value'],
  ['Date.now', 'expressions have no clock; take times from the scope'],
  ['Date', 'expressions have no clock; take times from the scope'],
  ['Object.assign', 'write `{ ...first, ...second }`'],
  ['eval', 'code is never run from data'],
  ['Function', 'code is never run from data'],
  ['require', 'expressions only see their scope'],
  ['fetch', 'use a node to call an API'],
]);

/**
 * Names that lead to code in JavaScript. Reading is limited to own properties anyway; a literal use of these names is
 * refused.
 */
export const FORBIDDEN_MEMBERS: ReadonlySet<string> = new Set([
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  '__proto__',
  'constructor',
  'prototype',
]);

/** Words that begin a statement. The parser would only say "unexpected token". */
export const STATEMENT_WORDS: ReadonlySet<string> = new Set([
  'break',
  'case',
  'catch',
  'const',
  'continue',
  'debugger',
  'do',
  'export',
  'for',
  'if',
  'import',
  'let',
  'return',
  'switch',
  'throw',
  'try',
  'var',
  'while',
  'with',
]);
