// The store on a connection of the caller's, inside the transaction that the caller has begun: what is accepted through it
// is durable when the caller commits, and never existed when the caller rolls back (I1). It begins, commits and prepares
// nothing, so it leaves the caller's session as it was. main.ts builds startInTransaction on it.

import type { Store } from '../port.ts';
import { camelRow, getTypeParser, joining, type Session } from './database.ts';
import { storeOn } from './postgres-store.ts';
import { storeError } from './sqlstate.ts';
import { type Statement, type Values, valuesOf } from './statement.ts';

/**
 * A `pg` client that is inside a transaction; a pool, which cannot escape, would give every statement another connection.
 * Written out, so that whoever uses Pawl needs no types of pg.
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
    // When a statement has failed, the transaction is over, and the path with it.
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
        // Without a name: prepared statements would stay in a session that is not ours. With our parsers: the caller may have
        // taught pg others.
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
