// A real Conductor server for tests, obtained by `npm run servers`. If there is none, its tests are skipped with one loud line.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { conductor } from '../../scripts/server/conductor.ts';
import type { RunningServer } from '../../scripts/server/server.ts';
import { lastingPorts } from '../support/lasting-port.ts';
import type { TestServer } from './temporal-server.ts';

const program = conductor.find();

/** Why the tests of this file cannot run; null: they can. */
export const conductorMissing: string | null =
  program === null ? 'SKIPPED: there is no Conductor server. Get one with: npm run servers' : null;
if (conductorMissing !== null) console.warn(`\n${conductorMissing}\n`);

export async function startConductor(): Promise<TestServer> {
  const [port] = (await lastingPorts(1)) as [number];
  const data = mkdtempSync(join(tmpdir(), 'pawl-conductor-test-'));
  const start = (): Promise<RunningServer> => conductor.start!(program!, { port, data });
  let running = await start();
  const end = async () => {
    const exited = once(running.process, 'exit');
    running.process.kill('SIGKILL');
    await exited;
    await running.endOthers?.();
  };
  return {
    address: `http://127.0.0.1:${port}`,
    async restart() {
      await end();
      running = await start();
    },
    async stop() {
      await end();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
