// The real engine over a simulated store, clock and actions: every seed draws executions and faults, and must keep every
// invariant. A failing seed prints itself and the smallest case found that still fails; `npm run sim -- --seed S` repeats it.

import { describe, expect, it } from 'vitest';
import { describeCase, generateCase } from './case.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulation.ts';

const SEEDS = 500;
/** Seeds found by longer runs; each failed once. */
const FAILED_ONCE = [701_390];
/** Shrinking costs many runs, so only the first few failures are reported. */
const MOST_REPORTED = 3;

describe('the simulation', () => {
  it(`the simulation keeps every invariant in ${SEEDS} seeds`, { timeout: 600_000 }, async () => {
    const reports: string[] = [];
    const failed: number[] = [];
    const began = performance.now();
    for (const seed of [...FAILED_ONCE, ...Array.from({ length: SEEDS }, (_, index) => index + 1)]) {
      const { violations } = await simulate(generateCase(seed));
      if (violations.length === 0) continue;
      failed.push(seed);
      if (reports.length < MOST_REPORTED) reports.push(await report(seed, violations[0]!.invariant));
    }
    console.log(`simulation: ${((SEEDS * 1_000) / (performance.now() - began)).toFixed(1)} seeds/s`);
    expect({ failed, reports }).toEqual({ failed: [], reports: [] });
  });

  it('a simulation gives the same result for the same seed', async () => {
    for (const seed of [2, 5, 18]) {
      const [first, second] = [await simulate(generateCase(seed)), await simulate(generateCase(seed))];
      expect(first.events).toBeGreaterThan(100);
      expect(second).toEqual(first);
    }
  });
});

async function report(seed: number, invariant: string): Promise<string> {
  const { given, violations } = await shrink(generateCase(seed), invariant);
  const found = violations.slice(0, 3).map(({ at, invariant: id, what }) => `at ${at} ms ${id}: ${what}`);
  return [`seed ${seed}, shrunk to:`, describeCase(given), ...found].join('\n');
}
