// Deliveries on their way: due, claimed, in order, sent again, reminded, given up (I19, I20).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, TENANT } from './builder.testing.ts';
import {
  ack,
  apply,
  claimDeliveries,
  claimedGuids,
  deliveryOf,
  MINUTE_MS,
  newAck,
  newConsumer,
  newMessageRow,
  newMove,
  submitted,
} from './messaging.testing.ts';

const SOON = { resendMs: [0], remindMs: [0] };

export function describeDelivery(store: () => Store): void {
  describeClaim(store);
  describeOrder(store);
  describeReplay(store);
  describeLook(store);
}

function describeClaim(store: () => Store): void {
  it('is due at once, and after a claim only when the time is up', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { move, messages } = await submitted(store(), [kyc], { message: { body: AWKWARD_JSON } });
    const [message] = messages;
    expect(await store().monitorLook({ consumerIds: [kyc] })).toMatchObject({ dueConsumerIds: [kyc] });
    const { claimed, dead, at } = await claimDeliveries(store(), kyc);
    expect(dead).toEqual([]);
    expect(claimed).toMatchObject([
      {
        ackGuid: message!.ackGuid,
        consumerId: kyc,
        tenantId: TENANT,
        kind: 'transition',
        subjectId: move.instanceId,
        source: 'loan',
        event: 'submit',
        body: AWKWARD_JSON,
        stage: 'Pending',
        attempts: 1,
        reminders: 0,
      },
    ]);
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    const look = await store().monitorLook({ consumerIds: [kyc] });
    expect(look.dueConsumerIds).toEqual([]);
    expect(look.nextDeliveryAt).toBeGreaterThan(at);
  });

  it('comes again as it was, at longer and longer times', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    await submitted(store(), [kyc]);
    const [first] = (await claimDeliveries(store(), kyc, SOON)).claimed;
    const [second] = (await claimDeliveries(store(), kyc, { resendMs: [0, 0, MINUTE_MS] })).claimed;
    expect(second).toEqual({ ...first, attempts: 2 });
    expect((await claimDeliveries(store(), kyc, { resendMs: [0, 0, MINUTE_MS] })).claimed).toMatchObject([
      { attempts: 3 },
    ]);
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('gives each to one of many who ask at once', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    for (let index = 0; index < 12; index++) await submitted(store(), [kyc], { externalRef: `L-${index}` });
    const guids = (await Promise.all(Array.from({ length: 6 }, () => claimedGuids(store(), kyc, { limit: 4 })))).flat();
    const rest = await claimedGuids(store(), kyc, { limit: 100 });
    expect(new Set([...guids, ...rest]).size).toBe(12);
    expect([...guids, ...rest]).toHaveLength(12);
  });

  it('gives no more than it is asked for, the oldest', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const guids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { messages } = await submitted(store(), [kyc], { externalRef: `L-${index}` });
      guids.push(messages[0]!.ackGuid);
    }
    expect(await claimedGuids(store(), kyc, { limit: 2 })).toEqual(guids.slice(0, 2));
    expect(await claimedGuids(store(), kyc, { limit: 9 })).toEqual(guids.slice(2));
  });

  it('gives nothing of a consumer that is paused, or is no more', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc]);
    await newConsumer(store(), 'kyc', { isPaused: true });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    expect(await store().monitorLook({ consumerIds: [kyc] })).toMatchObject({
      dueConsumerIds: [],
      nextDeliveryAt: null,
    });
    await newConsumer(store(), 'kyc', { isPaused: false });
    expect(await claimedGuids(store(), kyc, SOON)).toEqual([messages[0]!.ackGuid]);
    await store().consumerRemove({ tenantId: TENANT, code: 'kyc' });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('is dead after as many attempts as there may be, and alive when it is requeued', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 2 });
    const [ackGuid, next] = messages.map((message) => message.ackGuid) as [string, string];
    expect(await claimedGuids(store(), kyc, { ...SOON, maxAttempts: 2 })).toEqual([ackGuid]);
    expect(await claimedGuids(store(), kyc, { ...SOON, maxAttempts: 2 })).toEqual([ackGuid]);
    const { claimed, dead } = await claimDeliveries(store(), kyc, { ...SOON, maxAttempts: 2 });
    expect({ claimed, dead }).toEqual({
      claimed: [],
      dead: [{ ackGuid, consumerId: kyc, tenantId: TENANT, attempts: 2 }],
    });
    expect(await claimedGuids(store(), kyc)).toEqual([next]);

    const items = [{ ackGuid, consumerId: kyc }];
    const listed = await store().deliveryList({
      tenantId: TENANT,
      consumerId: kyc,
      stage: 'Dead',
      after: null,
      limit: 9,
    });
    expect(listed).toMatchObject([{ ackGuid, stage: 'Dead', attempts: 2, kind: 'transition' }]);
    expect(await store().deliveryRequeue({ tenantId: 'other', items })).toBe(0);
    expect(await store().deliveryRequeue({ tenantId: TENANT, items })).toBe(1);
    expect(await store().deliveryRequeue({ tenantId: TENANT, items })).toBe(0);
    expect((await claimDeliveries(store(), kyc)).claimed).toMatchObject([{ ackGuid, attempts: 1 }]);
  });

  it('lets dead ones be thrown away, and nothing else', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 2 });
    const items = messages.map(({ ackGuid }) => ({ ackGuid, consumerId: kyc }));
    await ack(store(), messages[0]!.ackGuid, kyc, { outcome: 'failed' });
    expect(await store().deliveryPurgeDead({ tenantId: 'other', items })).toBe(0);
    expect(await store().deliveryPurgeDead({ tenantId: TENANT, items })).toBe(1);
    expect(
      await store().deliveryList({ tenantId: TENANT, consumerId: null, stage: null, after: null, limit: 9 }),
    ).toMatchObject([{ ackGuid: messages[1]!.ackGuid }]);
  });
}

