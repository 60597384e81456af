import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../src/store/store-error.ts';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';
import { type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts';

let world: World;
let process: DeliveryUnderTest;
let receiver: WebhookReceiver;

beforeAll(async () => {
  world = await deliveryWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.database.clear();
  receiver = await webhookReceiver();
  process = await world.process();
});
afterEach(async () => {
  await process.stop();
  await receiver.close();
});

const idsReceived = () => receiver.received.map(({ headers }) => headers['webhook-id']);
const webhook = (code = 'kyc') => ({ code, kind: 'webhook', url: receiver.url });

describe('delivery in spite of failures (I19)', () => {
  it('a message claimed by a process that dies before the send is sent again later', async () => {
    const code = await process.register({ code: 'here', kind: 'process' });
    const ackGuid = await process.post({ to: [code] });
    const delays = { resendMs: [30_000], remindMs: [300_000], maxAttempts: null };
    const claim = {
      consumerId: process.book.idOf(TENANT, code)!,
      ordering: 'delivered' as const,
      limit: 10,
      ...delays,
    };
    // A process claims the delivery and is never heard of again.
    expect((await process.store.deliveryClaim(claim)).claimed).toMatchObject([{ ackGuid, attempts: 1 }]);
    expect((await process.store.deliveryClaim(claim)).claimed).toEqual([]);
    const handled: [string, number][] = [];
    process.processChannel.handle(TENANT, code, (work, { attempt }) => void handled.push([work.ackGuid, attempt]));
    await process.dispatcher.settled();
    expect(handled).toEqual([]);
    await process.timePasses();
    expect(handled).toEqual([[ackGuid, 2]]);
    expect(await process.stageOf(ackGuid, code)).toBe('Delivered');
  });

  it('a message whose acknowledgement could not be stored is sent again under the same id', async () => {
    const broken = { isBroken: true };
    const store = process.store;
    const forgetful = await world.process({
      store: {
        ...store,
        deliveryAck: (params) =>
          broken.isBroken ? Promise.reject(new StoreError('fatal', 'no')) : store.deliveryAck(params),
      },
    });
    const code = await forgetful.register(webhook());
    const ackGuid = await forgetful.post({ to: [code] });
    await forgetful.dispatcher.settled();
    expect(forgetful.warnings.join()).toMatch(/could not be acknowledged/);
    expect(await forgetful.stageOf(ackGuid, code)).toBe('Pending');
    broken.isBroken = false;
    await forgetful.timePasses();
    expect(idsReceived()).toEqual([ackGuid, ackGuid]);
    expect(await forgetful.stageOf(ackGuid, code)).toBe('Delivered');
  });

  it('a message whose acknowledgement got no reply from the database is acknowledged once and not sent again', async () => {
    let calls = 0;
    const store = process.store;
    const unsure = await world.process({
      store: {
        ...store,
        async deliveryAck(params) {
          const results = await store.deliveryAck(params);
          if (calls++ === 0) throw new StoreError('unknown', 'the connection broke');
          return results;
        },
      },
    });
    const code = await unsure.register(webhook());
    const ackGuid = await unsure.post({ to: [code] });
    await unsure.dispatcher.settled();
    expect(calls).toBe(2);
    expect(await unsure.stageOf(ackGuid, code)).toBe('Delivered');
    expect(idsReceived()).toEqual([ackGuid]);
  });

  it('a stopping process records the message it is sending, and leaves the others to other processes (I23)', async () => {
    const code = await process.register({ ...webhook(), concurrency: 1 });
    const { promise: letGo, resolve: release } = Promise.withResolvers<void>();
    receiver.answer = async () => {
      await letGo;
      return { status: 200 };
    };
    const arrived = receiver.next();
    const first = await process.post({ to: [code] });
    await arrived;
    const second = await process.post({ to: [code] });
    const stopped = process.dispatcher.stop();
    release();
    await stopped;
    expect(await process.stageOf(first, code)).toBe('Delivered');
    expect(idsReceived()).toEqual([first]);
    const other = await world.process();
    await other.dispatcher.settled();
    expect(await other.stageOf(second, code)).toBe('Delivered');
    expect(idsReceived()).toEqual([first, second]);
  });
});

describe('the order of messages', () => {
  it('messages of one subject wait until the message before them is delivered', async () => {
    const code = await process.register(webhook());
    receiver.answer = () => ({ status: 503 });
    const subject = randomUUID();
    const first = await process.post({ to: [code], subject, seq: 1 });
    const second = await process.post({ to: [code], subject, seq: 2 });
    const unrelated = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(new Set(idsReceived())).toEqual(new Set([first, unrelated]));
    receiver.received.length = 0;
    receiver.answer = () => ({ status: 200 });
    await process.timePasses();
    const ids = idsReceived();
    expect(ids.indexOf(first)).toBeLessThan(ids.indexOf(second));
    expect(await process.stageOf(second, code)).toBe('Delivered');
  });

  it('messages with ordering "processed" wait until the message before them is processed', async () => {
    const code = await process.register({ ...webhook(), ordering: 'processed' });
    const subject = randomUUID();
    const first = await process.post({ to: [code], subject, seq: 1 });
    const second = await process.post({ to: [code], subject, seq: 2 });
    await process.dispatcher.settled();
    expect(idsReceived()).toEqual([first]);
    const arrived = receiver.next();
    await process.deliveries.ack(TENANT, { ackGuid: first, consumer: code, stage: 'Processed' });
    expect((await arrived).headers['webhook-id']).toBe(second);
  });

  it('240 messages for two subjects all arrive in order', async () => {
    const code = await process.register({ ...webhook(), concurrency: 4, isPaused: true });
    const subjects = [randomUUID(), randomUUID()];
    const seqs = Array.from({ length: 120 }, (_, index) => index + 1);
    // Each pair with its own commit, as in real use: nobody knows yet which messages will have to wait.
    for (const seq of seqs) {
      await process.postAll(subjects.map((subject) => ({ to: [code], subject, seq, body: { subject, seq } })));
    }
    await process.consumers.resume(TENANT, code);
    await process.dispatcher.settled();
    const sent = Map.groupBy(
      receiver.received.map(({ body }) => JSON.parse(body) as { subject: string; seq: number }),
      ({ subject }) => subject,
    );
    expect(subjects.map((subject) => sent.get(subject)?.map(({ seq }) => seq))).toEqual([seqs, seqs]);
  });
});

describe('a consumer that fails', () => {
  it('a failing consumer delays nobody else, and gets every message once it is back', async () => {
    const quick = await world.process({ options: { retentionMs: 0, natsServers: [], deliveredAfterMs: 50 } });
    const well = await webhookReceiver();
    const broken = await quick.register({ ...webhook('broken'), concurrency: 1 });
    const healthy = await quick.register({ code: 'healthy', kind: 'webhook', url: well.url });
    receiver.answer = () => ({ status: 500 });
    const toBroken = await Promise.all(Array.from({ length: 8 }, () => quick.post({ to: [broken] })));
    await quick.dispatcher.settled();
    await expect.poll(() => quick.raised.some(({ kind }) => kind === 'ConsumerFailure')).toBe(true);
    const fine = await quick.post({ to: [healthy] });
    await quick.dispatcher.settled();
    expect(await quick.stageOf(fine, healthy)).toBe('Delivered');
    receiver.answer = () => ({ status: 200 });
    await expect
      .poll(async () => {
        await quick.timePasses();
        return Promise.all(toBroken.map((ackGuid) => quick.stageOf(ackGuid, broken)));
      })
      .toEqual(toBroken.map(() => 'Delivered'));
    await well.close();
  });

  it('a message that keeps failing is dead after maxAttempts, and can be requeued', async () => {
    const code = await process.register({ ...webhook(), options: { maxAttempts: 2 } });
    receiver.answer = () => ({ status: 500 });
    const ackGuid = await process.post({ to: [code], kind: 'execution', event: 'RunFailed' });
    await process.dispatcher.settled();
    await process.timePasses();
    await process.timePasses();
    expect(await process.stageOf(ackGuid, code)).toBe('Dead');
    expect(process.raised.at(-1)!.details).toMatchObject({ ackGuid, isDead: true, attempts: 2 });
    expect(process.failedBuses).toEqual(['webhook', 'webhook']);
    const dead = await process.deliveries.list(TENANT, { stage: 'Dead', after: null, limit: 10 });
    expect(dead).toMatchObject([{ ackGuid, consumer: code, stage: 'Dead' }]);
    receiver.answer = () => ({ status: 200 });
    expect(await process.deliveries.requeue(TENANT, [{ ackGuid, consumer: code }])).toBe(1);
    await process.dispatcher.settled();
    // The event of an execution needs no second confirmation.
    expect(await process.stageOf(ackGuid, code)).toBe('Processed');
    expect(await process.deliveries.requeue(TENANT, [{ ackGuid, consumer: code }])).toBe(0);
    expect(await process.deliveries.discard(TENANT, [{ ackGuid, consumer: code }])).toBe(0);
  });
});

describe('a bus that is away', () => {
  it('messages for a bus that is away are dead after the default number of attempts, and can be requeued', async () => {
    const other = await world.process({
      options: { retentionMs: 0, natsServers: [], busMaxAttempts: 3, timeoutMs: 500 },
    });
    const code = await other.register({ code: 'bus', kind: 'nats', url: 'nats://127.0.0.1:1', secret: 'x' });
    const ackGuid = await other.post({ to: [code], kind: 'execution', event: 'RunCompleted' });
    await other.dispatcher.settled();
    for (let tries = 1; tries <= 3; tries++) {
      expect(await other.stageOf(ackGuid, code)).toBe('Pending');
      await other.timePasses();
    }
    expect(await other.stageOf(ackGuid, code)).toBe('Dead');
    expect(other.failedBuses).toEqual(['nats', 'nats', 'nats']);
    expect(other.buried).toEqual(['nats']);
    expect(await other.deliveries.requeue(TENANT, [{ ackGuid, consumer: code }])).toBe(1);
    expect(await other.stageOf(ackGuid, code)).toBe('Pending');
  });
});

describe('acknowledgements', () => {
  it('an acknowledgement of one consumer does not count for another', async () => {
    const codes = [await process.register(webhook('a')), await process.register(webhook('b'))];
    const ackGuid = await process.post({ to: codes });
    await process.dispatcher.settled();
    await process.deliveries.ack(TENANT, { ackGuid, consumer: 'a', stage: 'Processed' });
    expect(await process.stageOf(ackGuid, 'a')).toBe('Processed');
    expect(await process.stageOf(ackGuid, 'b')).toBe('Delivered');
  });

  it('a wrong acknowledgement is refused with the reason, and changes nothing', async () => {
    const code = await process.register(webhook());
    const ackGuid = await process.post({ to: [code] });
    await process.dispatcher.settled();
    const ack = (tenantId: string, request: object) =>
      process.deliveries.ack(tenantId, { ackGuid, consumer: code, stage: 'Processed', ...request });
    await expect(ack(TENANT, { ackGuid: randomUUID() })).rejects.toMatchObject({ code: 'DELIVERY_NOT_FOUND' });
    await expect(ack(TENANT, { ackGuid: 'what' })).rejects.toMatchObject({ code: 'DELIVERY_NOT_FOUND' });
    await expect(ack(TENANT, { consumer: 'nobody' })).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
    await expect(ack('other', {})).rejects.toMatchObject({ code: 'CONSUMER_NOT_FOUND' });
    await expect(ack(TENANT, { retryAt: Date.now() + 1e6 })).rejects.toThrow(/only with/);
    expect(await process.stageOf(ackGuid, code)).toBe('Delivered');
  });

  it('fifty acknowledgements at once change the delivery once', async () => {
    const code = await process.register(webhook());
    const ackGuid = await process.post({ to: [code] });
    await process.dispatcher.settled();
    const acks = Array.from({ length: 50 }, () =>
      process.deliveries.ack(TENANT, { ackGuid, consumer: code, stage: 'Processed' }),
    );
    const answers = await Promise.all(acks);
    expect(answers.filter(({ changed }) => changed)).toHaveLength(1);
    expect(new Set(answers.map(({ stage }) => stage))).toEqual(new Set(['Processed']));
  });
});

describe('replay', () => {
  it('a replay sends a consumer its old messages again, and a newer consumer those it would have got', async () => {
    const old = await process.register(webhook('old'));
    const before = Date.now() - 60_000;
    const first = await process.post({ to: [old] });
    const hook = await process.post({ to: [old], kind: 'hook' });
    await process.dispatcher.settled();
    for (const ackGuid of [first, hook]) {
      await process.deliveries.ack(TENANT, { ackGuid, consumer: old, stage: 'Processed' });
    }
    receiver.received.length = 0;
    const young = await process.register({ ...webhook('young'), subscriptions: [{ env: 'prod', definition: 'loan' }] });
    const range = { from: before, until: Date.now() + 60_000 };
    expect(await process.deliveries.replay(TENANT, old, range)).toBe(2);
    await process.dispatcher.settled();
    expect(new Set(idsReceived())).toEqual(new Set([first, hook]));
    receiver.received.length = 0;
    expect(await process.deliveries.replay(TENANT, young, range)).toBe(1);
    await process.dispatcher.settled();
    expect(idsReceived()).toEqual([first]);
    expect(await process.stageOf(first, young)).toBe('Delivered');
  });

  it('a replay of 2,100 messages goes page by page and leaves one audit record', async () => {
    const old = await process.register({ ...webhook('crowded'), subscriptions: [{ env: 'prod', definition: 'loan' }] });
    const before = Date.now();
    await process.postAll(Array.from({ length: 2_100 }, () => ({ to: [] })));
    const range = { from: before, until: Date.now() + 60_000 };
    await process.consumers.pause(TENANT, old);
    expect(await process.deliveries.replay(TENANT, old, range)).toBe(2_100);
    expect(await process.deliveries.replay(TENANT, old, range)).toBe(0);
    const records = await process.store.auditList({
      tenantId: TENANT,
      beforeId: null,
      limit: 200,
      target: `consumer/${old}`,
    });
    const counts = records
      .filter(({ action }) => action === 'consumer.replay')
      .map(({ details }) => JSON.parse(details!));
    expect(counts).toMatchObject([{ count: 0 }, { count: 2_100 }]);
  });
});
