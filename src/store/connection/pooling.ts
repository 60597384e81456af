// Detects a transaction pooler, which hands each transaction to another server connection, so no session state survives: LISTEN,
// settings, prepared statements, advisory locks. A pooler answers like PostgreSQL, so asking is not enough: one connection holds
// a transaction while another asks twice for its server process.

import type pg from 'pg';
import { Address } from './address.ts';

/** Its message is for the person who set up the database. */
export class TransactionPoolerError extends Error {
  override readonly name = 'TransactionPoolerError';
}

/** `isDirect`: the URL is database.directUrl. */
export async function refuseTransactionPooler(connectionString: string, isDirect: boolean): Promise<void> {
  if (!(await isTransactionPooler(new Address(connectionString)))) return;
  throw new TransactionPoolerError(
    isDirect
      ? 'database.directUrl leads through a transaction pooler as well. It must lead to PostgreSQL itself, or through a session pooler.'
      : 'DATABASE_URL leads through a transaction pooler (PgBouncer), which keeps no session. Set database.directUrl (PAWL_DATABASE_DIRECT_URL) to PostgreSQL itself: leases, notifications and migrations go there, and everything else goes through the pooler.',
  );
}

const ROUNDS = 3;
/** A pooler with a single server connection makes the second one wait. */
const PATIENCE_MS = 3_000;

export async function isTransactionPooler(address: Address): Promise<boolean> {
  const options = { applicationName: 'pawl pooler check', queryTimeoutMs: PATIENCE_MS };
  const asking = await address.connect(options);
  try {
    const holding = await address.connect(options);
    try {
      for (let round = 0; round < ROUNDS; round++) if (await changesServer(asking, holding)) return true;
      return false;
    } finally {
      await holding.end().catch(() => undefined);
    }
  } finally {
    await asking.end().catch(() => undefined);
  }
}

async function changesServer(asking: pg.Client, holding: pg.Client): Promise<boolean> {
  const before = await serverProcess(asking);
  await holding.query('begin');
  await serverProcess(holding);
  const after = await serverProcess(asking).catch((error: unknown) => {
    if (!/timeout/i.test(String(error))) throw error;
    return null;
  });
  await holding.query('rollback');
  return after !== before;
}

async function serverProcess(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]!.pid;
}
