// A minute of bad weather with a fixed seed: runners killed and paused, the database restarted, connections cut at exact
// places. Longer: `npm run chaos -- --minutes N --seed S`.

import { expect, it } from 'vitest';
import { runChaos } from './chaos.ts';
import { formatReport, violationLines } from './report.ts';

const STORM_MS = 45_000;
const LONGEST_MS = 300_000;

it('the engine keeps every promise in a storm of crashes, zombies, restarts and cut connections', {
  timeout: LONGEST_MS,
}, async () => {
  const report = await runChaos({ seed: 'a pawl holds', stormMs: STORM_MS });
  console.log(formatReport(report));
  expect(violationLines(report.violations)).toEqual([]);
  // A storm without wind proves nothing.
  expect(report.kills).toBeGreaterThan(3);
  expect(report.pauses).toBeGreaterThan(1);
  expect(Object.values(report.restarts).reduce((sum, count) => sum + count)).toBeGreaterThan(0);
  expect(report.metrics.unknownCommitsApplied).toBeGreaterThan(0);
  expect(report.metrics.takeovers).toBeGreaterThan(0);
  expect(report.duplicateEffects).toBeGreaterThan(0);
});
