// The store on the caller's own connection, inside the caller's transaction: accepted executions are durable when the caller
// commits, and never existed when the caller rolls back (I1). It begins, commits and prepares nothing, so the caller's session
// stays unchanged. main.ts builds startInTransaction on it.

import type { Store } from '../port.ts';
import { camelRow, getTypeParser, joining, type Session } from './database.ts';
import { storeOn } from './postgres-store.ts';
import { storeError } from './sqlstate.ts';
import { type Statement, type Values, valuesOf } from './statement.ts';

/**
 * A `pg` client inside a transaction. A pool would give every statement another connection. Spelled out, so that users of
 * Pawl need no types of pg.
 */
export interface TransactionClient {
  query(statement: {
    text: string;
    values?: unknown[];
    types?: { getTypeParser: typeof getTypeParser };
  }): Promise<{ rows: unknown[] }>;
  escapeIdentifier(name: string): string;
}

/** `schema`: where the tables are, if the connection's own search_path does not lead there. */
export async function inTransactionOf<Result>(
  client: TransactionClient,
  schema: string | undefined,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const store = transactionStore(client);
  if (schema === undefined) return work(store);
  const { rows } = await client.query({ text: `select current_setting('search_path') as path` });
  await client.query({ text: SET_PATH, values: [client.escapeIdentifier(schema)] });
  try {
    return await work(store);
  } finally {
    // A failed statement ends the transaction, and the path with it.
    const { path } = rows[0] as { path: string };
    await client.query({ text: SET_PATH, values: [path] }).catch(() => undefined);
  }
}

const SET_PATH = `select set_config('search_path', $1, true)`;

function transactionStore(client: TransactionClient): Store {
  const session: Session = {
    async run<Row>(statement: Statement, given: Values) {
      const { name, text } = statement;
      const values = valuesOf(statement, given) as unknown[];
      try {
        // Without a name, because prepared statements would stay in the caller's session. With our own parsers, because the
        // caller may have changed pg's.
        const { rows } = await client.query({ text, values, types: { getTypeParser } });
        return rows.map((row) => camelRow<Row>(row as Record<string, unknown>));
      } catch (error) {
        throw storeError(error, name);
      }
    },
  };
  const database = joining(session);
  return storeOn(database, database);
}
