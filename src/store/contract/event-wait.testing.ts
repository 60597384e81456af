// Waits for events: found by tenant, type and key, page by page, and only while their execution is live (I10, S1).

import { expect, it } from 'vitest';
import type { EventWaitRow } from '../event-wait-port.ts';
import type { Store } from '../port.ts';
import { end, owning, start, TENANT } from './builder.testing.ts';

export function describeEventWait(store: () => Store): void {
  const wait = (executionId: string, overrides: Partial<EventWaitRow> = {}): EventWaitRow => ({
    tenantId: TENANT,
    eventType: 'order.paid',
    key: 'orderId=o1',
    executionId,
    nodeId: 'decision',
    ...overrides,
  });
  const match = (keys: readonly string[], overrides: Partial<Parameters<Store['eventWaitMatch']>[0]> = {}) =>
    store().eventWaitMatch({
      tenantId: TENANT,
      eventType: 'order.paid',
      keys: [...keys],
      after: null,
      limit: 10,
      ...overrides,
    });

  it('are found by their type and one of the keys, each node once, by nobody else', async () => {
    const [one, other] = (await start(store(), {}, {})).sort() as [string, string];
    await store().eventWaitAdd({
      waits: [wait(one), wait(one, { key: '' }), wait(other), wait(other, { nodeId: 'later', key: 'orderId=o2' })],
    });
    await store().eventWaitAdd({ waits: [wait(one)] });
    expect(await match(['', 'orderId=o1'])).toEqual([
      { executionId: one, nodeId: 'decision' },
      { executionId: other, nodeId: 'decision' },
    ]);
    expect(await match(['orderId=o2'])).toEqual([{ executionId: other, nodeId: 'later' }]);
    expect(await match(['orderId=o3'])).toEqual([]);
    expect(await match([''], { tenantId: 'other' })).toEqual([]);
    expect(await match([''], { eventType: 'order.lost' })).toEqual([]);
  });

  it('come in pages that follow each other', async () => {
    const [executionId] = (await start(store(), {})) as [string];
    await store().eventWaitAdd({ waits: ['a', 'b', 'c'].map((nodeId) => wait(executionId, { nodeId })) });
    const first = await match(['orderId=o1'], { limit: 2 });
    expect(first.map(({ nodeId }) => nodeId)).toEqual(['a', 'b']);
    const rest = await match(['orderId=o1'], { limit: 2, after: first.at(-1)! });
    expect(rest.map(({ nodeId }) => nodeId)).toEqual(['c']);
  });

  it('are not taken for an execution that has ended, and only go when it has', async () => {
    const { runner, ids } = await owning(store(), 1);
    const [executionId] = ids as [string];
    await store().eventWaitAdd({ waits: [wait(executionId)] });
    await store().eventWaitDrop({ executionIds: [executionId] });
    expect(await match(['orderId=o1'])).toHaveLength(1);
    await end(store(), runner, executionId);
    await store().eventWaitDrop({ executionIds: [executionId] });
    expect(await match(['orderId=o1'])).toEqual([]);
    await store().eventWaitAdd({ waits: [wait(executionId)] });
    expect(await match(['orderId=o1'])).toEqual([]);
  });
}
