// What a database is like, before anything relies on it: its version, its clock, and whether notifications arrive.

import pg from 'pg';
import { openHints } from './hints.ts';
import { statement } from './statement.ts';

export interface DatabaseInspection {
  /** Major version. */
  readonly version: number;
  /** How far its clock is ahead of ours, at the least: how long the answer was on its way is not known. */
  readonly aheadMs: number;
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
    const askedAt = Date.now();
    const { rows } = await client.query<Profile>(PROFILE.text, [schema]);
    const answeredAt = Date.now();
    const { version, at, max_connections: maxConnections, may_create: mayCreate } = rows[0]!;
    const hints = await openHints({ connectionString, receive: () => {}, warn: () => {} });
    const notifications = hints.delivering;
    await hints.close();
    const aheadMs = outside(at.getTime(), askedAt, answeredAt);
    return { version: Math.floor(version / 10_000), aheadMs, notifications, maxConnections, mayCreate };
  } finally {
    await client.end();
  }
}

function outside(value: number, from: number, to: number): number {
  return value < from ? value - from : Math.max(0, value - to);
}
