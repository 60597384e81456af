// Retention removes ended executions whole, and nothing live or referenced (I24). Also the installation's own rows.

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import {
  end,
  journalOf,
  newAttempt,
  newBatch,
  newEvent,
  newExecution,
  newLink,
  newMessage,
  newOutcome,
  owning,
  publishAll,
  statusOf,
  TENANT,
  type TestRunner,
} from './builder.testing.ts';

/** Everything in these tests is younger by its id and older by its outcome than this, or vice versa. */
const LONG_AGO = Date.now() + 3_600_000;

export function describeRetention(store: () => Store): void {
  const endLongAgo = (runner: TestRunner, executionId: string) =>
    end(store(), runner, executionId, { endedAt: LONG_AGO - 1 });
  const purge = (limit = 100) => store().retentionPurge({ endedBefore: LONG_AGO, limit });

  it('removes old executions with all their rows', async () => {
    const { runner, ids } = await owning(store(), 3);
    const [old, recent, live] = ids as [string, string, string];
    await store().inboxSend({ message: newMessage(old, { kind: 'signal' }), tenantId: TENANT });
    await store().executionCommit(
      newBatch(runner.commitSlot, {
        events: [newEvent(old, 0)],
        attempts: [newAttempt(old)],
        links: [newLink(old)],
        logs: [{ executionId: old, nodeId: 'n', attempt: 1, at: 0, level: 'Info', message: 'm', data: null }],
      }),
    );
    await endLongAgo(runner, old);
    await end(store(), runner, recent, { endedAt: LONG_AGO + 1 });
    await publishAll(store());

    expect(await purge()).toBe(1);
    expect(await purge()).toBe(0);
    expect(await statusOf(store(), old)).toBeUndefined();
    expect(await journalOf(store(), old)).toEqual([]);
    expect(await store().executionAttempts({ executionId: old, parameters: true })).toEqual([]);
    expect(await store().executionLogs({ executionId: old, limit: 10 })).toEqual([]);
    expect(await store().inboxRead({ executionIds: [old] })).toEqual([]);
    expect(await store().resourceFind(newLink(old))).toBeNull();
    expect(await statusOf(store(), recent)).toBe('Succeeded');
    expect(await statusOf(store(), live)).toBe('Running');
  });

  it('keeps what nobody was told yet', async () => {
    const { runner, ids } = await owning(store(), 1);
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(ids[0]!, 0)] }));
    await endLongAgo(runner, ids[0]!);
    expect(await purge()).toBe(0);
    expect(await store().outboxRead({ limit: 10, withFacts: true })).toMatchObject([
      { rows: [{ executionId: ids[0] }] },
    ]);
    await publishAll(store());
    expect(await purge()).toBe(1);
  });

  it('removes no more than it is asked to', async () => {
    const { runner, ids } = await owning(store(), 3);
    for (const id of ids) await endLongAgo(runner, id);
    expect(await purge(2)).toBe(2);
    expect(await purge(2)).toBe(1);
  });

  it('keeps what a live parent or child refers to', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [parent, other] = ids as [string, string];
    const child = newExecution({ parentId: parent, parentNode: 'call', priority: 1 });
    await store().executionStart({ items: [child] });
    await endLongAgo(runner, parent);
    expect(await purge()).toBe(0);

    const endedChild = newExecution({ parentId: other, parentNode: 'call', priority: 2 });
    await store().executionStart({ items: [endedChild] });
    await endLongAgo(runner, endedChild.executionId);
    expect(await purge()).toBe(0);
    await endLongAgo(runner, other);
    expect(await purge()).toBe(2);
  });

  it('keeps dead letters until they are settled', async () => {
    const { runner, ids } = await owning(store(), 1);
    const outcome = newOutcome(ids[0]!, { status: 'Failed', endedAt: LONG_AGO - 1 });
    const letter = { slotId: runner.slot, outcome, reason: 'r', payload: '{}', attempts: 1, lastError: 'e' };
    await store().deadLetterAdd(letter);
    expect(await purge()).toBe(0);
    const [listed] = await store().deadLetterList({ tenantId: TENANT, afterId: '0', limit: 1 });
    await store().deadLetterPurge({ tenantId: TENANT, ids: [listed!.id] });
    expect(await purge()).toBe(1);
  });

  it('forgets runners a day after their lease ended, also when every execution is kept, and no others', async () => {
    const register = async (name: string, leaseMs: number) =>
      (await store().runnerRegister({ name, slots: 1, leaseMs })).runnerId;
    const dayAgoMs = -24 * 3_600_000 - 10_000;
    const [dead, silent] = [await register('dead', dayAgoMs), await register('silent', dayAgoMs)];
    const recent = await register('recent', -10_000);
    for (const runnerId of [dead, recent]) await store().runnerDeclareDead({ runnerId });
    await store().retentionPurge({ endedBefore: 0, limit: 1 });
    expect((await store().runnerList()).map(({ runnerId }) => runnerId).toSorted()).toEqual(
      [silent, recent].toSorted(),
    );
  });

  it('gives everybody the same key', async () => {
    const keys = await Promise.all(Array.from({ length: 5 }, () => store().secretGet({ name: 'webhook' })));
    expect(keys[0]).toHaveLength(32);
    expect(new Set(keys.map((key) => Buffer.from(key).toString('hex'))).size).toBe(1);
    expect(await store().secretGet({ name: 'another' })).not.toEqual(keys[0]);
  });
}
