import { describe, expect, it } from 'vitest';
import { settled } from '../../clock/hand-timers.testing.ts';
import type { NewExecution } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import { LimitedStarter } from './limited-starter.ts';

const item = (tenantId: string, executionId: string) => ({ tenantId, executionId, workflowId: 'w' }) as NewExecution;

function setup() {
  const begun: string[] = [];
  const open = new Map<string, (outcome: Error | null) => void>();
  const starter = new LimitedStarter({
    executionStartLimited({ items }) {
      const ids = items.map(({ executionId }) => executionId);
      begun.push(ids.join());
      return new Promise((resolve, reject) =>
        open.set(ids.join(), (error) =>
          error === null ? resolve(ids.map((executionId) => ({ executionId, existing: null }))) : reject(error),
        ),
      );
    },
  });
  const finish = async (ids: string, error: Error | null = null) => {
    open.get(ids)!(error);
    await settled();
  };
  return { starter, begun, finish };
}

describe('starts of tenants with a quota', () => {
  it('each tenant has one transaction at a time with all its waiting starts, and tenants take turns', async () => {
    const { starter, begun, finish } = setup();
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'd2'].map((id) => starter.start(item(id[0]!, id)));
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    await finish('a1');
    expect(begun.at(-1)).toBe('a2,a3');
    await finish('b1');
    expect(begun.at(-1)).toBe('d1,d2');
    for (const ids of ['c1', 'a2,a3', 'd1,d2']) await finish(ids);
    const started = (await Promise.all(all)).map(({ executionId }) => executionId);
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1', 'c1', 'd1', 'd2']);
  });

  it('a start that fails does not block the next ones', async () => {
    const { starter, begun, finish } = setup();
    const first = starter.start(item('a', 'a1')).catch((error: Error) => error.message);
    const second = starter.start(item('a', 'a2'));
    await finish('a1', new Error('the database is away'));
    await finish('a2');
    expect([await first, (await second).isNew, begun]).toEqual(['the database is away', true, ['a1', 'a2']]);
  });

  it('a start whose data cannot be stored does not fail the others', async () => {
    const bad = new StoreError('data', 'refused');
    const starter = new LimitedStarter({
      async executionStartLimited({ items }) {
        if (items.some(({ executionId }) => executionId === 'a3')) throw bad;
        return items.map(({ executionId }) => ({ executionId, existing: null }));
      },
    });
    const all = ['a1', 'a2', 'a3', 'a4'].map((id) => starter.start(item('a', id)));
    expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
    ]);
  });
});
