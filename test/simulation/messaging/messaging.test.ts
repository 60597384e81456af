// Lifecycles and deliveries with the real services over a simulated database, network, clocks and consumers: every seed must keep
// every promise. `npm run sim -- --messaging --seed S` repeats one seed.

import { describe, expect, it } from 'vitest';
import { describeMessagingCase, generateMessagingCase, type MessagingCase } from './case.ts';
import { shrinkMessaging } from './shrink.ts';
import { simulateMessaging } from './simulation.ts';

const SEEDS = 300;
const MOST_REPORTED = 3;

describe('the simulation of lifecycles and deliveries', () => {
  it(`the simulation of lifecycles and deliveries keeps every promise in ${SEEDS} seeds`, {
    timeout: 300_000,
  }, async () => {
    const reports: string[] = [];
    const failed: number[] = [];
    for (let seed = 1; seed <= SEEDS; seed++) {
      const given = generateMessagingCase(seed);
      const { violations } = await simulateMessaging(given);
      if (violations.length === 0) continue;
      failed.push(seed);
      if (reports.length < MOST_REPORTED) reports.push(await report(given, violations[0]!.invariant));
    }
    expect({ failed, reports }).toEqual({ failed: [], reports: [] });
  });

  it('a simulation of lifecycles and deliveries gives the same result for the same seed', async () => {
    for (const seed of [3, 11]) {
      const [first, second] = [
        await simulateMessaging(generateMessagingCase(seed)),
        await simulateMessaging(generateMessagingCase(seed)),
      ];
      expect(first.events).toBeGreaterThan(100);
      expect(second).toEqual(first);
    }
  });
});

async function report(failing: MessagingCase, invariant: string): Promise<string> {
  const { given, violations } = await shrinkMessaging(failing, invariant);
  const found = violations.slice(0, 3).map(({ at, invariant: id, what }) => `at ${at} ms ${id}: ${what}`);
  return [`seed ${given.seed}, shrunk to:`, describeMessagingCase(given), ...found].join('\n');
}
