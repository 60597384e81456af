// Loops that end badly: lost to a join, out of room, cut short, given up, cancelled.

import { describe, expect, it } from 'vitest';
import { compiled, graph, node, to } from '../definition/definition.testing.ts';
import { DEFAULT_LIMITS } from '../expression/evaluation.ts';
import { nodeIndexOf } from '../plan/virtual-node.ts';
import { decide } from './decide.ts';
import { evolve } from './evolve.ts';
import { START } from './plan-builder.testing.ts';
import { initialState } from './state.ts';
import { GRACE_MS, startRun, T0 } from './test-run.testing.ts';

type Fields = Readonly<Record<string, unknown>>;

const once = { policies: { retry: { maxAttempts: 1 } } };
const each = (forEach: Fields, fields: Fields = {}): Fields =>
  node('a', { forEach, parameters: { n: '{{ item }}' }, ...once, ...fields });
const run = (nodes: readonly Fields[], fields: Fields = {}) => startRun(compiled(graph(nodes, fields)));

describe('a loop', () => {
  it('a retried loop keeps the items it started with, even if its template would now give others', () => {
    const nodes = [
      node('s', to('a', 'late')),
      each({ items: '{{ context.data.late?.list ?? [1, 2] }}', parallel: 1 }),
      node('late'),
    ];
    const loop = run(nodes, { startNode: 's' });
    loop.succeed('s');
    loop.succeed('late', { list: [7, 8, 9] });
    loop.fail('a[0]');
    expect(loop.state.error).toMatchObject({ code: 'ITEMS_FAILED' });
    loop.signal('RETRY_STEP', { stepId: 'a' });
    loop.succeed('a[0]', { n: 1 });
    loop.succeed('a[1]', { n: 2 });
    expect(loop.state.status).toBe('Succeeded');
    expect([...loop.paramsOf('a[0]'), ...loop.paramsOf('a[1]')]).toEqual([{ n: 1 }, { n: 1 }, { n: 2 }]);
  });

  it('a loop that lost a race stops with all its running items', () => {
    const race = run(
      [
        node('s', to('a', 'b')),
        each({ items: [1, 2] }, to('c')),
        node('b', to('c')),
        node('c', { join: { first: 1, cancelRest: true } }),
      ],
      { startNode: 's' },
    );
    race.succeed('s');
    race.succeed('b');
    expect(race.statusOf('a')).toBe('Cancelled');
    expect(race.commands.filter(({ type }) => type === 'abort')).toHaveLength(3);
    expect([race.state.frames.size, race.state.inFlight]).toEqual([0, 1]);
    expect(race.succeed('a[0]')).toEqual([]);
    race.succeed('c');
    expect(race.state.status).toBe('Succeeded');
  });

  it('an item whose template fails is a failed item, and runs nothing', () => {
    const broken = each({ items: [{ x: 1 }, {}], tolerate: 1 }, { parameters: { n: '{{ item.x }}' } });
    const it = run([broken]);
    it.succeed('a[0]', { ok: true });
    expect(it.commands.filter(({ type }) => type === 'runAction')).toHaveLength(1);
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({
      succeeded: 1,
      errors: [{ index: 1, code: 'TEMPLATE_ERROR' }],
    });
  });

  it('a result that does not fit into the context becomes null in the results of the loop', () => {
    const snapshot = { overflowBehavior: 'DropOversize', maxContextSizeBytes: 200 };
    const it = run([each({ items: [1, 2] }, to('b')), node('b')], { snapshot });
    it.succeed('a[0]', { text: 'x'.repeat(500) });
    it.succeed('a[1]', { ok: true });
    expect(it.find('NodeSucceeded', 'a').outputs).toMatchObject({ succeeded: 2, results: [null, { ok: true }] });
  });

  it('RERUN_FROM for an item of a cancelled loop is refused, and says to name the loop', () => {
    const it = run([each({ items: [1, 2] })]);
    it.send({ type: 'cancel', reason: 'enough' });
    it.now += GRACE_MS;
    it.send({ type: 'timerDue' });
    expect(it.state.status).toBe('Cancelled');
    expect(it.signal('RERUN_FROM', { stepId: 'a[0]' })).toMatchObject([
      { type: 'SignalApplied', refused: 'the step is part of a loop: name the loop' },
    ]);
    it.signal('RERUN_FROM', { stepId: 'a' });
    it.succeed('a[0]');
    it.succeed('a[1]');
    expect(it.state.status).toBe('Succeeded');
  });

  it('a reopened loop restarts the items that were running when the engine gave up', () => {
    const it = run([each({ items: [1, 2, 3], parallel: 2 })]);
    it.succeed('a[0]');
    // As a dead letter ends it, without waiting for running attempts.
    evolve(it.state, { type: 'ExecutionFailed', error: { code: 'POISON', message: 'deciding failed' } });
    it.send({ type: 'reopened' });
    expect(it.state.inFlight).toBe(3);
    expect(it.attemptsOf('a[1]')).toBe(2);
    it.succeed('a[1]');
    it.succeed('a[2]');
    expect(it.find('ExecutionSucceeded').outputs).toMatchObject({ succeeded: 3, failed: 0 });
  });

  it('a result for a node that does not exist is ignored', () => {
    const it = run([each({ items: [1] })]);
    const stray = { attempt: 1, outputs: {}, bytes: 2 };
    expect(it.send({ type: 'attemptSucceeded', node: 99_999, ...stray })).toEqual([]);
    expect(it.send({ type: 'webhookReceived', nodeId: 'nowhere', payload: {} })).toEqual([]);
    expect(nodeIndexOf(it.state.plan, 'b[0]')).toBe(-1);
    expect(nodeIndexOf(compiled(graph([each({ items: [1] }, to('b')), node('b')])), 'b[0]')).toBe(-1);
  });
});

