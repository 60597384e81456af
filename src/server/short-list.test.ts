import { describe, expect, it } from 'vitest';
import { cursorAfter } from './cursor.ts';
import { shortList } from './short-list.ts';

const same = (key: string) => key;

describe('a short list', () => {
  it('a short list is complete and sorted by key, unless a limit is given', () => {
    expect(shortList(['10', 'b', '9', 'a'], same, {})).toEqual({ data: ['9', '10', 'a', 'b'] });
    expect(shortList(['b', 'a'], same, { limit: 2 })).toEqual({ data: ['a', 'b'] });
  });

  it('a page continues after a cursor whose item was deleted', () => {
    const first = shortList(['a', 'b', 'c'], same, { limit: 1 });
    expect(first).toEqual({ data: ['a'], nextCursor: cursorAfter('a') });
    expect(shortList(['b', 'c'], same, { limit: 1, cursor: first.nextCursor })).toEqual({
      data: ['b'],
      nextCursor: cursorAfter('b'),
    });
  });

  it('every key appears once, even keys that differ only in zeros or capitals', () => {
    const keys = ['1', '01', 'A', 'a'];
    const seen: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = shortList(keys, same, { limit: 1, cursor });
      seen.push(...page.data);
      cursor = page.nextCursor;
      if (cursor === undefined) break;
    }
    expect(seen.toSorted()).toEqual(keys.toSorted());
  });
});
