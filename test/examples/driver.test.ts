// The examples of the outside drivers, run as a reader would run them.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { OUTSIDE_DRIVERS } from '../../src/store/external-port.ts';
import { ENGINE_MISSING } from '../chaos/engine-server.ts';

describe.each(OUTSIDE_DRIVERS)('examples/%s', (driver) => {
  test.skipIf(ENGINE_MISSING[driver] !== null)(
    'the same order has the same outcome on both engines',
    { timeout: 180_000 },
    async () => {
      const script = new URL(`../../examples/${driver}/try.ts`, import.meta.url).pathname;
      const { stdout } = await promisify(execFile)(process.execPath, [script]);
      expect(stdout).toContain('native: Succeeded {"shipped":true,"paid":20}');
      expect(stdout).toContain(`${driver}: Succeeded {"shipped":true,"paid":20} {"provider":"${driver}"`);
    },
  );
});
