// The commit: all or nothing, once, and bad items are separated from passing failures (I3, I13, I17, I18).

import { expect, it } from 'vitest';
import type { CommitBatch, Store } from '../port.ts';
import {
  AWKWARD_JSON,
  anyEpoch,
  claim,
  claimedIds,
  end,
  journalOf,
  newAttempt,
  newBatch,
  newEvent,
  newExecution,
  newLink,
  newMessage,
  newOutcome,
  newRunner,
  owning,
  statusOf,
  TENANT,
} from './builder.testing.ts';

export function describeCommit(store: () => Store): void {
  describeWhatItWrites(store);
  describeSentAgain(store);
  describeBadData(store);
}

/** A batch with rows of every kind, for an execution that ends and has mail. */
async function completeBatch(
  store: Store,
): Promise<{ batch: CommitBatch; executionId: string; otherId: string; slot: string }> {
  const { runner, ids } = await owning(store, 2);
  const [executionId, otherId] = ids as [string, string];
  const used = newMessage(executionId);
  await store.inboxSend({ message: used, tenantId: TENANT });
  const log = {
    executionId,
    nodeId: 'greet',
    attempt: 1,
    at: 5,
    level: 'Info',
    message: 'said hello',
    data: AWKWARD_JSON,
  };
  const batch = newBatch(runner.commitSlot, {
    events: [newEvent(executionId, 0)],
    attempts: [newAttempt(executionId)],
    outcomes: [newOutcome(executionId, { outputs: AWKWARD_JSON, error: null })],
    ended: [executionId],
    children: [newExecution({ parentId: executionId, parentNode: 'call', depth: 1 })],
    consumed: [used.id],
    sent: [newMessage(otherId, { kind: 'child', key: 'from-child' })],
    links: [newLink(executionId)],
    logs: [log],
    crashResets: [otherId],
  });
  return { batch, executionId, otherId, slot: runner.slot };
}

function describeWhatItWrites(store: () => Store): void {
  it('writes every part of a batch', async () => {
    const { batch, executionId, otherId, slot } = await completeBatch(store());
    const before = await store().now();
    const { applied, at } = await store().executionCommit(batch);
    expect(applied).toBe(true);
    expect(at).toBeGreaterThanOrEqual(before);

    expect(await journalOf(store(), executionId)).toEqual([0]);
    expect(await store().executionAttempts({ executionId, parameters: true })).toEqual([
      { ...batch.attempts[0], parameters: null },
    ]);
    const { tenantId: _, executionId: __, ...outcome } = batch.outcomes[0]!;
    expect(await store().executionGet({ tenantId: TENANT, executionId })).toMatchObject(outcome);
    expect(await store().executionLogs({ executionId, limit: 10 })).toEqual(batch.logs);
    expect(await store().resourceFind(newLink(executionId))).toMatchObject({ executionId });
    expect(await store().inboxRead({ executionIds: [executionId, otherId] })).toEqual(batch.sent);
    expect(await store().executionChildren({ executionId })).toMatchObject([
      { ...batch.children[0], status: 'Pending' },
    ]);
    expect(await claimedIds(store(), slot)).toEqual([batch.children[0]!.executionId]);
  });

  it('keeps the count of crashes until it is to be forgotten', async () => {
    const { runner, ids } = await owning(store(), 2);
    await store().runnerDeclareDead({ runnerId: runner.runnerId });
    const heir = await newRunner(store());
    await claim(store(), heir.slot);
    const events = ids.map((id) => newEvent(id, 0));
    await store().executionCommit(newBatch(heir.commitSlot, { events, crashResets: [ids[0]!] }));
    await store().executionRelease({ slotId: heir.slot, items: anyEpoch(ids) });
    const { claimed } = await claim(store(), heir.slot);
    expect(Object.fromEntries(claimed.map(({ executionId, crashes }) => [executionId, crashes]))).toEqual({
      [ids[0]!]: 0,
      [ids[1]!]: 1,
    });
  });

  it('leaves a resource with the execution that holds it, and says so beforehand', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [holder, other] = ids as [string, string];
    const links = [newLink(holder)];
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(holder, 0)], links }));

    expect(await store().resourceLinkCheck({ links: [newLink(holder)] })).toEqual([]);
    const { system, resourceType, resourceId } = newLink(other);
    const foreign = [newLink(other), newLink(other, { resourceId: '43' }), newLink(other, { tenantId: 'elsewhere' })];
    expect(await store().resourceLinkCheck({ links: foreign })).toEqual([
      { system, resourceType, resourceId, executionId: holder },
    ]);
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(other, 0)], links: foreign }));
    expect(await store().resourceFind(newLink(holder))).toMatchObject({ executionId: holder });
    expect(await store().resourceFind(newLink(other, { resourceId: '43' }))).toMatchObject({ executionId: other });
  });
}

