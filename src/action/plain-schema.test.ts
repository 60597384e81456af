import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../core/json/json.ts';
import { isAffordable, plainSchema } from './plain-schema.ts';

const ORDER: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'string', minLength: 1 },
    lines: {
      type: 'array',
      items: { type: 'object', properties: { count: { type: ['integer', 'null'], minimum: 1 } } },
    },
    mail: { anyOf: [{ type: 'string', format: 'email' }, { const: null }] },
  },
  additionalProperties: false,
};

/** Each definition refers twice to the one before. */
const doubling = (depth: number): JsonObject =>
  Object.fromEntries(
    Array.from({ length: depth + 1 }, (_, n) => [
      `d${n}`,
      n === 0 ? { type: 'string' } : { allOf: [{ $ref: `#/$defs/d${n - 1}` }, { $ref: `#/$defs/d${n - 1}` }] },
    ]),
  );

describe('a plain schema', () => {
  it('a plain schema has only bounded keywords, and reports the problems of a value', () => {
    const plain = plainSchema(ORDER)!;
    expect(plain.check({ id: 'x', lines: [{ count: 2 }], mail: null })).toEqual([]);
    expect(plain.check({ lines: [{ count: 0 }], other: 1 }).map(({ code, path }) => `${path} ${code}`)).toEqual([
      ' REQUIRED',
      ' ADDITIONALPROPERTIES',
      '/lines/0/count MINIMUM',
    ]);
  });

  it.each<[string, JsonObject]>([
    ['a pattern', { type: 'string', pattern: '^(a+)+$' }],
    ['a pattern, deep inside', { properties: { a: { items: { not: { pattern: '(a|b)*' } } } } }],
    ['patterns for names', { patternProperties: { '^(a+)+$': {} } }],
    ['a reference to itself', { properties: { child: { $ref: '#' } } }],
    [
      'references in a circle',
      { $defs: { a: { $ref: '#/$defs/b' }, b: { items: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
    ],
    ['a reference to nothing', { $ref: '#/$defs/constructor', $defs: {} }],
    ['a reference elsewhere', { $ref: 'https://example.com/schema.json' }],
    ['references that make it large', { $defs: doubling(8), $ref: '#/$defs/d8' }],
    ['a comparison of all with all', { type: 'array', uniqueItems: true }],
    ['a keyword that nobody knows', { colour: 'red' }],
    ['a type that is none', { type: 'objekt' }],
    ['names that are none', { required: [1] }],
    ['an older dialect', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['too much', { enum: Array.from({ length: 200 }, (_, index) => index) }],
    ['the name of a prototype', { constructor: {} }],
  ])('a schema is not plain with %s', (_, schema) => {
    expect(plainSchema(schema)).toBeNull();
  });

  it('a plain schema may have definitions, and patterns whose time is bounded', () => {
    const code = { type: 'string', pattern: '^[A-Z]{3}-[0-9]+$' };
    const plain = plainSchema({ properties: { code: { $ref: '#/$defs/code' } }, $defs: { code } })!;
    expect(plain.check({ code: 'ABC-12' })).toEqual([]);
    expect(plain.check({ code: 'abc' }).map(({ path, code }) => `${path} ${code}`)).toEqual(['/code PATTERN']);
    expect(isAffordable(plain, 10_000)).toBe(true);
    const quadratic = plainSchema({ pattern: '^[^@]+@[^@]+$' })!;
    expect([isAffordable(quadratic, 500), isAffordable(quadratic, 10_000)]).toEqual([true, false]);
  });

  it('a plain schema is used only for values of an affordable size', () => {
    const plain = plainSchema(ORDER)!;
    expect(isAffordable(plain, 1_000)).toBe(true);
    expect(isAffordable(plain, 1_000_000)).toBe(false);
  });
});
