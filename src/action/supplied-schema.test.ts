import { describe, expect, it } from 'vitest';
import { compileSuppliedSchema } from './supplied-schema.ts';

describe('schemas that users supply', () => {
  it('a schema of a user reports every problem with its place', () => {
    const check = compileSuppliedSchema({
      type: 'object',
      required: ['a', 'b'],
      properties: { kind: { enum: ['x', 'y'] }, list: { type: 'array', items: { type: 'integer' } } },
      additionalProperties: false,
    });
    const problems = check({ kind: 'z', list: [1, 'two'], extra: true });
    expect(problems.map(({ code, path }) => `${code} ${path}`).sort()).toEqual([
      'ADDITIONALPROPERTIES ',
      'ENUM /kind',
      'REQUIRED ',
      'REQUIRED ',
      'TYPE /list/1',
    ]);
    expect(problems.find(({ code }) => code === 'ENUM')?.message).toContain('x, y');
    expect(problems.find(({ code }) => code === 'ADDITIONALPROPERTIES')?.message).toContain('extra');
  });

  it('a schema of a user may be of either dialect, and knows the usual formats', () => {
    const draft7 = compileSuppliedSchema({
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'array',
      items: [{ type: 'string' }, { type: 'integer' }],
    });
    expect(draft7(['a', 1])).toEqual([]);
    expect(draft7([1, 'a'])).toHaveLength(2);
    const modern = compileSuppliedSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'string',
      format: 'email',
    });
    expect(modern('ada@example.com')).toEqual([]);
    expect(modern('ada')).toHaveLength(1);
  });

  it('an invalid schema, or one that refers to other documents, is refused', () => {
    expect(() => compileSuppliedSchema({ type: 'nonsense' })).toThrow();
    expect(() => compileSuppliedSchema({ $ref: 'https://example.com/schema.json' })).toThrow();
  });
});