function describeSentAgain(store: () => Store): void {
  it('knows a batch that was applied before, and writes nothing twice', async () => {
    const { batch, executionId, otherId } = await completeBatch(store());
    await store().executionCommit(batch);
    await expect(store().executionCommit(batch)).rejects.toMatchObject({ failure: 'alreadyApplied' });
    expect(await store().executionLogs({ executionId, limit: 10 })).toHaveLength(1);
    expect(await store().inboxRead({ executionIds: [otherId] })).toHaveLength(1);
  });

  it('knows a plain batch that was applied before', async () => {
    const { runner, ids } = await owning(store(), 2);
    const batch = newBatch(runner.commitSlot, {
      events: ids.map((id) => newEvent(id, 0)),
      attempts: ids.map((id) => newAttempt(id)),
      outcomes: [newOutcome(ids[0]!)],
      ended: [ids[0]!],
    });
    await store().executionCommit(batch);
    await expect(store().executionCommit(batch)).rejects.toMatchObject({ failure: 'alreadyApplied' });
  });

  it('knows late results that were written before, though they have no journal row', async () => {
    const { runner, ids } = await owning(store(), 1);
    const log = { executionId: ids[0]!, nodeId: 'n', attempt: 1, at: 5, level: 'Info', message: 'late', data: null };
    for (const logs of [[], [log]]) {
      const attempts = [newAttempt(ids[0]!, { nodeId: `n${logs.length}` })];
      const batch = newBatch(runner.commitSlot, { attempts, logs });
      await store().executionCommit(batch);
      await expect(store().executionCommit(batch)).rejects.toMatchObject({ failure: 'alreadyApplied' });
    }
    expect(await store().executionAttempts({ executionId: ids[0]! })).toHaveLength(2);
    expect(await store().executionLogs({ executionId: ids[0]!, limit: 10 })).toHaveLength(1);
  });

  it('applies one of two equal batches that are under way together', async () => {
    const { runner, ids } = await owning(store(), 1);
    const batch = newBatch(runner.commitSlot, { events: [newEvent(ids[0]!, 0)] });
    const results = await Promise.allSettled([store().executionCommit(batch), store().executionCommit(batch)]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(results.find(({ status }) => status === 'rejected')).toMatchObject({
      reason: { failure: 'alreadyApplied' },
    });
  });
}

function describeBadData(store: () => Store): void {
  const bad: [string, (id: string) => Partial<CommitBatch>][] = [
    ['json that is none', (id) => ({ events: [newEvent(id, 0, '[{]')] })],
    ['an id that is none', () => ({ events: [newEvent('not-an-id', 0)] })],
    ['an attempt number out of range', (id) => ({ attempts: [newAttempt(id, { attempt: 40_000 })] })],
    ['a time that is none', (id) => ({ attempts: [newAttempt(id, { startedAt: Number.NaN })] })],
    ['U+0000 in a key', (id) => ({ sent: [newMessage(id, { key: 'a\u0000b' })] })],
    ['a status that is none', (id) => ({ outcomes: [newOutcome(id, { status: 'Perhaps' })] })],
  ];

  it.each(bad)('calls %s bad data, and writes nothing of the batch', async (_, part) => {
    const { runner, ids } = await owning(store(), 2);
    const [good, culprit] = ids as [string, string];
    const { events = [], ...rest } = part(culprit);
    const batch = newBatch(runner.commitSlot, { ...rest, events: [newEvent(good, 0), ...events] });
    await expect(store().executionCommit(batch)).rejects.toMatchObject({ name: 'StoreError', failure: 'data' });
    expect(await journalOf(store(), good)).toEqual([]);
    expect(await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(good, 0)] }))).toMatchObject({
      applied: true,
    });
  });

  it('takes U+0000 in what people read, as a sign that something was there', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const log = { executionId, nodeId: 'n', attempt: 1, at: 5, level: 'Info', message: 'a\u0000b', data: null };
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(executionId, 0)], logs: [log] }));
    expect(await store().executionLogs({ executionId, limit: 1 })).toMatchObject([{ message: 'a\uFFFDb' }]);
  });

  it('lets an execution end once', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    await end(store(), runner, executionId);
    const events = [newEvent(executionId, 0)];
    const second = newBatch(runner.commitSlot, {
      events,
      outcomes: [newOutcome(executionId, { status: 'Cancelled' })],
    });
    await expect(store().executionCommit(second)).rejects.toMatchObject({ failure: 'alreadyApplied' });
    expect(await statusOf(store(), executionId)).toBe('Succeeded');
  });
}
