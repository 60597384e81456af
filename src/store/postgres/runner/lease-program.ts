// What runs in the thread that renews a lease, over a connection of its own, whose session guards the lease. It stops renewing when the runner's event loop has not
// been alive for half a minute: a runner that never comes back must lose its work to others.

import { parentPort, workerData } from 'node:worker_threads';
import { keepRenewing, type LeaseNews } from '../../lease-renewal.ts';
import { openEngineDatabase } from '../database.ts';
import { type LeaseThreadData, machineMs } from './lease-thread.ts';
import { runnerStore } from './runner-store.ts';

const PATIENCE_MS = 30_000;

const { connectionString, schema, runnerId, leaseMs, heartbeat } = workerData as LeaseThreadData;
const beats = new Float64Array(heartbeat);
const database = openEngineDatabase({
  connectionString,
  schema,
  maxConnections: 1,
  applicationName: 'pawl lease',
  // An answer that comes later is too late to be tried again.
  queryTimeoutMs: leaseMs / 2,
  // Kept whatever happens: when the server is full, a runner that had to ask for a new one would lose its lease.
  idleTimeoutMs: 0,
  connectionLost() {
    parentPort!.postMessage({ type: 'unguarded' } satisfies LeaseNews);
    renewing.hurry();
  },
});

const renewing = keepRenewing({
  store: runnerStore(database, database),
  runnerId,
  leaseMs,
  monotonicMs: machineMs,
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
  isGuard: true,
  isWanted: () => machineMs() - beats[0]! < PATIENCE_MS,
  heard: (news) => parentPort!.postMessage(news),
});
