import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Json } from '../json/json.ts';
import { Findings } from '../problem/problem.ts';
import { checkSchema } from './schema-check.ts';
import { piecesOf } from './schema-pieces.ts';

const leaf = z.strictObject({ name: z.string(), tags: z.array(z.string()).optional() });
const schema = z.strictObject({
  id: z.string(),
  list: z.array(leaf).min(1),
  byName: z.record(z.string(), leaf).optional(),
  data: z.record(z.string(), z.unknown()).optional(),
});

const times = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
const named = (members: readonly Json[]) => Object.fromEntries(members.map((member, index) => [`m${index}`, member]));
const sizeOf = (value: Json): number => JSON.stringify(value).length;

function problemsOf(value: Json): { code: string; path: string }[] {
  const findings = new Findings();
  checkSchema(schema, value, findings);
  return findings.problems().map(({ code, path }) => ({ code, path }));
}

describe('S4: the pieces of a large value', () => {
  it.each<[string, Json]>([
    ['a list', { id: 'x', list: times(5_000, { name: 'n' }) }],
    ['a list of what is large itself', { id: 'x', list: times(20, { name: 'n', tags: times(1_000, 't') }) }],
    ['a record', { id: 'x', list: [{ name: 'n' }], byName: named(times(5_000, { name: 'n' })) }],
    ['a record of what is large itself', { id: 'x', list: [], byName: named(times(9, { tags: times(900, 't') })) }],
  ])('S4: a large value is checked in small pieces: %s', (_, value) => {
    const sizes = [...piecesOf(schema, value)].map((piece) => sizeOf(piece.value));
    expect(Math.max(...sizes)).toBeLessThan(4_000);
    expect(sizes.length).toBeGreaterThan(9);
  });

  it('a small value, or one that no schema describes inside, is not split', () => {
    expect([...piecesOf(schema, { id: 'x', list: times(5, { name: 'n' }) })]).toHaveLength(1);
    expect([...piecesOf(schema, { id: 'x', list: [], data: { all: times(9_000, 1) } })]).toHaveLength(2);
    expect([...piecesOf(schema, times(9_000, 1))]).toHaveLength(1);
  });
});

describe('a problem in a piece', () => {
  it('a problem in a piece has its path in the whole value', () => {
    const list: Json[] = times<Json>(1_000, { name: 'n' });
    list[777] = { name: 1 };
    list[999] = { name: 'n', tags: [...times<Json>(950, 't'), 5] };
    const byName = { ...named(times(1_000, { name: 'n' })), bad: { nam: 'n' } };
    expect(problemsOf({ list, byName, also: 1 })).toEqual([
      { code: 'REQUIRED', path: '/id' },
      { code: 'UNKNOWN_KEY', path: '/also' },
      { code: 'WRONG_TYPE', path: '/list/777/name' },
      { code: 'WRONG_TYPE', path: '/list/999/tags/950' },
      { code: 'REQUIRED', path: '/byName/bad/name' },
      { code: 'UNKNOWN_KEY', path: '/byName/bad/nam' },
    ]);
  });

  it('a large value of the wrong kind is reported as a whole', () => {
    const wrong = { id: 'x', list: named(times(999, 1)), byName: times(999, 1) };
    expect(problemsOf(wrong)).toEqual([
      { code: 'WRONG_TYPE', path: '/list' },
      { code: 'WRONG_TYPE', path: '/byName' },
    ]);
    expect(problemsOf(times(999, 1))).toEqual([{ code: 'WRONG_TYPE', path: '' }]);
  });
});
