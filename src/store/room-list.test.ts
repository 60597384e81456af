import fc from 'fast-check';
import { expect, it } from 'vitest';
import { RoomList } from './room-list.ts';

const KNOWN_FOR_MS = 1_000;
const at = (time: number) => ({ now: 0, time });

function listOf(rooms: Readonly<Record<string, number>>, ...pressed: readonly string[]): RoomList {
  const list = new RoomList(KNOWN_FOR_MS);
  for (const [runner, places] of Object.entries(rooms)) {
    list.heard(runner, { places, isPressed: pressed.includes(runner) }, 0);
  }
  return list;
}

it('one execution is announced to one runner, and all processes choose the same one', () => {
  const names = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(names, fc.nat(1_000_000), (runners, time) => {
      const of = (order: readonly string[]) => listOf(Object.fromEntries(order.map((name) => [name, 100])));
      const chosen = of(runners).choose(1, at(time));
      expect(chosen).toHaveLength(1);
      expect(of(runners.toReversed()).choose(1, at(time))).toEqual(chosen);
    }),
  );
});

it('runners take turns by the clock, for any number of notes', () => {
  const list = listOf({ a: 100, b: 100, c: 100 });
  const told = [0, 1, 999, 1_000, 1_500, 2_000, 3_000].map((time) => list.choose(50, at(time)));
  expect(told.flat()).toEqual(['a', 'a', 'a', 'b', 'b', 'c', 'a']);
});

it('a note goes to as many runners as its executions need, once to each', () => {
  expect(listOf({ a: 2, b: 2, c: 2, d: 2 }).choose(5, at(0))).toEqual(['a', 'b', 'c']);
  expect(listOf({ a: 2, b: 2 }).choose(5_000, at(0))).toEqual(['a', 'b']);
  // One with much room leaves some to others.
  expect(listOf({ a: 1_600, b: 1_600, c: 1_600 }).choose(500, at(0))).toEqual(['a', 'b']);
});

it('a runner that is behind with its work is chosen last', () => {
  expect(listOf({ a: 5, b: 5, c: 5 }, 'a').choose(1, at(0))).toEqual(['b']);
  expect(listOf({ a: 5, b: 5, c: 5 }, 'a', 'b').choose(8, at(1_000))).toEqual(['c', 'b']);
  expect(listOf({ a: 5, b: 5 }, 'a', 'b').choose(1, at(1_000))).toEqual(['b']);
});

it('no runner is chosen when none has room or was heard from recently', () => {
  const list = listOf({ a: 5, b: 0 });
  expect(list.choose(1, at(0))).toEqual(['a']);
  list.heard('c', { places: 5, isPressed: false }, 900);
  expect(list.choose(1, { now: 1_001, time: 0 })).toEqual(['c']);
  list.heard('c', { places: 0, isPressed: false }, 1_000);
  expect(list.choose(1, { now: 1_001, time: 0 })).toEqual([]);
});
