import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SlotMap } from './slot-map.ts';

describe('a slot map', () => {
  it('a slot map gives the same answers as a Map', () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({ type: fc.constant('set' as const), key, value: fc.nat() }),
      fc.record({ type: fc.constant('delete' as const), key }),
      fc.record({ type: fc.constant('clear' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const expected = new Map<string, number>();
        const actual = new SlotMap<number>();
        for (const done of steps) {
          for (const map of [expected, actual]) {
            if (done.type === 'set') map.set(done.key, done.value);
            else if (done.type === 'delete') map.delete(done.key);
            else map.clear();
          }
          expect(actual.size).toBe(expected.size);
          expect([...actual.keys()]).toEqual([...expected.keys()]);
          expect([...actual.values()]).toEqual([...expected.values()]);
          for (const name of ['a', 'b', 'c', 'd', 'e']) {
            expect([actual.has(name), actual.get(name)]).toEqual([expected.has(name), expected.get(name)]);
          }
        }
      }),
    );
  });

  it('an entry may be deleted during an iteration', () => {
    const map = new SlotMap<string>();
    for (const key of ['a', 'b', 'c']) map.set(key, key.toUpperCase());
    const seen: string[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete('b');
    }
    expect(seen).toEqual(['A', 'C']);
  });
});
