import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemTimers } from '../../src/clock/system-timers.ts';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';
import { type Received, type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts';

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

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const isSignedBy = (secret: string, { body, headers }: Received) => {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('a webhook', () => {
  it('a webhook gets the message once, signed, with the ackGuid as its id, and 2xx means Delivered', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url, secret: secretOf(1) });
    const ackGuid = await process.post({ to: [code], body: { amount: 5 } });
    await process.dispatcher.settled();
    expect(receiver.received).toHaveLength(1);
    expect(JSON.parse(receiver.received[0]!.body)).toEqual({ ackGuid, kind: 'transition', amount: 5 });
    expect(receiver.received[0]!.headers['webhook-id']).toBe(ackGuid);
    expect(isSignedBy(secretOf(1), receiver.received[0]!)).toBe(true);
    expect(await process.stageOf(ackGuid, code)).toBe('Delivered');
  });

  it('a webhook is not sent a message that was acknowledged while it waited for its turn', async () => {
    let laterMs = 0;
    const timers = { ...systemTimers, monotonicMs: () => systemTimers.monotonicMs() + laterMs };
    const own = await world.process({ timers });
    const code = await own.register({ code: 'one-by-one', kind: 'webhook', url: receiver.url, concurrency: 1 });
    const attempts = async (ackGuid: string) => (await own.deliveries.get(TENANT, ackGuid)).deliveries[0]!.attempts;
    // For a consumer that answers quickly, the next messages are claimed ahead.
    await own.post({ to: [code] });
    await own.dispatcher.settled();
    const held = Promise.withResolvers<{ status: number }>();
    receiver.answer = () => held.promise;
    const arrived = receiver.next();
    const posted = await own.postAll([{ to: [code] }, { to: [code] }, { to: [code] }]);
    const first = (await arrived).headers['webhook-id'];
    const [done, next] = posted.filter((ackGuid) => ackGuid !== first) as [string, string];
    for (const ackGuid of [done, next]) await expect.poll(() => attempts(ackGuid)).toBe(1);
    await own.deliveries.ack(TENANT, { ackGuid: done, consumer: code, stage: 'Processed' });
    laterMs = 60_000;
    held.resolve({ status: 204 });
    await own.dispatcher.settled();
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).not.toContain(done);
    expect(await own.stageOf(next, code)).toBe('Delivered');
    await own.stop();
  });

  it('a webhook is sent the same bytes under the same id until it answers 2xx, and notices are raised', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    receiver.answer = () => ({ status: 500 });
    const ackGuid = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, code)).toBe('Pending');
    await process.timePasses();
    receiver.answer = () => ({ status: 200 });
    await process.timePasses();
    expect(await process.stageOf(ackGuid, code)).toBe('Delivered');
    const [first, ...others] = receiver.received;
    expect(others).toHaveLength(2);
    for (const other of others) {
      expect(other.body).toBe(first!.body);
      expect(other.headers['webhook-id']).toBe(ackGuid);
    }
    expect(process.raised.map(({ kind }) => kind)).toEqual([
      'DispatchFailure',
      'DeliveryRetryRaised',
      'DispatchFailure',
      'DeliveryRetryRaised',
    ]);
    expect(process.raised[0]!.details).toMatchObject({ ackGuid, consumer: code, attempts: 1 });
  });

  it('a webhook that only answered 2xx is reminded until the message is Processed, and never again', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    const ackGuid = await process.post({ to: [code] });
    await process.dispatcher.settled();
    await process.timePasses();
    expect(process.raised.map(({ kind }) => kind)).toEqual(['ProcessingReminderRaised']);
    expect(await process.deliveries.ack(TENANT, { ackGuid, consumer: code, stage: 'Processed' })).toEqual({
      stage: 'Processed',
      changed: true,
    });
    await process.timePasses();
    expect(receiver.received).toHaveLength(2);
    const late = await process.deliveries.ack(TENANT, { ackGuid, consumer: code, stage: 'Delivered' });
    expect(late).toEqual({ stage: 'Processed', changed: false });
  });

  it('a webhook may answer that the message is processed, or that it failed', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    receiver.answer = () => ({ status: 200, body: { stage: 'Processed' } });
    const done = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(await process.stageOf(done, code)).toBe('Processed');
    receiver.answer = () => ({ status: 200, body: { stage: 'Processed', outcome: 'failed', message: 'no such loan' } });
    const dead = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(await process.stageOf(dead, code)).toBe('Dead');
    const retryAt = new Date(Date.now() + 3_600_000).toISOString();
    receiver.answer = () => ({ status: 200, body: { stage: 'Processed', outcome: 'failed', retryAt } });
    const later = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(await process.stageOf(later, code)).toBe('Failed');
    receiver.answer = () => ({ status: 200, body: { stage: 'Processed', outcome: 'succeeded' } });
    await process.timePasses();
    expect(await process.stageOf(later, code)).toBe('Processed');
    const failures = process.raised.filter(({ kind }) => kind === 'ConsumerFailure');
    expect(failures.map(({ details }) => details)).toMatchObject([
      { ackGuid: dead, isDead: true, error: 'no such loan' },
      { ackGuid: later, isDead: false, retryAt },
    ]);
  });

  it.each([null, 'text/plain'])('an answer of a webhook with content type %s is understood', async (contentType) => {
    const code = await process.register({ code: 'terse', kind: 'webhook', url: receiver.url });
    receiver.answer = () => ({ status: 200, contentType, body: { stage: 'Processed' } });
    const ackGuid = await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(await process.stageOf(ackGuid, code)).toBe('Processed');
  });

  it('a webhook gets two signatures while its secret is being rotated', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url, secret: secretOf(1) });
    const { secret } = await process.consumers.rotateSecret(TENANT, code);
    await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(isSignedBy(secretOf(1), receiver.received[0]!)).toBe(true);
    expect(isSignedBy(secret!, receiver.received[0]!)).toBe(true);
    await process.consumers.rotateSecret(TENANT, code, { secret: secretOf(3), keepPrevious: false });
    await process.post({ to: [code] });
    await process.dispatcher.settled();
    expect(isSignedBy(secret!, receiver.received[1]!)).toBe(false);
    expect(isSignedBy(secretOf(3), receiver.received[1]!)).toBe(true);
  });

  it('a new secret of a webhook survives other changes made at the same moment', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    for (let round = 0; round < 10; round++) {
      const [rotated] = await Promise.all([
        process.consumers.rotateSecret(TENANT, code),
        process.consumers.change(TENANT, code, { concurrency: 1 + round }),
        process.register({ code, kind: 'webhook', url: receiver.url }),
      ]);
      expect((await process.store.consumerGet({ tenantId: TENANT, code }))!.secrets[0]).toBe(rotated.secret);
    }
  });

  it('two secrets of a webhook rotated at the same moment are both kept, and no third one', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    for (let round = 0; round < 10; round++) {
      const rotate = async () => (await process.consumers.rotateSecret(TENANT, code)).secret!;
      const made = await Promise.all([rotate(), rotate()]);
      expect((await process.store.consumerGet({ tenantId: TENANT, code }))!.secrets.toSorted()).toEqual(
        made.toSorted(),
      );
    }
  });

  it('a paused webhook is sent nothing, and gets its messages when it is resumed', async () => {
    const code = await process.register({ code: 'kyc', kind: 'webhook', url: receiver.url });
    await process.consumers.pause(TENANT, code);
    const ackGuid = await process.post({ to: [code] });
    await process.timePasses();
    expect(receiver.received).toHaveLength(0);
    const arrived = receiver.next();
    await process.consumers.resume(TENANT, code);
    expect((await arrived).headers['webhook-id']).toBe(ackGuid);
  });

  it('a webhook at a loopback address is not called unless the operator allows it', async () => {
    const { createHttpClient } = await import('../../src/action/http/client.ts');
    const guarded = await world.process({ http: createHttpClient() });
    const code = await guarded.register({ code: 'inside', kind: 'webhook', url: receiver.url });
    await process.stop();
    await guarded.post({ to: [code] });
    await guarded.dispatcher.settled();
    expect(receiver.received).toHaveLength(0);
    expect(guarded.raised.map(({ message }) => message).join()).toMatch(/127\.0\.0\.1 is a loopback address/);
  });
});
