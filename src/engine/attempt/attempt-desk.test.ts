import { describe, expect, it } from 'vitest';
import type { AttemptRequest, AttemptResult } from '../../action/attempt.ts';
import { Stop } from '../../action/stop.ts';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import { Pace } from '../pace.ts';
import { recordingObserver } from '../recording-observer.testing.ts';
import { AttemptDesk, type AttemptLimits } from './attempt-desk.ts';

const DONE: AttemptResult = { ok: true, outputsText: '{}' };

function setup(limits: Partial<AttemptLimits> = {}) {
  const timers = handTimers();
  const running = new Map<string, () => void>();
  const begun: string[] = [];
  const finished: [string, AttemptResult][] = [];
  const lease = { holds: true };
  const works = { begun: () => {}, atOnce: false, later: null as Promise<AttemptResult> | null };
  const desk = new AttemptDesk({
    limits: { total: 2, perTenant: 100, perAction: {}, heldBack: 100, ...limits },
    run: ({ nodeId }) => {
      begun.push(nodeId);
      works.begun();
      if (works.atOnce) return DONE;
      if (works.later !== null) return works.later;
      return new Promise((resolve) => running.set(nodeId, () => resolve(DONE)));
    },
    mayDispatch: () => lease.holds,
    timers,
    pace: new Pace(timers),
    observer: recordingObserver(),
  });
  const submit = (nodeId: string, rest: Partial<AttemptRequest> = {}) =>
    desk.submit(request(nodeId, rest), (result) => finished.push([nodeId, result]));
  const finish = async (nodeId: string) => {
    running.get(nodeId)!();
    await settled();
  };
  return { desk, timers, begun, finished, lease, works, submit, finish };
}

function request(nodeId: string, rest: Partial<AttemptRequest>): AttemptRequest {
  return {
    executionId: 'e',
    environmentId: 'default',
    tenantId: 't',
    workflowId: 'w',
    version: 1,
    mayHaveRun: false,
    traceparent: null,
    nodeId,
    actionType: 'test.work',
    attempt: 1,
    params: {},
    timeoutMs: null,
    idempotencyKey: nodeId,
    principal: {},
    correlationId: 'c',
    signal: new AbortController().signal,
    ...rest,
  };
}

describe('the wait of an attempt for a free place', () => {
  it('the result of an attempt has the time it waited for a place, if it waited', async () => {
    const { timers, finished, submit, finish } = setup({ total: 1 });
    submit('first');
    submit('second');
    timers.advance(40);
    await finish('first');
    await finish('second');
    expect(finished).toEqual([
      ['first', DONE],
      ['second', { ...DONE, waitedMs: 40 }],
    ]);
  });
});

describe('attempts that answer without a promise', () => {
  it('attempts that answer without a promise are done on submit, and take no place', () => {
    const { desk, finished, submit, works } = setup({ total: 1 });
    works.atOnce = true;
    for (const node of ['a', 'b', 'c']) submit(node);
    expect(finished.map(([node]) => node)).toEqual(['a', 'b', 'c']);
    expect(desk.free()).toBe(1);
  });

  it('attempts that answer at once leave a long queue one after the other, without recursion', async () => {
    const { begun, finished, submit, finish, works } = setup({ total: 1 });
    const many = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    for (const node of ['first', ...many]) submit(node);
    works.atOnce = true;
    await finish('first');
    expect(begun).toHaveLength(20_001);
    expect(finished.map(([node]) => node)).toEqual(['first', ...many]);
  });
});

describe('attempts that cannot be run', () => {
  it('an attempt that cannot be run fails, at once or later', async () => {
    const { desk, finished, submit, works } = setup({ total: 1 });
    const failed = { ok: false, error: { code: 'INTERNAL_ERROR', message: 'a bug' }, retryable: false };
    works.begun = () => {
      throw new Error('a bug');
    };
    submit('a');
    expect(finished).toEqual([['a', failed]]);
    works.begun = () => {};
    works.later = Promise.reject(new Error('a bug'));
    submit('b');
    await settled();
    expect(finished).toEqual([
      ['a', failed],
      ['b', failed],
    ]);
    expect(desk.free()).toBe(1);
  });
});

