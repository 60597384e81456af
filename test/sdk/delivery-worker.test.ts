// Two workers of one pull consumer with slow handlers, and a server that restarts under a worker: no message is handled twice,
// and none is left (I19).

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createClient } from '../../src/sdk/client.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { lastingPorts } from '../support/lasting-port.ts';

const TENANT = 'default';
let database: TestDatabase;
let port: number;
let pawl: Pawl;

const open = () =>
  createPawl({
    database: { url: database.connectionString },
    serve: true,
    server: { port },
    auth: { allowLooseAuth: true },
    engine: { pollMs: 20 },
    monitor: { intervalMs: 20 },
    // A message that nobody confirms or works on soon goes to another worker.
    delivery: { deliveredAfterMs: 400, processedAfterMs: 400 },
  });

beforeAll(async () => {
  database = await testDatabase();
  port = (await lastingPorts(1))[0]!;
  pawl = await open();
  await pawl.publish({
    id: 'told',
    displayName: 'told',
    startNode: 'a',
    nodes: [{ id: 'a', actionType: 'core.echo' }],
  });
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
});

const client = () => createClient({ url: `http://127.0.0.1:${port}` });

async function consumerOf(code: string): Promise<void> {
  await client().consumers.register({ code, kind: 'pull', subscriptions: [{ types: ['RunCompleted'] }] });
}

async function runs(count: number): Promise<Set<string>> {
  const started = await Promise.all(Array.from({ length: count }, () => pawl.start('told', { tenantId: TENANT })));
  return new Set(started.map(({ executionId }) => executionId));
}

describe('workers of one consumer', () => {
  it('workers with slow handlers share the messages, and no message is handled twice', async () => {
    await consumerOf('shared');
    const wanted = await runs(8);
    const handled: string[] = [];
    const gate = Promise.withResolvers<void>();
    const stop = new AbortController();
    const work = () =>
      client().deliveries.work(
        'shared',
        async (event) => {
          handled.push((event as unknown as { runId: string }).runId);
          await gate.promise;
        },
        { signal: stop.signal, concurrency: 2, limit: 4, renewEveryMs: 100 },
      );
    const workers = [work(), work()];
    await expect.poll(() => handled.length).toBe(4);
    // Longer than both delays after which a message without a holder is handed out again.
    const firstDue = await dueAt('shared');
    await expect.poll(() => dueAt('shared').then((due) => due - firstDue > 1_000)).toBe(true);
    expect(handled).toHaveLength(4);
    gate.resolve();
    await expect.poll(() => stages('shared')).toEqual({ Processed: 8 });
    expect([...handled].sort()).toEqual([...wanted].sort());
    stop.abort();
    await Promise.all(workers);
  });

  it('a worker goes on after a server restart and acknowledges what it finished meanwhile', async () => {
    await consumerOf('patient');
    const handled: string[] = [];
    const stop = new AbortController();
    const away = Promise.withResolvers<void>();
    const working = client().deliveries.work(
      'patient',
      async (event) => {
        handled.push((event as unknown as { runId: string }).runId);
        if (handled.length === 1) await away.promise;
      },
      { signal: stop.signal },
    );
    const notices: string[] = [];
    const following = (async () => {
      for await (const { kind } of client().deliveries.followNotices({ signal: stop.signal })) notices.push(kind);
    })().catch(() => undefined);
    const first = await runs(1);
    await expect.poll(() => handled.length).toBe(1);
    await pawl.close();
    // The worker's acknowledgement finds no server, and is repeated until a server is there.
    away.resolve();
    pawl = await open();
    const second = await runs(1);
    await expect.poll(() => stages('patient')).toEqual({ Processed: 2 });
    expect(handled).toEqual([...first, ...second]);
    stop.abort();
    await working;
    await following;
  });
});

async function stages(consumer: string): Promise<Record<string, number>> {
  const { data } = await client().deliveries.list({ consumer, stage: 'Processed', limit: 100 });
  return { Processed: data.length };
}

async function dueAt(consumer: string): Promise<number> {
  const { data } = await client().deliveries.list({ consumer, stage: 'Delivered', limit: 100 });
  return Math.max(0, ...data.map(({ nextAttemptAt }) => Date.parse(nextAttemptAt ?? '1970-01-01T00:00:00Z')));
}
