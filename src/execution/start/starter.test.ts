import { describe, expect, it } from 'vitest';
import { settled } from '../../clock/hand-timers.testing.ts';
import { systemTimers } from '../../clock/system-timers.ts';
import type { ExecutionStore, NewExecution, StartOutcome } from '../../store/port.ts';
import { StoreError } from '../../store/store-error.ts';
import { Starter } from './starter.ts';

type Insert = (items: NewExecution[]) => Promise<StartOutcome[]>;

function setup(insert: Insert) {
  const batches: string[][] = [];
  const accepted = { count: 0 };
  const store: Pick<ExecutionStore, 'executionStart'> = {
    executionStart: ({ items }) => {
      batches.push(items.map(({ executionId }) => executionId));
      return insert(items);
    },
  };
  const starter = new Starter(store as ExecutionStore, systemTimers, () => {
    accepted.count++;
  });
  return { starter, batches, accepted };
}

function execution(executionId: string): NewExecution {
  return {
    executionId,
    tenantId: 't',
    workflowId: 'w',
    version: 1,
    format: 'graph',
    priority: 5,
    trigger: '{}',
    spec: null,
    principal: '{}',
    correlationId: 'c',
    requestId: `request of ${executionId}`,
    parentId: null,
    parentNode: null,
    depth: 0,
    projectId: 'p',
    environmentId: 'e',
    createdAt: 0,
  };
}

const fresh: Insert = async (items) => items.map(({ executionId }) => ({ executionId, existing: null }));

describe('requests to start', () => {
  it('requests that arrive together are one statement, and runners are notified once', async () => {
    const { starter, batches, accepted } = setup(fresh);
    const started = await Promise.all(['a', 'b', 'c'].map((id) => starter.start(execution(id))));
    expect(started).toEqual(['a', 'b', 'c'].map((executionId) => ({ executionId, isNew: true, createdAt: 0 })));
    expect(batches).toEqual([['a', 'b', 'c']]);
    expect(accepted.count).toBe(1);
  });

  it('a request is answered only when its row is durable, with at most two statements in flight', async () => {
    const replies: (() => void)[] = [];
    const { starter, batches } = setup(async (items) => {
      await new Promise<void>((resolve) => replies.push(resolve));
      return fresh(items);
    });
    const answered: string[] = [];
    const ask = (id: string) => void starter.start(execution(id)).then(({ executionId }) => answered.push(executionId));
    for (const id of ['a', 'b', 'c', 'd']) {
      ask(id);
      await settled();
    }
    expect(batches).toEqual([['a'], ['b']]);
    expect(answered).toEqual([]);
    replies[0]!();
    await settled();
    expect(answered).toEqual(['a']);
    expect(batches).toEqual([['a'], ['b'], ['c', 'd']]);
  });

  it('a statement has at most 256 requests', async () => {
    const { starter, batches } = setup(fresh);
    await Promise.all(Array.from({ length: 600 }, (_, n) => starter.start(execution(`e${n}`))));
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(256);
    expect(batches.flat()).toHaveLength(600);
  });
});

describe('a repeated request', () => {
  it('a repeated request gets its execution, and is a conflict for another workflow', async () => {
    const { starter } = setup(async (items) =>
      items.map(({ executionId }) => ({
        executionId,
        existing: { executionId: 'first', workflowId: executionId === 'same' ? 'w' : 'other' },
      })),
    );
    expect(await starter.start(execution('same'))).toEqual({ executionId: 'first', isNew: false });
    await expect(starter.start(execution('different'))).rejects.toMatchObject({ code: 'WFENG001' });
  });
});

describe('a statement that fails', () => {
  it('bad data in one request refuses that request, and accepts the others', async () => {
    const { starter } = setup(async (items) => {
      if (items.some(({ executionId }) => executionId === 'bad')) throw new StoreError('data', 'secret details');
      return fresh(items);
    });
    const started = await Promise.allSettled(['a', 'b', 'bad', 'c', 'd'].map((id) => starter.start(execution(id))));
    expect(started.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(started[2]).toMatchObject({ reason: { code: 'REQUEST_INVALID' } });
    expect(String((started[2] as PromiseRejectedResult).reason)).not.toContain('secret');
  });

  it('any other failure is reported to all requests, and the next request is served', async () => {
    let broken = true;
    const { starter } = setup(async (items) => {
      if (broken) throw new StoreError('unknown', 'the connection broke');
      return fresh(items);
    });
    const started = await Promise.allSettled(['a', 'b'].map((id) => starter.start(execution(id))));
    expect(started.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    broken = false;
    expect(await starter.start(execution('c'))).toEqual({ executionId: 'c', isNew: true, createdAt: 0 });
  });
});
