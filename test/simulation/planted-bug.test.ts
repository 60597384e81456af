// The simulation finds the bugs that it exists for, each within a limited number of seeds, and shrinks the case.

import { describe, expect, it } from 'vitest';
import { type Case, generateCase } from './case.ts';
import { PLANTED_BUGS } from './planted-bug.ts';
import { shrink } from './shrink.ts';
import { type Plant, simulate } from './simulation.ts';

const MOST_SEEDS = 400;

async function find(plant: () => Plant): Promise<{ seed: number; given: Case; invariant: string } | null> {
  const { firstSeed = 1 } = plant();
  for (let seed = firstSeed; seed < firstSeed + MOST_SEEDS; seed++) {
    const given = generateCase(seed);
    const { violations } = await simulate(given, plant());
    if (violations.length > 0) return { seed, given, invariant: violations[0]!.invariant };
  }
  return null;
}

describe('planted bugs in the simulation', () => {
  it.each(Object.entries(PLANTED_BUGS))('the planted bug is found: %s', async (_, plant) => {
    expect(await find(plant)).not.toBeNull();
  });

  it('a planted bug is shrunk to a case with one execution and no faults', async () => {
    const plant = PLANTED_BUGS['an execution is parked without the time it is due']!;
    const found = (await find(plant))!;
    const { given, violations } = await shrink(found.given, found.invariant, plant);
    expect(violations.map(({ invariant }) => invariant)).toContain(found.invariant);
    expect(given.executions).toHaveLength(1);
    expect(given.faults).toEqual([]);
  });
});
