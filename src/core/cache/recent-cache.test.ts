import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentCache } from './recent-cache.ts';

describe('a cache of recent values', () => {
  it('a full cache drops the least recently used value first', () => {
    const cache = new RecentCache<number>(30);
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) cache.set(key, value, 10);
    expect(cache.get('a')).toBe(1);
    cache.set('d', 4, 10);
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.has(key))).toEqual(['a', 'c', 'd']);
  });

  it('a value that costs more than the budget is not kept, and the older value of its key is dropped', () => {
    const cache = new RecentCache<number>(30);
    cache.set('a', 1, 10);
    cache.set('a', 2, 31);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('a cache never holds more than its budget', () => {
    const writes = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40 })));
    fc.assert(
      fc.property(writes, (steps) => {
        const cache = new RecentCache<number>(100);
        const last = new Map<string, number>();
        for (const [key, bytes] of steps) {
          cache.set(String(key), bytes, bytes);
          last.set(String(key), bytes);
        }
        const held = [...last].filter(([key]) => cache.has(key));
        expect(held.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeLessThanOrEqual(100);
        for (const [key, bytes] of held) expect(cache.get(key)).toBe(bytes);
      }),
    );
  });

  it('a value is made once, and made again after the cache dropped it', () => {
    const made: string[] = [];
    const cache = new RecentCache<string>(6);
    const get = (text: string) =>
      cache.getOrMake(text, text.length, () => {
        made.push(text);
        return text.toUpperCase();
      });
    expect(['aa', 'bb', 'aa', 'cc', 'aa'].map(get)).toEqual(['AA', 'BB', 'AA', 'CC', 'AA']);
    expect(made).toEqual(['aa', 'bb', 'cc']);
    for (const text of ['dd', 'aa', 'bb']) get(text); // dd drops bb
    expect(made).toEqual(['aa', 'bb', 'cc', 'dd', 'bb']);
  });

  it('a cache keeps nothing when making the value fails', () => {
    const cache = new RecentCache<number>(3);
    const fail = () => {
      throw new Error('no');
    };
    expect(() => cache.getOrMake('x', 1, fail)).toThrow('no');
    expect(cache.has('x')).toBe(false);
  });

  it('a cache without a cost function counts entries', () => {
    const cache = new RecentCache<number>(2);
    for (const key of ['a', 'b', 'c']) cache.set(key, 0);
    expect(cache.size).toBe(2);
  });
});
