// What PostgreSQL believes about the size of tables must not matter. A restore, pg_upgrade, a purge or autovacuum leaves statistics of
// empty or tiny tables behind, and a plan made with them must touch hardly more pages than the plan for full ones. Counted are
// buffers, never times.

import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
import { ENGINE_SETTINGS } from './database.ts';
import { statement, type Values, valuesOf } from './statement.ts';

const ROWS = 50_000;
const SAMPLE = 10;
/** A few pages more or less are no matter. */
const FREE_BUFFERS = 100;
const MOST_TIMES = 5;

const uuid = (kind: number, n: string) => `('00000000-0000-7000-800${kind}-' || lpad(${n}::text, 12, '0'))::uuid`;
const id = (kind: number, n: number) => `00000000-0000-7000-800${kind}-${String(n).padStart(12, '0')}`;
const ids = (kind: number) => Array.from({ length: SAMPLE }, (_, n) => id(kind, n * 10 + 1));
const many = (value: unknown) => Array.from({ length: SAMPLE }, () => value);
const TABLES = [
  'workflow_executions',
  'execution_queue',
  'execution_outcomes',
  'execution_events',
  'lifecycle_instances',
  'lifecycle_timeline',
];

/** Of 50,000 in the queue 5,000 are owned by one runner, 5,000 are ready and the rest is parked. */
const fill = (from: number, to: number) => [
  `insert into execution_queue (execution_id, tenant_id, workflow_id, version, priority, state, runner_id, due_at, epoch)
   select ${uuid(1, 'n')}, 't' || n % 50, 'w', 1, 5, case when n <= 5000 then 1 when n <= 10000 then 0 else 2 end,
     case when n <= 5000 then (select min(runner_id) from runner_slots) end,
     case when n > 10000 then now() + make_interval(secs => n) end, 1
   from generate_series(${from}, ${to}) n`,
  `insert into workflow_executions (id, tenant_id, workflow_id, version, format, trigger, principal, correlation_id, created_at)
   select ${uuid(1, 'n')}, 't', 'w' || n % 1000, 1, 'graph', '{}', '{}', '', now() from generate_series(${from}, ${to}) n`,
  `insert into execution_outcomes (execution_id, tenant_id, status, context_snapshot, started_at, ended_at)
   select ${uuid(1, 'n')}, 't', 'Succeeded', '{}', now(), now() from generate_series(${from}, ${to}) n`,
  `insert into execution_events (execution_id, seq, at, facts) select ${uuid(1, 'n')}, 0, now(), '[]' from generate_series(${from}, ${to}) n`,
  `insert into lifecycle_instances (id, definition_id, external_ref, version, state, revision, state_since, timeouts_fired, created_at)
   select ${uuid(2, 'n')}, 1, 'r' || n, 1, 'a', 1, now(), 0, now() from generate_series(${from}, ${to}) n`,
  `insert into lifecycle_timeline (instance_id, kind, at, revision, event, from_state, to_state, request_id, cause)
   select ${uuid(2, 'n')}, 'transition', now(), 1, 'e', 'a', 'a', 'q' || n, '{}' from generate_series(${from}, ${to}) n`,
];

const none = (count: number) => Array.from({ length: count }, () => []);
const CASES: Readonly<Record<string, (slot: string) => Values>> = {
  execution_park: (slotId) => ({
    ...{ slotId, executionIds: ids(1), dueAts: many('2040-01-01'), waits: many(0), paused: many(false) },
    ...{ epochs: many(1), parkedFor: many(16), checkpointIds: [], checkpointSeqs: [], deciderVersions: [], states: [] },
  }),
  execution_release: (slotId) => ({ slotId, executionIds: ids(1), epochs: many(1) }),
  park_check: () => ({ executionIds: ids(1) }),
  queue_wake: () => [SAMPLE, 0],
  inbox_read: () => [ids(1)],
  inbox_send: () => [id(3, 1), id(1, 20_000), 't0', 'webhook', 'n', '{}'],
  execution_get: () => ({ executionId: id(1, 20_000), tenantId: 't' }),
  execution_tree: () => ({ executionId: id(1, 20_000), tenantId: 't', limit: 100 }),
  execution_reopen: () => ({
    ...{ executionId: id(1, 20_000), tenantId: 'stranger', moreIds: [], moreKeys: [], moreBodies: [] },
    ...{ messageId: null, kind: null, key: null, body: null },
  }),
  live_now: () => ({ tenantId: 't7', limit: 100 }),
  execution_ended: () => ({ executionIds: ids(1) }),
  execution_heads: () => ({ executionIds: ids(1) }),
  execution_known: () => ({ executionIds: ids(1) }),
  execution_inputs: () => ({ executionIds: ids(1), seqs: many(0) }),
  lifecycle_apply: () => [
    ...['0', ids(2), many('t'), many('prod'), many('loan'), many(1), many('r'), many(1), many('b'), many('2030-01-01')],
    ...[many('2030-01-01'), many(0), many(null), many('new'), many('e'), many('a'), many(null), many('{}'), many('{}')],
    ...none(19),
  ],
};

let database: TestDatabase;
let client: pg.Client;
let slot: string;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  for (const [setting, value] of Object.entries(ENGINE_SETTINGS)) await client.query(`set ${setting} = '${value}'`);
  for (const table of TABLES) await client.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await client.query(`insert into lifecycle_generation (slot, generation) select n, 0 from generate_series(0, 15) n
    on conflict (slot) do update set generation = 0`);
  await client.query(`insert into runners (name) values ('r')`);
  const slots = `insert into runner_slots (runner_id) select id from runners returning id::text`;
  slot = (await client.query<{ id: string }>(slots)).rows[0]!.id;
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

function literal(value: unknown): string {
  if (Array.isArray(value))
    return `'{${value.map((one) => (one === null ? 'null' : JSON.stringify(String(one)))).join(',')}}'`;
  return value === null ? 'null' : `'${String(value)}'`;
}

/** Of the generic plan, in a transaction that is undone. */
async function buffersOf(name: string): Promise<number> {
  await client.query('begin');
  try {
    await client.query(`prepare asked as ${statement(name).text}`);
    const values = valuesOf(statement(name), CASES[name]!(slot)).map(literal).join(', ');
    const { rows } = await client.query(`explain (analyze, buffers, timing off, format json) execute asked(${values})`);
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  } finally {
    await client.query('rollback');
    await client.query('deallocate all');
  }
}

async function measured(): Promise<Record<string, number>> {
  const buffers: Record<string, number> = {};
  for (const name of Object.keys(CASES)) buffers[name] = await buffersOf(name);
  return buffers;
}

async function run(texts: readonly string[]): Promise<void> {
  for (const text of texts) await client.query(text);
}

const analyze = () => run(TABLES.map((table) => `analyze ${table}`));

describe('statements with outdated statistics', () => {
  it.each([
    ['empty', 0],
    ['tiny', 3],
  ])(
    'with statistics of %s tables, a statement reads hardly more pages than with those of full ones',
    async (_what, rows) => {
      await run(TABLES.map((table) => `truncate ${table}`));
      await run(fill(1, rows));
      await analyze();
      await run(fill(rows + 1, ROWS));
      const asOfThen = await measured();
      await analyze();
      const asFull = await measured();
      const excessive = Object.keys(CASES).filter(
        (name) => asOfThen[name]! > asFull[name]! * MOST_TIMES + FREE_BUFFERS,
      );
      expect(excessive.map((name) => `${name}: ${asOfThen[name]} instead of ${asFull[name]}`)).toEqual([]);
    },
  );
});
