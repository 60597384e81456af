// An action that fails after it has answered must not take the server with it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../src/sdk/client.ts';
import { chain } from '../server/api-server.ts';
import { command } from './dev-process.ts';

const ACTION = `import { defineAction } from 'pawl';
import { z } from 'zod';
const leave = {
  timer: () => setTimeout(() => { throw new Error('late in a timer with ' + process.env.CONNECTOR_TEST_TOKEN); }, 1),
  promise: () => void Promise.reject(new Error('nobody waited')),
  text: () => setImmediate(() => { throw 'a mere text'; }),
};
export const careless = defineAction({
  type: 'test.careless', version: '1.0.0', connector: 'test', category: 'Test',
  params: z.object({ what: z.enum(['timer', 'promise', 'text']) }), outputs: z.unknown(),
  run({ what }) { leave[what](); return { outputs: { answered: true } }; },
});
`;

const CANARY = 'canary-of-the-stray-error';
const folder = mkdtempSync(join(tmpdir(), 'pawl-stray-'));
writeFileSync(join(folder, 'careless.mjs'), ACTION);
const dev = command({ PAWL_ACTION_FOLDER: folder, CONNECTOR_TEST_TOKEN: CANARY }, [
  'dev',
  '--data',
  join(folder, 'data'),
  '--port',
  '0',
]);

afterAll(async () => {
  dev.process.kill('SIGINT');
  await dev.finished;
  rmSync(folder, { recursive: true, force: true });
});

it('says whose error it was, and goes on', { timeout: 60_000 }, async () => {
  await expect.poll(() => dev.output.stdout).toContain('Pawl is ready at');
  const [, url] = /ready at (http:\S+)/.exec(dev.output.stdout)!;
  const client = createClient({ url: url! });
  const node = (what: string) => ({ id: what, actionType: 'test.careless', parameters: { what } });
  await client.workflows.create(chain('careless', node('timer'), node('promise'), node('text')) as never);
  await client.workflows.publish('careless');
  const { executionId } = await client.workflows.execute('careless', {});
  const status = async () => (await client.executions.get(executionId)).status;
  await expect.poll(status).toBe('Succeeded');
  for (const message of ['late in a timer', 'nobody waited', 'a mere text']) {
    await expect.poll(() => dev.output.stderr).toContain(message);
  }
  expect(dev.output.stderr).toContain(`test.careless left behind an error`);
  expect(dev.output.stderr + dev.output.stdout).not.toContain(CANARY);
  expect(dev.process.exitCode).toBeNull();
});
