// A short storm on each outside engine, with a real server that is also killed and restarted. A longer run: `npm run chaos --
// --driver temporal|conductor --minutes N --seed S`.

import { describe, expect, it } from 'vitest';
import { OUTSIDE_DRIVERS } from '../../src/store/external-port.ts';
import { runChaos } from './chaos.ts';
import { ENGINE_MISSING } from './engine-server.ts';
import { formatReport, violationLines } from './report.ts';

const STORM_MS = 20_000;
const LONGEST_MS = 420_000;

describe.each(OUTSIDE_DRIVERS)('a storm on %s', (driver) => {
  it.skipIf(ENGINE_MISSING[driver] !== null)(
    'a storm on an outside engine loses nothing, repeats nothing, and leaves nothing behind',
    { timeout: LONGEST_MS },
    async () => {
      const report = await runChaos({ seed: 'a pawl holds', stormMs: STORM_MS, driver, healMs: 240_000 });
      console.log(formatReport(report));
      expect(violationLines(report.violations)).toEqual([]);
      expect(report.kills).toBeGreaterThan(1);
      expect(report.restarts.engine).toBeGreaterThan(0);
    },
  );
});
