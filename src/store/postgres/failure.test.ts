// Failures by the caller's next step: with a server that is away, is stopping, or is cut off in mid-statement.

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import { newBatch } from '../contract/builder.testing.ts';
import type { StoreError } from '../store-error.ts';
import { createPostgresStore } from './postgres-store.ts';
import { storeError } from './sqlstate.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

describe('SQLSTATE', () => {
  const cases: [string, StoreError['failure']][] = [
    ['22P02', 'data'],
    ['23514', 'data'],
    ['40P01', 'retry'],
    ['40001', 'retry'],
    ['57P01', 'retry'],
    ['53300', 'retry'],
    ['08006', 'unknown'],
    ['ECONNRESET', 'unknown'],
    ['EPIPE', 'unknown'],
    ['42P01', 'fatal'],
    ['XX000', 'fatal'],
  ];
  it.each(cases)('SQLSTATE %s means %s', (code, failure) => {
    expect(storeError(Object.assign(new Error('broken'), { code }), 'execution_commit')).toMatchObject({
      failure,
      message: 'execution_commit: broken',
    });
  });

  it('a duplicate journal key or outcome means alreadyApplied, and any other duplicate means bad data', () => {
    const duplicate = (constraint: string) => Object.assign(new Error('duplicate'), { code: '23505', constraint });
    expect(storeError(duplicate('execution_events_pkey'), 's').failure).toBe('alreadyApplied');
    expect(storeError(duplicate('execution_outcomes_pkey'), 's').failure).toBe('alreadyApplied');
    expect(storeError(duplicate('action_executions_pkey'), 's').failure).toBe('data');
  });

  it('unstorable text is blamed on the request only when the request contains it', () => {
    const refused = (code: string) => storeError(Object.assign(new Error('no text'), { code }), 's').isUnstorableText;
    expect([refused('22021'), refused('22P05')]).toEqual([true, false]);
  });

  it('a failure before the connection was made is safe to retry', () => {
    expect(storeError(Object.assign(new Error('no'), { code: 'ECONNREFUSED' }), 'connecting').failure).toBe('retry');
    expect(storeError(new Error('timeout exceeded when trying to connect'), 'connecting').failure).toBe('retry');
    expect(storeError(Object.assign(new Error('no'), { code: '28P01' }), 'connecting').failure).toBe('fatal');
  });
});

describe('database connections', () => {
  it('a refused connection is worth a retry, and a wrong password is not', async () => {
    const nowhere = createPostgresStore({ connectionString: 'postgres://pawl:x@127.0.0.1:1/pawl' });
    await expect(nowhere.now()).rejects.toMatchObject({ failure: 'retry' });
    await nowhere.close();
    const url = new URL(database.connectionString);
    url.password = 'wrong';
    const stranger = createPostgresStore({ connectionString: url.href });
    await expect(stranger.now()).rejects.toMatchObject({ failure: 'fatal' });
    await stranger.close();
  });

  it('a statement whose server process was ended did nothing, and the next one gets a new connection', async () => {
    const store = createPostgresStore({ connectionString: database.connectionString });
    const { runnerId, slotIds } = await store.runnerRegister({ name: 'r', slots: 1, leaseMs: 1000 });
    await withClient(database.connectionString, async (locker) => {
      await locker.query('begin');
      await locker.query('select from runner_slots where id = $1 for update', [slotIds[0]]);
      const dying = expect(store.runnerStop({ runnerId })).rejects.toMatchObject({ failure: 'retry' });
      await untilBlocked(database.connectionString);
      await withClient(database.connectionString, (admin) =>
        admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'pawl engine' and wait_event_type = 'Lock' and datname = current_database()`),
      );
      await dying;
      await locker.query('rollback');
    });
    expect(await store.runnerList()).toMatchObject([{ state: 'live' }]);
    await store.close();
  });

  it('a connection that breaks during a statement leaves the outcome unknown', async () => {
    const proxy = await openProxy(new URL(database.connectionString));
    const store = createPostgresStore({ connectionString: proxy.connectionString });
    const { slotIds } = await store.runnerRegister({ name: 'r', slots: 1, leaseMs: 1000 });
    await withClient(database.connectionString, async (locker) => {
      await locker.query('begin');
      await locker.query('select from runner_slots where id = $1 for update', [slotIds[0]]);
      const cut = expect(store.executionCommit(newBatch(slotIds[0]!))).rejects.toMatchObject({ failure: 'unknown' });
      await untilBlocked(database.connectionString);
      proxy.cut();
      await cut;
      await locker.query('rollback');
    });
    expect(await store.now()).toBeGreaterThan(0);
    await store.close();
    proxy.close();
  });
});

/** Resolves when a statement of the engine waits for a lock. */
async function untilBlocked(connectionString: string): Promise<void> {
  await withClient(connectionString, async (client) => {
    for (;;) {
      const { rows } = await client.query(`select from pg_stat_activity
        where application_name = 'pawl engine' and wait_event_type = 'Lock' and datname = current_database()`);
      if (rows.length > 0) return;
    }
  });
}

async function openProxy(target: URL): Promise<{ connectionString: string; cut(): void; close(): void }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
    }
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    connectionString: url.href,
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
