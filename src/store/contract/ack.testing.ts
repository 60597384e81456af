// Acknowledgements: idempotent, per consumer, never back; and the outcomes of hooks, which are never lost (I1, I19).

import { expect, it } from 'vitest';
import type { DeliveryStage } from '../delivery-port.ts';
import type { Store } from '../port.ts';
import { newId, TENANT } from './builder.testing.ts';
import {
  ack,
  apply,
  claimDeliveries,
  claimedGuids,
  instanceOf,
  loanKey,
  MINUTE_MS,
  newAck,
  newConsumer,
  nextMove,
  submitted,
} from './messaging.testing.ts';

const HOOK = { kind: 'hook', onSucceeded: 'approve', onFailed: 'reject' } as const;

export function describeAck(store: () => Store): void {
  describeStages(store);
  describeHooks(store);
  describeReactions(store);
}

async function stagesOf(store: Store, ackGuid: string): Promise<DeliveryStage[]> {
  const detail = await store.deliveryGet({ tenantId: TENANT, ackGuid });
  return detail!.deliveries.map(({ stage }) => stage);
}

function describeStages(store: () => Store): void {
  const one = async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages, move } = await submitted(store(), [kyc]);
    return { kyc, move, ackGuid: messages[0]!.ackGuid };
  };
  const say = (ackGuid: string, consumerId: string, overrides: Parameters<typeof ack>[3] = {}) =>
    ack(store(), ackGuid, consumerId, overrides);

  it('said Delivered once more, is reminded of later: whoever has it is still at work', async () => {
    const { kyc, ackGuid } = await one();
    const dueAt = async () => (await store().deliveryGet({ tenantId: TENANT, ackGuid }))!.deliveries[0]!.nextAttemptAt!;
    await say(ackGuid, kyc, { stage: 'Delivered' });
    const first = await dueAt();
    await expect
      .poll(async () => (await say(ackGuid, kyc, { stage: 'Delivered' })) && (await dueAt()) > first)
      .toBe(true);
    await say(ackGuid, kyc);
    expect(await say(ackGuid, kyc, { stage: 'Delivered' })).toMatchObject({ changed: false, stage: 'Processed' });
  });

  it('goes from stage to stage, and says whether anything changed', async () => {
    const { kyc, ackGuid } = await one();
    const delivered = { stage: 'Delivered' } as const;
    expect(await say(ackGuid, kyc, delivered)).toEqual({
      known: true,
      changed: true,
      stage: 'Delivered',
      reacted: false,
    });
    expect(await say(ackGuid, kyc, delivered)).toEqual({
      known: true,
      changed: false,
      stage: 'Delivered',
      reacted: false,
    });
    expect(await say(ackGuid, kyc, { message: 'all\u0000 good' })).toMatchObject({ changed: true, stage: 'Processed' });
    expect(await say(ackGuid, kyc)).toMatchObject({ changed: false, stage: 'Processed' });
    expect(await say(ackGuid, kyc, delivered)).toMatchObject({ changed: false, stage: 'Processed' });
    expect(await say(ackGuid, kyc, { outcome: 'failed' })).toMatchObject({ changed: false, stage: 'Processed' });
    const detail = await store().deliveryGet({ tenantId: TENANT, ackGuid });
    expect(detail!.deliveries).toMatchObject([
      { stage: 'Processed', outcome: 'succeeded', message: 'all\uFFFD good', nextAttemptAt: null },
    ]);
    expect(detail!.deliveries[0]!.endedAt).toBeGreaterThanOrEqual(detail!.deliveries[0]!.deliveredAt!);
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('takes “processed” of what was never said to be delivered', async () => {
    const { kyc, ackGuid } = await one();
    expect(await say(ackGuid, kyc)).toMatchObject({ changed: true, stage: 'Processed' });
    const detail = await store().deliveryGet({ tenantId: TENANT, ackGuid });
    expect(detail!.deliveries[0]!.deliveredAt).not.toBeNull();
  });

  it('knows neither what there is not, nor what is another’s', async () => {
    const { kyc, ackGuid } = await one();
    const other = await newConsumer(store(), 'other');
    const unknown = { known: false, changed: false };
    expect(await say(newId(), kyc)).toMatchObject(unknown);
    expect(await say(ackGuid, other)).toMatchObject(unknown);
    expect(await say(ackGuid, kyc, { tenantId: 'globex' })).toMatchObject(unknown);
    expect(await stagesOf(store(), ackGuid)).toEqual(['Pending']);
  });

  it('closes nobody else’s', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const audit = await newConsumer(store(), 'audit');
    const { messages } = await submitted(store(), [kyc, audit]);
    await say(messages[0]!.ackGuid, kyc);
    expect(await stagesOf(store(), messages[0]!.ackGuid)).toEqual(['Processed', 'Pending']);
    expect(await claimedGuids(store(), audit)).toEqual([messages[0]!.ackGuid]);
  });

  it('sends again at the time that a failure asks for, not before', async () => {
    const { kyc, ackGuid } = await one();
    await claimedGuids(store(), kyc);
    const retryAt = (await store().now()) + MINUTE_MS;
    const failed = { outcome: 'failed', message: 'busy', retryAt } as const;
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: true, stage: 'Failed' });
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: false, stage: 'Failed' });
    expect(await say(ackGuid, kyc, { stage: 'Delivered' })).toMatchObject({ changed: false, stage: 'Failed' });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    expect(await store().monitorLook({ consumerIds: [kyc] })).toMatchObject({ nextDeliveryAt: retryAt });
    expect(await say(ackGuid, kyc, { ...failed, retryAt: 1_000 })).toMatchObject({ changed: true });
    expect((await claimDeliveries(store(), kyc)).claimed).toMatchObject([{ ackGuid, stage: 'Pending', attempts: 2 }]);
    expect(await say(ackGuid, kyc)).toMatchObject({ changed: true, stage: 'Processed' });
  });

  it('sends again at once when the time is past, and takes the same failure once, also when it was sent again since', async () => {
    const { kyc, ackGuid } = await one();
    await claimedGuids(store(), kyc);
    const failed = { outcome: 'failed', message: 'busy', retryAt: 1_000 } as const;
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: true, stage: 'Failed' });
    const { nextAttemptAt } = (await store().deliveryGet({ tenantId: TENANT, ackGuid }))!.deliveries[0]!;
    expect(nextAttemptAt).toBeGreaterThan(failed.retryAt);
    expect(await claimedGuids(store(), kyc)).toEqual([ackGuid]);
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: false, stage: 'Pending' });
    await say(ackGuid, kyc, { stage: 'Delivered' });
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: false, stage: 'Delivered' });
    expect(await say(ackGuid, kyc, { ...failed, retryAt: 2_000 })).toMatchObject({ changed: true, stage: 'Failed' });
    await store().deliveryRequeue({ tenantId: TENANT, items: [{ ackGuid, consumerId: kyc }] });
    expect(await say(ackGuid, kyc, { ...failed, retryAt: 2_000 })).toMatchObject({ changed: true, stage: 'Failed' });
    expect(await say(ackGuid, kyc)).toMatchObject({ changed: true, stage: 'Processed' });
    expect(await say(ackGuid, kyc, failed)).toMatchObject({ changed: false, stage: 'Processed' });
  });

  it('is dead when its consumer says so, and a late word does not raise it', async () => {
    const { kyc, ackGuid } = await one();
    expect(await say(ackGuid, kyc, { outcome: 'failed', message: 'never' })).toMatchObject({
      changed: true,
      stage: 'Dead',
    });
    expect(await say(ackGuid, kyc)).toMatchObject({ known: true, changed: false, stage: 'Dead' });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('believes a late “processed” of what was given up for want of an answer', async () => {
    const { kyc, ackGuid } = await one();
    await claimedGuids(store(), kyc, { resendMs: [0] });
    expect((await claimDeliveries(store(), kyc, { maxAttempts: 1 })).dead).toHaveLength(1);
    expect(await say(ackGuid, kyc, { stage: 'Delivered' })).toMatchObject({ changed: false, stage: 'Dead' });
    expect(await say(ackGuid, kyc)).toMatchObject({ changed: true, stage: 'Processed' });
  });

  it('takes many at once, in the order they are given, also of one message', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const audit = await newConsumer(store(), 'audit');
    const { messages } = await submitted(store(), [kyc, audit], { messages: 2, message: HOOK });
    const [first, second] = messages.map(({ ackGuid }) => ackGuid) as [string, string];
    const acks = [
      newAck(first, kyc, { stage: 'Delivered' }),
      newAck(first, audit),
      newAck(newId(), kyc),
      newAck(first, kyc),
      newAck(second, kyc),
      newAck(first, kyc, { stage: 'Delivered' }),
    ];
    const results = await store().deliveryAck({ acks, remindMs: [MINUTE_MS] });
    expect(results.map(({ known, changed, stage, reacted }) => (known ? [changed, stage, reacted] : null))).toEqual([
      [true, 'Delivered', false],
      [true, 'Processed', false],
      null,
      [true, 'Processed', true],
      [true, 'Processed', false],
      [false, 'Processed', false],
    ]);
  });

  it('counts each of many equal ones that arrive at once only once', async () => {
    const { kyc, ackGuid } = await one();
    const results = await Promise.all(Array.from({ length: 12 }, () => say(ackGuid, kyc)));
    expect(results.filter(({ changed }) => changed)).toHaveLength(1);
    expect(results.every(({ known, stage }) => known && stage === 'Processed')).toBe(true);
  });

  it('reminds of what was delivered and not processed, and never of what was', async () => {
    const { kyc, ackGuid } = await one();
    await claimedGuids(store(), kyc);
    await store().deliveryAck({ acks: [newAck(ackGuid, kyc, { stage: 'Delivered' })], remindMs: [] });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    expect(await store().monitorLook({ consumerIds: [kyc] })).toMatchObject({ nextDeliveryAt: null });
    await say(ackGuid, kyc);
    expect(await claimedGuids(store(), kyc, { remindMs: [0] })).toEqual([]);
  });
}