describe('attempts', () => {
  it('attempts that keep the event loop busy are spread over its turns', async () => {
    const { begun, submit, timers, works } = setup({ total: 10 });
    works.begun = () => timers.advance(6);
    for (const node of ['a', 'b', 'c', 'd', 'e']) submit(node);
    expect(begun).toEqual(['a', 'b']);
    await settled();
    expect(begun).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('attempts over the quota of their tenant wait, and take no place from others', async () => {
    const perTenantAction = (tenantId: string, actionType: string) =>
      tenantId === 'small' && actionType === 'http.step' ? 2 : Number.POSITIVE_INFINITY;
    const { desk, begun, submit, finish } = setup({ total: 5, perTenantAction });
    const small = { tenantId: 'small', actionType: 'http.step' };
    for (const node of ['a', 'b', 'c', 'd', 'e', 'f']) submit(node, small);
    expect(begun).toEqual(['a', 'b']);
    expect(desk.free()).toBe(3);
    submit('other-action', { tenantId: 'small' });
    submit('other-tenant', { tenantId: 'large', actionType: 'http.step' });
    expect(begun).toEqual(['a', 'b', 'other-action', 'other-tenant']);
    await finish('b');
    expect(begun.at(-1)).toBe('c');
    await finish('other-tenant');
    expect(begun).toHaveLength(5);
  });

  it('attempts start while there is a place, and then one by one as places become free', async () => {
    const { desk, begun, finished, submit, finish } = setup();
    for (const node of ['a', 'b', 'c', 'd']) submit(node);
    expect(begun).toEqual(['a', 'b']);
    expect(desk.free()).toBe(0);
    await finish('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    await finish('a');
    await finish('c');
    await finish('d');
    expect(finished).toEqual(['b', 'a', 'c', 'd'].map((node) => [node, DONE]));
    expect(desk.free()).toBe(2);
  });

  it('attempts of one tenant or one action type have their own limits', async () => {
    const { begun, submit, finish } = setup({ total: 10, perTenant: 2, perAction: { 'slack.post': 1 } });
    for (const node of ['a1', 'a2', 'a3']) submit(node, { tenantId: 'a' });
    for (const node of ['b1', 'b2']) submit(node, { tenantId: 'b', actionType: 'slack.post' });
    submit('c1', { tenantId: 'c', actionType: 'slack.post' });
    expect(begun).toEqual(['a1', 'a2', 'b1']);
    await finish('a1');
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3']);
    await finish('b1');
    await finish('b2');
    expect(begun.slice(4)).toEqual(['b2', 'c1']);
  });

  it('attempts of a busy tenant do not keep other tenants waiting', async () => {
    const { begun, submit, finish } = setup({ total: 1 });
    for (let n = 0; n < 50; n++) submit(`big ${n}`, { tenantId: 'big' });
    submit('small', { tenantId: 'small' });
    await finish('big 0');
    await finish(begun[1]!);
    expect(begun).toContain('small');
  });
});

describe('attempts behind the limit of their action type', () => {
  const scarce = { actionType: 'scarce' };

  it('attempts over the limit of their type are reported by workflow, and take no place from others', async () => {
    const { desk, submit } = setup({ total: 3, perAction: { scarce: 1 } });
    for (const node of ['a', 'b', 'c']) submit(node, scarce);
    submit('d', { ...scarce, workflowId: 'other' });
    expect(desk.free()).toBe(2);
    expect(desk.heldBack()).toEqual([
      { tenantId: 't', workflowId: 'w', count: 2 },
      { tenantId: 't', workflowId: 'other', count: 1 },
    ]);
    submit('e');
    submit('f');
    expect(desk.heldBack()).toEqual([]);
  });

  it('attempts over the limit of their type are refused when too many wait, and other types are accepted', async () => {
    const { begun, submit, finish } = setup({ total: 3, perAction: { scarce: 1 }, heldBack: 2 });
    expect(['a', 'b', 'c', 'd'].map((node) => submit(node, scarce))).toEqual([true, true, true, false]);
    expect(submit('e')).toBe(true);
    for (const node of ['a', 'b', 'c']) await finish(node);
    expect(begun).toEqual(['a', 'e', 'b', 'c']);
  });
});

describe('a waiting attempt', () => {
  it('a waiting attempt does not start when its execution stops', async () => {
    const { begun, finished, submit, finish } = setup({ total: 1 });
    const controller = new AbortController();
    submit('a');
    submit('b', { signal: controller.signal });
    submit('c');
    controller.abort();
    await finish('a');
    expect(begun).toEqual(['a', 'c']);
    expect(finished).toContainEqual(['b', expect.objectContaining({ ok: false, aborted: true })]);
  });

  it('a waiting attempt does not start when a stop was decided but is not yet known to be durable', async () => {
    const { begun, finished, submit, finish } = setup({ total: 1 });
    const stop = new Stop();
    submit('a');
    submit('b', { signal: stop });
    stop.withheld = true;
    await finish('a');
    expect(begun).toEqual(['a']);
    expect(finished).toContainEqual(['b', expect.objectContaining({ ok: false, aborted: true })]);
  });

  it('a waiting attempt does not start while the lease may be over, and starts after a renewal', () => {
    const { begun, submit, lease, timers } = setup();
    lease.holds = false;
    submit('a');
    timers.advance(1_000);
    expect(begun).toEqual([]);
    lease.holds = true;
    timers.advance(1_000);
    expect(begun).toEqual(['a']);
  });

  it('a waiting attempt is dropped when the desk closes, and running ones report no more', async () => {
    const { desk, begun, finished, submit, finish } = setup({ total: 1 });
    submit('a');
    submit('b');
    desk.close();
    await finish('a');
    expect(begun).toEqual(['a']);
    expect(finished).toEqual([]);
  });

  it('a waiting attempt is reported as aborted when the runner stops, and never starts', async () => {
    const { desk, begun, finished, submit, finish } = setup({ total: 1 });
    submit('a');
    submit('b');
    desk.dropWaiting();
    expect(finished).toEqual([['b', expect.objectContaining({ ok: false, aborted: true })]]);
    await finish('a');
    expect(begun).toEqual(['a']);
  });
});

describe('room for more executions', () => {
  it('the room is what the free places can do, minus the undecided executions', () => {
    const { desk, submit } = setup({ total: 3 });
    submit('a');
    expect([desk.roomFor(0), desk.roomFor(5), desk.roomFor(9)]).toEqual([8, 3, 0]);
  });

  it('places that became free recently count once more, because they will be free again', async () => {
    const { desk, submit, finish, timers } = setup({ total: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e']) submit(id);
    expect(desk.roomFor(0)).toBe(0);
    for (const id of ['a', 'b', 'c']) await finish(id);
    // Two run and none waits. Of the three that ended, only two had a place at the same time.
    expect([desk.free(), desk.roomFor(0)]).toEqual([0, 8]);
    timers.advance(30);
    expect(desk.roomFor(0)).toBe(8);
    timers.advance(30);
    expect(desk.roomFor(0)).toBe(0);
  });

  it('the room is doubled when recent attempts needed no place', () => {
    const { desk, submit, timers, works } = setup({ total: 2 });
    works.atOnce = true;
    for (const id of ['a', 'b', 'c']) submit(id);
    expect(desk.roomFor(0)).toBe(16);
    timers.advance(60);
    expect(desk.roomFor(0)).toBe(8);
  });

  it('there is no room while enough attempts wait', async () => {
    const { desk, submit, finish } = setup({ total: 2 });
    for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) submit(id);
    await finish('a');
    expect(desk.roomFor(0)).toBe(0);
  });
});
