import { describe, expect, it } from 'vitest';
import { call, codesOf, compiled, graph, node, nodeOf, pipeline, to } from '../definition/definition.testing.ts';
import { fromCheckpoint, toCheckpoint } from './checkpoint.ts';
import { START } from './plan-builder.testing.ts';
import { startRun } from './test-run.testing.ts';
import { earlySubscriptions, eventKey, eventKeys } from './waiting.ts';

type Fields = Readonly<Record<string, unknown>>;

const approved = { type: 'order.approved', key: '{{ trigger.orderId }}', at: 'orderId' };
const rejected = { type: 'order.rejected', key: '{{ trigger.orderId }}', at: 'orderId' };
const wait = (fields: Fields = {}): Fields => ({ id: 'w', nodeType: 'wait', events: [approved, rejected], ...fields });
const run = (fields: Fields = {}, before: Fields[] = []) => {
  const nodes = [...before, wait(fields)];
  return startRun(compiled(graph(nodes, { startNode: before.length > 0 ? 's' : 'w' })), {
    trigger: { orderId: 'o7' },
    callbackUrls: { w: 'https://pawl.example/wh/1' },
  });
};
const event = (eventId: string, eventType = 'order.approved', data = { orderId: 'o7' }) =>
  ({ type: 'eventReceived', nodeId: 'w', eventId, eventType, data }) as const;

describe('a wait', () => {
  it('a wait subscribes by event type and key, and ends with the first matching event', () => {
    const it = run();
    expect(it.commands).toContainEqual({
      type: 'subscribe',
      node: 0,
      subscriptions: [
        { type: 'order.approved', key: 'orderId=o7' },
        { type: 'order.rejected', key: 'orderId=o7' },
      ],
    });
    it.send(event('e1', 'order.rejected'));
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ by: 'order.rejected', data: { orderId: 'o7' } });
    expect(it.send(event('e2'))).toEqual([]);
  });

  it('a wait gets an event that came before the wait began, once (I10)', () => {
    const it = run({}, [node('s', to('w'))]);
    it.send(event('e1'));
    expect(it.send(event('e1'))).toEqual([]);
    it.succeed('s');
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({ by: 'order.approved' });
  });

  it('a wait whose key reads a node subscribes when the wait begins', () => {
    const events = [{ type: 'x', key: '{{ context.data.s.id }}', at: 'id' }];
    const it = run({ events }, [node('s', to('w'))]);
    expect(it.commands.some(({ type }) => type === 'subscribe')).toBe(false);
    it.succeed('s', { id: 5 });
    expect(it.commands).toContainEqual({ type: 'subscribe', node: 1, subscriptions: [{ type: 'x', key: 'id=5' }] });
  });

  it('a wait whose key cannot be rendered fails', () => {
    const events = [{ type: 'x', key: '{{ context.data.s.no.way }}', at: 'id' }];
    const it = run({ events }, [node('s', to('w'))]);
    it.succeed('s', {});
    expect(it.state.error).toMatchObject({ code: 'TEMPLATE_ERROR', nodeId: 'w' });
    expect(run({ events: [{ type: 'x', key: '{{ trigger.no.way }}', at: 'id' }] }).state.error?.code).toBe(
      'TEMPLATE_ERROR',
    );
  });

  it('a wait with a callback has a URL from the start, and an early call is kept', () => {
    const s = node('s', { parameters: { to: '{{ wait.w.url }}' }, ...to('w') });
    const it = run({ callback: true }, [s]);
    expect(it.paramsOf('s')).toEqual([{ to: 'https://pawl.example/wh/1' }]);
    it.send({ type: 'webhookReceived', nodeId: 'w', payload: { yes: true } });
    it.succeed('s');
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ by: 'callback', data: { yes: true } });
  });

  it('a wait with a callback ends with the call, and a wait without one ignores the call', () => {
    const it = run({ callback: true });
    it.send({ type: 'webhookReceived', nodeId: 'w', payload: 1 });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ by: 'callback', data: 1 });
    const without = run();
    expect(without.send({ type: 'webhookReceived', nodeId: 'w', payload: 1 })).toEqual([]);
  });

  it('a wait that times out fails with WAIT_TIMEOUT, or continues with onTimeout', () => {
    const late = run({ timeoutMs: 100 });
    late.ring();
    expect(late.state.error).toMatchObject({ code: 'WAIT_TIMEOUT' });
    expect(late.statusOf('w')).toBe('TimedOut');
    const on = run({ timeoutMs: 100, onTimeout: 'continue' });
    on.ring();
    expect(on.find('ExecutionSucceeded').outputs).toEqual({ by: 'timeout', data: null });
    const some = run({ timeoutMs: 100, onTimeout: 'continue', count: 2 });
    some.send(event('e1'));
    some.ring();
    expect(some.find('ExecutionSucceeded').outputs).toMatchObject({
      by: 'timeout',
      events: [{ by: 'order.approved' }],
    });
  });

  it('a wait collects the number of events that its count says', () => {
    const it = run({ count: 2 });
    it.send(event('e1'));
    it.send(event('e1'));
    expect(it.statusOf('w')).toBe('Waiting');
    it.send(event('e2', 'order.rejected'));
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({
      by: 'order.rejected',
      events: [{ eventId: 'e1' }, { eventId: 'e2' }],
    });
  });

  it('a wait continues until its condition holds, and a condition that throws fails the wait', () => {
    const it = run({ until: "events.filter(one => one.by === 'order.approved').length > 1" });
    it.send(event('e1'));
    it.send(event('e2', 'order.rejected'));
    it.send(event('e3'));
    expect(it.state.status).toBe('Succeeded');
    const bad = run({ until: 'events[0].data.no.way' });
    bad.send(event('e1'));
    expect(bad.state.error?.code).toBe('CONDITION_ERROR');
  });

  it('a wait collects at most a thousand events', () => {
    const it = run({ until: 'false' });
    for (let n = 0; n < 1_000; n++) it.send(event(`e${n}`));
    expect(it.state.error?.code).toBe('TOO_MANY_EVENTS');
    const early = run({ count: 2 }, [node('s', to('w'))]);
    for (let n = 0; n < 1_001; n++) early.send(event(`e${n}`));
    expect(early.state.nodes[1]!.arrivals).toHaveLength(1_000);
  });

  it('a wait of a pipeline says which event ended it', () => {
    const tasks = {
      w: { wait_for: { webhook: true, events: [{ type: 'paid' }], timeout: '1d' } },
      b: call({ needs: ['w'], body: '{{tasks.w.body.x}}' }),
    };
    const it = startRun(compiled(pipeline(tasks, { outputs: { by: '{{tasks.w.by}}' } })), {
      trigger: { body: {}, headers: {} },
    });
    it.send({ ...event('e1', 'paid'), data: { x: 'y' } as never });
    expect(it.paramsOf('b')).toMatchObject([{ body: 'y' }]);
    it.succeed('b', { status_code: 200, body: {}, headers: {} });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ by: 'paid' });
  });

  it('I15: a wait goes on after a checkpoint', () => {
    const it = run({ count: 2 });
    it.send(event('e1'));
    const again = fromCheckpoint(it.state.plan, it.state.start, JSON.parse(JSON.stringify(toCheckpoint(it.state))));
    expect(JSON.stringify(toCheckpoint(again))).toBe(JSON.stringify(toCheckpoint(it.state)));
  });
});

