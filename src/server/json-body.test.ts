import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PawlError } from '../core/error/pawl-error.ts';
import { JSON_LIMITS, readJsonBody } from './json-body.ts';

function refusalOf(text: string): string {
  try {
    readJsonBody(text);
  } catch (error) {
    if (error instanceof PawlError) return (error.details as { code: string }[])[0]!.code;
    throw error;
  }
  return 'accepted';
}

describe('the JSON of a request', () => {
  it('a request body is parsed like JSON.parse', () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 8 }).filter((text) => !/__proto__/.test(text)),
        (text) => {
          // fast-check writes an object with the same key twice only if it made it so.
          expect(readJsonBody(text)).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a key that appears twice in one object is refused', () => {
    const key = fc.string().filter((name) => name !== '__proto__');
    fc.assert(
      fc.property(key, fc.json(), fc.json(), (name, first, second) => {
        const member = (value: string) => `${JSON.stringify(name)}:${value}`;
        // Names refused for another reason belong to another test.
        fc.pre(!/__proto__/.test(first + second));
        expect(refusalOf(`{${member(first)},${member(second)}}`)).toBe('DUPLICATE_KEY');
        expect(refusalOf(`[{${member(first)}},{${member(second)}}]`)).toBe('accepted');
      }),
      { numRuns: 300 },
    );
  });

  it('the error for a duplicate key names the key', () => {
    expect(() => readJsonBody('{"a":{"x":1},"b":[{"x":2}],"c":{"x":{"y":"x"},"\\u0078":3}}')).toThrow(
      '`x` stands twice',
    );
  });

  it('quotes, colons and brackets in text are accepted', () => {
    for (const text of ['{"a\\"b:{[":"\\\\"}', '{"a":"\\\\\\"","b":":"}', '"{{{"', '{"\\u0061":1,"b":2}']) {
      expect(refusalOf(text)).toBe('accepted');
    }
    expect(refusalOf('{"\\u0061":1,"a":2}')).toBe('DUPLICATE_KEY');
  });

  it('JSON that is too deep or has too many keys is refused', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
    expect(refusalOf(nested(JSON_LIMITS.depth))).toBe('accepted');
    expect(refusalOf(nested(JSON_LIMITS.depth + 1))).toBe('TOO_DEEP');
    expect(refusalOf('['.repeat(100_000))).toBe('TOO_DEEP');
    const crowded = (keys: number) => `{${Array.from({ length: keys }, (_, index) => `"${index}":0`).join()}}`;
    expect(refusalOf(crowded(JSON_LIMITS.keys))).toBe('accepted');
    expect(refusalOf(crowded(JSON_LIMITS.keys + 1))).toBe('TOO_LARGE');
  });

  it('a `__proto__` key is refused', () => {
    for (const text of ['{"__proto__":1}', '{"a":[{"__proto__":{}}]}', '{"\\u005f_proto__":1}']) {
      expect(refusalOf(text)).toBe('FORBIDDEN_KEY');
    }
  });

  it('fields named like members of every object are plain fields', () => {
    for (const text of ['{"constructor":"Ferrari"}', '{"constructor":{"prototype":{"polluted":1}},"toString":1}']) {
      expect(JSON.stringify(readJsonBody(text))).toBe(text);
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('text that is not JSON is refused', () => {
    for (const text of ['{', '{"a"}', 'nope', '{"a":1}}', '"']) expect(refusalOf(text)).toBe('NOT_JSON');
  });
});
