// The storage port in memory, with the semantics of the PostgreSQL implementation: each method is one atomic statement. It passes
// the same contract suite. The simulation puts a network between this store and the engine: see network.ts.

import type { Store } from '../../src/store/port.ts';
import { commitStatements } from './database/commit-statements.ts';
import { consumerStatements } from './database/consumer-statements.ts';
import { deliveryStatements } from './database/delivery-statements.ts';
import { eventWaitStatements } from './database/event-wait-statements.ts';
import { executionStatements } from './database/execution-statements.ts';
import { externalStatements } from './database/external-statements.ts';
import { lifecycleStatements } from './database/lifecycle-statements.ts';
import { operationStatements } from './database/operation-statements.ts';
import { outboxStatements } from './database/outbox-statements.ts';
import { queueStatements } from './database/queue-statements.ts';
import { readerStatements } from './database/reader-statements.ts';
import { runnerStatements } from './database/runner-statements.ts';
import type { Statements, Tables } from './database/tables.ts';

export function createStatements(tables: Tables): Statements {
  return {
    ...runnerStatements(tables),
    ...executionStatements(tables),
    ...commitStatements(tables),
    ...queueStatements(tables),
    ...eventWaitStatements(tables),
    ...readerStatements(tables),
    ...operationStatements(tables),
    ...lifecycleStatements(tables),
    ...consumerStatements(tables),
    ...deliveryStatements(tables),
    ...outboxStatements(tables),
    ...externalStatements(tables),
  };
}

/** Calls one statement by its name; an error of the statement rejects the promise. */
export type Call = (method: keyof Statements, params: unknown) => Promise<unknown>;

/** A store whose methods are all the same function: the one place where names meet types. */
export function storeOf(methods: readonly string[], call: Call): Store {
  const entries = methods.map((method) => [method, (params: unknown) => call(method as keyof Statements, params)]);
  return { ...Object.fromEntries(entries), close: async () => {} } as Store;
}

export function runStatement(statements: Statements, method: keyof Statements, params: unknown): unknown {
  return (statements[method] as (params: unknown) => unknown)(params);
}

export function createSimulatedStore(tables: Tables): Store {
  const statements = createStatements(tables);
  return storeOf(Object.keys(statements), async (method, params) => runStatement(statements, method, params));
}
