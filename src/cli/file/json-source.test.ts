import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pointerOf } from '../../core/problem/pointer.ts';
import { type JsonSource, readJsonSource } from './json-source.ts';

function sourceOf(text: string): JsonSource {
  const result = readJsonSource(text);
  if (!result.ok) throw new Error(result.problems[0]!.message);
  return result.source;
}

const shown = (text: string, pointer: string, part: 'key' | 'value' = 'value') => {
  const { start, end } = sourceOf(text).locate(pointer, part);
  return text.slice(start, end);
};

const failure = (text: string) => {
  const result = readJsonSource(text);
  return result.ok ? null : result.problems.map(({ code, span, message }) => ({ code, at: span.start, message }));
};

describe('places in JSON text', () => {
  const text = '{ "a" : [ 1, {"b/c":"x"} ],\n "d":{"e":null,"":-1.5e3} }';

  it('the place of a pointer is that of the value, or of its key', () => {
    expect(shown(text, '/a/0')).toBe('1');
    expect(shown(text, '/a/1/b~1c')).toBe('"x"');
    expect(shown(text, '/a/1/b~1c', 'key')).toBe('"b/c"');
    expect(shown(text, '/d/')).toBe('-1.5e3');
    expect(shown(text, '/d/e')).toBe('null');
  });

  it('the place of a value too long to show is its key', () => {
    expect(shown(text, '/a')).toBe('"a"');
    expect(shown(text, '/d')).toBe('"d"');
    expect(shown(text, '/a/1')).toBe('{');
    expect(shown(text, '')).toBe('{');
  });

  it('the place of a missing value is the nearest thing around it', () => {
    expect(shown(text, '/d/missing/more')).toBe('"d"');
    expect(shown(text, '/a/7')).toBe('"a"');
    expect(shown(text, '/d/e/x')).toBe('"e"');
    expect(shown(text, '/x')).toBe('{');
  });

  it('every value of any JSON has its place, and the value equals that of JSON.parse', () => {
    const visit = (value: unknown, path: (string | number)[], text: string, source: JsonSource): void => {
      const { start, end } = source.locate(pointerOf(path), 'value');
      if (value === null || typeof value !== 'object') expect(JSON.parse(text.slice(start, end))).toEqual(value);
      else if (Array.isArray(value))
        value.forEach((item, index) => {
          visit(item, [...path, index], text, source);
        });
      else for (const [key, item] of Object.entries(value)) visit(item, [...path, key], text, source);
    };
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.constantFrom(undefined, 2, '\t'), (json, indent) => {
        const value: unknown = JSON.parse(json);
        const text = JSON.stringify(value, null, indent);
        const source = sourceOf(text);
        expect(source.value).toEqual(value);
        visit(value, [], text, source);
      }),
      { numRuns: 300 },
    );
  });
});

describe('text that is not JSON', () => {
  it.each([
    ['', 0, 'the file ends here: expected a value'],
    ['{', 1, 'the file ends here: expected a key in double quotes'],
    ['{"a":1,}', 6, 'a comma before `}` is not allowed'],
    ['[1,]', 2, 'a comma before `]` is not allowed'],
    ['[1 2]', 3, '`2` is not JSON: expected `,` or `]`'],
    ['{"a" 1}', 5, '`1` is not JSON: expected `:` after the key'],
    ["{'a':1}", 1, "`'` is not JSON: expected a key in double quotes"],
    ['{"a":1} x', 8, '`x` is not JSON: expected the end of the file'],
    ['{"a": tru}', 6, '`t` is not JSON: expected a value'],
    ['{"a":01}', 6, '`1` is not JSON: expected `,` or `}`'],
    ['["a\nb"]', 1, '`"` is not JSON: expected a value'],
    ['["\\x"]', 1, '`"` is not JSON: expected a value'],
    ['["abc', 1, '`"` is not JSON: expected a value'],
    ['[1] // no', 4, '`/` is not JSON: expected the end of the file'],
    ['[\u00a01]', 1, '`\u00a0` is not JSON: expected a value'],
    ['[[1}', 3, '`}` is not JSON: expected `,` or `]`'],
  ])('the text %j is refused at %i', (text, at, message) => {
    expect(failure(text)).toEqual([{ code: 'NOT_JSON', at, message }]);
  });

  it('text is refused exactly when JSON.parse refuses it', () => {
    const parses = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b\\n"',
      '"',
      '\\',
      '1',
      '-',
      '0',
      '.5',
      'e1',
      ' ',
    );
    const word = fc.constantFrom('true', 'null', 'nul', '\n', '\u00e9', '"\\u00e9"', '"\t"', "'");
    fc.assert(
      fc.property(fc.array(fc.oneof(token, token, word), { maxLength: 9 }), (tokens) => {
        const text = tokens.join('');
        const problems = failure(text);
        const refused = problems?.some(({ code }) => code === 'NOT_JSON') ?? false;
        expect(refused).toBe(!parses(text));
      }),
      { numRuns: 5_000 },
    );
  });
});

describe('JSON that is not a valid definition', () => {
  it('a key that appears twice is reported with its place', () => {
    expect(failure('{"a":{"x":1,"\\u0078":2},"b":1,"b":1}')).toEqual([
      { code: 'DUPLICATE_KEY', at: 12, message: 'the key `x` stands twice in this object' },
      { code: 'DUPLICATE_KEY', at: 30, message: 'the key `b` stands twice in this object' },
    ]);
  });

  it('JSON nested ten thousand or a million levels deep is refused', () => {
    expect(failure('['.repeat(10_000) + ']'.repeat(10_000))).toMatchObject([{ code: 'TOO_DEEP', at: 67 }]);
    expect(failure('{"a":'.repeat(1_000_000))).toMatchObject([{ code: 'TOO_DEEP' }]);
  });

  it('JSON with too many values is refused', () => {
    expect(failure(`[${'0,'.repeat(200_000)}0]`)).toMatchObject([{ code: 'TOO_LARGE' }]);
  });

  it('JSON with a string of several megabytes is read', () => {
    const long = 'x'.repeat(5_000_000);
    expect(sourceOf(JSON.stringify({ long })).value).toEqual({ long });
  });
});
