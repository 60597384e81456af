import fc from 'fast-check';
import { expect, it } from 'vitest';
import { chooseRunners, hintedLanes } from './hint-port.ts';

it('executions of one lane are one hint with their number', () => {
  const acme = { tenantId: 'acme', priority: 5 };
  expect(hintedLanes([acme, { tenantId: 'acme', priority: 9 }, acme])).toEqual([
    { ...acme, count: 2 },
    { tenantId: 'acme', priority: 9, count: 1 },
  ]);
});

it('one execution is told to one runner, many to as many as are needed, each once', () => {
  const runners = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(runners, fc.nat(5_000), fc.nat(1_000), (withRoom, ready, turn) => {
      const chosen = chooseRunners(withRoom, ready, turn);
      expect(new Set(chosen).size).toBe(chosen.length);
      expect(chosen.length).toBe(Math.min(withRoom.length, Math.max(1, Math.ceil(ready / 64))));
      for (const runner of chosen) expect(withRoom).toContain(runner);
    }),
  );
});

it('runners take turns', () => {
  const told = Array.from({ length: 6 }, (_, turn) => chooseRunners(['a', 'b', 'c'], 1, turn));
  expect(told.flat()).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
});

it('nobody with room is nobody told', () => {
  expect(chooseRunners([], 10, 3)).toEqual([]);
});
