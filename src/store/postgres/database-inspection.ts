// Inspects a database before anything relies on it: version, encoding, rights, connections, clock, notifications, poolers, and
// the effect of sessions on our settings. Changes nothing.

import { Address } from '../connection/address.ts';
import { isTransactionPooler } from '../connection/pooling.ts';
import { openHints } from './hints.ts';
import { openPostgresStore } from './postgres-store.ts';
import { statement } from './statement.ts';

export interface InspectionOptions {
  readonly connectionString: string;
  /** PostgreSQL itself, where the other leads through a transaction pooler. */
  readonly directUrl?: string | undefined;
  readonly schema: string;
  readonly allowAsyncCommit?: boolean | undefined;
}

export interface DatabaseInspection {
  /** Major version. */
  readonly version: number;
  readonly encoding: string;
  /** The lower bound of its clock's lead over ours: the travel time of the answer is unknown. */
  readonly aheadMs: number;
  readonly notifications: boolean;
  readonly connections: {
    readonly max: number;
    /** Without connections reserved for superusers, and within the limits of role and database. */
    readonly usable: number;
    /** Held by other programs now. */
    readonly others: number;
    readonly liveRunners: number;
  };
  readonly role: string;
  readonly hasSchema: boolean;
  /** Whether tables can be created in the schema. */
  readonly mayCreate: boolean;
  readonly isTransactionPooler: boolean;
  /** Why our settings do not arrive; null: they do. */
  readonly settingsProblem: string | null;
  readonly isAsync: boolean;
}

interface Profile {
  readonly version: number;
  readonly at: Date;
  readonly encoding: string;
  readonly max_connections: number;
  readonly usable_connections: number;
  readonly other_connections: number;
  readonly role: string;
  readonly has_schema: boolean;
  readonly may_create: boolean;
  readonly has_tables: boolean;
}

const PROFILE = statement('database_profile');
const LIVE_RUNNERS = statement('runner_count_live');

export async function inspectDatabase(options: InspectionOptions): Promise<DatabaseInspection> {
  const { connectionString, directUrl, schema } = options;
  const direct = directUrl ?? connectionString;
  const address = new Address(direct);
  const client = await address.connect({ applicationName: 'pawl doctor' });
  try {
    const askedAt = Date.now();
    const { rows } = await client.query<Profile>(PROFILE.text, [schema]);
    const answeredAt = Date.now();
    const profile = rows[0]!;
    await client.query(
      `begin; select set_config('search_path', ${client.escapeLiteral(client.escapeIdentifier(schema))}, true)`,
    );
    const live = profile.has_tables ? await client.query<{ live: number }>(LIVE_RUNNERS.text) : null;
    await client.query('commit');
    const isPooler = await isTransactionPooler(address);
    return {
      version: Math.floor(profile.version / 10_000),
      encoding: profile.encoding,
      aheadMs: outside(profile.at.getTime(), askedAt, answeredAt),
      notifications: !isPooler && (await areNotificationsDelivered(direct)),
      connections: {
        max: profile.max_connections,
        usable: profile.usable_connections,
        others: profile.other_connections,
        liveRunners: live?.rows[0]?.live ?? 0,
      },
      role: profile.role,
      hasSchema: profile.has_schema,
      mayCreate: profile.may_create,
      isTransactionPooler: isPooler,
      // A pooler would keep the traces of looking at a session.
      ...(isPooler ? { settingsProblem: null, isAsync: false } : await sessionOf(options)),
    };
  } finally {
    await client.end();
  }
}

async function areNotificationsDelivered(connectionString: string): Promise<boolean> {
  const hints = await openHints({ connectionString, receive: () => {}, warn: () => {} });
  const { delivering } = hints;
  await hints.close();
  return delivering;
}

/** Connects like the engine and the readers. */
async function sessionOf(options: InspectionOptions): Promise<Pick<DatabaseInspection, 'settingsProblem' | 'isAsync'>> {
  const { directUrl, allowAsyncCommit = false, ...rest } = options;
  try {
    const pools = { engineConnections: 1, readConnections: 1, isPooled: directUrl !== undefined, allowAsyncCommit };
    const { store, isAsync } = await openPostgresStore({ ...rest, ...pools });
    await store.close();
    return { settingsProblem: null, isAsync };
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'SessionSettingsError') throw error;
    return { settingsProblem: error.message, isAsync: false };
  }
}

function outside(value: number, from: number, to: number): number {
  return value < from ? value - from : Math.max(0, value - to);
}
