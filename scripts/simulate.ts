// Runs the seeded simulation (`npm run sim -- --seeds N [--seed S]`): N seeds from S on. Prints how many a second, and for
// each failing seed what broke, with the smallest case found that still breaks.

import { parseArgs } from 'node:util';
import { describeCase, generateCase } from '../test/simulation/case.ts';
import { shrink } from '../test/simulation/shrink.ts';
import { simulate } from '../test/simulation/simulation.ts';

const { values } = parseArgs({
  options: { seeds: { type: 'string', default: '100' }, seed: { type: 'string', default: '1' } },
});
const first = Number(values.seed);
const count = Number(values.seeds);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  console.error('--seed and --seeds must be whole numbers, and --seeds at least 1');
  process.exit(2);
}

const failed: number[] = [];
const began = performance.now();
for (let seed = first; seed < first + count; seed++) {
  const given = generateCase(seed);
  const { violations } = await simulate(given);
  if (violations.length === 0) continue;
  failed.push(seed);
  for (const { invariant, what, at } of violations.slice(0, 5))
    console.log(`seed ${seed} at ${at} ms ${invariant}: ${what}`);
  const smaller = await shrink(given, violations[0]!.invariant);
  console.log(`  shrunk: ${describeCase(smaller.given)}`);
  for (const { invariant, what, at } of smaller.violations.slice(0, 3))
    console.log(`  at ${at} ms ${invariant}: ${what}`);
}
const seconds = (performance.now() - began) / 1_000;
console.log(`${count} seeds in ${seconds.toFixed(1)} s, ${(count / seconds).toFixed(1)} seeds/s`);
if (failed.length > 0) {
  console.log(`failing seeds: ${failed.join(' ')}`);
  process.exit(1);
}
