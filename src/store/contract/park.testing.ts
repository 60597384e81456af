// Parking and waking: whatever the order of park, mail and timers, no execution with a reason to run stays asleep (I8, I10, I12).

import { expect, it } from 'vitest';
import { CANCEL_LANE, type Store } from '../port.ts';
import {
  claim,
  claimedIds,
  newBatch,
  newEvent,
  newMessage,
  newParkItem,
  newRunner,
  ownedIds,
  owning,
  start,
  statusOf,
  TENANT,
} from './builder.testing.ts';

export function describePark(store: () => Store): void {
  describeTimers(store);
  describeMail(store);
}

function describeTimers(store: () => Store): void {
  it('wakes what is due, and not what is not', async () => {
    const { runner, ids } = await owning(store(), 3);
    const [due, later, waiting] = ids as [string, string, string];
    const now = await store().now();
    const items = [
      newParkItem(due, { dueAt: now - 1, waits: 0 }),
      newParkItem(later, { dueAt: now + 3_600_000, waits: 0 }),
      newParkItem(waiting),
    ];
    const { parked, at } = await store().executionPark({ slotId: runner.slot, items });
    expect(parked.toSorted()).toEqual(ids.toSorted());
    expect(at).toBeGreaterThanOrEqual(now);
    expect(await ownedIds(store(), runner.runnerId)).toEqual([]);

    const next = { nextDueAt: now + 3_600_000 };
    const look = () => store().queueWake({ limit: 10 });
    expect(await look()).toEqual({ woken: 1, ...next, hasReady: false, hasMail: false });
    expect(await look()).toEqual({ woken: 0, ...next, hasReady: true, hasMail: false });
    // It became ready a moment ago, and the runner that was told of it is about to take it.
    expect(await store().queueWake({ limit: 10, readyForMs: 600_000 })).toMatchObject({ hasReady: false });
    await store().inboxSend({ tenantId: TENANT, message: newMessage(due!) });
    expect(await look()).toEqual({ woken: 0, ...next, hasReady: true, hasMail: true });
    expect(await claimedIds(store(), runner.slot)).toEqual([due]);
  });

  it('wakes no more than it is asked to', async () => {
    const { runner, ids } = await owning(store(), 3);
    const items = ids.map((id) => newParkItem(id, { dueAt: 1, waits: 0 }));
    await store().executionPark({ slotId: runner.slot, items });
    expect(await store().queueWake({ limit: 2 })).toMatchObject({ woken: 2 });
    expect(await store().queueWake({ limit: 2 })).toMatchObject({ woken: 1 });
  });

  it('counts the claim after a wake as a new epoch', async () => {
    const { runner, ids } = await owning(store(), 1);
    await store().executionPark({ slotId: runner.slot, items: [newParkItem(ids[0]!, { dueAt: 1 })] });
    await store().queueWake({ limit: 1 });
    expect((await claim(store(), runner.slot)).claimed).toMatchObject([{ epoch: 2, crashes: 0 }]);
  });

  it('refuses to park what nothing would ever wake', async () => {
    const { runner, ids } = await owning(store(), 1);
    const item = newParkItem(ids[0]!, { dueAt: null, waits: 0 });
    await expect(store().executionPark({ slotId: runner.slot, items: [item] })).rejects.toMatchObject({
      failure: 'data',
    });
    expect(await ownedIds(store(), runner.runnerId)).toEqual(ids);
  });

  it('shows a paused execution as Paused until a commit says that it was resumed, whoever has it', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [id, other] = ids as [string, string];
    await store().executionCommit(newBatch(runner.commitSlot, { paused: [id] }));
    expect([await statusOf(store(), id), await statusOf(store(), other)]).toEqual(['Paused', 'Running']);
    await store().executionPark({ slotId: runner.slot, items: [newParkItem(id, { paused: true })] });
    await store().inboxSend({ message: newMessage(id, { kind: 'signal' }), tenantId: TENANT });
    await claim(store(), runner.slot);
    expect(await statusOf(store(), id)).toBe('Paused');
    await store().executionCommit(newBatch(runner.commitSlot, { resumed: [id] }));
    expect(await statusOf(store(), id)).toBe('Running');
  });
}

function describeMail(store: () => Store): void {
  const park = (slotId: string, id: string) => store().executionPark({ slotId, items: [newParkItem(id)] });
  const send = (id: string) => store().inboxSend({ message: newMessage(id), tenantId: TENANT });

  it('finds, after the park, the mail that came before it', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [withMail, without] = ids as [string, string];
    await send(withMail);
    await park(runner.slot, withMail);
    await park(runner.slot, without);
    expect(await store().parkCheck({ executionIds: ids })).toEqual([withMail]);
    expect(await store().parkCheck({ executionIds: ids })).toEqual([]);
    expect(await claimedIds(store(), runner.slot)).toEqual([withMail]);
  });

  it('is woken by mail that comes after it', async () => {
    const { runner, ids } = await owning(store(), 1);
    await park(runner.slot, ids[0]!);
    expect(await send(ids[0]!)).toEqual({ live: true, fresh: true, owner: null, isExternal: false });
    expect(await claimedIds(store(), runner.slot)).toEqual(ids);
  });

  it('finds parked executions with mail whoever put it there', async () => {
    const { runner, ids } = await owning(store(), 3);
    const [first, second, resident] = ids as [string, string, string];
    for (const id of ids) await send(id);
    await park(runner.slot, first);
    await park(runner.slot, second);
    expect(await store().queueWakeMail({ limit: 1 })).toBe(1);
    expect(await store().queueWakeMail({ limit: 10 })).toBe(1);
    expect(await store().queueWakeMail({ limit: 10 })).toBe(0);
    expect((await claimedIds(store(), runner.slot)).sort()).toEqual([first, second].sort());
    expect(await ownedIds(store(), runner.runnerId)).toContain(resident);
  });

  it('takes a child out of the backlog that its parent cancels', async () => {
    const { runner, ids } = await owning(store(), 1);
    const [child] = await start(store(), { priority: 2 }, {});
    const sent = [newMessage(child!, { kind: 'cancel' })];
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(ids[0]!, 0)], sent }));
    expect(await store().queueWakeMail({ limit: 10 })).toBe(1);
    expect(await store().queueWakeMail({ limit: 10 })).toBe(0);
    const lanes = [{ tenantId: TENANT, priority: CANCEL_LANE, mark: 0 }];
    expect((await claim(store(), runner.slot, { lanes })).claimed).toMatchObject([{ executionId: child }]);
  });

  it('never strands a message, sent and parked at the same moment', async () => {
    const { runner, ids } = await owning(store(), 60);
    await Promise.all(
      ids.flatMap((id) => [send(id), park(runner.slot, id).then(() => store().parkCheck({ executionIds: [id] }))]),
    );
    expect((await claimedIds(store(), runner.slot)).sort()).toEqual(ids.toSorted());
  });

  it('wakes each execution for one claimer when several wake at once', async () => {
    const { runner, ids } = await owning(store(), 20);
    await store().executionPark({ slotId: runner.slot, items: ids.map((id) => newParkItem(id, { dueAt: 1 })) });
    await start(store(), {});
    const woken = await Promise.all(Array.from({ length: 4 }, () => store().queueWake({ limit: 10 })));
    const rest = await store().queueWake({ limit: 100 });
    expect(woken.reduce((sum, found) => sum + found.woken, rest.woken)).toBe(20);
    expect((await claim(store(), (await newRunner(store())).slot)).claimed).toHaveLength(21);
  });
}
