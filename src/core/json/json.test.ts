import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, emptyRecord, isJsonObject, type Json, jsonType, weightOf } from './json.ts';

function reversed(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, inner]) => [key, reversed(inner)]),
  );
}

describe('the weight of a value', () => {
  it('the weight of a value is about its text length, and counting stops at the limit', () => {
    expect(weightOf(['abc', 1, null, true, { key: 'value' }], 1_000)).toBeGreaterThanOrEqual(30);
    const visited: string[] = [];
    const many = Object.fromEntries(['a', 'b', 'c'].map((key) => [key, 'x'.repeat(50)]));
    const watched = new Proxy(many, {
      get: (target, key) => {
        visited.push(String(key));
        return target[key as string];
      },
    });
    expect(weightOf(watched, 60)).toBeGreaterThan(60);
    expect(visited).toEqual(['a', 'b']);
  });
});

describe('canonical JSON', () => {
  it('canonical JSON does not depend on the order of keys, and parses to the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(canonicalJson(reversed(value))).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('canonical JSON sorts keys at every level and leaves out undefined', () => {
    expect(canonicalJson({ b: [{ d: 1, c: null }], a: undefined, '': 'x' })).toBe('{"":"x","b":[{"c":null,"d":1}]}');
  });

  it('canonical JSON keeps a `__proto__` key in the text', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"y":1,"x":2}}'))).toBe('{"__proto__":{"x":2,"y":1},"b":1}');
  });
});

describe('JSON values', () => {
  it('objects are distinguished from arrays and null', () => {
    expect([{}, [], null, 'x', 1, undefined].map(isJsonObject)).toEqual([true, false, false, false, false, false]);
  });

  it('every JSON value has the name of its type', () => {
    const values: Json[] = [null, [], {}, 'x', 1, true];
    expect(values.map(jsonType)).toEqual(['null', 'array', 'object', 'string', 'number', 'boolean']);
  });

  it('an empty record has no prototype', () => {
    expect('toString' in emptyRecord()).toBe(false);
  });
});