function describeOrder(store: () => Store): void {
  it('holds the next of a subject back until the one before was delivered, and nobody else', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const audit = await newConsumer(store(), 'audit');
    const { messages } = await submitted(store(), [kyc, audit], { messages: 3 });
    const other = await submitted(store(), [kyc], { externalRef: 'L-2' });
    const [first, second, third] = messages.map(({ ackGuid }) => ackGuid) as [string, string, string];
    expect(await claimedGuids(store(), kyc)).toEqual([first, other.messages[0]!.ackGuid]);
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    await ack(store(), first, kyc, { stage: 'Delivered' });
    expect(await claimedGuids(store(), kyc)).toEqual([second]);
    expect(await claimedGuids(store(), audit)).toEqual([first]);
    await ack(store(), second, kyc);
    expect(await claimedGuids(store(), kyc)).toEqual([third]);
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('keeps the order of what was written at different times', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { move, messages } = await submitted(store(), [kyc]);
    const later = [2, 3].map((revision) => ({ ...move, revision: revision - 1, requestId: `r${revision}` }));
    const guids = [messages[0]!.ackGuid];
    for (const next of later) {
      const message = newMessageRow(move.instanceId, { seq: (next.revision + 1) * 256 });
      guids.push(message.ackGuid);
      await apply(store(), { moves: [next], messages: [message], deliveries: [deliveryOf(message, kyc)] });
    }
    for (const guid of guids) {
      expect(await claimedGuids(store(), kyc)).toEqual([guid]);
      await ack(store(), guid, kyc, { stage: 'Delivered' });
    }
    expect(await claimedGuids(store(), kyc)).toEqual([]);
  });

  it('holds it back until the one before was processed, where the consumer wants it so', async () => {
    const kyc = await newConsumer(store(), 'kyc', { ordering: 'processed' });
    const { messages } = await submitted(store(), [kyc], { messages: 2 });
    const [first, second] = messages.map(({ ackGuid }) => ackGuid) as [string, string];
    const claim = () => claimedGuids(store(), kyc, { ordering: 'processed' });
    expect(await claim()).toEqual([first]);
    await ack(store(), first, kyc, { stage: 'Delivered' });
    expect(await claim()).toEqual([]);
    await ack(store(), first, kyc);
    expect(await claim()).toEqual([second]);
  });

  it('holds it back while the one before is to be tried again, and not when it has failed for good', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 2 });
    const [first, second] = messages.map(({ ackGuid }) => ackGuid) as [string, string];
    const retryAt = (await store().now()) + MINUTE_MS;
    await claimedGuids(store(), kyc);
    await ack(store(), first, kyc, { outcome: 'failed', retryAt });
    expect(await claimedGuids(store(), kyc)).toEqual([]);
    await ack(store(), first, kyc, { outcome: 'failed' });
    expect(await claimedGuids(store(), kyc)).toEqual([second]);
  });

  it('holds no reminder back', async () => {
    const kyc = await newConsumer(store(), 'kyc', { ordering: 'processed' });
    const { messages } = await submitted(store(), [kyc], { messages: 2 });
    const [first, second] = messages.map(({ ackGuid }) => ackGuid) as [string, string];
    const claim = () => claimDeliveries(store(), kyc, { ordering: 'processed', remindMs: [0, 0, MINUTE_MS] });
    await claim();
    await store().deliveryAck({ acks: [newAck(first, kyc, { stage: 'Delivered' })], remindMs: [0] });
    const reminded = { ackGuid: first, stage: 'Delivered', attempts: 1 };
    expect((await claim()).claimed).toMatchObject([{ ...reminded, reminders: 1 }]);
    expect((await claim()).claimed).toMatchObject([{ ...reminded, reminders: 2 }]);
    expect((await claim()).claimed).toEqual([]);
    await ack(store(), first, kyc);
    expect((await claim()).claimed).toMatchObject([{ ackGuid: second, attempts: 1, reminders: 0 }]);
  });

  it('finds what is due behind many that are not in turn', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 250 });
    const guids = messages.map(({ ackGuid }) => ackGuid);
    await store().deliveryAck({ acks: guids.map((guid) => newAck(guid, kyc, { outcome: 'failed' })), remindMs: [] });
    await store().deliveryRequeue({ tenantId: TENANT, items: guids.map((ackGuid) => ({ ackGuid, consumerId: kyc })) });
    const other = await submitted(store(), [kyc], { externalRef: 'L-2' });
    expect(await claimedGuids(store(), kyc, { limit: 2 })).toEqual([guids[0], other.messages[0]!.ackGuid]);
  });

  it('sends each of many in its order when several send and acknowledge at once', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const subjects = await Promise.all(
      [1, 2, 3].map((n) => submitted(store(), [kyc], { externalRef: `L-${n}`, messages: 12 })),
    );
    const sent = new Map<string, number[]>(subjects.map(({ move }) => [move.instanceId, []]));
    const seqs = new Map(subjects.flatMap(({ messages }) => messages.map(({ ackGuid, seq }) => [ackGuid, seq])));
    const isDone = () => [...sent.values()].every((list) => list.length === 12);
    const sender = async () => {
      while (!isDone()) {
        for (const { ackGuid, subjectId } of (await claimDeliveries(store(), kyc, { limit: 3 })).claimed) {
          sent.get(subjectId)!.push(seqs.get(ackGuid)!);
          await ack(store(), ackGuid, kyc, { stage: 'Delivered' });
        }
      }
    };
    await Promise.all([sender(), sender(), sender()]);
    for (const list of sent.values()) expect(list).toEqual(list.toSorted((a, b) => a - b));
  });
}