function describeHooks(store: () => Store): void {
  const hook = async (codes: readonly string[], message: object = HOOK) => {
    const consumers = await Promise.all(codes.map((code) => newConsumer(store(), code)));
    const { messages, move } = await submitted(store(), consumers, { message });
    return { consumers, move, ackGuid: messages[0]!.ackGuid };
  };
  const reactions = () => store().reactionClaim({ limit: 10, leaseMs: 0 });

  it('is done when all consumers are', async () => {
    const { consumers, ackGuid, move } = await hook(['a', 'b', 'c']);
    const [a, b, c] = consumers as [string, string, string];
    expect(await ack(store(), ackGuid, b)).toMatchObject({ reacted: false });
    expect(await ack(store(), ackGuid, b)).toMatchObject({ reacted: false });
    expect(await ack(store(), ackGuid, c)).toMatchObject({ reacted: false });
    expect(await reactions()).toEqual([]);
    expect(await ack(store(), ackGuid, a)).toMatchObject({ reacted: true });
    expect(await reactions()).toMatchObject([
      { ...loanKey('L-1'), instanceId: move.instanceId, event: 'approve', ackGuid, outcome: 'succeeded' },
    ]);
  });

  it('passes on what the acknowledgement that ends it says about the result', async () => {
    const { consumers, ackGuid } = await hook(['a', 'b']);
    const [a, b] = consumers as [string, string];
    await ack(store(), ackGuid, a, { result: '{"from":"a"}' });
    await ack(store(), ackGuid, b, { result: '{"score": 7}' });
    expect(await reactions()).toMatchObject([{ ackGuid, payload: '{"score": 7}' }]);
  });

  it('is done once when its consumers finish at the same time', async () => {
    const codes = ['a', 'b', 'c', 'd', 'e', 'f'];
    const { consumers, ackGuid } = await hook(codes);
    const results = await Promise.all(consumers.map((consumerId) => ack(store(), ackGuid, consumerId)));
    expect(results.filter(({ reacted }) => reacted)).toHaveLength(1);
    expect(await reactions()).toHaveLength(1);
  });

  it('has failed with the first that fails for good, once', async () => {
    const { consumers, ackGuid } = await hook(['a', 'b', 'c']);
    const [a, b, c] = consumers as [string, string, string];
    const retryAt = (await store().now()) + MINUTE_MS;
    expect(await ack(store(), ackGuid, a, { outcome: 'failed', retryAt })).toMatchObject({ reacted: false });
    expect(await ack(store(), ackGuid, b, { outcome: 'failed' })).toMatchObject({ reacted: true });
    const [failed] = await reactions();
    expect(failed).toMatchObject({ outcome: 'failed', event: 'reject' });
    await store().reactionSettle({ reactionIds: [failed!.reactionId] });
    expect(await ack(store(), ackGuid, c, { outcome: 'failed' })).toMatchObject({ reacted: false });
    expect(await ack(store(), ackGuid, a)).toMatchObject({ reacted: false });
    expect(await reactions()).toEqual([]);
  });

  it('has no outcome where nothing is to be triggered', async () => {
    const { consumers, ackGuid } = await hook(['a'], { kind: 'hook', onFailed: 'reject' });
    expect(await ack(store(), ackGuid, consumers[0]!)).toMatchObject({ changed: true, reacted: false });
    expect(await reactions()).toEqual([]);
  });

  it('is not done a second time when it is replayed', async () => {
    const { consumers, ackGuid } = await hook(['a', 'b']);
    const [a, b] = consumers as [string, string];
    await ack(store(), ackGuid, a);
    await store().deliveryReplay({ tenantId: TENANT, consumerId: a, ackGuids: [ackGuid], missing: [] });
    expect(await ack(store(), ackGuid, a)).toMatchObject({ changed: true, reacted: false });
    expect(await ack(store(), ackGuid, b)).toMatchObject({ reacted: true });
  });

  const remove = async (code: string) => {
    await store().consumerRemove({ tenantId: TENANT, code });
    return store().consumerSweep();
  };

  it('has failed when a consumer that it waits for is removed, and is never done then', async () => {
    const { consumers, ackGuid } = await hook(['a', 'b', 'c']);
    const [a, b, c] = consumers as [string, string, string];
    await ack(store(), ackGuid, a);
    await ack(store(), ackGuid, b, { stage: 'Delivered' });
    expect(await remove('b')).toEqual([{ consumerId: b, ackGuids: [ackGuid] }]);
    expect(await reactions()).toMatchObject([{ ackGuid, outcome: 'failed', event: 'reject' }]);
    expect(await ack(store(), ackGuid, c)).toMatchObject({ changed: true, reacted: false });
    expect(await reactions()).toHaveLength(1);
  });

  it('has failed when its only consumer is given up for want of an answer, and once when that is removed then', async () => {
    const { consumers, ackGuid } = await hook(['alone']);
    await claimedGuids(store(), consumers[0]!, { resendMs: [0] });
    expect((await claimDeliveries(store(), consumers[0]!, { maxAttempts: 1 })).dead).toHaveLength(1);
    expect(await reactions()).toMatchObject([{ ackGuid, outcome: 'failed' }]);
    await remove('alone');
    expect(await reactions()).toMatchObject([{ ackGuid, outcome: 'failed' }]);
  });

  it('is not undone by removing who has answered', async () => {
    const { consumers, ackGuid } = await hook(['a', 'b']);
    const [a, b] = consumers as [string, string];
    await ack(store(), ackGuid, a);
    await store().deliveryReplay({ tenantId: TENANT, consumerId: a, ackGuids: [ackGuid], missing: [] });
    expect(await remove('a')).toEqual([{ consumerId: a, ackGuids: [] }]);
    expect(await reactions()).toEqual([]);
    expect(await ack(store(), ackGuid, b)).toMatchObject({ reacted: true });
    await remove('b');
    expect(await reactions()).toMatchObject([{ ackGuid, outcome: 'succeeded' }]);
  });
}

