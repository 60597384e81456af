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
}

const PROFILE = statement('database_profile');

export async function inspectDatabase(connectionString: string): Promise<DatabaseInspection> {
  const client = new pg.Client({ connectionString, application_name: 'pawl doctor' });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number; at: Date }>(PROFILE.text);
    const hints = await openHints({ connectionString, receive: () => {}, warn: () => {} });
    const notifications = hints.delivering;
    await hints.close();
    return { version: Math.floor(rows[0]!.version / 10_000), at: rows[0]!.at.getTime(), notifications };
  } finally {
    await client.end();
  }
}
