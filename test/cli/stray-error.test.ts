// An action that fails after it has answered must not end the server.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createClient } from '../../src/sdk/client.ts';
import { chain } from '../server/api-server.ts';
import { command, pawl } from './dev-process.ts';

const ACTION = `import { defineAction } from 'pawl';
import { z } from 'zod';
const leave = {
  timer: () => setTimeout(() => { throw new Error('late in a timer with ' + process.env.CONNECTOR_TEST_TOKEN); }, 1),
  promise: () => void Promise.reject(new Error('nobody waited')),
  exit: () => process.exit(7),
  text: () => setImmediate(() => { throw 'a mere text'; }),
  listener: ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', () => {
    resolve();
    throw new Error('told to stop');
  })),
};
export const careless = defineAction({
  type: 'test.careless', version: '1.0.0', connector: 'test', category: 'Test',
  params: z.object({ what: z.enum(['timer', 'promise', 'text', 'listener', 'exit']) }), outputs: z.unknown(),
  run({ what }, context) {
    const answered = { outputs: { answered: true } };
    return what === 'listener' ? leave.listener(context).then(() => answered) : (leave[what](), answered);
  },
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

/** Starts a workflow of careless nodes, one after the other. */
async function start(...leaves: string[]) {
  await expect.poll(() => dev.output.stdout).toContain('Pawl is ready at');
  const [, url] = /ready at (http:\S+)/.exec(dev.output.stdout)!;
  const client = createClient({ url: url! });
  const nodes = leaves.map((what) => ({ id: what, actionType: 'test.careless', parameters: { what } }));
  await client.workflows.create(chain(leaves[0]!, ...nodes) as never);
  await client.workflows.publish(leaves[0]!);
  const { executionId } = await client.workflows.execute(leaves[0]!, {});
  const status = async () => (await client.executions.get(executionId)).status;
  return { status, cancel: () => client.executions.cancel(executionId, { reason: 'not wanted' }) };
}

it('pawl dev names the action that left an error behind, and keeps running', { timeout: 60_000 }, async () => {
  const { status } = await start('timer', 'promise', 'text');
  await expect.poll(status).toBe('Succeeded');
  for (const message of ['late in a timer', 'nobody waited', 'a mere text']) {
    await expect.poll(() => dev.output.stderr).toContain(message);
  }
  expect(dev.output.stderr).toContain(`test.careless left behind an error`);
  expect(dev.output.stderr + dev.output.stdout).not.toContain(CANARY);
  expect(dev.process.exitCode).toBeNull();
});

it('pawl dev survives a listener that throws when its attempt is told to stop', { timeout: 60_000 }, async () => {
  const { status, cancel } = await start('listener');
  await expect.poll(status).toBe('Running');
  await cancel();
  await expect.poll(() => dev.output.stderr).toContain('told to stop');
  await expect.poll(status).toBe('Cancelled');
  expect(dev.output.stderr).toContain('of node "listener"');
  expect(dev.process.exitCode).toBeNull();
});

it('pawl run says which action ended the process', { timeout: 60_000 }, async () => {
  const flow = join(folder, 'exit.json');
  const node = { id: 'leave', actionType: 'test.careless', parameters: { what: 'exit' } };
  writeFileSync(flow, JSON.stringify(chain('exit', node)));
  const { code, stderr } = await pawl({}, 'run', flow, '--actions', folder, '--data', join(folder, 'run'));
  expect(stderr).toMatch(
    /^pawl: test\.careless called process\.exit\(7\), which ends Pawl \(attempt 1 of node "leave" of execution \S+\)$/m,
  );
  expect(code).toBe(7);
});

it('pawl run goes on after an error that an action left behind', { timeout: 60_000 }, async () => {
  const flow = join(folder, 'promise.json');
  writeFileSync(
    flow,
    JSON.stringify(chain('promise', { id: 'p', actionType: 'test.careless', parameters: { what: 'promise' } })),
  );
  const { code, stdout, stderr } = await pawl({}, 'run', flow, '--actions', folder, '--data', join(folder, 'other'));
  expect(stderr).toMatch(/^pawl: test\.careless left behind an error .*: nobody waited$/m);
  expect([code, stdout]).toEqual([0, expect.stringContaining('Succeeded')]);
});
