import fc from 'fast-check';
import { expect, it } from 'vitest';
import { mayHoldOneMore, SharedPlaces, shareLeft } from './share.ts';

it('a tenant alone may hold all places, and not one more', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5_000 }), (total) => {
      const places = new SharedPlaces(total);
      while (places.has('a')) places.take('a');
      expect(places.heldBy('a')).toBe(total);
    }),
  );
});

it('I22: a tenant with no place gets one as long as greedy tenants are fewer than half the places', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 300 }), (total, greedy) => {
      fc.pre(2 * greedy < total);
      const places = new SharedPlaces(total);
      for (let tenant = 0; tenant < greedy; tenant++) {
        while (places.has(`t${tenant}`)) places.take(`t${tenant}`);
      }
      expect(places.has('newcomer')).toBe(true);
      expect(places.used).toBeLessThan(total * 2);
    }),
  );
});

it('a place that was given back can be taken again', () => {
  const places = new SharedPlaces(2);
  places.take('a');
  places.take('a');
  expect(places.has('a')).toBe(false);
  places.giveBack('a');
  expect(places.has('a')).toBe(true);
  places.giveBack('a');
  expect([places.used, places.heldBy('a'), places.holders(5)]).toEqual([0, 0, []]);
});

it('the tenants with the most places are listed first', () => {
  const places = new SharedPlaces(10);
  for (const name of ['a', 'b', 'b', 'c', 'b', 'c']) places.take(name);
  expect(places.holders(2)).toEqual([
    { name: 'b', held: 3 },
    { name: 'c', held: 2 },
  ]);
});

it('a tenant that holds more may take less of the rest', () => {
  expect(mayHoldOneMore(0, 249, 200)).toBe(true);
  expect(mayHoldOneMore(4, 249, 200)).toBe(false);
  expect(mayHoldOneMore(1, 250, 200)).toBe(false);
  expect(mayHoldOneMore(0, 399, 200)).toBe(true);
  expect(mayHoldOneMore(0, 400, 200)).toBe(false);
});

it('the remaining share is the number of places that can be taken one by one', () => {
  const size = fc.integer({ min: 0, max: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), size, size, (total, held, others) => {
      let taken = 0;
      while (mayHoldOneMore(held + taken, held + others + taken, total)) taken++;
      expect(shareLeft(held, held + others, total)).toBe(taken);
    }),
  );
});
