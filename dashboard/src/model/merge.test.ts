import { describe, expect, it } from 'vitest';
import { mergeDefinitions } from './merge.ts';
import { stripOf } from './node-strip.ts';

const node = (id: string, parameters: object = {}) => ({ id, actionType: 'core.echo', parameters });
const base = { id: 'w', description: 'old', nodes: [node('a'), node('b'), node('c')] };

describe('two changes of one definition', () => {
  it('are put together where they touch different things', () => {
    const mine = { ...base, description: 'mine', nodes: [node('a', { x: 1 }), node('b'), node('c'), node('d')] };
    const theirs = { ...base, displayName: 'Theirs', nodes: [node('a'), node('b', { y: 2 }), node('e')] };
    expect(mergeDefinitions(base, mine, theirs)).toEqual({
      conflicts: [],
      merged: {
        id: 'w',
        description: 'mine',
        displayName: 'Theirs',
        nodes: [node('a', { x: 1 }), node('b', { y: 2 }), node('d'), node('e')],
      },
    });
  });

  it('conflict where both changed the same thing differently, and mine stands until the reader decides', () => {
    const mine = { ...base, description: 'mine', nodes: [node('a', { x: 1 }), node('b')] };
    const theirs = { ...base, description: 'theirs', nodes: [node('a', { x: 2 }), node('b'), node('c', { z: 1 })] };
    const { merged, conflicts } = mergeDefinitions(base, mine, theirs);
    expect(conflicts).toEqual(['/description', '/nodes/a/parameters/x', '/nodes/c']);
    expect(merged).toEqual(mine);
  });

  it('do not conflict where both changed the same thing alike, whatever the order of its fields', () => {
    const mine = { ...base, outputs: { a: 1, b: 2 } };
    const theirs = { outputs: { b: 2, a: 1 }, ...base };
    expect(mergeDefinitions(base, mine, theirs).conflicts).toEqual([]);
    expect(mergeDefinitions(base, theirs, base)).toEqual({ merged: theirs, conflicts: [] });
    expect(mergeDefinitions(base, base, theirs)).toEqual({ merged: theirs, conflicts: [] });
  });

  it('conflict as a whole where lists have no ids, or it is no object at all', () => {
    expect(mergeDefinitions({ tags: ['a'] }, { tags: ['b'] }, { tags: ['c'] }).conflicts).toEqual(['/tags']);
    expect(mergeDefinitions(1, 2, 3)).toEqual({ merged: 2, conflicts: ['/'] });
    const added = mergeDefinitions({}, { nodes: [node('a')] }, { nodes: [node('b')] });
    expect(added).toEqual({ merged: { nodes: [node('a'), node('b')] }, conflicts: [] });
    const twice = mergeDefinitions(base, { ...base, nodes: [node('a'), node('a')] }, { ...base, nodes: [] });
    expect(twice.conflicts).toEqual(['/nodes']);
  });
});

describe('the nodes of an execution in a strip', () => {
  it('begin with trouble and end with what never ran', () => {
    const { parts, text } = stripOf({ Succeeded: 2, Skipped: 1, Failed: 1, Running: 0 });
    expect(parts.map(({ status, share }) => [status, share])).toEqual([
      ['Failed', 25],
      ['Succeeded', 50],
      ['Skipped', 25],
    ]);
    expect(text).toBe('1 failed, 2 succeeded, 1 skipped');
    expect(stripOf({})).toEqual({ parts: [], text: '' });
  });
});
