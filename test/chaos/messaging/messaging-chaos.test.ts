// Consumers that die at random and monitors killed with -9, for a short while with a fixed seed. A longer run: `npm run chaos --
// --messaging --minutes N --seed S`.

import { expect, it } from 'vitest';
import { violationLines } from '../report.ts';
import { runMessagingChaos } from './messaging-chaos.ts';

const STORM_MS = 10_000;

it('every work event is processed in order, and none arrives after its acknowledgement', {
  timeout: 180_000,
}, async () => {
  const report = await runMessagingChaos({ seed: 'told is told', stormMs: STORM_MS });
  console.log(JSON.stringify({ ...report, violations: report.violations.length }));
  expect(violationLines(report.violations)).toEqual([]);
  // A storm without faults proves nothing.
  expect(report.instances).toBeGreaterThan(20);
  expect(report.nodeKills).toBeGreaterThan(0);
  expect(report.consumerDeaths).toBeGreaterThan(1);
  expect(report.receivedAgain).toBeGreaterThan(0);
  expect(Object.keys(report.cuts).length).toBeGreaterThan(0);
});
