// A separate database for a test file: a clone of the migrated template, dropped when the tests of the file are done.

import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import { withClient as connected } from './client.ts';
import { TEMPLATE_DATABASE } from './global-setup.ts';

export const withClient = connected;

export interface TestDatabase {
  readonly connectionString: string;
  /** Deletes every row of every table, for tests that must start from nothing. */
  clear(): Promise<void>;
  drop(): Promise<void>;
}

/** `empty`: without the schema, for tests of the migrations themselves. */
export async function testDatabase(options: { empty?: boolean } = {}): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(`create database ${name} template ${options.empty ? 'template1' : TEMPLATE_DATABASE}`);
  const url = new URL(inject('adminUrl'));
  url.pathname = `/${name}`;
  return {
    connectionString: url.href,
    clear: () => clearTables(url.href),
    drop: () => administer(`drop database ${name} with (force)`),
  };
}

async function administer(command: string): Promise<void> {
  await withClient(inject('adminUrl'), (client) => client.query(command));
}

async function clearTables(connectionString: string): Promise<void> {
  await withClient(connectionString, async (client) => {
    const tables = await client.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'schema_version'`,
    );
    // Deleting is faster than truncating when the tables are almost empty.
    await client.query(`set session_replication_role = replica`);
    for (const { name } of tables.rows) await client.query(`delete from ${name}`);
  });
}

/** The names of the tables that contain the text. */
export async function tablesWith(connectionString: string, text: string): Promise<string[]> {
  return withClient(connectionString, async (client) => {
    const { rows } = await client.query("select tablename from pg_tables where schemaname = 'public' order by 1");
    const found: string[] = [];
    for (const { tablename } of rows as { tablename: string }[]) {
      const hit = await client.query(`select from ${tablename} t where t::text like $1 limit 1`, [`%${text}%`]);
      if (hit.rowCount !== 0) found.push(tablename);
    }
    return found;
  });
}
