import { describe, expect, it } from 'vitest';
import { handTimers } from '../clock/hand-timers.testing.ts';
import type { EndedExecution } from '../engine/environment.ts';
import type { ExecutionView } from '../store/reader-port.ts';
import { AwaitedEnds } from './awaited-ends.ts';
import { SharedLook } from './shared-look.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup(here: readonly string[] = [], slowestMs?: number) {
  const timers = handTimers();
  const looks: string[][] = [];
  const ended = new Set<string>();
  const shared = new SharedLook<string>({
    timers,
    ...(slowestMs === undefined ? {} : { slowestMs }),
    isHere: (id) => here.includes(id),
    warn: () => {},
    look: async (ids) => {
      looks.push(ids);
      return new Map(ids.filter((id) => ended.has(id)).map((id) => [id, 'ended']));
    },
  });
  const pass = async (ms: number) => {
    timers.advance(ms);
    await settled();
  };
  return { timers, shared, looks, ended, pass };
}

describe('a shared look for executions', () => {
  it('one look serves all waiting callers, and each gets its own result', async () => {
    const { shared, looks, ended, pass } = setup();
    const waiting = Array.from({ length: 50 }, (_, n) => shared.wait(`e${n}`));
    ended.add('e7');
    await pass(100);
    expect(looks).toHaveLength(1);
    expect(looks[0]).toHaveLength(50);
    expect(await waiting[7]!.promise).toBe('ended');
    expect(shared.size).toBe(49);
  });

  it('an execution in this process needs no look', async () => {
    const { shared, looks, pass } = setup(['here']);
    const waiting = shared.wait('here');
    await pass(100);
    await pass(100);
    expect(looks).toEqual([]);
    shared.tell('here', 'ended here');
    expect(await waiting.promise).toBe('ended here');
  });

  it('an execution that left this process without notice is found eventually', async () => {
    const { shared, ended, pass } = setup(['lost']);
    const waiting = shared.wait('lost');
    ended.add('lost');
    for (let round = 0; round < 25; round++) await pass(100);
    expect(await waiting.promise).toBe('ended');
  });

  it('looks become rarer while there is no news, and frequent again after some', async () => {
    const { shared, looks, ended, pass } = setup([], 1_000);
    for (const id of ['a', 'b']) shared.wait(id);
    for (let round = 0; round < 100; round++) await pass(100);
    expect(looks.length).toBeLessThan(15);
    ended.add('a');
    for (let round = 0; round < 10; round++) await pass(100);
    const before = looks.length;
    await pass(200);
    expect(looks.length).toBe(before + 1);
  });

  it('no look is taken without a waiting caller', async () => {
    const { timers, shared, looks, pass } = setup();
    const waiting = shared.wait('a');
    waiting.cancel();
    expect(await waiting.promise).toBeNull();
    await pass(1_000);
    expect([looks, timers.pending]).toEqual([[], 0]);
  });

  it('looks go on after a failed look', async () => {
    const timers = handTimers();
    const warnings: string[] = [];
    let tries = 0;
    const shared = new SharedLook<string>({
      timers,
      isHere: () => false,
      warn: (event) => void warnings.push(event),
      look: async (ids) => {
        tries += 1;
        if (tries === 1) throw new Error('the database is away');
        return new Map(ids.map((id) => [id, 'ended']));
      },
    });
    const waiting = shared.wait('a');
    for (let round = 0; round < 3; round++) {
      timers.advance(100);
      await settled();
    }
    expect(await waiting.promise).toBe('ended');
    expect(warnings).toHaveLength(1);
  });
});

describe('the end of an execution', () => {
  const outcome = {
    status: 'Succeeded',
    startedAt: 1,
    endedAt: 2,
    outputs: '{"x":1}',
    error: null,
    contextSnapshot: '{}',
  };
  const ended = { execution: { executionId: 'a', tenantId: 't' }, status: 'Succeeded', outcome } as EndedExecution;

  function awaited(reads: (Partial<ExecutionView> | null)[] = []) {
    const timers = handTimers();
    const asked: string[] = [];
    const ends = new AwaitedEnds({
      timers,
      isHere: () => false,
      warn: () => {},
      store: { executionEnded: async ({ executionIds }) => executionIds.filter((id) => id === 'elsewhere') },
      read: async (_tenantId, executionId) => {
        asked.push(executionId);
        return { executionId, endedAt: null, ...reads.shift() } as ExecutionView;
      },
    });
    return { timers, ends, asked };
  }

  it('an execution started and ended in this process needs no read', async () => {
    const { ends, asked } = awaited();
    ends.started({ tenantId: 't', executionId: 'a' });
    const result = ends.of({ tenantId: 't', executionId: 'a' }, { waitMs: 30_000 });
    ends.tell(ended);
    expect(await result).toMatchObject({ executionId: 'a', tenantId: 't', status: 'Succeeded', outputs: '{"x":1}' });
    expect(asked).toEqual([]);
  });

  it('an end in another process is read', async () => {
    const { timers, ends, asked } = awaited([{}, { endedAt: 5, status: 'Failed' }]);
    const result = ends.of({ tenantId: 't', executionId: 'elsewhere' }, { waitMs: 30_000 });
    await settled();
    timers.advance(100);
    await settled();
    expect(await result).toMatchObject({ status: 'Failed', endedAt: 5 });
    expect(asked).toEqual(['elsewhere', 'elsewhere']);
  });

  it('the wait for an end stops after its time, and when the caller leaves', async () => {
    const { timers, ends } = awaited();
    ends.started({ tenantId: 't', executionId: 'a' });
    const slow = ends.of({ tenantId: 't', executionId: 'a' }, { waitMs: 1_000 });
    const leaving = new AbortController();
    const left = ends.of({ tenantId: 't', executionId: 'a' }, { waitMs: 9_000, signal: leaving.signal });
    leaving.abort();
    expect(await left).toBeNull();
    timers.advance(1_000);
    expect(await slow).toBeNull();
  });
});
