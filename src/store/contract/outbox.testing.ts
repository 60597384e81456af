// The outbox of executions: everything that was committed is published once, in order, by one leader (I1, I19).

import { expect, it } from 'vitest';
import type { Store } from '../port.ts';
import { AWKWARD_JSON, newBatch, newEvent, owning, publishAll, TENANT } from './builder.testing.ts';
import { claimedGuids, deliveryOf, newConsumer, newMessageRow } from './messaging.testing.ts';

export function describeOutbox(store: () => Store): void {
  const lead = (leaderId: string, leaseMs = 60_000) => store().outboxLead({ leaderId, leaseMs });
  const read = (withFacts = true, limit = 100) => store().outboxRead({ limit, withFacts });
  const ids = async () => (await read()).map(({ batchId }) => batchId);
  const publish = (leaderId: string, batchIds: string[], overrides: object = {}) =>
    store().outboxPublish({ leaderId, batchIds, messages: [], deliveries: [], ...overrides });

  /** Two executions, three commits. */
  const committed = async () => {
    const { runner, ids: executionIds } = await owning(store(), 2);
    const [one, two] = executionIds as [string, string];
    const facts = `[{"type":"NodeSucceeded","outputs":${AWKWARD_JSON}}]`;
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(one, 0), newEvent(two, 0)] }));
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(one, 1, facts)] }));
    await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(two, 1)] }));
    return { one, two, facts };
  };

  it('has one leader at a time, until its lease ends', async () => {
    expect(await lead('a')).toBe(true);
    expect(await lead('b')).toBe(false);
    expect(await lead('a', -1)).toBe(true);
    expect(await lead('b')).toBe(true);
    expect(await lead('a')).toBe(false);
    const candidates = await Promise.all(['c', 'd', 'e'].map((id) => lead(id)));
    expect(candidates).toEqual([false, false, false]);
  });

  it('is read in the order of commits, with exactly their facts', async () => {
    const { one, two, facts } = await committed();
    const batches = await read();
    expect(batches.map(({ rows }) => rows.map(({ executionId, seq }) => [executionId, seq]))).toEqual([
      [
        [one, 0],
        [two, 0],
      ],
      [[one, 1]],
      [[two, 1]],
    ]);
    expect(batches[1]!.rows[0]).toMatchObject({
      runId: one,
      at: newEvent(one, 1).at,
      tenantId: TENANT,
      workflowId: 'onboard-project',
      version: 3,
      projectId: 'default',
      environmentId: 'default',
      correlationId: 'c1',
      reopens: 0,
      facts,
    });
    expect((await read(true, 2)).map(({ batchId }) => batchId)).toEqual(
      batches.slice(0, 2).map(({ batchId }) => batchId),
    );
    expect((await read(false)).map(({ batchId }) => batchId)).toEqual(batches.map(({ batchId }) => batchId));
  });

  it('counts how often an execution was reopened where it ends', async () => {
    const { runner, ids: executionIds } = await owning(store(), 1);
    const [id] = executionIds as [string];
    const rows = [
      '[{"type":"ExecutionStarted"},{"type":"ExecutionFailed"}]',
      '[{"type":"ExecutionReopened","generation":1}]',
      '[{"type":"NodeSucceeded","outputs":{"type":"ExecutionReopened"}},{"type":"ExecutionSucceeded"}]',
    ];
    for (const [seq, facts] of rows.entries()) {
      await store().executionCommit(newBatch(runner.commitSlot, { events: [newEvent(id, seq * 10, facts)] }));
    }
    expect((await read()).map((batch) => batch.rows[0]!.reopens)).toEqual([0, 0, 1]);
  });

  it('becomes messages, all or nothing, once', async () => {
    const { one, two } = await committed();
    const kyc = await newConsumer(store(), 'kyc');
    await lead('a');
    const batchIds = await ids();
    const messages = [one, two].map((id) =>
      newMessageRow(id, { kind: 'execution', source: 'onboard-project', env: null }),
    );
    const published = { messages, deliveries: messages.map((message) => deliveryOf(message, kyc)) };
    expect(await publish('b', batchIds, published)).toEqual({ applied: false });
    expect(await publish('a', [...batchIds, '99999999'], published)).toEqual({ applied: false });
    expect(await ids()).toEqual(batchIds);
    expect(await claimedGuids(store(), kyc)).toEqual([]);

    expect(await publish('a', batchIds, published)).toEqual({ applied: true });
    expect(await publish('a', batchIds, published)).toEqual({ applied: false });
    expect(await ids()).toEqual([]);
    expect((await claimedGuids(store(), kyc)).sort()).toEqual(messages.map(({ ackGuid }) => ackGuid).sort());
  });

  it('is published by one of two who were told to lead', async () => {
    await committed();
    await lead('a', -1);
    const batchIds = await ids();
    await lead('b');
    const results = await Promise.all([publish('a', batchIds), publish('b', batchIds), publish('b', batchIds)]);
    expect(results.filter(({ applied }) => applied)).toHaveLength(1);
    expect(results[0]).toEqual({ applied: false });
  });

  it('tells by a look whether there is something', async () => {
    await committed();
    expect(await store().monitorLook({ consumerIds: [] })).toMatchObject({ hasOutbox: true });
    await publishAll(store());
    expect(await store().monitorLook({ consumerIds: [] })).toMatchObject({ hasOutbox: false });
  });
}
