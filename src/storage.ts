// The database of an installation: the one it names, or an embedded one of its own; brought to our schema, and opened.

import type { Config } from './config.ts';
import { startEmbedded } from './store/embedded/embedded.ts';
import { migrateUp } from './store/migrate/migrate.ts';
import type { RunnerStore, Store } from './store/port.ts';
import { createPostgresStore } from './store/postgres/postgres-store.ts';

export async function openStorage(
  { database, engine }: Config,
  closers: (() => Promise<unknown>)[],
  onProgress?: (step: string) => void,
): Promise<{ store: Store; connectionString: string }> {
  const { url, schema, dataDir, engineConnections, readConnections } = database;
  let connectionString = url;
  if (connectionString === undefined) {
    const embedded = await startEmbedded({ dataDir, ...(onProgress === undefined ? {} : { onProgress }) });
    closers.push(() => embedded.stop());
    connectionString = embedded.connectionString;
  }
  await migrateUp({ connectionString, schema });
  const store = createPostgresStore({ connectionString, schema, engineConnections, readConnections });
  closers.push(() => store.close());
  if (url === undefined) await retireFormerRunners(store, engine.poisonDelayMs);
  return { store, connectionString };
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
