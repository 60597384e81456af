// The storage port on PostgreSQL: one thin module per aggregate over two pools. The schema is the migrations' (store/migrate).

import type { Store } from '../port.ts';
import { accessStore } from './access-store.ts';
import { auditStore } from './audit-store.ts';
import { catalogStore } from './catalog-store.ts';
import { type Database, type EngineDatabase, openEngineDatabase, openReadDatabase } from './database.ts';
import { deliveryStore } from './delivery-store.ts';
import { executionReader } from './execution-reader.ts';
import { executionStore } from './execution-store.ts';
import { inboxStore } from './inbox-store.ts';
import { instanceStore } from './instance-store.ts';
import { lifecycleStore } from './lifecycle-store.ts';
import { operationStore } from './operation-store.ts';
import { queueStore } from './queue-store.ts';
import { quotaStore } from './quota-store.ts';
import { runnerStore } from './runner-store.ts';
import { templateStore } from './template-store.ts';
import { triggerStore } from './trigger-store.ts';
import { workflowLifeStore } from './workflow-life-store.ts';
import { workflowStore } from './workflow-store.ts';

export interface PostgresStoreOptions {
  connectionString: string;
  schema?: string;
  /** Claims, commits, parks, mail. At least the runner's slots and a few. */
  engineConnections?: number;
  readConnections?: number;
  queryTimeoutMs?: number;
}

export function createPostgresStore(options: PostgresStoreOptions): Store {
  const { connectionString, schema = 'public', queryTimeoutMs = 60_000 } = options;
  const common = { connectionString, schema, queryTimeoutMs };
  const engine = openEngineDatabase({
    ...common,
    maxConnections: options.engineConnections ?? 10,
    applicationName: 'pawl engine',
  });
  const reader = openReadDatabase({
    ...common,
    maxConnections: options.readConnections ?? 5,
    applicationName: 'pawl reads',
  });
  return storeOn(engine, reader);
}

/** The port on two databases, or on one connection that stands for both (start-in-transaction.ts). */
export function storeOn(engine: EngineDatabase, reader: Database): Store {
  return {
    ...runnerStore(engine, reader),
    ...executionStore(engine),
    ...queueStore(engine, reader),
    ...inboxStore(engine),
    ...workflowStore(reader),
    ...workflowLifeStore(reader),
    ...triggerStore(engine, reader),
    ...templateStore(reader),
    ...executionReader(reader),
    ...catalogStore(reader),
    ...accessStore(reader),
    ...quotaStore(engine, reader),
    ...lifecycleStore(engine, reader),
    ...instanceStore(engine, reader),
    ...deliveryStore(engine, reader),
    ...auditStore(reader, (database) => storeOn(database, database)),
    ...operationStore(engine, reader),
    async close() {
      await Promise.all([engine.close(), reader.close()]);
    },
  };
}
