// The database of an installation: the configured one or an embedded one, migrated and opened.

import type { Config } from '../config/config.ts';
import { poolSizes } from '../config/pool-size.ts';
import { refuseTransactionPooler } from '../store/connection/pooling.ts';
import { startEmbedded } from '../store/embedded/embedded.ts';
import type { Hint, Hints } from '../store/hint-port.ts';
import type { OpenLeaseThread } from '../store/lease-renewal.ts';
import { migrateUp } from '../store/migrate/migrate.ts';
import type { Store } from '../store/port.ts';
import { openHints } from '../store/postgres/hints.ts';
import { openPostgresStore } from '../store/postgres/postgres-store.ts';
import { leaseThreads } from '../store/postgres/runner/lease-thread.ts';
import type { RunnerStore } from '../store/runner-port.ts';

export interface Storage {
  readonly store: Store;
  /** The server acknowledges commits before they are on disk, as database.allowAsyncCommit permits. */
  readonly isAsync: boolean;
  readonly openHints: (listener: HintListener, warn: Warn) => Promise<Hints>;
  readonly openLeaseThread: OpenLeaseThread;
}

export interface OpeningOptions {
  readonly onProgress?: ((step: string) => void) | undefined;
  /** Stops waiting for another process that migrates. */
  readonly signal?: AbortSignal | undefined;
}

/** The listener for hints, and how many executions the runner would take now; absent: there is no runner. */
export interface HintListener {
  readonly receive: (hint: Hint) => void;
  readonly room?: (() => number) | undefined;
}

type Warn = (event: string, details: Record<string, unknown>) => void;

export async function openStorage(
  { database, engine }: Config,
  closers: (() => Promise<unknown>)[],
  { onProgress, signal }: OpeningOptions = {},
): Promise<Storage> {
  const { url, directUrl, schema, dataDir, queryTimeoutMs, allowAsyncCommit, rowSecurity } = database;
  const connectionString = url ?? (await startOwn(dataDir, closers, onProgress));
  /** For session state: leases, notifications, migrations. */
  const direct = directUrl ?? connectionString;
  if (url !== undefined) await refuseTransactionPooler(direct, directUrl !== undefined);
  const onWaiting = (holder: string) => onProgress?.(`waiting for another migration of this database: ${holder}`);
  await migrateUp({ connectionString: direct, schema, onWaiting, signal });
  const isPooled = directUrl !== undefined;
  const pools = { ...poolSizes(database), queryTimeoutMs, isPooled, allowAsyncCommit, rowSecurity };
  const { store, isAsync } = await openPostgresStore({ connectionString, schema, ...pools });
  closers.push(() => store.close());
  if (url === undefined) await retireFormerRunners(store, engine.poisonDelayMs);
  return {
    store,
    isAsync,
    openHints: (listener, warn) => openHints({ connectionString: direct, ...listener, warn }),
    openLeaseThread: leaseThreads({ connectionString: direct, schema }),
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
 * The server has just started, so former lease holders are gone, or have lost their connections and will find themselves
 * fenced. Their executions need not wait for the end of a lease.
 */
export async function retireFormerRunners(
  store: Pick<RunnerStore, 'runnerList' | 'runnerDeclareDead'>,
  suspectDelayMs: number,
): Promise<void> {
  for (const { runnerId, state } of await store.runnerList()) {
    if (state === 'live') await store.runnerDeclareDead({ runnerId, suspectDelayMs });
  }
}
