// The database of an installation: the one it names, or an embedded one of its own; brought to our schema, and opened.

import type { Config } from './config.ts';
import { startEmbedded } from './store/embedded/embedded.ts';
import type { Hint, Hints } from './store/hint-port.ts';
import type { OpenLeaseThread } from './store/lease-renewal.ts';
import { migrateUp } from './store/migrate/migrate.ts';
import type { RunnerStore, Store } from './store/port.ts';
import { openHints } from './store/postgres/hints.ts';
import { leaseThreads } from './store/postgres/lease-thread.ts';
import { createPostgresStore } from './store/postgres/postgres-store.ts';

export interface Storage {
  readonly store: Store;
  readonly openHints: (receive: (hint: Hint) => void, warn: Warn) => Promise<Hints>;
  readonly openLeaseThread: OpenLeaseThread;
}

type Warn = (event: string, details: Record<string, unknown>) => void;

export async function openStorage(
  { database, engine }: Config,
  closers: (() => Promise<unknown>)[],
  onProgress?: (step: string) => void,
): Promise<Storage> {
  const { url, schema, dataDir, engineConnections, readConnections } = database;
  const connectionString = url ?? (await startOwn(dataDir, closers, onProgress));
  await migrateUp({ connectionString, schema });
  const store = createPostgresStore({ connectionString, schema, engineConnections, readConnections });
  closers.push(() => store.close());
  if (url === undefined) await retireFormerRunners(store, engine.poisonDelayMs);
  return {
    store,
    openHints: (receive, warn) => openHints({ connectionString, receive, warn }),
    openLeaseThread: leaseThreads({ connectionString, schema }),
  };
}

async function startOwn(
  dataDir: string,
  closers: (() => Promise<unknown>)[],
  onProgress?: (step: string) => void,
): Promise<string> {
  const embedded = await startEmbedded({ dataDir, ...(onProgress === undefined ? {} : { onProgress }) });
  closers.push(() => embedded.stop());
  return embedded.connectionString;
}

/**
 * The server was started just now, so whoever held a lease on it is gone, or has lost its connections and will find itself
 * fenced: what it owned need not wait for the end of the lease.
 */
export async function retireFormerRunners(
  store: Pick<RunnerStore, 'runnerList' | 'runnerDeclareDead'>,
  suspectDelayMs: number,
): Promise<void> {
  for (const { runnerId, state } of await store.runnerList()) {
    if (state === 'live') await store.runnerDeclareDead({ runnerId, suspectDelayMs });
  }
}
