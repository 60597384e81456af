import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../../test/support/database.ts';
import type { LeaseNews } from '../../lease-renewal.ts';
import type { Store } from '../../port.ts';
import { createPostgresStore } from '../postgres-store.ts';
import { leaseThreads } from './lease-thread.ts';

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
  it('the lease thread renews without the main thread, and reports the time by the main clock', async () => {
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

  it('the lease thread goes on after its connection was cut', async () => {
    const { thread, news, heard } = await setup();
    thread.beat();
    await heard('renewed');
    await withClient(database.connectionString, (client) =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pawl lease'`),
    );
    await heard('unguarded');
    news.length = 0;
    await heard('renewed');
  });

  it('the lease thread reports that the runner was declared dead', async () => {
    const { runnerId, thread, heard } = await setup();
    await store.runnerDeclareDead({ runnerId });
    thread.beat();
    await heard('lost');
  });

  it('a lease ends soon after its session is gone, once a settled runner checks', async () => {
    const { runnerId, thread, heard, expiresAt } = await setup();
    const judging = await setup();
    const look = (settledMs: number) =>
      store.runnerListLive({
        expiredForMs: 0,
        judge: { runnerId: judging.runnerId, sessionGraceMs: 10, settledMs },
      });
    const isExpired = async () => (await look(0)).find((runner) => runner.runnerId === runnerId)?.isExpired;
    for (const one of [thread, judging.thread]) one.beat();
    for (const wait of [heard, judging.heard]) await wait('renewed');
    const before = await expiresAt();
    await look(0);
    expect(await expiresAt()).toBe(before);

    await thread.stop();
    const isGone = `select not exists (select from runner_sessions where runner_key = $1) as gone`;
    await withClient(database.connectionString, (client) =>
      expect.poll(async () => (await client.query(isGone, [runnerId])).rows[0].gone).toBe(true),
    );
    await look(60_000);
    expect(await expiresAt()).toBe(before);
    await look(0);
    expect(await expiresAt()).toBeLessThan(before);
    await expect.poll(isExpired).toBe(true);
    // Whoever renews over another session is alive, and its lease is not guarded any more.
    await store.leaseRenew({ runnerId, leaseMs });
    expect(await isExpired()).toBe(false);
  });

  it('a lease thread that dies is reported, and the next beat starts it again', async () => {
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
