// The example of the Temporal driver, as a reader would run it.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporalMissing } from '../driver/temporal-server.ts';

test.skipIf(temporalMissing !== null)('the same order ends the same on both engines', async () => {
  const script = new URL('../../examples/temporal/try.ts', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toContain('native: Succeeded {"shipped":true,"paid":20}');
  expect(stdout).toContain('temporal: Succeeded {"shipped":true,"paid":20} {"provider":"temporal"');
});
