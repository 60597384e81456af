// Starting executions: durable once answered (I1), once per request id and tenant.

import { expect, it } from 'vitest';
import { CANCEL_LANE, type Store } from '../port.ts';
import {
  AWKWARD_JSON,
  claim,
  claimedIds,
  newExecution,
  newId,
  newMessage,
  newRunner,
  TENANT,
} from './builder.testing.ts';

export function describeStart(store: () => Store): void {
  it('keeps every field as it was given', async () => {
    const execution = newExecution({
      trigger: AWKWARD_JSON,
      spec: AWKWARD_JSON,
      principal: AWKWARD_JSON,
      requestId: 'r1',
      parentId: newId(),
      parentNode: 'call',
      depth: 2,
      priority: 9,
      behaviour: 2,
      projectId: 'p',
      environmentId: 'e',
    });
    await store().executionStart({ items: [execution] });
    expect(await store().executionGet({ tenantId: TENANT, executionId: execution.executionId })).toEqual({
      ...execution,
      status: 'Pending',
      engineRunRef: null,
      startedAt: null,
      endedAt: null,
      outputs: null,
      error: null,
      contextSnapshot: null,
    });
  });

  it('hands the trace that it belongs to to whoever loads it', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const [traced, untraced] = [newExecution({ traceparent }), newExecution()];
    await store().executionStart({ items: [traced, untraced] });
    const executionIds = [traced.executionId, untraced.executionId];
    const loaded = await store().executionLoad({ executionIds, deciderVersion: 1 });
    expect(loaded.map((execution) => execution.traceparent ?? null)).toEqual([traceparent, null]);
  });

  it('starts executions as those of a runner: nobody else gets them, and it owns each once', async () => {
    const { runnerId, slot } = await newRunner(store());
    const [known, fresh] = [newExecution({ requestId: 'r1' }), newExecution({ requestId: 'r2' })];
    await store().executionStart({ items: [known] });
    const again = newExecution({ requestId: 'r1' });
    const started = await store().executionStartOwned({ slotId: slot, items: [again, fresh] });
    expect(started.outcomes).toEqual([
      { executionId: again.executionId, existing: { executionId: known.executionId, workflowId: known.workflowId } },
      { executionId: fresh.executionId, existing: null },
    ]);
    expect(started.owned).toEqual([fresh.executionId]);
    expect(await store().executionListOwned({ runnerId })).toEqual([{ executionId: fresh.executionId, epoch: 1 }]);
    const repeated = await store().executionStartOwned({ slotId: slot, items: [fresh] });
    expect(repeated).toMatchObject({ outcomes: [{ executionId: fresh.executionId, existing: null }], owned: [] });
    const other = await newRunner(store());
    expect(await claimedIds(store(), other.slot)).toEqual([known.executionId]);
  });

  it('starts executions as ready when the runner that wanted them is dead (I4)', async () => {
    const { runnerId, slot } = await newRunner(store());
    await store().runnerDeclareDead({ runnerId });
    const execution = newExecution();
    const { outcomes, owned } = await store().executionStartOwned({ slotId: slot, items: [execution] });
    expect(outcomes).toEqual([{ executionId: execution.executionId, existing: null }]);
    expect(owned).toEqual([]);
    const other = await newRunner(store());
    const { claimed } = await claim(store(), other.slot);
    expect(claimed).toMatchObject([{ executionId: execution.executionId, epoch: 1 }]);
  });

  it('shows an execution to its own tenant only', async () => {
    const { executionId } = newExecution();
    await store().executionStart({ items: [newExecution({ executionId })] });
    expect(await store().executionGet({ tenantId: 'other', executionId })).toBeNull();
  });

  it('answers a request id that exists with the execution that has it', async () => {
    const first = newExecution({ requestId: 'r1' });
    const again = newExecution({ requestId: 'r1', workflowId: 'another' });
    const elsewhere = newExecution({ requestId: 'r1', tenantId: 'other' });
    await store().executionStart({ items: [first] });
    expect(await store().executionStart({ items: [again, elsewhere] })).toEqual([
      { executionId: again.executionId, existing: { executionId: first.executionId, workflowId: first.workflowId } },
      { executionId: elsewhere.executionId, existing: null },
    ]);
  });

  it('accepts the first of two equal request ids in one batch, and answers in the order of the batch', async () => {
    const items = ['b', 'a', 'b', null, null].map((requestId) => newExecution({ requestId }));
    const outcomes = await store().executionStart({ items });
    expect(outcomes.map(({ executionId }) => executionId)).toEqual(items.map(({ executionId }) => executionId));
    expect(outcomes.map(({ existing }) => existing?.executionId ?? null)).toEqual([
      null,
      null,
      items[0]!.executionId,
      null,
      null,
    ]);
  });

  it('takes the same start twice as once', async () => {
    const items = [newExecution({ requestId: 'r1' }), newExecution()];
    await store().executionStart({ items });
    const again = await store().executionStart({ items });
    expect(again.map(({ existing }) => existing)).toEqual([null, null]);
    const { claimed } = await claim(store(), (await newRunner(store())).slot);
    expect(claimed).toHaveLength(2);
  });

  it('has one winner among many that start the same request at once', async () => {
    const rivals = Array.from({ length: 50 }, () => ['r1', 'r2'].map((requestId) => newExecution({ requestId })));
    const outcomes = await Promise.all(
      rivals.map((items, i) => store().executionStart({ items: i % 2 === 0 ? items : items.toReversed() })),
    );
    const settled = outcomes.flat();
    const winners = settled.filter(({ existing }) => existing === null).map(({ executionId }) => executionId);
    expect(winners).toHaveLength(2);
    const named = new Set(settled.flatMap(({ existing }) => existing?.executionId ?? []));
    expect([...named].sort()).toEqual(winners.toSorted());
  });

  it('refuses what the schema forbids as bad data, and starts nothing of the batch', async () => {
    const good = newExecution();
    const bad = newExecution({ trigger: '{"a":' });
    await expect(store().executionStart({ items: [good, bad] })).rejects.toMatchObject({ failure: 'data' });
    expect(await store().executionGet({ tenantId: TENANT, executionId: good.executionId })).toBeNull();
  });

  it('keeps a start that a limit holds back until it is due, whatever mail it gets, but lets a cancel through', async () => {
    const held = newExecution({ hold: { waitMs: 3_600_000, policy: 'DELAY' } });
    const due = newExecution({ hold: { waitMs: 0, policy: 'QUEUE' } });
    const plain = newExecution();
    expect(await store().executionStart({ items: [held, due, plain] })).toHaveLength(3);
    expect(await store().queueAudit()).toEqual([]);
    const { slot } = await newRunner(store());
    expect(await claimedIds(store(), slot)).toEqual([plain.executionId]);
    const { executionId } = held;
    const send = (kind: 'signal' | 'cancel') =>
      store().inboxSend({ message: newMessage(executionId, { kind, key: kind }), tenantId: TENANT });
    expect(await send('signal')).toMatchObject({ live: true, fresh: true });
    await store().queueWakeMail({ limit: 10 });
    await store().queueWake({ limit: 10 });
    expect(await claimedIds(store(), slot)).toEqual([due.executionId]);
    expect(await store().executionGet({ tenantId: TENANT, executionId })).toMatchObject({ status: 'Pending' });
    await send('cancel');
    const { claimed } = await claim(store(), slot, { lanes: [{ tenantId: TENANT, priority: CANCEL_LANE, mark: 0 }] });
    expect(claimed).toMatchObject([{ executionId, epoch: 1 }]);
  });
}
