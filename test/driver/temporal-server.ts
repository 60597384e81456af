// A real Temporal server for tests, obtained by `npm run servers`. If there is none, its tests are skipped with one loud line.

import { once } from 'node:events';
import type { RunningServer, StartOptions } from '../../scripts/server/server.ts';
import { temporal } from '../../scripts/server/temporal.ts';
import { lastingPorts } from '../support/lasting-port.ts';

const program = temporal.find();

/** Why the tests of this file cannot run; null: they can. */
export const temporalMissing: string | null =
  program === null ? 'SKIPPED: there is no Temporal server. Get one with: npm run servers' : null;
if (temporalMissing !== null) console.warn(`\n${temporalMissing}\n`);

export interface TestServer {
  readonly address: string;
  /** Kills the server with -9, and starts it again on the same port and data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `data`: a folder for the server's database, which then survives a restart. */
export async function startTemporal({ data }: Pick<StartOptions, 'data'> = {}): Promise<TestServer> {
  const [port] = (await lastingPorts(1)) as [number];
  const start = (): Promise<RunningServer> => temporal.start!(program!, { port, data });
  let running = await start();
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const exited = once(running.process, 'exit');
    running.process.kill(signal);
    await exited;
  };
  return {
    address: running.address,
    async restart() {
      await end('SIGKILL');
      running = await start();
    },
    stop: () => end('SIGTERM'),
  };
}