describe('a decision', () => {
  const items = Array.from({ length: 6 }, (_, n) => n);
  const plan = compiled(graph([each({ items, parallel: 3 })]));
  const context = { now: T0, seed: 1, abortGraceMs: GRACE_MS };

  it('a decision that reached its effort limit leaves the remaining items to the next decision (S4)', () => {
    const state = initialState(plan, START);
    let decision = decide(state, { type: 'started' }, { ...context, effortPerDecision: 0 });
    const started = () => [...state.frames.values()].filter(({ nodes }) => nodes[0]!.status === 'Running').length;
    let decisions = 1;
    for (; decision.isCutShort; decisions++) {
      decision = decide(state, { type: 'goOn' }, { ...context, effortPerDecision: 0 });
    }
    expect(started()).toBe(3);
    expect(decisions).toBeGreaterThan(2);
  });

  it.each([
    ['expression.maxBytes', { maxBytes: 40 }],
    ['expression.maxRenderedBytes', { maxRenderedBytes: 40 }],
  ])('parameters and items that exceed %s fail the execution', (option, limits) => {
    const text = 'x'.repeat(100);
    for (const large of [node('a', { parameters: { text }, ...once }), each({ items: [text] })]) {
      const state = initialState(compiled(graph([large])), START);
      decide(state, { type: 'started' }, { ...context, limits: { ...DEFAULT_LIMITS, ...limits } });
      expect(state.error).toMatchObject({ code: 'PARAMETERS_TOO_LARGE', message: expect.stringContaining(option) });
    }
  });
});

describe('an end node', () => {
  const snapshot = { overflowBehavior: 'DropOversize', maxContextSizeBytes: 10 };

  it('an end node whose outputs do not fit into the context ends the execution without them', () => {
    const end = { id: 'a', nodeType: 'end', outputs: { text: 'x'.repeat(50) } };
    expect(run([end], { snapshot }).find('ExecutionSucceeded').outputs).toEqual({});
  });

  it('an end node whose error does not fit into the context still fails the execution', () => {
    const end = { id: 'a', nodeType: 'end', status: 'Failed', error: { code: 'REFUSED', message: 'x'.repeat(50) } };
    expect(run([end], { snapshot }).state.error).toMatchObject({ code: 'ENDED', nodeId: 'a' });
  });
});

describe('default outputs', () => {
  it('two nodes that return the same key cause a warning, because only one value is kept', () => {
    const it = run([node('a', to('b', 'c')), node('b'), node('c')]);
    it.succeed('a');
    it.succeed('b', { id: 1, name: 'b' });
    it.succeed('c', { id: 2 });
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ id: 2, name: 'b' });
    expect(it.find('Warning')).toMatchObject({
      code: 'OUTPUTS_OVERLAP',
      message: 'both `b` and `c` return `id`: only the latter is kept (write `outputs`)',
    });
  });

  it('overlapping outputs in a loop body cause one warning, not one for each item', () => {
    const nodes = [node('x', to('y', 'z')), node('y'), node('z')];
    const it = run([{ id: 'a', forEach: { items: [1, 2] }, body: { startNode: 'x', nodes } }]);
    for (const item of [0, 1]) for (const id of ['x', 'y', 'z']) it.succeed(`a[${item}].${id}`, { id });
    expect(it.facts.filter(({ type }) => type === 'Warning')).toMatchObject([{ code: 'OUTPUTS_OVERLAP', node: 0 }]);
    expect(it.state.status).toBe('Succeeded');
  });

  it('default outputs with different keys are all kept, without a warning', () => {
    const it = run([node('a', to('b', 'c')), node('b'), node('c')]);
    it.succeed('a');
    it.succeed('b', { one: 1 });
    it.succeed('c', 'text');
    expect(it.find('ExecutionSucceeded').outputs).toEqual({ one: 1, c: 'text' });
    expect(it.has('Warning')).toBe(false);
  });
});