describe('waits in a definition', () => {
  it('a wait needs an event, a callback or a timeout, and key and at need each other', () => {
    const wrong = (fields: Fields) => codesOf(graph([{ id: 'a', nodeType: 'wait', ...fields }]));
    expect(wrong({})).toEqual(['NOTHING_AWAITED /nodes/0']);
    expect(wrong({ events: [{ type: 'x', key: 'k' }] })).toEqual(['REQUIRED /nodes/0/events/0/at']);
    expect(wrong({ events: [{ type: 'x', at: 'k' }] })).toEqual(['REQUIRED /nodes/0/events/0/key']);
    expect(wrong({ timeoutMs: 5 })).toEqual([]);
    expect(nodeOf(graph([wait({ id: 'a', until: 'events.length > 1' })]), 'a').step).toMatchObject({
      count: 1,
      onTimeout: 'fail',
    });
    expect(codesOf(graph([node('a', { parameters: { x: '{{ wait.b.url }}' }, ...to('b') }), node('b')]))).toEqual([
      'NOT_A_WEBHOOK /nodes/0/parameters/x',
    ]);
  });

  it('the checksum of a plan depends on what a wait waits for', () => {
    const sums = [wait(), wait({ events: [approved] }), wait({ count: 2 }), wait({ until: 'events.length > 1' })].map(
      (one) => compiled(graph([{ ...one, id: 'a' }])).checksum,
    );
    expect(new Set(sums).size).toBe(4);
  });
});

describe('keys of an event', () => {
  it('the keys of an event are all its values with their paths', () => {
    expect(eventKeys({ orderId: 'o7', n: 5, a: { b: true, c: [1] }, none: null })).toEqual([
      '',
      'orderId=o7',
      'n=5',
      'a.b=true',
      'a.c.0=1',
      'none=null',
    ]);
    expect(eventKeys('text')).toEqual(['']);
  });

  it('the keys of an event are limited in number, depth and length', () => {
    expect(eventKeys(Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`k${n}`, n])))).toHaveLength(201);
    expect(eventKeys({ a: { b: { c: { d: { e: 1 } } } } })).toEqual(['']);
    expect(eventKey('a', 'x'.repeat(5_000))).toHaveLength(66);
  });
});

describe('early waits', () => {
  const plan = (key: string) => compiled(graph([node('a', to('w')), wait({ events: [{ ...approved, key }] })]));

  it('early waits are known before the first decision, from the start input of the execution', () => {
    const start = { ...START, trigger: { orderId: 'o7' } };
    expect(earlySubscriptions(plan('{{ trigger.orderId }}'), start)).toEqual([
      { type: 'EventsAwaited', node: 1, subscriptions: [{ type: 'order.approved', key: 'orderId=o7' }] },
    ]);
    expect(earlySubscriptions(plan('{{ trigger.orderId.x }}'), START)).toEqual([]);
    for (const late of ['{{ context.data.a.id }}', '{{ execution.startedAt }}']) {
      expect(plan(late).earlyWaits).toBeUndefined();
    }
  });

  it('early waits subscribe again when the execution is reopened', () => {
    const it = startRun(plan('{{ trigger.orderId }}'), { trigger: { orderId: 'o7' } });
    it.fail('a', { retryable: false });
    expect(it.state.status).toBe('Failed');
    const before = it.commands.length;
    it.signal('RETRY_STEP', { stepId: 'a', force: true });
    expect(it.commands.slice(before)).toContainEqual(expect.objectContaining({ type: 'subscribe' }));
    it.send(event('e1'));
    it.succeed('a');
    expect(it.state.status).toBe('Succeeded');
  });

  it('early waits keep no more events than they ask for', () => {
    const it = startRun(compiled(graph([node('a', to('w')), wait({ count: 2 })])), { trigger: { orderId: 'o7' } });
    for (const id of ['e1', 'e2', 'e3']) it.send(event(id));
    it.succeed('a');
    expect(it.find('NodeSucceeded', 'w').outputs).toMatchObject({ events: [{ eventId: 'e1' }, { eventId: 'e2' }] });
  });
});
