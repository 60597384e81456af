// Loading: all that is needed to go on, exactly as it was written (I15).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import {
  AWKWARD_JSON,
  BEGINNING,
  newAttempt,
  newBatch,
  newEvent,
  newExecution,
  newId,
  newMessage,
  newParkItem,
  owning,
  TENANT,
} from './builder.testing.ts';

export function describeLoad(store: () => Store): void {
  const load = (...executionIds: string[]) => store().executionLoad({ executionIds, deciderVersion: 1 });

  it('gives a new execution as it was started', async () => {
    const items = [newExecution({ trigger: AWKWARD_JSON, spec: '{}', requestId: 'r' }), newExecution()];
    await store().executionStart({ items });
    const nothing = { checkpoint: null, journal: [], attempts: [], inbox: [] };
    expect(await load(items[1]!.executionId, newId(), items[0]!.executionId)).toEqual([
      { ...items[1], ...nothing },
      { ...items[0], ...nothing },
    ]);
  });

  it('gives the journal in order, and of attempts the data that the facts leave out', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [one, two] = ids as [string, string];
    const events = [newEvent(one, 12), newEvent(two, 0), newEvent(one, 3, `[${AWKWARD_JSON}]`), newEvent(one, 0)];
    const attempts = [
      newAttempt(one, { nodeId: 'a', outputs: AWKWARD_JSON }),
      newAttempt(one, { nodeId: 'b', status: 'RetriableFailure', outputs: '{"no":1}' }),
      newAttempt(one, { nodeId: 'b', attempt: 2, status: 'Failed', outputs: '{"status":500}' }),
      newAttempt(one, { nodeId: 'c', status: 'TimedOut', outputs: '{"late":1}' }),
      newAttempt(one, { nodeId: 'd', status: 'Cancelled', outputs: '{"no":1}' }),
      newAttempt(one, { nodeId: 'e', outputs: null }),
      newAttempt(two, { nodeId: 'a' }),
    ];
    await store().executionCommit(newBatch(runner.commitSlot, { events, attempts }));

    const [loaded, other] = await load(one, two);
    expect(loaded!.journal.map(({ seq, at }) => [seq, at - BEGINNING])).toEqual([
      [0, 0],
      [3, 3],
      [12, 12],
    ]);
    expect(loaded!.journal[1]!.facts).toBe(`[${AWKWARD_JSON}]`);
    expect(loaded!.attempts.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1))).toEqual([
      { nodeId: 'a', attempt: 1, outputs: AWKWARD_JSON },
      { nodeId: 'b', attempt: 2, outputs: '{"status":500}' },
      { nodeId: 'c', attempt: 1, outputs: '{"late":1}' },
    ]);
    expect(other!.attempts).toHaveLength(1);
    expect(other!.journal).toHaveLength(1);
  });

  it('starts from the checkpoint if this decider wrote it, from the beginning if not', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const events = [0, 4, 9].map((seq) => newEvent(executionId, seq));
    await store().executionCommit(newBatch(runner.commitSlot, { events }));
    const checkpoint = { seq: 4, deciderVersion: 1, state: AWKWARD_JSON };
    await store().executionPark({ slotId: runner.slot, items: [newParkItem(executionId, { checkpoint })] });

    const [loaded] = await load(executionId);
    expect(loaded!.checkpoint).toEqual({ seq: 4, state: AWKWARD_JSON });
    expect(loaded!.journal.map(({ seq }) => seq)).toEqual([4, 9]);
    const [newer] = await store().executionLoad({ executionIds: [executionId], deciderVersion: 2 });
    expect(newer!.checkpoint).toBeNull();
    expect(newer!.journal.map(({ seq }) => seq)).toEqual([0, 4, 9]);
  });

  it('gives the mail in the order it came', async () => {
    const { ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const messages = ['c', 'a', 'b'].map((key) => newMessage(executionId, { key, body: AWKWARD_JSON }));
    for (const message of messages) await store().inboxSend({ message, tenantId: TENANT });
    const [loaded] = await load(executionId);
    expect(loaded!.inbox).toEqual(messages.map(({ id, kind, key, body }) => ({ id, kind, key, body })));
  });

  it('says about how many bytes it would load, before it does', async () => {
    const { runner, ids } = await owning(store(), 2);
    const [executionId = '', small = ''] = ids;
    const facts = JSON.stringify([{ text: 'x'.repeat(300_000) }]);
    await store().executionCommit(newBatch(runner.commitSlot, { events: [{ ...newEvent(executionId, 0), facts }] }));
    const rows = await store().executionLoadBytes({ executionIds: [...ids, newId()] });
    const bytes = new Map(rows.map((row) => [row.executionId, row.bytes]));
    expect([...bytes.keys()].sort()).toEqual([executionId, small].sort());
    expect(bytes.get(executionId)).toBeGreaterThanOrEqual(300_000);
    expect(bytes.get(small)).toBeLessThan(10_000);
  });

  it('gives the parameters recorded at given places of the journal', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const events = [
      { ...newEvent(executionId, 0), inputs: AWKWARD_JSON },
      newEvent(executionId, 1),
      newEvent(executionId, 2),
    ];
    await store().executionCommit(newBatch(runner.commitSlot, { events }));
    const wanted = [1, 0, 7].map((seq) => ({ executionId, seq }));
    expect(await store().executionInputs({ items: [...wanted, { executionId: newId(), seq: 0 }] })).toEqual([
      { executionId, seq: 1, inputs: null },
      { executionId, seq: 0, inputs: AWKWARD_JSON },
    ]);
  });
}
