import { describe, expect, it } from 'vitest';
import { call, compiled, graph, node, pipeline, to } from '../definition/definition.testing.ts';
import type { Json } from '../json/json.ts';
import { fromCheckpoint, toCheckpoint } from './checkpoint.ts';
import { applyTransition } from './evolve.ts';
import { START } from './plan-builder.testing.ts';
import { initialState } from './state.ts';
import { startRun } from './test-run.testing.ts';

type Fields = Readonly<Record<string, unknown>>;

const loop = (forEach: Fields, fields: Fields = {}, more: Fields[] = []) =>
  compiled(
    graph([
      node('a', {
        forEach,
        parameters: { n: '{{ item }}', at: '{{ index }}' },
        policies: { retry: { maxAttempts: 1 } },
        ...fields,
      }),
      ...more,
    ]),
  );
const items = '{{ trigger.items }}';
const run = (plan: ReturnType<typeof loop>, trigger: Json) => startRun(plan, { trigger });

describe('forEach', () => {
  it('forEach runs at most `parallel` items at a time, each with its own parameters and key', () => {
    const it = run(loop({ items, parallel: 2 }), { items: ['x', 'y', 'z'] });
    expect(it.commands).toMatchObject([
      { type: 'runAction', params: { n: 'x', at: 0 }, idempotencyKey: `${START.executionId}:a:0` },
      { type: 'runAction', params: { n: 'y', at: 1 }, idempotencyKey: `${START.executionId}:a:1` },
    ]);
    expect(it.state.frames.size).toBe(2);
    it.succeed('a[1]', { r: 1 });
    expect(it.paramsOf('a[2]')).toEqual([{ n: 'z', at: 2 }]);
    it.succeed('a[0]', { r: 0 });
    it.succeed('a[2]', { r: 2 });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({
      count: 3,
      succeeded: 3,
      failed: 0,
      results: [{ r: 0 }, { r: 1 }, { r: 2 }],
      errors: [],
    });
    expect(it.state.frames.size).toBe(0);
    expect(it.state.inFlight).toBe(0);
  });

  it('forEach over an empty list succeeds with empty results', () => {
    expect(run(loop({ items }), { items: [] }).find('ExecutionSucceeded').outputs).toMatchObject({
      count: 0,
      results: [],
    });
  });

  it.each([
    ['NOT_A_LIST', 'a value of type string', { items: 'text' }],
    ['NOT_A_LIST', 'null', { items: null }],
    ['TOO_MANY_ITEMS', 'there are 3 items; at most 2', { items: [1, 2, 3] }],
    ['TEMPLATE_ERROR', 'items', {}],
  ])('forEach fails with %s and says %s', (code, message, trigger) => {
    const { error } = run(loop({ items, maxItems: 2 }), trigger as Json).state;
    expect(error).toMatchObject({ code, message: expect.stringContaining(message), nodeId: 'a' });
  });

  it('forEach fails when too many items fail: no new item starts, and running items are aborted', () => {
    const it = run(loop({ items, parallel: 2 }), { items: [1, 2, 3] });
    it.fail('a[0]');
    expect(it.state.error).toMatchObject({
      code: 'ITEMS_FAILED',
      message: '1 of 3 items failed; item 0: BROKEN: it broke',
    });
    expect(it.commands).toContainEqual({ type: 'abort', node: 2, attempt: 1 });
    expect(it.succeed('a[1]')).toEqual([]);
  });

  it('forEach tolerates a number or a percentage of failed items', () => {
    for (const tolerate of [1, '40%']) {
      const it = run(loop({ items, tolerate }), { items: [1, 2, 3] });
      it.fail('a[1]');
      it.succeed('a[0]', { ok: 0 });
      it.succeed('a[2]', { ok: 2 });
      expect(it.find('ExecutionSucceeded').outputs).toEqual({
        count: 3,
        succeeded: 2,
        failed: 1,
        results: [{ ok: 0 }, null, { ok: 2 }],
        errors: [{ index: 1, code: 'BROKEN', message: 'it broke' }],
      });
    }
  });

  it('a failed item is retried by its policy, and a late result of the first attempt is ignored', () => {
    const it = run(loop({ items }, { policies: { retry: { maxAttempts: 2, jitter: false } } }), { items: [1] });
    it.fail('a[0]');
    expect(it.statusOf('a[0]')).toBe('Retrying');
    it.ring();
    expect(it.attemptsOf('a[0]')).toBe(2);
    expect(it.send({ type: 'attemptSucceeded', node: 1, attempt: 1, outputs: {}, bytes: 2 })).toEqual([]);
    it.succeed('a[0]');
    expect(it.state.status).toBe('Succeeded');
  });

  it('RETRY_STEP of a loop runs only items that have not succeeded, and attempts keep counting', () => {
    const it = run(loop({ items, parallel: 2 }), { items: ['x', 'y', 'z'] });
    it.succeed('a[0]', { r: 0 });
    it.fail('a[1]');
    expect(it.state.status).toBe('Failed');
    it.signal('RETRY_STEP', { stepId: 'a' });
    expect(it.paramsOf('a[1]')).toEqual([
      { n: 'y', at: 1 },
      { n: 'y', at: 1 },
    ]);
    expect(it.paramsOf('a[0]')).toHaveLength(1);
    expect(it.attemptsOf('a[1]')).toBe(2);
    it.succeed('a[1]', { r: 1 });
    it.succeed('a[2]', { r: 2 });
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({
      succeeded: 3,
      failed: 0,
      results: [{ r: 0 }, { r: 1 }, { r: 2 }],
    });
  });

  it('RETRY_STEP is refused for an item of a loop, and COMPLETE_STEP for the loop', () => {
    const it = run(loop({ items, tolerate: 1 }), { items: [1, 2] });
    expect(it.signal('RETRY_STEP', { stepId: 'a[0]' })).toMatchObject([{ refused: expect.stringContaining('loop') }]);
    expect(it.signal('COMPLETE_STEP', { stepId: 'a', outputs: {} })).toMatchObject([
      { refused: expect.stringContaining('loop') },
    ]);
    expect(it.signal('RETRY_STEP', { stepId: 'a[7]' })).toMatchObject([{ refused: 'no step "a[7]"' }]);
  });

  it('UPDATE_PARAMS of a loop applies to all items that start later, INJECT_OVERRIDE to the next one', () => {
    const it = run(loop({ items, parallel: 1 }), { items: [1, 2, 3] });
    it.signal('UPDATE_PARAMS', { stepId: 'a', newParams: { extra: true } });
    it.signal('INJECT_OVERRIDE', { stepId: 'a', override: { once: true } });
    it.succeed('a[0]');
    it.succeed('a[1]');
    expect(it.paramsOf('a[1]')).toEqual([{ n: 2, at: 1, extra: true, once: true }]);
    expect(it.paramsOf('a[2]')).toEqual([{ n: 3, at: 2, extra: true }]);
  });

  it('a paused loop starts no further item, and goes on after the resume', () => {
    const it = run(loop({ items, parallel: 1 }), { items: [1, 2] });
    it.signal('PAUSE');
    it.succeed('a[0]');
    expect(it.has('NodeStarted', 'a[1]')).toBe(false);
    it.signal('RESUME');
    expect(it.statusOf('a[1]')).toBe('Running');
  });

  it('a cancelled loop aborts every item, and a retry runs the items that had not succeeded', () => {
    const it = run(loop({ items, parallel: 2 }), { items: [1, 2, 3] });
    it.succeed('a[0]', { r: 0 });
    it.send({ type: 'cancel', reason: 'stop' });
    expect(it.commands.filter(({ type }) => type === 'abort')).toHaveLength(2);
    it.fail('a[1]', { aborted: true, retryable: false });
    it.ring();
    expect(it.state.status).toBe('Cancelled');
    it.signal('RETRY_STEP', { stepId: 'a' });
    expect(it.paramsOf('a[0]')).toHaveLength(1);
    it.succeed('a[1]');
    it.succeed('a[2]');
    expect(it.state.status).toBe('Succeeded');
  });

  it('results that do not fit into the context fail the loop with CONTEXT_OVERFLOW', () => {
    const small = compiled(graph([node('a', { forEach: { items } })], { snapshot: { maxContextSizeBytes: 30 } }));
    const it = run(small, { items: [1, 2] });
    it.succeed('a[0]', { text: 'xxxxxxxxxx' });
    it.succeed('a[1]', { text: 'xxxxxxxxxx' });
    expect(it.state.error).toMatchObject({ code: 'CONTEXT_OVERFLOW' });
  });

  it('forEach over a subworkflow starts one child for each item', () => {
    const plan = compiled(
      graph([
        { id: 'a', nodeType: 'subworkflow', workflowId: 'w', forEach: { items }, parameters: { n: '{{ item }}' } },
      ]),
    );
    const it = run(plan, { items: [1, 2] });
    const started = it.commands.flatMap((command) => (command.type === 'startChild' ? [command] : []));
    expect(started.map(({ trigger }) => trigger)).toEqual([{ n: 1 }, { n: 2 }]);
    for (const [index, { childId }] of started.entries()) {
      it.send({ type: 'childFinished', nodeId: `a[${index}]`, childId, status: 'Succeeded', outputs: { index } });
    }
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({ succeeded: 2 });
  });

  it('forEach of a pipeline returns the responses as results', () => {
    const plan = compiled(
      pipeline({ a: call({ for_each: '{{trigger.body.items}}', parallel: 1, retries: 0, body: { n: '{{item}}' } }) }),
    );
    const it = run(plan, { body: { items: [1] }, headers: {} });
    it.succeed('a[0]', { status_code: 200, body: { ok: true }, headers: {} });
    expect(it.state.data.a).toMatchObject({ status: 'success', count: 1, results: [{ status_code: 200 }] });
  });
});

