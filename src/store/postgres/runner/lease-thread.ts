// The thread that renews a lease, seen from the runner's side: started by the first beat, and by the next one if it has died.
// A short-lived process, which never beats, does not pay for it. Its times are read from the machine's monotonic clock, because
// each thread counts its own from another beginning.

import { Worker } from 'node:worker_threads';
import type { LeaseNews, OpenLeaseThread } from '../../lease-renewal.ts';

export interface LeaseThreadData {
  readonly connectionString: string;
  readonly schema: string;
  readonly runnerId: string;
  readonly leaseMs: number;
  /** When the runner's event loop was last known to be alive: machineMs, in a Float64Array of one. */
  readonly heartbeat: SharedArrayBuffer;
}

const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('./lease-program.ts', import.meta.url)
  : new URL('./lease-program.js', import.meta.url);

/** Monotonic milliseconds that mean the same in every thread. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export function leaseThreads(database: { connectionString: string; schema: string }): OpenLeaseThread {
  return (terms, heard) => {
    const heartbeat = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
    const beats = new Float64Array(heartbeat);
    const workerData = { ...database, ...terms, heartbeat } satisfies LeaseThreadData;
    const aheadMs = machineMs() - performance.now();
    let worker: Worker | null = null;
    let stopped = false;

    function start(): Worker {
      // Not what the program itself was started with: a module that it preloads is not meant to run twice.
      const started = new Worker(PROGRAM, { workerData, execArgv: [], name: 'pawl lease' });
      started.unref();
      started.on('message', (news: LeaseNews) => heard(onThisClock(news, aheadMs)));
      started.on('error', (error) => heard({ type: 'failed', error: `the thread that renews it failed: ${error}` }));
      started.on('exit', () => {
        if (worker === started) worker = null;
        if (!stopped) heard({ type: 'failed', error: 'the thread that renews it ended' });
      });
      return started;
    }

    return {
      beat() {
        beats[0] = machineMs();
        if (!stopped) worker ??= start();
      },
      async stop() {
        stopped = true;
        await worker?.terminate();
      },
    };
  };
}

function onThisClock(news: LeaseNews, aheadMs: number): LeaseNews {
  if (news.type !== 'renewed') return news;
  return { ...news, startedAt: news.startedAt - aheadMs, answeredAt: news.answeredAt - aheadMs };
}
