import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import type { LeaseNews } from '../lease-renewal.ts';
import type { Store } from '../port.ts';
import { leaseThreads } from './lease-thread.ts';
import { createPostgresStore } from './postgres-store.ts';

const leaseMs = 3_000;
let database: TestDatabase;
let store: Store;
beforeAll(async () => {
  database = await testDatabase();
  store = createPostgresStore({ connectionString: database.connectionString });
});
afterAll(async () => {
  await store?.close();
  await database?.drop();
});

async function setup(schema = 'public') {
  const { runnerId } = await store.runnerRegister({ name: 'runner', slots: 2, leaseMs });
  const news: LeaseNews[] = [];
  const thread = leaseThreads({ connectionString: database.connectionString, schema })({ runnerId, leaseMs }, (said) =>
    news.push(said),
  );
  onTestFinished(() => thread.stop());
  const heard = (type: LeaseNews['type']) => expect.poll(() => news.map((said) => said.type)).toContain(type);
  const expiresAt = async () =>
    (await store.runnerList()).find((runner) => runner.runnerId === runnerId)!.leaseExpiresAt;
  return { runnerId, news, thread, heard, expiresAt };
}

describe('the thread that renews a lease', () => {
  it('does so on its own, and tells when by the clock of this thread', async () => {
    const { thread, news, heard, expiresAt } = await setup();
    const before = await expiresAt();
    const beatAt = performance.now();
    thread.beat();
    // Nothing else of this thread runs while it renews: not even a beat.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, leaseMs);
    await heard('renewed');
    const first = news.find((said) => said.type === 'renewed')!;
    expect(first.startedAt).toBeGreaterThan(beatAt);
    expect(first.answeredAt).toBeGreaterThanOrEqual(first.startedAt);
    expect(performance.now()).toBeGreaterThan(first.answeredAt);
    expect(await expiresAt()).toBeGreaterThan(before);
  });

  it('goes on after its connection was cut', async () => {
    const { thread, news, heard } = await setup();
    thread.beat();
    await heard('renewed');
    await withClient(database.connectionString, (client) =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl lease'`),
    );
    news.length = 0;
    await heard('renewed');
  });

  it('tells when the runner was declared dead', async () => {
    const { runnerId, thread, heard } = await setup();
    await store.runnerDeclareDead({ runnerId });
    thread.beat();
    await heard('lost');
  });

  it('says so when it dies, and is started again by the next beat', async () => {
    // It does not come as far as to its first try.
    const { thread, news } = await setup(null as unknown as string);
    const ended = () => expect.poll(() => news.at(-1)).toMatchObject({ error: expect.stringContaining('ended') });
    for (let lives = 0; lives < 2; lives++) {
      news.length = 0;
      thread.beat();
      await ended();
      expect(news[0]).toMatchObject({ type: 'failed', error: expect.stringContaining('failed: TypeError') });
    }
  });
});
