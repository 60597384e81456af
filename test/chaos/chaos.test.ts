// A minute of faults with a fixed seed: runners are killed and paused, the database is restarted, and connections are cut at
// exact places. A longer run: `npm run chaos -- --minutes N --seed S`.

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
  // A storm without faults proves nothing.
  expect(report.kills).toBeGreaterThan(3);
  expect(report.pauses).toBeGreaterThan(1);
  expect(Object.values(report.restarts).reduce((sum, count) => sum + count)).toBeGreaterThan(0);
  expect(report.metrics.unknownCommitsApplied).toBeGreaterThan(0);
  expect(report.metrics.takeovers).toBeGreaterThan(0);
  expect(report.duplicateEffects).toBeGreaterThan(0);
});
