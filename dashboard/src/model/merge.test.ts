import { describe, expect, it } from 'vitest';
import { mergeDefinitions } from './merge.ts';
import { stripOf } from './node-strip.ts';
import { isCallback, undoneText, waitText } from './step-text.ts';

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

describe('what a wait waits for', () => {
  const wait = { kind: 'wait', callback: false, events: [], timeoutMs: null, onTimeout: 'fail', count: 1, until: null };
  const event = { type: 'order.paid', at: null, key: null };

  it('is said in words', () => {
    expect(waitText({ kind: 'webhook', timeoutMs: null })).toBe('waits for its callback');
    expect(waitText({ ...wait, callback: true } as never)).toBe('waits for its callback');
    expect(waitText({ ...wait, events: [event, event] } as never)).toBe('waits for the event order.paid');
    expect(waitText({ ...wait, callback: true, count: 2, events: [event] } as never)).toBe(
      'waits for its callback or 2 × the event order.paid',
    );
    expect(waitText({ kind: 'subworkflow' } as never)).toContain('the execution that it started');
    expect(waitText({ kind: 'forEach' } as never)).toContain('items');
    expect(waitText({ kind: 'repeat' } as never)).toContain('round');
    expect(waitText(undefined)).toBe('waits');
  });

  it('is continued by hand only where a callback is waited for', () => {
    expect(isCallback({ kind: 'webhook', timeoutMs: null })).toBe(true);
    expect(isCallback({ ...wait, callback: true } as never)).toBe(true);
    expect(isCallback({ ...wait, events: [event] } as never)).toBe(false);
    expect(isCallback(undefined)).toBe(false);
  });

  it('and how undoing went', () => {
    const of = (...statuses: string[]) =>
      undoneText({ nodes: statuses.map((status) => ({ nodeId: 'refund', status })) });
    expect(of('Succeeded')).toMatchObject({ tone: 'ok', text: expect.stringContaining('refund') });
    expect(of('Failed')).toMatchObject({ tone: 'bad', text: expect.stringContaining('refund') });
    expect(of('Skipped', 'Pending')).toBeNull();
    expect(undoneText(undefined)).toBeNull();
  });
});
