// Consumers and notices.

import { expect, it } from 'vitest';
import type { ConsumerChange } from '../delivery-port.ts';
import type { Store } from '../port.ts';
import { TENANT } from './builder.testing.ts';
import { claimedGuids, newConsumer, submitted } from './messaging.testing.ts';

export function describeConsumer(store: () => Store): void {
  it('is made with defaults, and changed in what is given', async () => {
    const made = await store().consumerPut({
      tenantId: TENANT,
      code: 'kyc',
      kind: 'webhook',
      url: 'https://a.example',
      newSecret: 'one',
    });
    expect(made).toMatchObject({
      tenantId: TENANT,
      code: 'kyc',
      kind: 'webhook',
      url: 'https://a.example',
      secrets: ['one'],
      subscriptions: '[]',
      ordering: 'delivered',
      options: '{}',
      isPaused: false,
    });
    const changed = await store().consumerPut({
      tenantId: TENANT,
      code: 'kyc',
      kind: 'pull',
      url: null,
      subscriptions: '[{}]',
      ordering: 'processed',
      concurrency: 3,
      isPaused: true,
    });
    expect(changed).toMatchObject({
      consumerId: made.consumerId,
      kind: 'pull',
      url: null,
      secrets: [],
      subscriptions: '[{}]',
      ordering: 'processed',
      concurrency: 3,
      isPaused: true,
    });
    const same = await store().consumerPut({ tenantId: TENANT, code: 'kyc', kind: 'pull' });
    expect({ ...same, updatedAt: 0 }).toEqual({ ...changed, updatedAt: 0 });
    expect(await store().consumerGet({ tenantId: TENANT, code: 'kyc' })).toEqual(same);
  });

  it('has the newest secret first and the one before it, or not; another kind leaves them behind', async () => {
    const put = async (change: Partial<ConsumerChange> = {}) =>
      (await store().consumerPut({ tenantId: TENANT, code: 'kyc', kind: 'webhook', ...change })).secrets;
    expect(await put()).toEqual([]);
    expect(await put({ newSecret: 'one' })).toEqual(['one']);
    expect(await put({ newSecret: 'one' })).toEqual(['one']);
    expect(await put({ newSecret: 'two' })).toEqual(['two', 'one']);
    expect(await put({ concurrency: 3 })).toEqual(['two', 'one']);
    expect(await put({ newSecret: 'one' })).toEqual(['one', 'two']);
    expect(await put({ newSecret: 'three' })).toEqual(['three', 'one']);
    expect(await put({ newSecret: 'four', keepPrevious: false })).toEqual(['four']);
    expect(await put({ kind: 'pull' })).toEqual([]);
    expect(await put({ kind: 'webhook', newSecret: 'five' })).toEqual(['five']);
  });

  it('keeps both secrets of two who give it one at once', async () => {
    const put = (newSecret: string) =>
      store().consumerPut({ tenantId: TENANT, code: 'kyc', kind: 'webhook', newSecret });
    await put('zero');
    await Promise.all([put('one'), put('two')]);
    const row = await store().consumerGet({ tenantId: TENANT, code: 'kyc' });
    expect(row!.secrets.toSorted()).toEqual(['one', 'two']);
  });

  it('stays as it is when only a new one is wanted', async () => {
    const made = await store().consumerPut({
      tenantId: TENANT,
      code: 'kyc',
      kind: 'webhook',
      url: 'https://a.example',
    });
    const generation = await store().lifecycleGeneration();
    expect(await store().consumerPut({ tenantId: TENANT, code: 'kyc', kind: 'pull', onlyNew: true })).toEqual(made);
    expect(await store().lifecycleGeneration()).toBe(generation);
  });

  it('is one when many make it at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => newConsumer(store(), 'kyc', { onlyNew: true })));
    expect(new Set(made).size).toBe(1);
  });

  it('is listed by tenant, and all together', async () => {
    await newConsumer(store(), 'b');
    await newConsumer(store(), 'a');
    await newConsumer(store(), 'x', { tenantId: 'other', kind: 'trigger' });
    const codes = async (tenantId: string | null) => (await store().consumerList({ tenantId })).map(({ code }) => code);
    expect(await codes(TENANT)).toEqual(['a', 'b']);
    expect(await codes(null)).toEqual(['a', 'b', 'x']);
    expect(await store().consumerGet({ tenantId: 'other', code: 'a' })).toBeNull();
  });

  it('takes its open deliveries with it, and comes back as another one', async () => {
    const kyc = await newConsumer(store(), 'kyc');
    const audit = await newConsumer(store(), 'audit');
    const { messages } = await submitted(store(), [kyc, audit]);
    expect(await store().consumerRemove({ tenantId: 'other', code: 'kyc' })).toBe(false);
    expect(await store().consumerRemove({ tenantId: TENANT, code: 'kyc' })).toBe(true);
    expect(await store().consumerRemove({ tenantId: TENANT, code: 'kyc' })).toBe(false);
    await store().consumerSweep();
    const left = await store().deliveryGet({ tenantId: TENANT, ackGuid: messages[0]!.ackGuid });
    expect(left?.deliveries.map(({ consumerId }) => consumerId)).toEqual([audit]);
    const again = await newConsumer(store(), 'kyc');
    expect(again).not.toBe(kyc);
    expect(await claimedGuids(store(), again)).toEqual([]);
    expect(await claimedGuids(store(), audit)).toEqual([messages[0]!.ackGuid]);
  });
}

