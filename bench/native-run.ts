// Our engine in this process: it runs the queue to its end and returns how long that took.

import { setTimeout as delay } from 'node:timers/promises';
import { createPawl, type Pawl, type PawlOptions } from '../src/main.ts';
import type { BenchDatabase } from './database.ts';
import { canReadCpu, processCpuUs } from './process-cpu.ts';

const LOOK_EVERY_MS = 2;
const STUCK_AFTER_MS = 120_000;

export interface RunResult {
  readonly seconds: number;
  readonly javascriptUs: number;
  /** null: the CPU time of PostgreSQL cannot be seen from here. */
  readonly postgresUs: number | null;
}

/** A Pawl without a runner, for publishing and filling the queue. */
export function openPawl(database: BenchDatabase, options: PawlOptions = {}): Promise<Pawl> {
  return createPawl({ ...options, database: { url: database.url, ...options.database } });
}

/** Timed from the registration of the runner, its first act, to the last end of an execution. */
export async function runQueue(
  database: BenchDatabase,
  count: number,
  options: { readonly postgresPid?: number | null; readonly pawl?: PawlOptions } = {},
): Promise<RunResult> {
  const { postgresPid = null } = options;
  const postgresUs = () => (postgresPid === null || !canReadCpu() ? null : processCpuUs(postgresPid));
  const postgresBefore = postgresUs();
  const cpuBefore = process.cpuUsage();
  const pawl = await openPawl(database, options.pawl);
  try {
    await ended(pawl, count);
    const endedAt = Date.now();
    const { user, system } = process.cpuUsage(cpuBefore);
    const postgresAfter = postgresUs();
    const startedAt = await runnerStartedAt(database, pawl);
    return {
      seconds: (endedAt - startedAt) / 1000,
      javascriptUs: user + system,
      postgresUs: postgresBefore === null || postgresAfter === null ? null : postgresAfter - postgresBefore,
    };
  } finally {
    await pawl.close();
  }
}

/** Resolves when the runner of this Pawl has ended `count` executions since it began. */
export async function ended(pawl: Pawl, count: number): Promise<void> {
  let last = 0;
  let lastChange = performance.now();
  for (;;) {
    const now = pawl.metrics.get('ended') ?? 0;
    if (now >= count) return;
    if (now !== last) lastChange = performance.now();
    last = now;
    if (performance.now() - lastChange > STUCK_AFTER_MS) {
      throw new Error(`no execution has ended for ${STUCK_AFTER_MS / 1000} s; ${now} of ${count} have`);
    }
    await delay(LOOK_EVERY_MS);
  }
}

/** By the clock of this machine, in case the server has another. */
async function runnerStartedAt(database: BenchDatabase, pawl: Pawl): Promise<number> {
  const [row] = await database.query<{ at: Date }>('select registered_at as at from runners order by id desc limit 1');
  const clockDifference = (await pawl.store.now()) - Date.now();
  return row!.at.getTime() - (Math.abs(clockDifference) > 100 ? clockDifference : 0);
}
