// The migrated database understands every named statement, and the hot ones read no whole table.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import { executionFilterFields } from '../../protocol/execution-list.ts';
import { ENGINE_SETTINGS } from './database.ts';
import { parseStatements, STATEMENTS, statement, valuesOf } from './statement.ts';

/** Statements that run for every transition, or twice a second for ever. */
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

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

describe('statements on the migrated schema', () => {
  it.each([...STATEMENTS.keys()])('the statement %s can be prepared', async (name) => {
    await withClient(database.connectionString, (client) =>
      client.query(`prepare "${name}" as ${statement(name).text}`),
    );
  });

  it.each(HOT)('the statement %s finds its rows by an index, without a hash or merge join', async (name) => {
    const plan = await withClient(database.connectionString, async (client) => {
      for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) await client.query(`set ${setting} = '${value}'`);
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (generic_plan) ${statement(name).text}`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    });
    expect(plan).not.toMatch(/Seq Scan|Hash Join|Merge Join/);
  });
});

/**
 * Statements as PostgreSQL sees them: without comments, with single spaces, parameters numbered by first use.
 * hot-statements.txt holds the measured texts. A changed statement is measured again before it is recorded (`npm run bench`,
 * then `vitest -u`).
 */
describe('hot statements', () => {
  it('hot statements expand to the texts that were measured', async () => {
    const texts = HOT.map((name) => `${name}\n${essenceOf(statement(name).text)}\n`).join('\n');
    await expect(texts).toMatchFileSnapshot('hot-statements.txt');
  });
});

describe('the list of executions', () => {
  it('the list statement uses every filter of the API, so none is accepted and ignored', () => {
    /** Converted to other parameters or another statement before the store is asked. */
    const resolved = ['status', 'error', 'why', 'olderThan', 'requestId', 'resource', 'triggerId'];
    const asked = statement('execution_page').parameters!.map(({ name }) => name);
    const filters = Object.keys(executionFilterFields).filter((name) => !resolved.includes(name));
    expect(filters.filter((name) => !asked.includes(name))).toEqual([]);
  });
});

function essenceOf(text: string): string {
  const numbers = new Map<string, number>();
  return text
    .split('\n')
    .map((line) => line.replace(/--.*$/, ''))
    .join(' ')
    .replace(/\s+/g, ' ')
    .replace(/\( /g, '(')
    .replace(/ \)/g, ')')
    .trim()
    .replace(/\$(\d+)/g, (_, number: string) => {
      if (!numbers.has(number)) numbers.set(number, numbers.size + 1);
      return `$${numbers.get(number)}`;
    });
}

describe('reading statements', () => {
  it('a file is split at its markers, and the name stays in the text', () => {
    const source = '-- header\n\n-- name: one\nselect 1;\n\n-- name: two\n-- why\nselect\n  2;\n';
    expect(parseStatements(source)).toEqual([
      { name: 'one', text: '-- name: one\nselect 1', parameters: [] },
      { name: 'two', text: '-- name: two\n-- why\nselect\n  2', parameters: [] },
    ]);
  });

  const expanded = (body: string, fragments: Readonly<Record<string, string>> = {}) =>
    parseStatements(`-- name: it\n${body}`, new Map(Object.entries(fragments)))[0]!;

  it('named parameters are numbered by first use, and comments stay as they are', () => {
    const { text, parameters } = expanded('select @limit, @id::uuid -- @limit: how many\nwhere n < @limit');
    expect(text).toBe('-- name: it\nselect $1, $2::uuid -- @limit: how many\nwhere n < $1');
    expect(parameters?.map(({ name }) => name)).toEqual(['limit', 'id']);
  });

  it('rows, single rows, columns and fragments are expanded from the column lists', () => {
    const rows = expanded('select @sent.key::text[] from @{sent: message}');
    expect(rows.text).toBe(
      '-- name: it\nselect $1::text[] from unnest($2::uuid[], $3::uuid[], $4::text[], $1::text[], $5::json[])',
    );
    expect(expanded('select @{row m: message}').text).toContain('$1::uuid, $2::uuid, $3::text, $4::text, $5::json');
    expect(expanded('select @{m.message except body, key}').text).toContain('select m.id, m.execution_id, m.kind');
    expect(expanded('select @{nulls message except id}').text).toContain('select null, null, null, null');
    expect(expanded('with @{use f}', { f: 'x as (@{use g})', g: '@one' }).text).toContain('with x as ($1)');
  });

  it('values are taken by name, and a missing value is named', () => {
    const two = expanded('select @a, @{row m: message}');
    expect(valuesOf(two, { a: undefined, m: [1, 2, 3, 4, 5] })).toEqual([null, 1, 2, 3, 4, 5]);
    expect(() => valuesOf(two, { m: [] })).toThrow('it: no value is given for @a');
  });

  it.each([
    ['select @{of: nothing}', 'there is no column list "nothing"'],
    ['select @sent.nothing from @{sent: message}', '@sent.nothing is no column of a list'],
    ['select @{use nothing}', 'uses the fragment "nothing", which is nowhere'],
    ['select $1, @a', 'mixes parameters by name and by number'],
  ])('a statement with an unknown or mixed reference is refused: %s', (body, problem) => {
    expect(() => expanded(body)).toThrow(problem);
  });

  it('an unknown name in a statement fails at once', () => {
    expect(() => statement('no_such')).toThrow('There is no statement "no_such"');
  });
});