export function describeNotice(store: () => Store): void {
  const notice = (kind: string, tenantId = TENANT) => ({ tenantId, kind, body: `{"of":"${kind}"}`, at: 5_000 });
  const kinds = async (afterId: string | null, limit = 10, tenantId = TENANT) =>
    (await store().noticeList({ tenantId, afterId, limit })).map(({ kind }) => kind);

  it('is listed newest last: the last ones, or those after one', async () => {
    await store().noticeAdd({ notices: ['a', 'b'].map((kind) => notice(kind)) });
    const ids = await store().noticeAdd({ notices: [notice('x', 'other'), notice('c')] });
    expect(await store().noticeGet({ noticeIds: ids })).toMatchObject([notice('x', 'other'), notice('c')]);
    const all = await store().noticeList({ tenantId: TENANT, afterId: null, limit: 10 });
    expect(all).toMatchObject([notice('a'), notice('b'), notice('c')]);
    expect(await kinds(null, 2)).toEqual(['b', 'c']);
    expect(await kinds(all[0]!.id, 1)).toEqual(['b']);
    expect(await kinds(all[2]!.id)).toEqual([]);
    expect(await kinds(null, 10, 'other')).toEqual(['x']);
  });

  it('is missed by nobody who follows while many write', async () => {
    const seen: string[] = [];
    let last = '0';
    const follow = async () => {
      const page = await store().noticeList({ tenantId: TENANT, afterId: last, limit: 100 });
      seen.push(...page.map(({ kind }) => kind));
      last = page.at(-1)?.id ?? last;
    };
    let isOver = false;
    const writers = Array.from({ length: 6 }, async (_, writer) => {
      for (let index = 0; index < 5; index++) await store().noticeAdd({ notices: [notice(`${writer}.${index}`)] });
    });
    const follower = (async () => {
      while (!isOver) await follow();
    })();
    await Promise.all(writers);
    isOver = true;
    await follower;
    await follow();
    expect(seen).toHaveLength(30);
  });

  it('is kept for a day', async () => {
    const now = await store().now();
    await store().noticeAdd({
      notices: [
        { ...notice('old'), at: now - 25 * 3_600_000 },
        { ...notice('new'), at: now },
      ],
    });
    await store().messagePurge({ before: 0, limit: 10 });
    expect(await kinds(null)).toEqual(['new']);
  });
}
