// Two pools. The engine's is pinned to plans that stay good while tables grow from nothing: generic plans, indexes and
// nested loops (a plan made on empty tables dropped throughput to 400/s). Everything that people ask goes through the other,
// with the planner's own settings, so a long report never holds a connection that a commit needs.

import pg from 'pg';
import { connectionIsBroken, storeError } from './sqlstate.ts';
import type { Statement } from './statement.ts';
import { parseTimestamp } from './timestamp-text.ts';

/** Whatever runs statements: a pool or a transaction. */
export interface Session {
  run<Row>(statement: Statement, values: readonly unknown[]): Promise<Row[]>;
}

export interface Database extends Session {
  /** READ COMMITTED: every statement in it sees what was committed before the statement began. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

export interface EngineDatabase extends Database {
  /** The fields of each row as PostgreSQL wrote them, in the order of its columns: see execution-claim.ts. */
  runRaw(statement: Statement, values: readonly unknown[]): Promise<RawRow[]>;
}

export type RawRow = readonly (string | null)[];

/** What is begun on it joins the transaction that the session is in. Nothing is claimed in somebody's transaction. */
export const joining = (session: Session): EngineDatabase => ({
  ...session,
  runRaw: ({ name }) => Promise.reject(new Error(`${name} is for the engine's own connections`)),
  transaction: (work) => work(session),
  close: async () => {},
});

export interface DatabaseOptions {
  connectionString: string;
  schema: string;
  maxConnections: number;
  applicationName: string;
  /** A reply that does not come: the connection is given up and the outcome is unknown (I18). */
  queryTimeoutMs: number;
}

const COMMON_SETTINGS = { TimeZone: 'UTC', DateStyle: 'ISO', jit: 'off' };

export const ENGINE_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A process that is stopped in the middle of a takeover must not keep the others from theirs.
  idle_in_transaction_session_timeout: '10s',
};

const BEGIN: Statement = { name: '', text: 'begin' };
const COMMIT: Statement = { name: '', text: 'commit' };
const ROLLBACK: Statement = { name: '', text: 'rollback' };

export const openEngineDatabase = (options: DatabaseOptions): EngineDatabase => openDatabase(options, ENGINE_SETTINGS);
export const openReadDatabase = (options: DatabaseOptions): Database => openDatabase(options, {});

function openDatabase(options: DatabaseOptions, settings: Record<string, string>): EngineDatabase {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.maxConnections,
    application_name: options.applicationName,
    options: startupOptions({ ...COMMON_SETTINGS, ...settings, search_path: quoteIdentifier(options.schema) }),
    types: { getTypeParser },
    query_timeout: options.queryTimeoutMs,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  });
  // A connection that breaks is replaced at its next use, and the statement that was on it reports what went wrong. Without
  // these listeners, for the idle and for those in use, it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));

  async function connected<Result>(work: (connection: Connection) => Promise<Result>): Promise<Result> {
    const client = await pool.connect().catch((error: unknown) => {
      throw storeError(error, 'connecting');
    });
    let broken = false;
    const connection: Connection = {
      run: <Row>(statement: Statement, values: readonly unknown[]) => asked<Row>(rowsOf, statement, values),
      runRaw: (statement, values) => asked(rawRowsOf, statement, values),
    };
    async function asked<Row>(read: Reader<Row>, statement: Statement, values: readonly unknown[]): Promise<Row[]> {
      try {
        return await read(client, statement, values);
      } catch (error) {
        broken ||= connectionIsBroken(error);
        throw storeError(error, statement.name);
      }
    }
    try {
      return await work(connection);
    } finally {
      client.release(broken);
    }
  }

  return {
    run: (statement, values) => connected((connection) => connection.run(statement, values)),
    runRaw: (statement, values) => connected((connection) => connection.runRaw(statement, values)),
    transaction: (work) => connected((connection) => inTransaction(connection, work)),
    close: () => pool.end(),
  };
}

type Connection = Pick<EngineDatabase, 'run' | 'runRaw'>;
type Reader<Row> = (client: pg.PoolClient, statement: Statement, values: readonly unknown[]) => Promise<Row[]>;

/** As a query of its own making: the driver copies a description of one property by property, which takes longer than sending it. */
function rowsOf<Row>(client: pg.PoolClient, { name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const query = new pg.Query(text, values as unknown[], (error, result) =>
      error ? reject(error) : resolve(result.rows),
    );
    client.query(Object.assign(query, { name }));
  });
}

/** The driver hands each row to its query, which would name and parse the fields. */
function rawRowsOf(client: pg.PoolClient, { name, text }: Statement, values: readonly unknown[]): Promise<RawRow[]> {
  return new Promise((resolve, reject) => {
    const rows: RawRow[] = [];
    const query = new pg.Query(text, values as unknown[], (error) => (error ? reject(error) : resolve(rows)));
    const handleDataRow = ({ fields }: { readonly fields: RawRow }) => rows.push(fields);
    client.query(Object.assign(query, { name, handleDataRow }));
  });
}

async function inTransaction<Result>(session: Session, work: (session: Session) => Promise<Result>): Promise<Result> {
  await session.run(BEGIN, []);
  let result: Result;
  try {
    result = await work(session);
  } catch (error) {
    // If this fails too, the connection is gone and the server rolls back by itself.
    await session.run(ROLLBACK, []).catch(() => {});
    throw error;
  }
  await session.run(COMMIT, []);
  return result;
}

const quoteIdentifier = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** `-c name=value …`, set before the first statement and not lost by a reset. */
function startupOptions(settings: Record<string, string>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/([\\ ])/g, '\\$1')}`)
    .join(' ');
}

const JSON_OID = 114;
const TIMESTAMPTZ_OID = 1184;

/** json stays the text that was written; a time becomes milliseconds since the epoch. */
export function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === JSON_OID) return (value) => value;
  if (oid === TIMESTAMPTZ_OID) return parseTimestamp;
  return pg.types.getTypeParser(oid, format as 'text');
}
