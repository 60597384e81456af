// Tests of the engine that use only the public API, run unchanged on Temporal: in a process of their own, because in this process
// they run on the native engine. For any other file of test/engine: TEST_DRIVER=temporal npx vitest run
// test/engine/signals.test.ts (a test that looks at native queues fails there).

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { temporalMissing } from './temporal-server.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FILES = ['test/engine/context.test.ts', 'test/engine/loops.test.ts'];

it.skipIf(temporalMissing !== null)(
  'engine tests of the public API pass unchanged on Temporal',
  async () => {
    const program = ['node_modules/vitest/vitest.mjs', 'run', '--maxWorkers', '1', ...FILES];
    const env = { ...process.env, TEST_DRIVER: 'temporal' };
    const child = spawn(process.execPath, program, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += String(chunk);
    });
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, printed).toBe(0);
  },
  300_000,
);
