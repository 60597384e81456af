// Two pools. The engine's is pinned to plans that stay good while tables grow from nothing: generic plans, indexes and
// nested loops (a plan made on empty tables dropped throughput to 400/s). Everything that people ask goes through the other,
// with the planner's own settings, so a long report never holds a connection that a commit needs.

import pg from 'pg';
import { FairGate } from '../../clock/fair-gate.ts';
import { Address, type ClientOptions } from '../connection/address.ts';
import type { Candidate } from '../connection/database-url.ts';
import { beginWith, commonSettings, type Settings, type SettingsOptions } from '../connection/settings.ts';
import { currentTenant, walledTenant } from '../tenant-scope.ts';
import { wallSettings } from './row-security.ts';
import { connectionIsBroken, storeError } from './sqlstate.ts';
import { type Statement, type Values, valuesOf } from './statement.ts';
import { parseTimestamp } from './timestamp-text.ts';

/** Whatever runs statements: a pool or a transaction. Columns are read under their names in camel case. */
export interface Session {
  run<Row extends CamelCase<Row>>(statement: Statement, values: Values): Promise<Row[]>;
}

/** A row type that names a column as the database does would promise a field that is never there. */
export type CamelCase<Row> = { [Name in keyof Row]: Name extends `${string}_${string}` ? never : unknown };

export interface Database extends Session {
  /** READ COMMITTED: every statement in it sees what was committed before the statement began. */
  transaction<Result>(work: (session: Session) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** Work on this connection joins the session's transaction. */
export const joining = (session: Session): Database => ({
  ...session,
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
  /**
   * It leads through a transaction pooler: every statement is a transaction with its settings in it, and none is prepared. They go
   * out together, so it is one round trip as before, but the server reads and plans each statement again.
   */
  isPooled?: boolean;
  /** See commonSettings. */
  allowAsyncCommit?: boolean;
  /** While a tenant's request is worked on, statements run under this role: see row-security.ts. */
  rowSecurity?: string | undefined;
  /** How long an unused connection is kept; 0 = for ever. */
  idleTimeoutMs?: number;
  /** An unused connection ended by itself. */
  connectionLost?: () => void;
}

export const ENGINE_SETTINGS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A process that is stopped in the middle of a takeover must not keep the others from theirs.
  idle_in_transaction_session_timeout: '10s',
};

const BEGIN = 'begin isolation level read committed';
const unnamed = (text: string): Statement => ({ name: '', text });
const COMMIT = unnamed('commit');
const ROLLBACK = unnamed('rollback');

export const engineSettings = (options: SettingsOptions): Settings => ({
  ...commonSettings(options),
  ...ENGINE_SETTINGS,
});
export const readSettings = commonSettings;

export const openEngineDatabase = (options: DatabaseOptions): Database =>
  openDatabase(options, engineSettings(options));
/** Tenants take turns at its connections: one that asks for a thousand long lists holds four of five (I22). */
export function openReadDatabase(options: DatabaseOptions): Database {
  const gate = new FairGate(options.maxConnections);
  return openDatabase(options, readSettings(options), (work) => gate.pass(currentTenant(), 1, work));
}

type InTurn = <Result>(work: () => Promise<Result>) => Promise<Result>;

function openDatabase(options: DatabaseOptions, settings: Settings, inTurn: InTurn = (work) => work()): Database {
  const { isPooled = false, rowSecurity } = options;
  const open = unnamed(isPooled ? beginWith(settings) : BEGIN);
  /** Null: as the owner of the tables. */
  const wall = (): Statement | null => {
    const tenantId = rowSecurity === undefined ? null : walledTenant();
    if (rowSecurity === undefined || tenantId === null) return null;
    return unnamed(beginWith({ ...(isPooled ? settings : {}), ...wallSettings(rowSecurity, tenantId) }));
  };
  const { connect, close } = openPool(options, settings);

  const connected = <Result>(work: (connection: Session) => Promise<Result>): Promise<Result> =>
    inTurn(() => withConnection(work));

  async function withConnection<Result>(work: (connection: Session) => Promise<Result>): Promise<Result> {
    const client = await connect();
    let broken = false;
    const connection: Session = {
      async run(statement, values) {
        try {
          return await rowsOf(client, isPooled ? { ...statement, name: '' } : statement, valuesOf(statement, values));
        } catch (error) {
          broken ||= connectionIsBroken(error);
          throw storeError(error, statement.name);
        }
      },
    };
    try {
      return await work(connection);
    } finally {
      client.release(broken);
    }
  }

  return {
    run: <Row extends CamelCase<Row>>(statement: Statement, values: Values) =>
      connected((to) => {
        const work = () => to.run<Row>(statement, values);
        const begin = wall() ?? (isPooled ? open : null);
        return begin === null ? work() : alone(to, begin, work);
      }),
    transaction: (work) => connected((connection) => inTransaction(connection, wall() ?? open, work)),
    close,
  };
}

interface OpenPool {
  connect(): Promise<pg.PoolClient>;
  close(): Promise<void>;
}

function openPool(options: DatabaseOptions, settings: Settings): OpenPool {
  const address = new Address(options.connectionString);
  const { isPooled = false } = options;
  const clientOptions: ClientOptions = options;
  const candidates = new WeakMap<object, Candidate>();
  /** Reads the address whenever the pool makes one: it may have changed. */
  class AddressedClient extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      const candidate = address.candidate();
      super({ ...config, ...address.clientConfig(candidate, clientOptions) });
      candidates.set(this, candidate);
    }
    override connect(): Promise<this>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<this> | undefined {
      if (callback === undefined) return super.connect() as Promise<this>;
      super.connect((error: Error) => {
        if (error) address.failed(candidates.get(this)!, error);
        callback(error);
      });
      return undefined;
    }
  }
  const pool = new pg.Pool({
    Client: AddressedClient,
    max: options.maxConnections,
    types: { getTypeParser },
    pipeline: isPooled || options.rowSecurity !== undefined,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: options.idleTimeoutMs ?? IDLE_TIMEOUT_MS,
    async onConnect(client) {
      try {
        await address.greet(client, isPooled ? undefined : settings);
      } catch (error) {
        address.failed(candidates.get(client)!, error);
        throw error;
      }
    },
  });
  // A connection that breaks is replaced at its next use, and the statement that was on it reports what went wrong. Without
  // these listeners, for the idle and for those in use, it would end the process.
  pool.on('error', () => options.connectionLost?.());
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    async connect() {
      for (let tries = address.size; ; tries--) {
        const before = address.candidate();
        try {
          return await pool.connect();
        } catch (error) {
          if (tries <= 1 || before === address.candidate()) throw storeError(error, 'connecting');
        }
      }
    },
    close: () => pool.end(),
  };
}

