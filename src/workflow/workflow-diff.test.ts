import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, type Json } from '../core/json/json.ts';
import { diffJson } from './workflow-diff.ts';

const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
const nodes = fc.uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), x: fc.nat(2) }), {
  selector: ({ id }) => id,
});

describe('the changes between two definitions', () => {
  it('definitions have no changes exactly when they are equal, in any order of keys', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        expect(diffJson(before, after).length === 0).toBe(canonicalJson(before) === canonicalJson(after));
      }),
      { numRuns: 500 },
    );
  });

  it('every node is added, removed, or in both definitions', () => {
    fc.assert(
      fc.property(nodes, nodes, (before, after) => {
        const changes = diffJson({ nodes: before }, { nodes: after });
        const count = (op: string) => changes.filter((change) => change.op === op).length;
        expect(before.length - count('remove') + count('add')).toBe(after.length);
        const kept = after.filter(({ id }) => before.some((node) => node.id === id));
        const changed = kept.filter(({ id, x }) => before.find((node) => node.id === id)!.x !== x);
        expect(count('replace')).toBe(changed.length);
      }),
      { numRuns: 500 },
    );
  });

  it('a node that only moved is reported as moved', () => {
    const [a, b, c] = [{ id: 'a' }, { id: 'b' }, { id: 'c' }];
    expect(diffJson([a, b, c], [b, a, c])).toEqual([
      { op: 'move', path: '/0', from: '/1' },
      { op: 'move', path: '/1', from: '/0' },
    ]);
    expect(diffJson([a, b], [c, a, b])).toEqual([{ op: 'add', path: '/0', after: c }]);
  });

  it('a list that changed completely is one change', () => {
    const list = (from: number) => Array.from({ length: 50_000 }, (_, index) => index + from);
    expect(diffJson({ all: list(0) }, { all: list(1) })).toMatchObject([{ op: 'replace', path: '/all' }]);
    expect(diffJson({ all: list(0) }, { all: list(0).with(7, -1) })).toEqual([
      { op: 'replace', path: '/all/7', before: 7, after: -1 },
    ]);
  });

  it('the path of a change escapes its keys', () => {
    expect(diffJson({ 'a/b': 1 }, { 'a/b': 2 })).toEqual([{ op: 'replace', path: '/a~1b', before: 1, after: 2 }]);
  });

  it('a list with a duplicate id is compared by position', () => {
    expect(diffJson([{ id: 'a' }, { id: 'a' }], [{ id: 'a' }])).toEqual([
      { op: 'remove', path: '/1', before: { id: 'a' } },
    ]);
  });
});
