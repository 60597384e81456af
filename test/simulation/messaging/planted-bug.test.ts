// The simulation of lifecycles and deliveries finds the bugs that it exists for, each within a limited number of seeds.

import { describe, expect, it } from 'vitest';
import { generateMessagingCase } from './case.ts';
import { PLANTED_MESSAGING_BUGS } from './planted-bug.ts';
import { shrinkMessaging } from './shrink.ts';
import { type MessagingPlant, simulateMessaging } from './simulation.ts';

const MOST_SEEDS = 100;

async function find(plant: () => MessagingPlant): Promise<{ seed: number; invariant: string } | null> {
  for (let seed = 1; seed <= MOST_SEEDS; seed++) {
    const { violations } = await simulateMessaging(generateMessagingCase(seed), plant());
    if (violations.length > 0) return { seed, invariant: violations[0]!.invariant };
  }
  return null;
}

describe('planted bugs in the simulation of lifecycles and deliveries', () => {
  it.each(Object.entries(PLANTED_MESSAGING_BUGS))(
    'the planted bug is found: %s',
    { timeout: 120_000 },
    async (_, plant) => {
      expect(await find(plant)).not.toBeNull();
    },
  );

  it('a planted bug is shrunk to a case with one instance', { timeout: 120_000 }, async () => {
    const plant = PLANTED_MESSAGING_BUGS['a delivery that was claimed is never due again']!;
    const { seed, invariant } = (await find(plant))!;
    const { given, violations } = await shrinkMessaging(generateMessagingCase(seed), invariant, plant);
    expect(violations.map((violation) => violation.invariant)).toContain(invariant);
    expect(given.instances).toHaveLength(1);
  });
});
