// What a database is like, before anything relies on it: its version, its clock, and whether notifications arrive.

import pg from 'pg';
import { openHints } from './hints.ts';
import { statement } from './statement.ts';

export interface DatabaseInspection {
  /** Major version. */
  readonly version: number;
  /** Milliseconds since the epoch by its clock. */
  readonly at: number;
  readonly notifications: boolean;
  readonly maxConnections: number;
  /** Whether the tables can be made in the schema. */
  readonly mayCreate: boolean;
}

interface Profile {
  readonly version: number;
  readonly at: Date;
  readonly max_connections: number;
  readonly may_create: boolean;
}

/** An address behind a firewall answers nothing at all. */
const CONNECT_TIMEOUT_MS = 10_000;

const PROFILE = statement('database_profile');

/** Connects as the engine does, with settings at the start: a transaction pooler that refuses those refuses this. */
const STARTUP_OPTIONS = '-c jit=off';

export async function inspectDatabase(connectionString: string, schema: string): Promise<DatabaseInspection> {
  const client = new pg.Client({
    connectionString,
    application_name: 'pawl doctor',
    options: STARTUP_OPTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<Profile>(PROFILE.text, [schema]);
    const { version, at, max_connections: maxConnections, may_create: mayCreate } = rows[0]!;
    const hints = await openHints({ connectionString, receive: () => {}, warn: () => {} });
    const notifications = hints.delivering;
    await hints.close();
    return { version: Math.floor(version / 10_000), at: at.getTime(), notifications, maxConnections, mayCreate };
  } finally {
    await client.end();
  }
}