describe('a loop body', () => {
  const body = (fields: Fields = {}) => ({
    startNode: 'charge',
    nodes: [
      node('charge', {
        parameters: { order: '{{ item.id }}', who: '{{ context.data.s.who }}' },
        ...to('ship'),
        policies: { retry: { maxAttempts: 1 } },
      }),
      node('ship', { parameters: { paid: '{{ context.data.charge.paid }}', at: '{{ index }}' } }),
    ],
    ...fields,
  });
  const plan = (forEach: Fields, fields: Fields = {}) =>
    compiled(graph([node('s', to('each')), { id: 'each', forEach, body: body(fields) }], { startNode: 's' }));

  it('a loop body is a workflow of its own for each item, and reads data from before the loop', () => {
    const it = run(
      plan({ items, parallel: 1 }, { outputs: { sent: '{{ context.data.ship.no }}', of: '{{ item.id }}' } }),
      {
        items: [{ id: 'o1' }, { id: 'o2' }],
      },
    );
    it.succeed('s', { who: 'me' });
    expect(it.paramsOf('each[0].charge')).toEqual([{ order: 'o1', who: 'me' }]);
    it.succeed('each[0].charge', { paid: 5 });
    expect(it.paramsOf('each[0].ship')).toEqual([{ paid: 5, at: 0 }]);
    it.succeed('each[0].ship', { no: 7 });
    it.succeed('each[1].charge', { paid: 6 });
    it.succeed('each[1].ship', { no: 8 });
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({
      results: [
        { sent: 7, of: 'o1' },
        { sent: 8, of: 'o2' },
      ],
    });
    expect(
      it.commands.flatMap((command) => (command.type === 'runAction' ? [command.idempotencyKey] : [])).slice(1, 3),
    ).toEqual([`${START.executionId}:each:0:charge`, `${START.executionId}:each:0:ship`]);
  });

  it('a body without outputs returns those of its last nodes, and an unhandled failure fails the item', () => {
    const it = run(plan({ items, tolerate: 1 }), { items: [{ id: 1 }, { id: 2 }] });
    it.succeed('s', { who: 'me' });
    it.fail('each[0].charge', { retryable: false });
    it.succeed('each[1].charge', { paid: 1 });
    it.succeed('each[1].ship', { no: 8 });
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({
      results: [null, { no: 8 }],
      errors: [{ index: 0, code: 'BROKEN' }],
    });
  });

  it('a body whose outputs cannot be rendered fails its item', () => {
    const it = run(plan({ items }, { outputs: { x: '{{ context.data.ship.no.deeper }}' } }), { items: [{ id: 1 }] });
    it.succeed('s', { who: 'me' });
    it.succeed('each[0].charge', { paid: 1 });
    it.succeed('each[0].ship', {});
    expect(it.state.error).toMatchObject({ code: 'ITEMS_FAILED', message: expect.stringContaining('TEMPLATE_ERROR') });
  });

  it('a node that fails in a body cancels the other nodes of its item', () => {
    const wide = compiled(
      graph([
        {
          id: 'a',
          forEach: { items },
          body: { startNode: 'x', nodes: [node('x', to('y', 'z')), node('y'), node('z')] },
        },
      ]),
    );
    const it = run(wide, { items: [1] });
    it.succeed('a[0].x');
    it.fail('a[0].y', { retryable: false });
    expect(it.find('NodeCancelled', 'a[0].z')).toMatchObject({ lost: true });
    expect(it.state.status).toBe('Failed');
  });
});

