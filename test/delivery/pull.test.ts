import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';

let world: World;
let process: DeliveryUnderTest;

beforeAll(async () => {
  world = await deliveryWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.database.clear();
  process = await world.process();
  await process.register({ code: 'poller', kind: 'pull' });
});
afterEach(() => process.stop());

const LONG_MS = 60_000;
const pull = (waitMs = 0, limit = 10) => process.deliveries.pull(TENANT, 'poller', { waitMs, limit });
const ids = (pulled: { ackGuid: string }[]) => pulled.map(({ ackGuid }) => ackGuid);

describe('a consumer that pulls', () => {
  it('a pull consumer gets due messages in order, and none twice while it still has time to confirm', async () => {
    const subject = randomUUID();
    const [first, second] = await process.postAll([
      { to: ['poller'], subject, seq: 1, body: { n: 1 } },
      { to: ['poller'], subject, seq: 2, body: { n: 2 } },
    ]);
    const pulled = await pull();
    expect(ids(pulled)).toEqual([first]);
    expect(JSON.parse(pulled[0]!.body)).toEqual({ ackGuid: first, kind: 'transition', n: 1 });
    expect(await pull()).toEqual([]);
    await process.deliveries.ack(TENANT, { ackGuid: first!, consumer: 'poller', stage: 'Delivered' });
    expect(ids(await pull())).toEqual([second]);
  });

  it('a pull consumer gets the same bytes again when it does not confirm, and a notice is raised', async () => {
    const ackGuid = await process.post({ to: ['poller'] });
    const [first] = await pull();
    await process.timePasses();
    const [again] = await pull();
    expect(again).toMatchObject({ ackGuid, body: first!.body, attempts: 2 });
    expect(process.raised.map(({ kind }) => kind)).toEqual(['DeliveryRetryRaised']);
  });

  it('a waiting pull returns when a message is committed in the same process', async () => {
    const waiting = pull(LONG_MS);
    const ackGuid = await process.post({ to: ['poller'] });
    expect(ids(await waiting)).toEqual([ackGuid]);
  });

  it('a waiting pull returns a message of another process when the monitor finds it', async () => {
    const other = await world.process();
    const waiting = pull(LONG_MS);
    const ackGuid = await other.post({ to: ['poller'] });
    await process.monitor.runOnce();
    expect(ids(await waiting)).toEqual([ackGuid]);
  });

  it('a waiting pull ends when its time is up, when the client goes away, and when the consumer is removed', async () => {
    expect(await pull(5)).toEqual([]);
    const gone = new AbortController();
    const waiting = process.deliveries.pull(TENANT, 'poller', { waitMs: LONG_MS, limit: 1, signal: gone.signal });
    gone.abort();
    expect(await waiting).toEqual([]);
    const removed = pull(LONG_MS);
    await process.consumers.remove(TENANT, 'poller');
    expect(await removed).toEqual([]);
    await expect(pull()).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
  });

  it('a pull consumer can follow its messages as a stream', async () => {
    const gone = new AbortController();
    const seen: string[] = [];
    const first = await process.post({ to: ['poller'] });
    const stream = process.deliveries.follow(TENANT, 'poller', { waitMs: LONG_MS, limit: 10, signal: gone.signal });
    for await (const page of stream) {
      seen.push(...ids(page));
      if (seen.length === 1) void process.post({ to: ['poller'] });
      if (seen.length === 2) gone.abort();
    }
    expect(seen[0]).toBe(first);
    expect(seen).toHaveLength(2);
  });

  it('a pull of a paused consumer waits until the consumer is resumed', async () => {
    await process.consumers.pause(TENANT, 'poller');
    const ackGuid = await process.post({ to: ['poller'] });
    expect(await pull()).toEqual([]);
    const waiting = pull(LONG_MS);
    await process.consumers.resume(TENANT, 'poller');
    expect(ids(await waiting)).toEqual([ackGuid]);
  });

  it('a pull for another kind of consumer, or for an unknown one, is refused', async () => {
    await process.register({ code: 'hook', kind: 'process' });
    const ask = (code: string) => process.deliveries.pull(TENANT, code, { waitMs: 0, limit: 1 });
    await expect(ask('hook')).rejects.toThrow(/only those of kind pull/);
    await expect(ask('nobody')).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
  });
});
