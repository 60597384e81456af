import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteCache } from './byte-cache.ts';

describe('a cache by bytes', () => {
  it('lets go what was used least recently', () => {
    const cache = new ByteCache<number>(30);
    for (const [key, value] of Object.entries({ a: 1, b: 2, c: 3 })) cache.set(key, value, 10);
    expect(cache.get('a')).toBe(1);
    cache.set('d', 4, 10);
    expect(['a', 'b', 'c', 'd'].filter((key) => cache.has(key))).toEqual(['a', 'c', 'd']);
  });

  it('does not keep what is larger than its budget, and forgets the older value of that key', () => {
    const cache = new ByteCache<number>(30);
    cache.set('a', 1, 10);
    cache.set('a', 2, 31);
    expect(cache.get('a')).toBeUndefined();
    expect(cache.size).toBe(0);
  });

  it('holds never more than its budget', () => {
    const writes = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 40 })));
    fc.assert(
      fc.property(writes, (steps) => {
        const cache = new ByteCache<number>(100);
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
});