const CONNECT_TIMEOUT_MS = 10_000;
const IDLE_TIMEOUT_MS = 10_000;

/**
 * As a query of its own making, which reads its rows itself: the driver copies a description of a query property by property, and
 * takes longer to name and parse the columns of a claim than everything else takes that a claim does here (12 against 6 µs a row).
 */
function rowsOf<Row>(client: pg.PoolClient, { name, text }: Statement, values: readonly unknown[]): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const rows: Row[] = [];
    let read: RowReader<Row> = () => ({}) as Row;
    let unreadable: Error | null = null;
    const query = new pg.Query(text, values as unknown[], (error) => {
      if (error ?? unreadable) reject(error ?? unreadable);
      else resolve(rows);
    });
    client.query(
      Object.assign(query, {
        name,
        handleRowDescription({ fields }: { readonly fields: readonly FieldDescription[] }) {
          read = rowReader(fields);
        },
        handleDataRow({ fields }: { readonly fields: RawRow }) {
          try {
            rows.push(read(fields));
          } catch (error) {
            unreadable = error as Error;
          }
        },
      }),
    );
  });
}

type RawRow = readonly (string | null)[];
type RowReader<Row> = (raw: RawRow) => Row;

interface FieldDescription {
  readonly name: string;
  readonly dataTypeID: number;
}

function rowReader<Row>(fields: readonly FieldDescription[]): RowReader<Row> {
  const names = fields.map(({ name }) => camelCase(name));
  const parsers = fields.map(({ dataTypeID }) => getTypeParser(dataTypeID));
  // Rows are copied from one that has every field already: an object that grows field by field is moved again and again.
  const blank: Record<string, unknown> = Object.fromEntries(names.map((name) => [name, null]));
  return (raw) => {
    const row = { ...blank };
    for (let i = 0; i < names.length; i++) {
      const value = raw[i]!;
      row[names[i]!] = value === null ? null : parsers[i]!(value);
    }
    return row as Row;
  };
}

const camelNames = new Map<string, string>();

/** Column names come from the statements, so their number is bounded. */
function camelCase(name: string): string {
  let camel = camelNames.get(name);
  if (camel === undefined) {
    camel = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
    camelNames.set(name, camel);
  }
  return camel;
}

export const camelRow = <Row>(row: Readonly<Record<string, unknown>>): Row =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [camelCase(name), value])) as Row;

async function inTransaction<Result>(
  session: Session,
  begin: Statement,
  work: (session: Session) => Promise<Result>,
): Promise<Result> {
  await session.run(begin, []);
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

/**
 * One statement in a transaction of its own, sent without waiting for answers. When the statement fails, the commit rolls back, and
 * the connection is as it was. The result counts once the commit is answered (I1).
 */
async function alone<Result>(session: Session, begin: Statement, work: () => Promise<Result>): Promise<Result> {
  const sent = [session.run(begin, []), work(), session.run(COMMIT, [])] as const;
  const [begun, result, committed] = await Promise.allSettled(sent);
  if (begun.status === 'rejected') throw begun.reason;
  if (result.status === 'rejected') throw result.reason;
  if (committed.status === 'rejected') throw committed.reason;
  return result.value;
}

const JSON_OID = 114;
const TIMESTAMPTZ_OID = 1184;

/** json stays the text that was written; a time becomes milliseconds since the epoch. */
export function getTypeParser(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === JSON_OID) return (value) => value;
  if (oid === TIMESTAMPTZ_OID) return parseTimestamp;
  return pg.types.getTypeParser(oid, format as 'text');
}
