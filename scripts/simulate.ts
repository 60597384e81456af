// Runs the seeded simulation (`npm run sim -- --seeds N [--seed S] [--messaging]`): N seeds from S on, of executions or of
// lifecycles and deliveries. Prints how many a second, and for each failing seed what broke, with the smallest case found
// that still breaks.

import type { Violation } from '../test/simulation/audit.ts';
import { describeCase, generateCase } from '../test/simulation/case.ts';
import { describeMessagingCase, generateMessagingCase } from '../test/simulation/messaging/case.ts';
import { shrinkMessaging } from '../test/simulation/messaging/shrink.ts';
import { simulateMessaging } from '../test/simulation/messaging/simulation.ts';
import { shrink } from '../test/simulation/shrink.ts';
import { simulate } from '../test/simulation/simulation.ts';
import { endWithUsage, readOptions } from './command-line.ts';

const USAGE = 'Usage: npm run sim -- [--seeds HOW_MANY] [--seed THE_FIRST] [--messaging]';
const values = readOptions(USAGE, {
  seeds: { type: 'string', default: '100' },
  seed: { type: 'string', default: '1' },
  messaging: { type: 'boolean', default: false },
});
const first = Number(values.seed);
const count = Number(values.seeds);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  endWithUsage(USAGE, '--seed and --seeds must be whole numbers, and --seeds at least 1');
}

const failed: number[] = [];
const began = performance.now();
for (let seed = first; seed < first + count; seed++) {
  const { violations, smaller } = values.messaging ? await runMessaging(seed) : await runExecutions(seed);
  if (violations.length === 0) continue;
  failed.push(seed);
  for (const { invariant, what, at } of violations.slice(0, 5))
    console.log(`seed ${seed} at ${at} ms ${invariant}: ${what}`);
  const shrunk = await smaller(violations[0]!.invariant);
  console.log(`  shrunk: ${shrunk.described}`);
  for (const { invariant, what, at } of shrunk.violations.slice(0, 3))
    console.log(`  at ${at} ms ${invariant}: ${what}`);
}
const seconds = (performance.now() - began) / 1_000;
console.log(`${count} seeds in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} seeds/s`);
if (failed.length > 0) {
  console.log(`failing seeds: ${failed.join(' ')}`);
  process.exit(1);
}

interface Outcome {
  readonly violations: readonly Violation[];
  smaller(invariant: string): Promise<{ readonly described: string; readonly violations: readonly Violation[] }>;
}

async function runExecutions(seed: number): Promise<Outcome> {
  const given = generateCase(seed);
  const { violations } = await simulate(given);
  return {
    violations,
    async smaller(invariant) {
      const shrunk = await shrink(given, invariant);
      return { described: describeCase(shrunk.given), violations: shrunk.violations };
    },
  };
}

async function runMessaging(seed: number): Promise<Outcome> {
  const given = generateMessagingCase(seed);
  const { violations } = await simulateMessaging(given);
  return {
    violations,
    async smaller(invariant) {
      const shrunk = await shrinkMessaging(given, invariant);
      return { described: describeMessagingCase(shrunk.given), violations: shrunk.violations };
    },
  };
}
