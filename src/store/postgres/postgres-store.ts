// The storage port on PostgreSQL: one thin module per aggregate over two pools. The schema is the migrations' (store/migrate).

import type { Store } from '../port.ts';
import { accessStore } from './access/access-store.ts';
import { auditStore } from './access/audit-store.ts';
import { artifactStore } from './artifact/artifact-store.ts';
import { bulkStore } from './bulk/bulk-store.ts';
import { catalogStore } from './catalog/catalog-store.ts';
import { connectionStore, secretStore } from './connection/connection-store.ts';
import { type Database, engineSettings, openEngineDatabase, openReadDatabase, readSettings } from './database.ts';
import { deliveryStore } from './delivery/delivery-store.ts';
import { erasureStore } from './erasure/erasure-store.ts';
import { eventWaitStore } from './event-wait/event-wait-store.ts';
import { executionReader } from './execution/execution-reader.ts';
import { executionStore } from './execution/execution-store.ts';
import { inboxStore } from './execution/inbox-store.ts';
import { queueStore } from './execution/queue-store.ts';
import { externalStore } from './external/external-store.ts';
import { instanceStore } from './lifecycle/instance-store.ts';
import { lifecycleStore } from './lifecycle/lifecycle-store.ts';
import { liveLineStore } from './live-line/live-line-store.ts';
import { operationStore } from './operation/operation-store.ts';
import { overviewStore } from './overview/overview-store.ts';
import { pluginStore } from './plugin/plugin-store.ts';
import { quotaStore } from './quota/quota-store.ts';
import { secureRows } from './row-security.ts';
import { runnerStore } from './runner/runner-store.ts';
import { checkSession } from './session-check.ts';
import { statisticsStore } from './statistics/statistics-store.ts';
import { taskQueueStore } from './task-queue/task-queue-store.ts';
import { templateStore } from './template/template-store.ts';
import { triggerStore } from './trigger/trigger-store.ts';
import { workflowLifeStore } from './workflow/workflow-life-store.ts';
import { workflowStore } from './workflow/workflow-store.ts';

export interface PostgresStoreOptions {
  connectionString: string;
  schema?: string;
  /** Claims, commits, parks, mail. At least the runner's slots and a few. */
  engineConnections?: number;
  readConnections?: number;
  queryTimeoutMs?: number;
  /** The connection leads through a transaction pooler: see DatabaseOptions. */
  isPooled?: boolean;
  allowAsyncCommit?: boolean;
  /** The role of row-security.ts; absent: there is no second wall. */
  rowSecurity?: string | undefined;
}

export function createPostgresStore(options: PostgresStoreOptions): Store {
  const { engine, reader } = openDatabases(options);
  return storeOn(engine, reader);
}

/** Opens a store after inspecting its sessions, so that problems are reported before anything is written. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<{ store: Store; isAsync: boolean }> {
  const { engine, reader } = openDatabases(options);
  const store = storeOn(engine, reader);
  try {
    if (options.rowSecurity !== undefined) await secureRows(engine, options.rowSecurity);
    const { isAsync } = await checkSession(engine, engineSettings(withSchema(options)));
    await checkSession(reader, readSettings(withSchema(options)));
    return { store, isAsync };
  } catch (error) {
    await store.close().catch(() => undefined);
    throw error;
  }
}

const withSchema = ({ schema = 'public', ...options }: PostgresStoreOptions) => ({ ...options, schema });

function openDatabases(options: PostgresStoreOptions): { engine: Database; reader: Database } {
  const {
    engineConnections = 10,
    readConnections = 5,
    queryTimeoutMs = 60_000,
    rowSecurity,
    ...rest
  } = withSchema(options);
  const common = { ...rest, queryTimeoutMs };
  return {
    engine: openEngineDatabase({ ...common, maxConnections: engineConnections, applicationName: 'pawl engine' }),
    reader: openReadDatabase({
      ...common,
      rowSecurity,
      maxConnections: readConnections,
      applicationName: 'pawl reads',
    }),
  };
}

/** The port on two databases, or on one connection that stands for both (start-in-transaction.ts). */
export function storeOn(engine: Database, reader: Database): Store {
  return {
    ...runnerStore(engine, reader),
    ...executionStore(engine),
    ...queueStore(engine, reader),
    ...inboxStore(engine),
    ...externalStore(engine),
    ...workflowStore(engine, reader),
    ...workflowLifeStore(reader),
    ...triggerStore(engine, reader),
    ...templateStore(reader),
    ...executionReader(reader),
    ...catalogStore(reader),
    ...accessStore(reader),
    ...statisticsStore(reader),
    ...overviewStore(reader),
    ...bulkStore(reader),
    ...quotaStore(engine, reader),
    ...lifecycleStore(engine, reader),
    ...instanceStore(engine, reader),
    ...deliveryStore(engine, reader),
    ...auditStore(reader, (database) => storeOn(database, database)),
    ...artifactStore(reader),
    ...secretStore(engine, reader),
    ...connectionStore(engine, reader),
    ...operationStore(engine, reader),
    ...eventWaitStore(engine),
    ...erasureStore(reader),
    ...pluginStore(reader),
    ...liveLineStore(reader),
    ...taskQueueStore(engine, reader),
    async close() {
      await Promise.all([engine.close(), reader.close()]);
    },
  };
}
