// The mailbox: never lost, never twice, only for live executions of the right tenant (I10, S1).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, end, newBatch, newEvent, newId, newMessage, owning, start, TENANT } from './builder.testing.ts';

export function describeInbox(store: () => Store): void {
  const send = (message: ReturnType<typeof newMessage>, tenantId = TENANT) => store().inboxSend({ message, tenantId });

  it('tells whom to tell', async () => {
    const { runner, ids } = await owning(store(), 1);
    const [pending] = await start(store(), {});
    expect(await send(newMessage(ids[0]!))).toEqual({
      live: true,
      fresh: true,
      owner: runner.runnerId,
      isExternal: false,
    });
    expect(await send(newMessage(pending!))).toEqual({ live: true, fresh: true, owner: null, isExternal: false });
  });

  it('has no door to executions that ended, are unknown, or belong to another tenant', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [ended, foreign] = ids as [string, string];
    await end(store(), runner, ended);
    const closed = { live: false, fresh: false, owner: null, isExternal: false };
    expect(await send(newMessage(ended))).toEqual(closed);
    expect(await send(newMessage(newId()))).toEqual(closed);
    expect(await send(newMessage(foreign), 'other')).toEqual(closed);
    expect(await store().inboxRead({ executionIds: [...ids] })).toEqual([]);
  });

  it('knows a signal that it took, also when its execution has ended before anybody read it', async () => {
    const { runner, ids } = await owning(store(), 1);
    const [executionId] = ids as [string];
    const signal = newMessage(executionId, { kind: 'signal', key: 'PAUSE:s1' });
    const known = (key: string, tenantId = TENANT) => store().signalKnown({ tenantId, executionId, key });
    expect(await known(signal.key)).toBe(false);
    await send(signal);
    await end(store(), runner, executionId);
    expect([await known(signal.key), await known('PAUSE:s2'), await known(signal.key, 'other')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('takes a message with the same key once, the first', async () => {
    const { ids } = await owning(store(), 1);
    const first = newMessage(ids[0]!, { body: AWKWARD_JSON });
    expect(await send(first)).toMatchObject({ live: true, fresh: true });
    expect(await send(newMessage(ids[0]!, { body: '{}' }))).toMatchObject({ live: true, fresh: false });
    expect(await send(newMessage(ids[0]!, { kind: 'cancel', body: '{}' }))).toMatchObject({ fresh: true });
    const mail = await store().inboxRead({ executionIds: ids });
    expect(mail).toHaveLength(2);
    expect(mail[0]).toEqual(first);
  });

  it('knows a signal again after it was consumed', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const signal = newMessage(executionId, { kind: 'signal', key: 's1' });
    expect(await send(signal)).toMatchObject({ fresh: true });
    const events = [newEvent(executionId, 0)];
    await store().executionCommit(newBatch(runner.commitSlot, { events, consumed: [signal.id] }));
    expect(await send({ ...signal, id: newId() })).toMatchObject({ live: true, fresh: false });
    expect(await store().inboxRead({ executionIds: ids })).toEqual([]);
  });

  it('takes one of many equal signals that arrive at once', async () => {
    const { ids } = await owning(store(), 1);
    const results = await Promise.all(
      Array.from({ length: 20 }, () => send(newMessage(ids[0]!, { kind: 'signal', key: 's1' }))),
    );
    expect(results.filter(({ fresh }) => fresh)).toHaveLength(1);
    expect(await store().inboxRead({ executionIds: ids })).toHaveLength(1);
  });

  it('keeps the first of two messages with one key that commits send', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [sender, target] = ids as [string, string];
    for (const [seq, body] of ['"first"', '"second"'].entries()) {
      const sent = [newMessage(target, { kind: 'child', key: 'c', body })];
      await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(sender, seq)], sent }));
    }
    expect(await store().inboxRead({ executionIds: [target] })).toMatchObject([{ kind: 'child', body: '"first"' }]);
  });
}
