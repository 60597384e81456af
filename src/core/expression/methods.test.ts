// Every method and function of the tables, each with a value JavaScript gives. The comparison with JavaScript itself is in
// differential.test.ts; this is the list to read.

import { describe, expect, test } from 'vitest';
import { ARRAY_METHODS, CALLBACK_METHODS, SORT_METHODS } from './array-methods.ts';
import { evaluate } from './evaluate.ts';
import { FUNCTIONS, NUMBER_METHODS } from './functions.ts';
import { parseExpression } from './parse.ts';
import { STRING_METHODS } from './string-methods.ts';

const CASES: readonly (readonly [string, unknown])[] = [
  ["'abc'.at(-1)", 'c'],
  ["'abc'.charAt(1)", 'b'],
  ["'abc'.charCodeAt(0)", 97],
  ["'😀'.codePointAt(0)", 128512],
  ["'a'.concat('b', 1, null)", 'ab1null'],
  ["'abc'.endsWith('bc')", true],
  ["'abc'.includes('d')", false],
  ["'abcabc'.indexOf('b', 2)", 4],
  ["'abcabc'.lastIndexOf('b')", 4],
  ["'a'.padEnd(3, 'xy')", 'axy'],
  ["'a'.padStart(3)", '  a'],
  ["'ab'.repeat('2')", 'abab'],
  ["'aa'.replace('a', '[$&]')", '[a]a'],
  ["'aXaXa'.replaceAll('X', '')", 'aaa'],
  ["'ab'.replaceAll('', '-')", '-a-b-'],
  ["'abcd'.slice(1, -1)", 'bc'],
  ["'a,b,c'.split(',', 2)", ['a', 'b']],
  ["'abc'.split()", ['abc']],
  ["'abc'.split('')", ['a', 'b', 'c']],
  ["'abc'.startsWith('b', 1)", true],
  ["'abcd'.substring(3, 1)", 'bc'],
  ["'ÀB'.toLowerCase()", 'àb'],
  ["'x'.toString()", 'x'],
  ["'straße'.toUpperCase()", 'STRASSE'],
  ["' a '.trim()", 'a'],
  ["' a '.trimEnd()", ' a'],
  ["' a '.trimStart()", 'a '],
  ['[1, 2, 3].at(-1)', 3],
  ['[1].concat([2, [3]], 4)', [1, 2, [3], 4]],
  ['[1, [2, [3]]].flat()', [1, 2, [3]]],
  ["[1, [2, [3]]].flat('2')", [1, 2, 3]],
  ["[1, [2]].flat('none')", [1, [2]]],
  ['[1, NaN].includes(NaN)', true],
  ['[1, 2, 1].indexOf(1, 1)', 2],
  ["[1, null, 'a'].join()", '1,,a'],
  ["[1, [2, [null]], {}].join(' ')", '1 2, [object Object]'],
  ['[1, 2, 1].lastIndexOf(1)', 2],
  ['[1, 2].reverse()', [2, 1]],
  ['[1, 2, 3].slice(1)', [2, 3]],
  ['[1, 2].toReversed()', [2, 1]],
  ['[1, [2]].toString()', '1,2'],
  ['[1, 2].every(x => x > 0)', true],
  ['[1, 2, 3].filter((x, i) => i > 0)', [2, 3]],
  ['[1, 2, 3].find(x => x > 1)', 2],
  ['[1, 2, 3].findIndex(x => x > 1)', 1],
  ['[1, 2, 3].findLast(x => x < 3)', 2],
  ['[1, 2, 3].findLastIndex(x => x < 3)', 1],
  ['[1, 2].flatMap(x => [x, [x]])', [1, [1], 2, [2]]],
  ['[1, 2].map((x, i, all) => x + i + all.length)', [3, 5]],
  ['[1, 2, 3].reduce((a, b) => a - b)', -4],
  ["['a', 'b'].reduceRight((text, x, i, all) => text + x + i + all.length, '')", 'b12a02'],
  ['[1, 2].some(x => x > 1)', true],
  ["['b', undefined, 'a', 'b'].sort()", ['a', 'b', 'b', undefined]],
  ['[1, 10, 2].toSorted((a, b) => b - a)', [10, 2, 1]],
  ['(1234.5).toExponential(1)', '1.2e+3'],
  ['(1.005).toFixed(2)', '1.00'],
  ['(1234.5).toPrecision(2)', '1.2e+3'],
  ['(255).toString(16)', 'ff'],
  ['Array.isArray([])', true],
  ["Boolean('')", false],
  ["JSON.stringify({ a: [1, 'x'] })", '{"a":[1,"x"]}'],
  ["Number(' 12 ')", 12],
  ["Number.isFinite('1')", false],
  ['Number.isInteger(1.5)', false],
  ['Number.isNaN(NaN)', true],
  ['Number.isSafeInteger(2 ** 53)', false],
  ["Number.parseFloat('1.5kg')", 1.5],
  ["Number.parseInt('ff', 16)", 255],
  [
    'Object.entries({ a: 1, b: [2] })',
    [
      ['a', 1],
      ['b', [2]],
    ],
  ],
  ["Object.keys('ab')", ['0', '1']],
  ['Object.values([1, 2])', [1, 2]],
  ['String([1, [2]])', '1,2'],
  ["isFinite('1')", true],
  ["isNaN('x')", true],
  ["parseFloat('.5')", 0.5],
  ["parseInt('12px')", 12],
  ["encodeURIComponent('a/b c')", 'a%2Fb%20c'],
  ["Math.max([5], '7', null)", 7],
  ['Math.hypot(3, 4)', 5],
  ['Math.pow(2, 10)', 1024],
  ['6 * 7 / 2 % 4 - 2 ** 3', -7],
  ["'3' * '2' - null + true", 7],
  ["[2] * '3'", 6],
  ["'b' > 'a' && 2 <= '10' && !(undefined >= 0)", true],
  ['[1] + 1 + {} + null', '11[object Object]null'],
  ["true == 1 && 'a' == ['a'] && NaN != NaN && ({}) == '[object Object]'", true],
  ["null ?? 'x'", 'x'],
  ["Date.parse('1970-01-01T00:00:01Z')", 1000],
  ['toISO(0)', '1970-01-01T00:00:00.000Z'],
  ["formatTime(0, 'yyyy', 'Z')", '1970'],
  ["JSON.parse('[1]')", [1]],
  ["Object.fromEntries([['a', 1]])", { a: 1 }],
  ["base64Encode('a')", 'YQ=='],
  ["base64Decode('YQ==')", 'a'],
  ["groupBy([{ k: 'a' }], 'k')", { a: [{ k: 'a' }] }],
  ["keyBy([{ k: 'a' }], 'k')", { a: { k: 'a' } }],
  ["sha256('').slice(0, 8)", 'e3b0c442'],
  ["hmacSha256('', '').slice(0, 8)", 'b613679a'],
];

describe('methods and functions', () => {
  test.each(CASES)('the expression gives the expected value: %s', (source, expected) => {
    const parsed = parseExpression(source, { roots: [], dialect: 'javascript' });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    expect(evaluate(parsed.expr, {})).toEqual(expected);
  });

  test('every method and function has a case in this test', () => {
    const methods = [STRING_METHODS, ARRAY_METHODS, CALLBACK_METHODS, NUMBER_METHODS].flatMap((table) => [
      ...table.keys(),
    ]);
    const names = [...methods, ...SORT_METHODS].map((name) => `.${name}(`);
    const functions = [...FUNCTIONS.keys()].filter((name) => !name.startsWith('Math.')).map((name) => `${name}(`);
    const missing = [...names, ...functions].filter((call) => !CASES.some(([source]) => source.includes(call)));
    expect(missing).toEqual([]);
  });

  test('Math.random is not available, and every Math function is one of JavaScript', () => {
    expect(FUNCTIONS.has('Math.random')).toBe(false);
    const unknown = [...FUNCTIONS.keys()].filter((name) => name.startsWith('Math.') && !(name.slice(5) in Math));
    expect(unknown).toEqual([]);
  });
});
