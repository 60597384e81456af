// Keeps the server running: if it ends unexpectedly (killed, out of memory, a full disk), it is restarted on the same data and
// port, as often as needed. Clients find it again by reconnecting.

import { setTimeout as delay } from 'node:timers/promises';
import type { ServerProcess } from './server-process.ts';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** Processes of a killed server hold its shared memory for a moment, and a new one refuses to share it. That passes by itself. */
const QUIET_TRIES = 3;

export async function keepRunning(
  start: () => Promise<ServerProcess>,
  report: (step: string) => void,
): Promise<Omit<ServerProcess, 'exited'>> {
  let server = await start();
  const stopping = new AbortController();
  const { signal } = stopping;
  const watching = watch();

  async function watch(): Promise<void> {
    for (;;) {
      await server.exited;
      if (signal.aborted) return;
      report('the database ended, and not by us: starting it again');
      const next = await startAgain();
      if (next === null) return;
      server = next;
      if (signal.aborted) return server.stop();
      report('the database is back');
    }
  }

  async function startAgain(): Promise<ServerProcess | null> {
    for (let tries = 1; !signal.aborted; tries++) {
      try {
        return await start();
      } catch (error) {
        if (tries > QUIET_TRIES) report(`not yet: ${(error as Error).message}`);
      }
      const delayMs = Math.min(FIRST_DELAY_MS * 2 ** (tries - 1), LONGEST_DELAY_MS);
      await delay(delayMs, undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  return {
    get pid() {
      return server.pid;
    },
    async stop() {
      stopping.abort();
      await server.stop();
      await watching;
    },
  };
}
