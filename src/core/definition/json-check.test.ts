import { describe, expect, it } from 'vitest';
import { codesOf, graph, node, problemsOf } from './definition.testing.ts';

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? { deeper: value } : [value];
  return value;
}

const withParameters = (parameters: unknown) => graph([node('a', { parameters })]);

describe('values that are not JSON', () => {
  it.each([undefined, () => 1, 5n, Symbol('s'), Number.NaN, Number.POSITIVE_INFINITY, new Map(), /x/])(
    'a value that is not JSON is refused: %s',
    (value) => {
      expect(codesOf(value)).toEqual(['NOT_JSON ']);
      expect(codesOf(withParameters({ x: [0, value] }))).toEqual(['NOT_JSON /nodes/0/parameters/x/1']);
    },
  );

  it('every value that is not JSON is reported, in the order of the definition', () => {
    expect(codesOf(withParameters({ b: Number.NaN, a: undefined }))).toEqual([
      'NOT_JSON /nodes/0/parameters/b',
      'NOT_JSON /nodes/0/parameters/a',
    ]);
  });
});

describe('JSON that is refused', () => {
  it('a key that could reach a prototype is refused', () => {
    expect(codesOf(withParameters(JSON.parse('{"x":{"__proto__":{"admin":true}}}')))).toEqual([
      'FORBIDDEN_KEY /nodes/0/parameters/x/__proto__',
    ]);
    expect(codesOf(withParameters({ constructor: 1, toString: 2, prototype: 3 }))).toEqual([]);
  });

  it('text that cannot be stored is refused', () => {
    expect(codesOf(withParameters({ a: 'x\0', b: '\ud800', '\0': 1, fine: '😀' }))).toEqual([
      'UNSTORABLE_TEXT /nodes/0/parameters/\0',
      'UNSTORABLE_TEXT /nodes/0/parameters/a',
      'UNSTORABLE_TEXT /nodes/0/parameters/b',
    ]);
  });

  it('JSON that is too deep is refused, even at ten thousand levels', () => {
    expect(codesOf(withParameters({ x: nested(63) }))).toEqual([]);
    expect(problemsOf(withParameters({ x: nested(64) }))).toMatchObject([{ code: 'TOO_DEEP' }]);
    expect(problemsOf(withParameters(nested(10_000)))).toMatchObject([{ code: 'TOO_DEEP' }]);
    expect(problemsOf(nested(10_000))).toMatchObject([{ code: 'TOO_DEEP' }]);
  });

  it('JSON that is too large, circular or grows by shared references is refused', () => {
    expect(codesOf(withParameters({ x: new Array(200_001).fill(1) }))).toEqual(['TOO_LARGE ']);
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    expect(problemsOf(circular)).toMatchObject([{ code: 'TOO_DEEP' }]);
    let doubled: unknown = 1;
    for (let level = 0; level < 40; level++) doubled = [doubled, doubled];
    expect(codesOf(withParameters({ doubled }))).toEqual(['TOO_LARGE ']);
  });
});
