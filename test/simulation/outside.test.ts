// The simulation with an outside engine: it asks for turns and attempts at least once, late, twice and in any order, and loses
// runs. Every invariant holds, and planted bugs are found.

import { describe, expect, it } from 'vitest';
import { describeCase, generateOutsideCase } from './case.ts';
import { OUTSIDE_BUGS } from './outside-bug.ts';
import { simulate } from './simulation.ts';

const SEEDS = 100;
const MOST_SEEDS = 60;

describe('the simulation with an outside engine', () => {
  it(`the simulation with an outside engine keeps every invariant in ${SEEDS} seeds`, {
    timeout: 600_000,
  }, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const given = generateOutsideCase(seed);
      const { violations } = await simulate(given);
      expect(violations.slice(0, 3), violations.length === 0 ? '' : describeCase(given)).toEqual([]);
    }
  });

  it('a simulation with an outside engine gives the same result for the same seed', async () => {
    const [first, second] = [await simulate(generateOutsideCase(3)), await simulate(generateOutsideCase(3))];
    expect(first.events).toBeGreaterThan(100);
    expect(second).toEqual(first);
  });
});

describe('planted bugs in the simulation with an outside engine', () => {
  it.each(Object.entries(OUTSIDE_BUGS))('the planted bug is found: %s', { timeout: 300_000 }, async (_, plant) => {
    let found = 0;
    const { firstSeed = 1 } = plant();
    for (let seed = firstSeed; seed < firstSeed + MOST_SEEDS && found === 0; seed++) {
      found = (await simulate(generateOutsideCase(seed), plant())).violations.length;
    }
    expect(found).toBeGreaterThan(0);
  });
});
