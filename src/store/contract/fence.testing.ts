// A dead fence applies nothing, whatever is written through it, and a live one only to what its runner owns (I4).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import {
  anyEpoch,
  claimedIds,
  journalOf,
  newAttempt,
  newBatch,
  newEvent,
  newExecution,
  newLink,
  newMessage,
  newOutcome,
  newParkItem,
  newRunner,
  owning,
  start,
  statusOf,
} from './builder.testing.ts';

export function describeFence(store: () => Store): void {
  it.each(['runnerDeclareDead', 'runnerStop'] as const)('commits nothing after %s', async (ending) => {
    const { runner, ids } = await owning(store(), 1);
    const id = ids[0]!;
    await store()[ending]({ runnerId: runner.runnerId });
    const child = newExecution({ parentId: id, parentNode: 'call' });
    const batch = newBatch(runner.commitSlot, {
      events: [newEvent(id, 0)],
      attempts: [newAttempt(id)],
      outcomes: [newOutcome(id)],
      ended: [id],
      children: [child],
      sent: [newMessage(id)],
      links: [newLink(id)],
      logs: [{ executionId: id, nodeId: 'n', attempt: 1, at: 0, level: 'Info', message: 'm', data: null }],
    });
    expect(await store().executionCommit(batch)).toMatchObject({ applied: false });
    expect(await journalOf(store(), id)).toEqual([]);
    expect(await store().executionAttempts({ executionId: id, parameters: true })).toEqual([]);
    expect(await store().executionLogs({ executionId: id, limit: 10 })).toEqual([]);
    expect(await store().inboxRead({ executionIds: [id] })).toEqual([]);
    expect(await store().resourceFind(newLink(id))).toBeNull();
    expect(await statusOf(store(), child.executionId)).toBeUndefined();
    expect(await statusOf(store(), id)).toBe('Running');
  });

  it('claims, parks, releases and buries nothing through a dead slot', async () => {
    const { runner, ids } = await owning(store(), 1);
    await store().runnerDeclareDead({ runnerId: runner.runnerId });
    await start(store(), {});
    const slotId = runner.slot;
    expect(await claimedIds(store(), slotId)).toEqual([]);
    expect(await store().executionPark({ slotId, items: [newParkItem(ids[0]!)] })).toMatchObject({ parked: [] });
    expect(await store().executionRelease({ slotId, items: anyEpoch(ids) })).toEqual([]);
    const letter = { slotId, outcome: newOutcome(ids[0]!), reason: 'r', payload: '{}', attempts: 1, lastError: 'e' };
    expect(await store().deadLetterAdd(letter)).toEqual({ applied: false });
  });

  it('parks, releases and buries only what its runner owns', async () => {
    const { ids } = await owning(store(), 1);
    const other = await newRunner(store());
    const slotId = other.slot;
    expect(await store().executionPark({ slotId, items: [newParkItem(ids[0]!)] })).toMatchObject({ parked: [] });
    expect(await store().executionRelease({ slotId, items: anyEpoch(ids) })).toEqual([]);
    const letter = { slotId, outcome: newOutcome(ids[0]!), reason: 'r', payload: '{}', attempts: 1, lastError: 'e' };
    expect(await store().deadLetterAdd(letter)).toEqual({ applied: false });
    expect(await statusOf(store(), ids[0]!)).toBe('Running');
  });

  it('lets no commit through once a runner has been declared dead', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const commits = Array.from({ length: 60 }, (_, seq) =>
      store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(executionId, seq)] })),
    );
    await store().runnerDeclareDead({ runnerId: runner.runnerId });
    const atDeath = await journalOf(store(), executionId);
    const applied = (await Promise.all(commits)).filter((result) => result.applied).length;
    expect(await journalOf(store(), executionId)).toEqual(atDeath);
    expect(atDeath).toHaveLength(applied);
  });
}
