import { describe, expect, it } from 'vitest';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { graph, held, to } from './workflow-definition.ts';

const engine = engineUnderTest({});
const { work } = engine;

const approved = { type: 'order.approved', key: '{{ trigger.orderId }}', at: 'orderId' };
const rejected = { type: 'order.rejected', key: '{{ trigger.orderId }}', at: 'orderId' };
const decision = { id: 'decision', nodeType: 'wait', events: [approved, rejected] };
const tell = (id: string, type: string, data: { orderId: string }) =>
  engine.pawl.executions.tellWaiting(TENANT, { id, type, data });
const rows = (executionId: string) =>
  engine.sql('select event_type, key from event_waits where execution_id = $1 order by event_type', [executionId]);

describe('an execution that waits for events', () => {
  it('an event reaches the waiting execution with the same type and key, and no other', async () => {
    const { workflowId } = await engine.pawl.publish(graph('approval', [decision]));
    const [mine, other] = await Promise.all(
      ['o1', 'o2'].map((orderId) => engine.pawl.start(workflowId, { trigger: { orderId } })),
    );
    // The start was answered, so the waits exist, whether or not a runner has seen the execution (I10).
    expect(await rows(mine!.executionId)).toHaveLength(2);
    expect(await rows(other!.executionId)).toHaveLength(2);
    expect(await tell('e0', 'order.paid', { orderId: 'o1' })).toBe(0);
    expect(await tell('e1', 'order.rejected', { orderId: 'o1' })).toBe(1);
    expect(await engine.pawl.result(mine!.executionId)).toMatchObject({
      status: 'Succeeded',
      outputs: { by: 'order.rejected', data: { orderId: 'o1' } },
    });
    await expect.poll(() => rows(mine!.executionId)).toEqual([]);
    expect(await tell('e2', 'order.approved', { orderId: 'o2' })).toBe(1);
    expect(await engine.pawl.result(other!.executionId)).toMatchObject({ outputs: { by: 'order.approved' } });
  });

  it('a wait gets the events that came after the start of the execution, and each event once (I10)', async () => {
    const counting = { ...decision, count: 2 };
    const { workflowId } = await engine.pawl.publish(graph('early', [held('before', to('decision')), counting]));
    const { executionId } = await engine.pawl.start(workflowId, { trigger: { orderId: 'o3' } });
    const before = await work.next('before');
    await tell('e1', 'order.approved', { orderId: 'o3' });
    await tell('e1', 'order.approved', { orderId: 'o3' });
    before.succeed();
    await tell('e2', 'order.rejected', { orderId: 'o3' });
    expect(await engine.pawl.result(executionId)).toMatchObject({
      outputs: { by: 'order.rejected', events: [{ eventId: 'e1' }, { eventId: 'e2' }] },
    });
  });

  it('a repeated start request writes missing event waits again, so an early event finds its execution', async () => {
    const { workflowId } = await engine.pawl.publish(graph('unseen', [decision]));
    const request = { trigger: { orderId: 'o5' }, requestId: 'once' };
    const { executionId } = await engine.pawl.start(workflowId, request);
    await engine.sql('delete from event_waits where execution_id = $1', [executionId]);
    expect(await engine.pawl.start(workflowId, request)).toMatchObject({ executionId, isNew: false });
    expect(await tell('e1', 'order.approved', { orderId: 'o5' })).toBe(1);
    expect(await engine.pawl.result(executionId)).toMatchObject({ outputs: { by: 'order.approved' } });
  });

  it('one event ends the waits of 2,000 executions, page by page', async () => {
    const flood = { id: 'flood', nodeType: 'wait', events: [{ type: 'flood' }] };
    const { workflowId } = await engine.pawl.publish(graph('flooded', [flood]));
    // More than one page of executions.
    const started = await Promise.all(Array.from({ length: 2_000 }, () => engine.pawl.start(workflowId)));
    expect(await engine.pawl.executions.tellWaiting(TENANT, { id: 'f1', type: 'flood', data: {} })).toBe(2_000);
    const results = await Promise.all(started.map(({ executionId }) => engine.pawl.result(executionId)));
    expect(new Set(results.map(({ status }) => status))).toEqual(new Set(['Succeeded']));
  });

  it('an execution goes on when its wait times out without an event', async () => {
    const result = await engine.run(graph('expires', [{ ...decision, timeoutMs: 20, onTimeout: 'continue' }]), {
      trigger: { orderId: 'o4' },
    });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { by: 'timeout', data: null } });
  });
});