describe('repeat', () => {
  const poll = (repeat: Fields, fields: Fields = {}) =>
    compiled(
      graph([
        node('a', {
          repeat,
          parameters: { round: '{{ round }}', before: '{{ previous?.state }}'.replace('}}', "?? 'none' }}") },
          policies: { retry: { maxAttempts: 1 } },
          ...fields,
        }),
      ]),
    );
  const until = "output.state !== 'RUNNING'";

  it('repeat runs again until its condition holds, with a growing delay', () => {
    const it = run(poll({ until, delayMs: 100, backoffFactor: 2, maxDelayMs: 300 }), {});
    expect(it.paramsOf('a[0]')).toEqual([{ round: 0, before: 'none' }]);
    const waits: number[] = [];
    for (let round = 0; round < 4; round++) {
      it.succeed(`a[${round}]`, { state: 'RUNNING' });
      const { until: due } = it.find('NodeSleeping', 'a');
      waits.push(due - it.now);
      expect(it.statusOf('a')).toBe('Sleeping');
      it.ring();
    }
    expect(waits).toEqual([100, 200, 300, 300]);
    expect(it.paramsOf('a[4]')).toEqual([{ round: 4, before: 'RUNNING' }]);
    it.succeed('a[4]', { state: 'DONE' });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ state: 'DONE', rounds: 5 });
  });

  it('repeat fails with REPEAT_EXHAUSTED after its last round', () => {
    const it = run(poll({ until, maxRounds: 2 }), {});
    it.succeed('a[0]', { state: 'RUNNING' });
    it.succeed('a[1]', { state: 'RUNNING' });
    expect(it.state.error).toMatchObject({ code: 'REPEAT_EXHAUSTED', message: expect.stringContaining('2 rounds') });
  });

  it('a failed round fails the node with its code, and a retry runs that round again', () => {
    const it = run(poll({ until }), {});
    it.succeed('a[0]', { state: 'RUNNING' });
    it.fail('a[1]');
    expect(it.state.error).toMatchObject({ code: 'BROKEN', message: 'round 1: it broke' });
    it.signal('RETRY_STEP', { stepId: 'a' });
    expect(it.attemptsOf('a[1]')).toBe(2);
    it.succeed('a[1]', { state: 'DONE' });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ state: 'DONE', rounds: 2 });
  });

  it('repeat collects the lists of all rounds into one list', () => {
    const it = run(poll({ until: 'output.next == null', collect: '{{ output.items }}' }), {});
    it.succeed('a[0]', { items: [1, 2], next: 'x' });
    it.succeed('a[1]', { items: [3], next: null });
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({ rounds: 2, collected: [1, 2, 3] });
  });

  it.each([
    ['a list that is none', { until: 'true', collect: '{{ output.x }}' }, { x: 1 }, 'NOT_A_LIST'],
    ['a list that is not there', { until: 'true', collect: '{{ output.y.z }}' }, { x: 1 }, 'TEMPLATE_ERROR'],
    ['a condition that throws', { until: 'output.x.y.z' }, { w: 1 }, 'CONDITION_ERROR'],
  ])('%s fails the repeat node', (_, repeat, outputs, code) => {
    const it = run(poll(repeat), {});
    it.succeed('a[0]', outputs);
    expect(it.state.error).toMatchObject({ code });
  });

  it('collected lists count toward the context limit', () => {
    const of = (overflowBehavior: string) => {
      const repeat = { until: "output.x === 'end'", collect: '{{ [output.x, output.x, output.x] }}' };
      const snapshot = { maxContextSizeBytes: 20, overflowBehavior };
      const it = run(compiled(graph([node('a', { repeat })], { snapshot })), {});
      it.succeed('a[0]', { x: 'abcd' });
      return it;
    };
    expect(of('Fail').state.error?.code).toBe('CONTEXT_OVERFLOW');
    const dropped = of('DropOversize');
    expect(dropped.state.status).toBe('Running');
    expect(dropped.find('Warning')).toMatchObject({
      code: 'CONTEXT_OVERFLOW',
      message: expect.stringContaining('a[0]'),
    });
  });

  it('outputs of a round that are not an object are returned as `output`', () => {
    const it = run(poll({ until: 'true' }), {});
    it.succeed('a[0]', 'text');
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ output: 'text', rounds: 1 });
  });

  it('a pause holds the next round back, even when its delay ends during the pause', () => {
    const it = run(poll({ until, delayMs: 10 }), {});
    it.succeed('a[0]', { state: 'RUNNING' });
    it.signal('PAUSE');
    it.ring();
    expect(it.has('NodeStarted', 'a[1]')).toBe(false);
    it.signal('RESUME');
    expect(it.statusOf('a[1]')).toBe('Running');
  });
});

describe('I15: the state of a loop', () => {
  it('I15: a loop folded from its journal or loaded from a checkpoint has the same state', () => {
    const plan = loop({ items, parallel: 2, tolerate: 1 });
    const live = run(plan, { items: [1, 2, 3, 4] });
    live.succeed('a[0]', { r: 0 });
    live.fail('a[1]');
    const folded = initialState(plan, { ...START, trigger: { items: [1, 2, 3, 4] } });
    applyTransition(folded, { seq: 0, at: live.now, facts: live.facts });
    expect(JSON.stringify(toCheckpoint(folded))).toBe(
      JSON.stringify({ ...(toCheckpoint(live.state) as object), transitionSeq: 0 }).replaceAll(
        /"(started|rendered)Seq":\d+/g,
        '"$1Seq":0',
      ),
    );
    const again = fromCheckpoint(plan, live.state.start, JSON.parse(JSON.stringify(toCheckpoint(live.state))));
    expect(JSON.stringify(toCheckpoint(again))).toBe(JSON.stringify(toCheckpoint(live.state)));
    expect(again.inFlight).toBe(live.state.inFlight);
  });
});