function describeReplay(store: () => Store): void {
  it('sends again what a consumer had, and what it would have had', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { message: { body: AWKWARD_JSON } });
    const [message] = messages;
    await claimedGuids(store(), kyc);
    await ack(store(), message!.ackGuid, kyc);
    const late = await newConsumer(store(), 'late');
    const range = { tenantId: TENANT, from: 0, until: (await store().now()) + MINUTE_MS };

    const listed = await store().messageList({ ...range, after: null, limit: 10 });
    const { ackGuid, kind, env, source, event } = message!;
    expect(listed).toMatchObject([{ ackGuid, kind, env, source, event }]);
    expect(listed[0]).not.toHaveProperty('body');
    expect(await store().messageList({ ...range, after: listed[0]!.cursor, limit: 10 })).toEqual([]);
    expect(await store().messageList({ ...range, tenantId: 'other', after: null, limit: 10 })).toEqual([]);

    const replay = (consumerId: string, ackGuids: string[], missing: string[], tenantId = TENANT) =>
      store().deliveryReplay({ tenantId, consumerId, ackGuids, missing });
    expect(await replay(kyc, [], [])).toBe(0);
    expect(await replay(kyc, [ackGuid], [ackGuid])).toBe(1);
    expect(await replay(late, [ackGuid], [ackGuid])).toBe(1);
    expect(await replay(kyc, [ackGuid], [ackGuid], 'other')).toBe(0);
    for (const consumerId of [kyc, late]) {
      const { claimed } = await claimDeliveries(store(), consumerId);
      expect(claimed).toMatchObject([{ ackGuid: message!.ackGuid, body: AWKWARD_JSON, attempts: 1, stage: 'Pending' }]);
    }
  });

  it('pages through messages of the same time', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 7 });
    const until = (await store().now()) + MINUTE_MS;
    const seen: string[] = [];
    for (let after: string | null = null; ; ) {
      const page = await store().messageList({ tenantId: TENANT, from: 0, until, after, limit: 2 });
      if (page.length === 0) break;
      seen.push(...page.map(({ ackGuid }) => ackGuid));
      after = page.at(-1)!.cursor;
    }
    expect(seen.sort()).toEqual(messages.map(({ ackGuid }) => ackGuid).sort());
  });

  it('lists by consumer and stage, by pages', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const audit = await newConsumer(store(), 'audit');
    const { messages } = await submitted(store(), [kyc, audit], { messages: 2 });
    await ack(store(), messages[0]!.ackGuid, kyc);
    const list = (overrides: object, limit = 10) =>
      store().deliveryList({ tenantId: TENANT, consumerId: null, stage: null, after: null, limit, ...overrides });
    expect(await list({ consumerId: kyc, stage: 'Processed' })).toMatchObject([
      { ackGuid: messages[0]!.ackGuid, outcome: 'succeeded' },
    ]);
    expect(await list({ stage: 'Pending' })).toHaveLength(3);
    const first = await list({}, 3);
    const rest = await list({ after: first.at(-1)!.cursor });
    expect(new Set([...first, ...rest].map(({ cursor }) => cursor)).size).toBe(4);
    expect(await list({ tenantId: 'other' })).toEqual([]);
  });

  it('lists the deliveries of certain messages, or the newest first, with what they are about', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 3 });
    const list = (overrides: object, limit = 10) =>
      store().deliveryList({ tenantId: TENANT, consumerId: null, stage: null, after: null, limit, ...overrides });
    const guids = (rows: { ackGuid: string }[]) => rows.map(({ ackGuid }) => ackGuid);
    const { ackGuid, source, event } = messages[1]!;
    expect(await list({ ackGuids: [ackGuid] })).toMatchObject([
      { ackGuid, env: messages[1]!.env, externalRef: 'L-1', source, event },
    ]);
    expect(await list({ ackGuids: [ackGuid], tenantId: 'other' })).toEqual([]);
    const oldest = guids(await list({}));
    const newest = await list({ newestFirst: true }, 2);
    const rest = await list({ newestFirst: true, after: newest.at(-1)!.cursor });
    expect(guids([...newest, ...rest])).toEqual(oldest.toReversed());
  });

  it('forgets old messages when everybody is done with them', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const { messages } = await submitted(store(), [kyc], { messages: 3 });
    const [done, dead, open] = messages.map(({ ackGuid }) => ackGuid) as [string, string, string];
    await ack(store(), done, kyc);
    await ack(store(), dead, kyc, { outcome: 'failed' });
    const before = (await store().now()) + MINUTE_MS;
    expect(await store().messagePurge({ before: 0, limit: 10 })).toBe(0);
    expect(await store().messagePurge({ before, limit: 10 })).toBe(1);
    expect(await store().deliveryGet({ tenantId: TENANT, ackGuid: done })).toBeNull();
    for (const ackGuid of [dead, open]) expect(await store().deliveryGet({ tenantId: TENANT, ackGuid })).not.toBeNull();
  });
}

function describeLook(store: () => Store): void {
  it('tells a monitor everything at once', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const other = await newConsumer(store(), 'other');
    const consumerIds = [kyc, other];
    expect(await store().monitorLook({ consumerIds })).toMatchObject({
      generation: await store().lifecycleGeneration(),
      dueConsumerIds: [],
      nextDeliveryAt: null,
      nextTimeoutAt: null,
      hasReactions: false,
      hasOutbox: false,
    });
    const { messages } = await submitted(store(), [kyc], { message: { onSucceeded: 'approve' } });
    expect(await store().monitorLook({ consumerIds })).toMatchObject({ dueConsumerIds: [kyc], nextDeliveryAt: null });
    await claimedGuids(store(), kyc);
    const later = await store().monitorLook({ consumerIds });
    expect(later.dueConsumerIds).toEqual([]);
    expect(later.nextDeliveryAt).toBeGreaterThan(later.at);
    await ack(store(), messages[0]!.ackGuid, kyc);
    await apply(store(), { moves: [newMove('L-7', { dueAt: 7_000 })] });
    expect(await store().monitorLook({ consumerIds: [other] })).toMatchObject({
      hasReactions: true,
      nextTimeoutAt: 7_000,
      nextDeliveryAt: null,
    });
  });
}
