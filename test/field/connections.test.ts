// The two connections that each process keeps for itself. When the server has no other connection left, a runner still renews its
// lease and still gets notifications, and it goes on working when there is room again.

import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createPawl } from '../../src/main.ts';
import { testDatabase, withClient } from '../support/database.ts';

const LIMIT = 12;
const LEASE_MS = 1_500;
const RESERVED = ['pawl lease', 'pawl hints'];

it('a runner keeps its lease while all other connections are taken', { timeout: 60_000 }, async () => {
  const database = await testDatabase({ empty: true });
  onTestFinished(() => database.drop());
  const ask = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
    withClient(database.connectionString, async (client) => (await client.query<Row>(text, values)).rows);
  const role = `crowded_${randomBytes(4).toString('hex')}`;
  await ask(`create role ${role} login password 'x' connection limit ${LIMIT}`);
  onTestFinished(async () => void (await ask(`drop owned by ${role} cascade; drop role ${role}`)));
  await ask(`create schema crowded authorization ${role}`);
  const url = Object.assign(new URL(database.connectionString), { username: role, password: 'x' }).href;

  const warnings: string[] = [];
  const pawl = await createPawl({
    database: { url, schema: 'crowded', maxConnections: 8 },
    engine: { leaseMs: LEASE_MS },
    logTarget: { write: (line) => void warnings.push(line) },
  });
  onTestFinished(() => pawl.close());
  await pawl.publish({
    id: 'hello',
    displayName: 'Hello',
    startNode: 'a',
    nodes: [{ id: 'a', actionType: 'core.echo' }],
  });
  const sessions = () =>
    ask<{ pid: number; name: string }>(
      'select pid, application_name as name from pg_stat_activity where usename = $1 order by pid',
      [role],
    );
  const reserved = async () => (await sessions()).filter(({ name }) => RESERVED.includes(name));
  await expect.poll(async () => (await reserved()).length).toBe(2);
  const before = await reserved();

  const hogs: pg.Client[] = [];
  const takeAll = async () => {
    for (;;) {
      const hog = new pg.Client({ connectionString: url, application_name: 'hog' });
      // The end of the test cuts this connection.
      hog.on('error', () => {});
      try {
        await hog.connect();
      } catch {
        return;
      }
      hogs.push(hog);
    }
  };
  const leaveAll = () => Promise.all(hogs.splice(0).map((hog) => hog.end().catch(() => {})));
  onTestFinished(async () => void (await leaveAll()));
  // The pools of the runner are cut, and another client takes their connections before they come back.
  await expect
    .poll(async () => {
      await ask(
        `select pg_terminate_backend(pid) from pg_stat_activity where usename = $1 and application_name <> all ($2)`,
        [role, [...RESERVED, 'hog']],
      );
      await takeAll();
      return (await sessions()).filter(({ name }) => name !== 'hog').map(({ name }) => name);
    })
    .toEqual(before.map(({ name }) => name));

  const leases = () =>
    ask<{ state: string; ends: number }>(
      `select s.state, extract(epoch from l.expires_at)::float8 * 1000 as ends
       from crowded.runner_leases l join crowded.runner_slots s on s.runner_id = l.runner_id group by 1, 2`,
    );
  const [lease] = await leases();
  // Two whole leases later the lease would be lost, if the runner had not renewed it.
  await expect
    .poll(async () => (await leases())[0]!.ends, { timeout: 20_000 })
    .toBeGreaterThan(lease!.ends + 2 * LEASE_MS);
  expect(await leases()).toMatchObject([{ state: 'live' }]);
  expect(await reserved()).toEqual(before);
  expect(warnings.filter((line) => line.includes('declared dead'))).toEqual([]);

  await leaveAll();
  const started = () => pawl.start('hello', { requestId: 'after' }).catch(() => null);
  await expect.poll(started, { timeout: 20_000 }).not.toBeNull();
  expect(await pawl.result((await pawl.start('hello', { requestId: 'after' })).executionId)).toMatchObject({
    status: 'Succeeded',
  });
});
