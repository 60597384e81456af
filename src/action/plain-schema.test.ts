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

describe('a plain schema', () => {
  it('is one made of bounded keywords, and says what is wrong with a value', () => {
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
    ['a pattern, deep inside', { properties: { a: { items: { not: { pattern: 'a' } } } } }],
    ['patterns for names', { patternProperties: { '^(a+)+$': {} } }],
    ['a reference', { properties: { child: { $ref: '#' } } }],
    ['a comparison of all with all', { type: 'array', uniqueItems: true }],
    ['a keyword that nobody knows', { colour: 'red' }],
    ['a type that is none', { type: 'objekt' }],
    ['names that are none', { required: [1] }],
    ['an older dialect', { $schema: 'http://json-schema.org/draft-07/schema#', type: 'object' }],
    ['too much', { enum: Array.from({ length: 200 }, (_, index) => index) }],
    ['the name of a prototype', { constructor: {} }],
  ])('is not one with %s', (_, schema) => {
    expect(plainSchema(schema)).toBeNull();
  });

  it('is used for values of a size that suits it', () => {
    const plain = plainSchema(ORDER)!;
    expect(isAffordable(plain, 1_000)).toBe(true);
    expect(isAffordable(plain, 1_000_000)).toBe(false);
  });
});
