// Reads for people and programs.

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
  newLink,
  newOutcome,
  owning,
  start,
  statusOf,
  TENANT,
} from './builder.testing.ts';

export function describeReader(store: () => Store): void {
  it('derives the status: Pending, Running, then the outcome', async () => {
    const [pending] = await start(store(), { priority: 1 });
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    expect(await statusOf(store(), pending!)).toBe('Pending');
    expect(await statusOf(store(), executionId)).toBe('Running');
    await store().executionCommit(
      newBatch(runner.commitSlot, { events: [newEvent(executionId, 0), newEvent(executionId, 1)] }),
    );
    const running = await store().executionGet({ tenantId: TENANT, executionId });
    expect(running).toMatchObject({ status: 'Running', startedAt: BEGINNING, endedAt: null });

    const outcome = newOutcome(executionId, {
      status: 'TimedOut',
      outputs: null,
      error: AWKWARD_JSON,
      startedAt: 7,
      endedAt: 9,
    });
    await store().executionCommit(
      newBatch(runner.commitSlot, { events: [newEvent(executionId, 2)], outcomes: [outcome], ended: [executionId] }),
    );
    const ended = await store().executionGet({ tenantId: TENANT, executionId });
    expect(ended).toMatchObject({ status: 'TimedOut', error: AWKWARD_JSON, outputs: null, startedAt: 7, endedAt: 9 });
  });

  it('gives the journal page by page', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const events = [0, 2, 5, 6].map((seq) => newEvent(executionId, seq));
    await store().executionCommit(newBatch(runner.commitSlot, { events }));
    const page = (afterSeq: number) => store().executionJournal({ executionId, afterSeq, limit: 2 });
    expect((await page(-1)).map(({ seq }) => seq)).toEqual([0, 2]);
    expect(await page(2)).toEqual(events.slice(2).map(({ seq, at, facts }) => ({ seq, at, facts })));
    expect(await page(6)).toEqual([]);
  });

  it('gives attempts in the order of their starts, with the parameters they had, which retries share', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const events = [
      { ...newEvent(executionId, 0), inputs: '{"greet":{"text":"\\u0000"},"count":{"n":0}}' },
      { ...newEvent(executionId, 2), inputs: '{"count":{"n":1}}' },
      newEvent(executionId, 4),
    ];
    const attempts = [
      newAttempt(executionId, { nodeId: 'greet', status: 'RetriableFailure', error: AWKWARD_JSON, outputs: null }),
      newAttempt(executionId, { nodeId: 'count', startedSeq: 2 }),
      newAttempt(executionId, { nodeId: 'greet', attempt: 2, startedSeq: 4 }),
      newAttempt(executionId, { nodeId: 'other', startedSeq: 4, startedAt: BEGINNING + 3 }),
    ];
    await store().executionCommit(newBatch(runner.commitSlot, { events, attempts }));
    const parameters = ['{"text":"\\u0000"}', '{"n":1}', '{"text":"\\u0000"}', null];
    expect(await store().executionAttempts({ executionId, parameters: true })).toEqual(
      attempts.map((attempt, i) => ({ ...attempt, parameters: parameters[i] })),
    );
  });

  it('tells which attempts waited for a free place, by the transitions that started them', async () => {
    const { runner, ids } = await owning(store(), 1);
    const executionId = ids[0]!;
    const attempts = [
      newAttempt(executionId, { nodeId: 'a', startedSeq: 0, waitedMs: 7 }),
      newAttempt(executionId, { nodeId: 'b', startedSeq: 2 }),
      newAttempt(executionId, { nodeId: 'c', startedSeq: 2, waitedMs: 1 }),
      newAttempt(executionId, { nodeId: 'd', startedSeq: 4, waitedMs: 3 }),
    ];
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(executionId, 0)], attempts }));
    const waits = (afterSeq: number, untilSeq: number) => store().attemptWaits({ executionId, afterSeq, untilSeq });
    expect(await waits(-1, 2)).toEqual([
      { nodeId: 'a', attempt: 1, waitedMs: 7 },
      { nodeId: 'c', attempt: 1, waitedMs: 1 },
    ]);
    expect(await waits(2, 9)).toEqual([{ nodeId: 'd', attempt: 1, waitedMs: 3 }]);
  });

  it('gives the children of an execution', async () => {
    const parentId = newId();
    const children = [newExecution({ parentId, parentNode: 'a' }), newExecution({ parentId, parentNode: 'b' })];
    await store().executionStart({ items: [...children, newExecution()] });
    const found = await store().executionChildren({ executionId: parentId });
    expect(found.map(({ parentNode }) => parentNode).sort()).toEqual(['a', 'b']);
    expect(await store().executionChildren({ executionId: newId() })).toEqual([]);
  });

  it('finds who holds a resource, within the tenant', async () => {
    const { runner, ids } = await owning(store(), 1);
    const link = newLink(ids[0]!, { url: null });
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(ids[0]!, 0)], links: [link] }));
    expect(await store().resourceFind(link)).toEqual({ executionId: ids[0], nodeId: 'greet', url: null });
    expect(await store().resourceFind({ ...link, tenantId: 'other' })).toBeNull();
    expect(await store().resourceFind({ ...link, resourceId: '43' })).toBeNull();
  });
}
