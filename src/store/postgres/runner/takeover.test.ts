// Takeover with a commit or a claim blocked inside the database: moments that a test through the port cannot hold.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../../test/support/database.ts';
import { claim, journalOf, newBatch, newEvent, newRunner, owning, start } from '../../contract/builder.testing.ts';
import type { Store } from '../../port.ts';
import { createPostgresStore } from '../postgres-store.ts';

let database: TestDatabase;
let store: Store;
beforeEach(async () => {
  database = await testDatabase();
  store = createPostgresStore({ connectionString: database.connectionString });
});
afterEach(async () => {
  await store.close();
  await database.drop();
});

describe('declaring a runner dead', () => {
  it('declaring a runner dead waits for its commit in flight, and that commit is applied', async () => {
    const { runner, ids } = await owning(store, 1);
    const executionId = ids[0]!;
    const commit = await heldUp(
      // The commit holds its fence and waits for the journal's key, which another transaction holds.
      (client) =>
        client.query(`insert into execution_events (execution_id, seq, at, facts) values ($1, 0, now(), '[]')`, [
          executionId,
        ]),
      () => store.executionCommit(newBatch(runner.commitSlot, { events: [newEvent(executionId, 0)] })),
      async (release) => {
        let dead = false;
        const declared = store.runnerDeclareDead({ runnerId: runner.runnerId }).then((result) => {
          dead = true;
          return result;
        });
        await untilWaiting(2);
        expect(dead).toBe(false);
        await release();
        expect(await declared).toEqual({ declared: true, released: 1 });
      },
    );
    expect(commit).toMatchObject({ applied: true });
    expect(await journalOf(store, executionId)).toEqual([0]);
  });

  it('a commit that waited behind a death declaration applies nothing', async () => {
    const { runner, ids } = await owning(store, 1);
    const commit = await heldUp(
      (client) => client.query(`update runner_slots set state = 'dead' where runner_id = $1`, [runner.runnerId]),
      () => store.executionCommit(newBatch(runner.commitSlot, { events: [newEvent(ids[0]!, 0)] })),
      (release) => release('commit'),
    );
    expect(commit).toMatchObject({ applied: false });
    expect(await journalOf(store, ids[0]!)).toEqual([]);
    await store.runnerDeclareDead({ runnerId: runner.runnerId });
  });

  // A role or database may have another isolation level, under which the takeover would not see the claim's rows.
  it.each(['read committed', 'repeatable read', 'serializable'])(
    'declaring a runner dead releases a claim in flight, with default isolation %s',
    async (isolation) => {
      await withClient(database.connectionString, (client) =>
        client.query(`do $$ begin execute format('alter database %I set default_transaction_isolation = %L',
        current_database(), '${isolation}'); end $$`),
      );
      const runner = await newRunner(store);
      const [executionId] = await start(store, {});
      // The claim holds its fence and waits in the middle of its update.
      await withClient(database.connectionString, (client) =>
        client.query(`
        create function wait_at_update() returns trigger language plpgsql as
          $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
        create trigger wait_at_update before update on execution_queue for each row execute function wait_at_update();`),
      );
      const { claimed } = await heldUp(
        (client) => client.query('select pg_advisory_xact_lock(1)'),
        () => claim(store, runner.slot),
        async (release) => {
          const declared = store.runnerDeclareDead({ runnerId: runner.runnerId });
          await untilWaiting(2);
          await release();
          expect(await declared).toEqual({ declared: true, released: 1 });
        },
      );
      expect(claimed).toMatchObject([{ executionId, epoch: 1 }]);
      expect(await store.queueAudit()).toEqual([]);
      const heir = await newRunner(store);
      expect((await claim(store, heir.slot)).claimed).toMatchObject([{ executionId, epoch: 2, crashes: 1 }]);
    },
  );
});

describe('starting an execution', () => {
  it('a start is repeated when the request that blocked it is rolled back', async () => {
    const started = await heldUp(
      (client) =>
        client.query(
          `insert into workflow_executions (id, tenant_id, workflow_id, version, format, trigger, principal, correlation_id, request_id, created_at)
           values ($1, 'acme', 'w', 1, 'graph', '{}', '{}', 'c', 'r1', now())`,
          [randomUUID()],
        ),
      () => start(store, { requestId: 'r1' }),
      (release) => release(),
    );
    expect(await store.executionGet({ tenantId: 'acme', executionId: started[0]! })).toMatchObject({ requestId: 'r1' });
  });
});

/** Runs a statement of the store while another transaction holds a lock it needs, and releases the lock on demand. */
async function heldUp<Result>(
  hold: (client: pg.Client) => Promise<unknown>,
  statement: () => Promise<Result>,
  meanwhile: (release: (how?: 'commit' | 'rollback') => Promise<void>) => Promise<void>,
): Promise<Result> {
  return withClient(database.connectionString, async (holder) => {
    await holder.query('begin');
    await hold(holder);
    const result = statement();
    await untilWaiting(1);
    await meanwhile(async (how = 'rollback') => {
      await holder.query(how);
    });
    return result;
  });
}

/** Resolves when at least this many statements of the engine wait for a lock. */
async function untilWaiting(count: number): Promise<void> {
  await withClient(database.connectionString, async (client) => {
    for (;;) {
      const { rows } = await client.query(`select from pg_stat_activity
        where application_name = 'pawl engine' and wait_event_type = 'Lock' and datname = current_database()`);
      if (rows.length >= count) return;
    }
  });
}
