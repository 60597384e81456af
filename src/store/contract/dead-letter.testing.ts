// Poison leaves the queue with its cause, and an ended execution can be opened again (I13, I20).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import {
  AWKWARD_JSON,
  claim,
  end,
  journalOf,
  newEvent,
  newMessage,
  newOutcome,
  ownedIds,
  owning,
  statusOf,
  TENANT,
  type TestRunner,
} from './builder.testing.ts';

export function describeDeadLetter(store: () => Store): void {
  const bury = (runner: TestRunner, executionId: string, more: { keepLetter?: boolean } = {}) =>
    store().deadLetterAdd({
      ...more,
      slotId: runner.commitSlot,
      outcome: newOutcome(executionId, { status: 'Failed', outputs: null, error: '{"code":"POISON"}' }),
      reason: 'poison',
      payload: AWKWARD_JSON,
      attempts: 3,
      lastError: 'it \u0000 broke',
      event: newEvent(executionId, 7),
      sent: [newMessage(executionId, { kind: 'child' })],
    });
  const letters = (tenantId = TENANT) => store().deadLetterList({ tenantId, afterId: '0', limit: 10 });

  it('ends the execution and keeps the cause', async () => {
    const { runner, ids } = await owning(store(), 2);
    expect(await bury(runner, ids[0]!)).toEqual({ applied: true });
    expect(await bury(runner, ids[0]!)).toEqual({ applied: false });
    expect(await statusOf(store(), ids[0]!)).toBe('Failed');
    expect(await journalOf(store(), ids[0]!)).toEqual([7]);
    expect(await store().inboxRead({ executionIds: [ids[0]!] })).toHaveLength(1);
    expect(await ownedIds(store(), runner.runnerId)).toEqual([ids[1]]);
    expect(await letters()).toMatchObject([
      { executionId: ids[0], reason: 'poison', payload: AWKWARD_JSON, attempts: 3, lastError: 'it \uFFFD broke' },
    ]);
    expect(await letters('other')).toEqual([]);
  });

  it('notes a letter about an execution that goes on, once, and only for its owner', async () => {
    const { runner, ids } = await owning(store(), 1);
    const note = { tenantId: TENANT, executionId: ids[0]!, reason: 'COMPENSATION_FAILED', payload: '{}', attempts: 2 };
    const told = { ...note, slotId: runner.commitSlot, lastError: 'it broke' };
    expect(await store().deadLetterNote(told)).toEqual({ applied: true });
    expect(await store().deadLetterNote({ ...told, lastError: 'again' })).toEqual({ applied: true });
    expect(await letters()).toMatchObject([
      { executionId: ids[0], reason: 'COMPENSATION_FAILED', lastError: 'it broke' },
    ]);
    expect(await ownedIds(store(), runner.runnerId)).toEqual(ids);
    const { runner: other } = await owning(store(), 1);
    expect(await store().deadLetterNote({ ...told, slotId: other.commitSlot })).toEqual({ applied: false });
  });

  it('ends the execution without a letter, if that is wanted', async () => {
    const { runner, ids } = await owning(store(), 1);
    expect(await bury(runner, ids[0]!, { keepLetter: false })).toEqual({ applied: true });
    expect(await statusOf(store(), ids[0]!)).toBe('Failed');
    expect(await letters()).toEqual([]);
  });

  it('forgets all letters of a tenant at once', async () => {
    const { runner, ids } = await owning(store(), 3);
    for (const id of ids) await bury(runner, id);
    expect(await store().deadLetterPurge({ tenantId: 'other', ids: null })).toBe(0);
    expect(await store().deadLetterPurge({ tenantId: TENANT, ids: null })).toBe(3);
    expect(await letters()).toEqual([]);
  });

  it('lists letters page by page and forgets those it is told to', async () => {
    const { runner, ids } = await owning(store(), 3);
    for (const id of ids) await bury(runner, id);
    const [first, second] = await store().deadLetterList({ tenantId: TENANT, afterId: '0', limit: 2 });
    expect(await store().deadLetterList({ tenantId: TENANT, afterId: second!.id, limit: 2 })).toHaveLength(1);
    expect(await store().deadLetterPurge({ tenantId: 'other', ids: [first!.id] })).toBe(0);
    expect(await store().deadLetterPurge({ tenantId: TENANT, ids: [first!.id, first!.id] })).toBe(1);
    expect(await letters()).toHaveLength(2);
  });

  it('puts a letter back into the queue', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    await bury(runner, executionId);
    expect(await store().executionReopen({ tenantId: TENANT, executionId, message: null })).toEqual({ reopened: true });
    expect(await letters()).toEqual([]);
    expect(await statusOf(store(), executionId)).toBe('Running');
    const { claimed } = await claim(store(), runner.slot);
    expect(claimed).toMatchObject([{ executionId, crashes: 0 }]);
    expect(claimed[0]!.epoch).toBeGreaterThan(1);
  });

  it('opens what ended for a RETRY_STEP that was accepted before, which settles its letter; for no other text (I13)', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [retried, paused] = ids as [string, string];
    const bodyOf = (signal: string) => JSON.stringify({ signal, payload: { note: { signal: 'RETRY_STEP' } } });
    for (const [executionId, signal] of [
      [retried, 'RETRY_STEP'],
      [paused, 'PAUSE'],
    ] as const) {
      const message = newMessage(executionId, { kind: 'signal', key: `${signal}:s1`, body: bodyOf(signal) });
      expect(await store().inboxSend({ message, tenantId: TENANT })).toMatchObject({ fresh: true });
      await bury(runner, executionId);
    }
    expect(await store().queueWakeMail({ limit: 10 })).toBe(1);
    expect([await statusOf(store(), retried), await statusOf(store(), paused)]).toEqual(['Running', 'Failed']);
    expect(await letters()).toMatchObject([{ executionId: paused }]);
  });

  it('opens an ended execution for a signal, once', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const message = newMessage(executionId, { kind: 'signal', key: 's1' });
    const reopen = (tenantId = TENANT) => store().executionReopen({ tenantId, executionId, message });
    expect(await reopen()).toEqual({ reopened: false });
    await end(store(), runner, executionId);
    expect(await reopen('other')).toEqual({ reopened: false });
    expect(await reopen()).toEqual({ reopened: true });
    expect(await store().inboxRead({ executionIds: ids })).toEqual([message]);
    expect(await store().inboxSend({ message, tenantId: TENANT })).toMatchObject({ live: true, fresh: false });
  });

  it('has one winner of several that open the same execution, and the losers can still send', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    await end(store(), runner, executionId);
    const messages = ['s1', 's2', 's3', 's4'].map((key) => newMessage(executionId, { kind: 'signal', key }));
    const results = await Promise.all(
      messages.map((message) => store().executionReopen({ tenantId: TENANT, executionId, message })),
    );
    expect(results.filter(({ reopened }) => reopened)).toHaveLength(1);
    const losers = messages.filter((_, i) => !results[i]!.reopened);
    for (const message of losers) {
      expect(await store().inboxSend({ message, tenantId: TENANT })).toMatchObject({ live: true, fresh: true });
    }
  });

  it('never gives an epoch twice, however often and quickly it is opened', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const epochs = (await store().executionListOwned({ runnerId: runner.runnerId })).map(({ epoch }) => epoch!);
    for (let times = 0; times < 4; times++) {
      await end(store(), runner, executionId);
      expect(await store().executionReopen({ tenantId: TENANT, executionId, message: null })).toEqual({
        reopened: true,
      });
      for (let claims = 0; claims < 2; claims++) {
        const { claimed } = await claim(store(), runner.slot);
        epochs.push(...claimed.map(({ epoch }) => epoch));
        if (claims === 0) await store().executionRelease({ slotId: runner.slot, items: claimed });
      }
    }
    expect(epochs).toHaveLength(9);
    expect(epochs).toEqual([...new Set(epochs)].sort((a, b) => a - b));
  });
}