function describeReactions(store: () => Store): void {
  const done = async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages, move } = await submitted(store(), [kyc], { message: HOOK });
    await ack(store(), messages[0]!.ackGuid, kyc);
    return move;
  };
  const claim = (leaseMs = MINUTE_MS) => store().reactionClaim({ limit: 10, leaseMs });

  it('is given to one until its time is up, and then again', async () => {
    await done();
    const both = await Promise.all([claim(0), claim(0)]);
    expect(both.flat().length).toBeGreaterThan(0);
    const [again] = await claim();
    expect(again).toMatchObject({ outcome: 'succeeded' });
    expect(await claim()).toEqual([]);
  });

  it('is settled with the move that fulfils it, and not with one that is not written', async () => {
    const move = await done();
    const [reaction] = await claim(0);
    const reactionsSettled = [reaction!.reactionId];
    const late = nextMove(move, { revision: 7 });
    expect((await apply(store(), { moves: [late], reactionsSettled })).applied).toEqual([]);
    expect(await claim(0)).toHaveLength(1);
    expect((await apply(store(), { moves: [nextMove(move)], reactionsSettled })).applied).toHaveLength(1);
    expect(await claim(0)).toEqual([]);
    expect(await instanceOf(store(), 'L-1')).toMatchObject({ state: 'approved' });
  });

  it('is settled by hand', async () => {
    await done();
    const [reaction] = await claim(0);
    await store().reactionSettle({ reactionIds: [reaction!.reactionId] });
    expect(await claim(0)).toEqual([]);
  });
}
