// The migration of the lifecycle on a database with workflows in it, up and down.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrateDown, migrateUp } from '../../src/store/migrate/migrate.ts';
import { readMigrations } from '../../src/store/migrate/migration-file.ts';
import { createPostgresStore } from '../../src/store/postgres/postgres-store.ts';
import { type TestDatabase, testDatabase, withClient } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase({ empty: true });
});
afterAll(() => database.drop());

const query = async (text: string): Promise<Record<string, unknown>[]> =>
  withClient(database.connectionString, async (client) => (await client.query(text)).rows);

describe('a database from before the lifecycle migration', () => {
  it('migrating up keeps workflows and versions, and gives them an identity', async () => {
    const { connectionString } = database;
    await migrateUp({ connectionString, migrations: readMigrations().slice(0, 1) });
    await query(`insert into workflows (tenant_id, id, display_name, format) values ('t', 'old', 'Old', 'graph')`);
    await query(
      `insert into workflow_definitions (tenant_id, workflow_id, version, format, definition, checksum) values ('t', 'old', 1, 'graph', '{}', 'c')`,
    );
    await query(`update workflows set status = 'Active', current_version = 1`);
    await migrateUp({ connectionString });
    const store = createPostgresStore({ connectionString });
    const key = { tenantId: 't', workflowId: 'old' };
    expect(await store.workflowFind({ tenantId: 't', ref: key })).toMatchObject({
      status: 'Active',
      currentVersion: 1,
    });
    expect(await store.versionGet({ ...key, version: 1 })).toMatchObject({ checksum: 'c' });
    expect(await store.draftOpen(key)).toBe(true);
    expect(await store.draftSnapshot(key)).toEqual({ version: -1, format: 'graph' });
    await store.close();
  });

  it('migrating down needs force, because drafts are lost; migrating up again works', async () => {
    const { connectionString } = database;
    await expect(migrateDown({ connectionString, to: 1 })).rejects.toThrow('would lose data');
    await migrateDown({ connectionString, to: 1, force: true });
    expect(await query('select version, checksum from workflow_definitions')).toEqual([{ version: 1, checksum: 'c' }]);
    await migrateUp({ connectionString });
    expect(await query('select status, draft, deleted_at from workflows')).toEqual([
      { status: 'Active', draft: null, deleted_at: null },
    ]);
  });
});
