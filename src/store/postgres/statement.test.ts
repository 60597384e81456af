// Every named statement is one that the migrated database understands, and the hot ones read no table from end to end.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import { ENGINE_SETTINGS } from './database.ts';
import { CLAIM_COLUMNS } from './execution-claim.ts';
import { parseStatements, STATEMENTS, statement } from './statement.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

describe('statements on the migrated schema', () => {
  it.each([...STATEMENTS.keys()])('%s can be prepared', async (name) => {
    await withClient(database.connectionString, (client) =>
      client.query(`prepare "${name}" as ${statement(name).text}`),
    );
  });

  /** Those that run for every transition, or twice a second for ever. */
  const HOT = [
    'execution_start',
    'execution_claim',
    'execution_load',
    'execution_commit',
    'execution_commit_plain',
    'execution_commit_progress',
    'execution_commit_step',
    'execution_park',
    'park_check',
    'execution_release',
    'execution_list_owned',
    'queue_wake',
    'queue_wake_mail',
    'queue_lanes',
    'inbox_send',
    'inbox_read',
    'lease_renew',
    'schedule_claim',
    'firing_add',
    'webhook_get',
    'lifecycle_apply',
    'instance_load',
    'instance_claim_due',
    'reaction_claim',
    'delivery_claim',
    'delivery_ack',
    'delivery_promote',
    'delivery_stages',
    'monitor_look',
    'outbox_read',
    'outbox_read_facts',
    'outbox_publish',
    'message_purge',
  ];

  it.each(HOT)('%s finds its rows by an index and without a hash or a merge join', async (name) => {
    const plan = await withClient(database.connectionString, async (client) => {
      for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) await client.query(`set ${setting} = '${value}'`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement(name).text}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).not.toMatch(/Seq Scan|Hash Join|Merge Join/);
  });

  it('execution_claim answers the columns that are read of it, in their order', async () => {
    const values = ['0', [], [], [], 0, 0, 1, 0, null, 0, 0, 0];
    const { fields } = await withClient(database.connectionString, (client) =>
      client.query(statement('execution_claim').text, values),
    );
    expect(fields.map(({ name }) => name)).toEqual(CLAIM_COLUMNS);
  });
});

describe('reading statements', () => {
  it('splits a file at its markers and keeps the name in the text', () => {
    const source = '-- header\n\n-- name: one\nselect 1;\n\n-- name: two\n-- why\nselect\n  2;\n';
    expect(parseStatements(source)).toEqual([
      { name: 'one', text: '-- name: one\nselect 1' },
      { name: 'two', text: '-- name: two\n-- why\nselect\n  2' },
    ]);
  });

  it('fails at once for a name that is nowhere', () => {
    expect(() => statement('no_such')).toThrow('There is no statement "no_such"');
  });
});
