// Runs the seeded simulation (`npm run sim -- --seeds N | --minutes M [--seed S] [--messaging]`): N seeds from S on, or as many
// as fit into M minutes, of executions or of lifecycles and deliveries. Prints one line about what was run, and for each failing
// seed what broke, with the smallest failing case found.

import type { Violation } from '../test/simulation/audit.ts';
import { describeCase, generateCase } from '../test/simulation/case.ts';
import { describeMessagingCase, generateMessagingCase } from '../test/simulation/messaging/case.ts';
import { shrinkMessaging } from '../test/simulation/messaging/shrink.ts';
import { simulateMessaging } from '../test/simulation/messaging/simulation.ts';
import { shrink } from '../test/simulation/shrink.ts';
import { simulate } from '../test/simulation/simulation.ts';
import { endWithUsage, readOptions } from './command-line.ts';

const USAGE = 'Usage: npm run sim -- [--seeds HOW_MANY | --minutes HOW_LONG] [--seed THE_FIRST] [--messaging]';
const WORDS: Readonly<Record<string, string>> = {
  executions: 'executions',
  kills: 'kills',
  repliesLost: 'replies lost after the fact',
  takeovers: 'takeovers',
};
const values = readOptions(USAGE, {
  seeds: { type: 'string', default: '100' },
  minutes: { type: 'string' },
  seed: { type: 'string', default: '1' },
  messaging: { type: 'boolean', default: false },
});
const first = Number(values.seed);
const count = Number(values.seeds);
if (!Number.isSafeInteger(first) || !Number.isSafeInteger(count) || count < 1) {
  endWithUsage(USAGE, '--seed and --seeds must be whole numbers, and --seeds at least 1');
}

const minutes = values.minutes === undefined ? null : Number(values.minutes);
if (minutes !== null && !(minutes > 0)) endWithUsage(USAGE, '--minutes must be a number above 0');

const failed: number[] = [];
const totals = new Map<string, number>();
const began = performance.now();
const isOver = (ran: number) => (minutes === null ? ran >= count : performance.now() - began >= minutes * 60_000);
let seed = first;
for (; !isOver(seed - first); seed++) {
  const { violations, counts, smaller } = values.messaging ? await runMessaging(seed) : await runExecutions(seed);
  for (const name of ['executions', 'kills', 'repliesLost', 'takeovers']) {
    totals.set(name, (totals.get(name) ?? 0) + (counts.get(name) ?? 0));
  }
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
const ran = seed - first;
const added = values.messaging ? '' : `: ${[...totals].map(([name, total]) => `${total} ${WORDS[name]}`).join(', ')}`;
console.log(`${ran} seeds in ${seconds.toFixed(1)} s, ${(ran / seconds).toFixed(1)} seeds/s${added}`);
if (failed.length > 0) {
  console.log(`failing seeds: ${failed.join(' ')}`);
  process.exit(1);
}

interface Outcome {
  readonly counts: ReadonlyMap<string, number>;
  readonly violations: readonly Violation[];
  smaller(invariant: string): Promise<{ readonly described: string; readonly violations: readonly Violation[] }>;
}

async function runExecutions(seed: number): Promise<Outcome> {
  const given = generateCase(seed);
  const { violations, counts } = await simulate(given);
  return {
    counts,
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
    counts: new Map(),
    violations,
    async smaller(invariant) {
      const shrunk = await shrinkMessaging(given, invariant);
      return { described: describeMessagingCase(shrunk.given), violations: shrunk.violations };
    },
  };
}
