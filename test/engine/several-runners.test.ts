import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Pawl } from '../../src/main.ts';
import { engineUnderTest, eventually, QUICK, TENANT } from './engine-under-test.ts';
import { spawnRunner } from './spawned-runner.ts';
import { delay, echo, graph, held, to } from './workflow-definition.ts';

// The engine of this file only accepts requests; the tests start and stop the runners.
const engine = engineUnderTest({ runner: false });
const { work } = engine;
const short = { leaseMs: 700, leaseMarginMs: 200 };

async function start(definition: JsonObject, count: number): Promise<string[]> {
  const { workflowId } = await engine.pawl.publish(definition);
  const started = await Promise.all(
    Array.from({ length: count }, (_, n) => engine.pawl.start(workflowId, { trigger: { n } })),
  );
  return started.map(({ executionId }) => executionId);
}

const results = (ids: readonly string[]) => Promise.all(ids.map((id) => engine.pawl.result(id)));
const crashes = async (executionId: string) =>
  (
    await engine.sql<{ crashes: number }>('select crashes from execution_queue where execution_id = $1', [executionId])
  )[0]?.crashes;
const metric = (pawl: Pawl, name: Parameters<Pawl['metrics']['get']>[0]) => pawl.metrics.get(name) ?? 0;

describe('runners that share a database', () => {
  it('runners on one database share the work, and run each step once', async () => {
    const few = { engine: { maxParallelActions: 2, maxResident: 8 } };
    const runners = await Promise.all([engine.open(few), engine.open(few), engine.open(few)]);
    const ids = await start(
      graph('shared', [
        echo('a', { n: '{{ trigger.n }}' }, to('b')),
        echo('b', {}, to('c')),
        echo('c', { n: '{{ context.data.a.n }}' }),
      ]),
      150,
    );
    const ended = await results(ids);
    expect(ended.map(({ outputs }) => outputs)).toEqual(ids.map((_, n) => ({ n })));
    // Polled, because the result of an execution exists from its commit on, and its runner counts it when the reply has come.
    await expect.poll(() => runners.reduce((sum, runner) => sum + metric(runner, 'ended'), 0)).toBe(150);
    expect(runners.filter((runner) => metric(runner, 'ended') > 0).length).toBeGreaterThan(1);
    for (const executionId of ids.slice(0, 20)) expect(await engine.attempts(executionId)).toHaveLength(3);
  });
});

describe('a runner that is killed', () => {
  it('an execution of a killed runner keeps its records, and its open attempt runs again under the same key', async () => {
    const doomed = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...short } });
    const [executionId] = await start(
      graph('survives', [
        echo('done', { at: 'once' }, to('doing')),
        // No other node runs beside this one: any progress would reset the count of crashes.
        held('doing', { parameters: { n: '{{ trigger.n }}' }, ...to('nap') }),
        delay('nap', 100),
      ]),
      1,
    );
    expect(await doomed.nextBegan()).toMatchObject({ executionId, nodeId: 'doing', attempt: 1 });
    await doomed.kill();
    const before = await engine.attempts(executionId!);

    const heir = await engine.open({ engine: short });
    const again = await work.next('doing');
    expect(again.params).toEqual({ n: 0 });
    expect(again.context).toMatchObject({ attempt: 1, idempotencyKey: `${executionId}:doing` });
    expect(await crashes(executionId!)).toBe(1);
    again.succeed();
    expect((await heir.result(executionId!)).status).toBe('Succeeded');
    expect(metric(heir, 'takeovers')).toBe(1);
    const after = await engine.attempts(executionId!);
    expect(after).toHaveLength(3);
    expect(after.filter(({ nodeId }) => nodeId === 'done')).toEqual(before.filter(({ nodeId }) => nodeId === 'done'));
  });

  it('leaves no timer and no wait behind', async () => {
    const doomed = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...short } });
    const sleepers = await start(
      graph('sleeps-through', [delay('nap', 1_500, to('after')), echo('after', { n: '{{ trigger.n }}' })]),
      20,
    );
    await expect
      .poll(async () => (await Promise.all(sleepers.map(engine.queueState))).every((state) => state === 'parked'))
      .toBe(true);
    await doomed.kill();
    await engine.open({ engine: short });
    expect((await results(sleepers)).map(({ outputs }) => outputs)).toEqual(sleepers.map((_, n) => ({ n })));
  });
});

describe('a runner whose event loop is kept busy by an action', () => {
  it('a runner whose event loop is blocked keeps its lease, and no other runner takes its execution', async () => {
    const lease = { leaseMs: 3_000, leaseMarginMs: 500 };
    const busy = await spawnRunner({ url: engine.url, engine: { ...QUICK, ...lease } });
    const threads = `select pid from pg_stat_activity where application_name = 'pawl lease' and datname = current_database()`;
    await eventually(() => engine.sql(threads)).toHaveLength(1);
    const [executionId] = await start(
      graph('blocking', [{ id: 'block', actionType: 'test.block', parameters: { ms: 6_000 } }]),
      1,
    );
    await busy.nextBegan();
    const other = await engine.open({ engine: lease });
    expect(await other.result(executionId!)).toMatchObject({ status: 'Succeeded', outputs: { blocked: 6_000 } });
    expect(metric(other, 'takeovers')).toBe(0);
    expect(await engine.attempts(executionId!)).toHaveLength(1);
  });
});

describe('a runner that was declared dead and does not know it', () => {
  it('writes nothing more, and starts over', async () => {
    const zombie = await engine.open();
    const [executionId] = await start(graph('fenced', [held('step')]), 1);
    const first = await work.next();
    const [owner] = (await engine.pawl.store.runnerList()).filter(({ owned }) => owned > 0);
    expect(await engine.pawl.store.runnerDeclareDead({ runnerId: owner!.runnerId })).toEqual({
      declared: true,
      released: 1,
    });
    first.succeed({ from: 'the grave' });
    // The same process registers again, claims the execution anew and runs the attempt again.
    const second = await work.next();
    expect(second.context).toMatchObject({ attempt: 1, idempotencyKey: first.context.idempotencyKey });
    second.succeed({ from: 'the living' });
    expect(await zombie.result(executionId!)).toMatchObject({ status: 'Succeeded', outputs: { from: 'the living' } });
    expect(await engine.attempts(executionId!)).toHaveLength(1);
    expect(
      metric(zombie, 'zombieWritesRejected') +
        engine.warnings.filter(({ event }) => event.includes('declared dead')).length,
    ).toBeGreaterThan(0);
  });
});

describe('a graceful stop', () => {
  it('a stopping runner lets attempts finish, and gives back the aborted ones without counting a crash', async () => {
    const leaving = await engine.open({ engine: { drainMs: 400, abortGraceMs: 10_000 } });
    const ids = await start(graph('handed-over', [held('step', { parameters: { n: '{{ trigger.n }}' } })]), 10);
    const attempts = await Promise.all(ids.map(() => work.next()));
    const [finishing, stopping] = [attempts.slice(0, 5), attempts.slice(5)];
    for (const { context, fail } of stopping)
      context.signal.addEventListener('abort', () => fail(new Error('stopped')));
    const closing = leaving.close();
    for (const attempt of finishing) attempt.succeed({ finished: 'before the stop' });
    await closing;
    expect(await Promise.all(ids.map(async (id) => [await engine.queueState(id), await crashes(id)]))).toEqual(
      ids.map((id) => (finishing.some(({ context }) => context.executionId === id) ? [null, undefined] : ['ready', 0])),
    );

    const next = await engine.open();
    for (let left = 0; left < 5; left++) {
      const again = await work.next();
      expect(again.context.attempt).toBe(1);
      again.succeed({ finished: 'by the next' });
    }
    const ended = await results(ids);
    expect(ended.map(({ status }) => status)).toEqual(ids.map(() => 'Succeeded'));
    expect(metric(next, 'dispatched')).toBe(5);
    for (const id of ids) expect(await engine.attempts(id)).toHaveLength(1);
  });

  it('an attempt that ignores the stop stays with its runner until the lease has ended', async () => {
    // Long enough for the obedient attempt to be recorded, even on a busy machine.
    const leaving = await engine.open({ engine: { ...short, name: 'leaving', drainMs: 0, abortGraceMs: 500 } });
    const [deaf, obedient] = await start(graph('deaf', [held('step')]), 2);
    const attempts = [await work.next(), await work.next()];
    const attemptOf = (id?: string) => attempts.find(({ context }) => context.executionId === id)!;
    const { context, fail } = attemptOf(obedient);
    context.signal.addEventListener('abort', () => fail(new Error('stopped')));
    await leaving.close();
    expect(attemptOf(deaf).context.signal.aborted).toBe(true);
    expect([await engine.queueState(deaf!), await engine.queueState(obedient!)]).toEqual(['owned', 'ready']);

    await engine.open({ engine: short });
    for (let left = 0; left < 2; left++) (await work.next()).succeed({ by: 'the heir' });
    attemptOf(deaf).succeed({ by: 'the deaf' });
    expect((await results([deaf!, obedient!])).map(({ outputs }) => outputs)).toEqual([
      { by: 'the heir' },
      { by: 'the heir' },
    ]);
    const left = (await engine.pawl.store.runnerList()).filter(({ name }) => name === 'leaving');
    expect(left.map(({ state }) => state)).toEqual(['dead']);
  });

  it('a runner stopped in the middle of 200 executions loses none and repeats none', async () => {
    const leaving = await engine.open();
    const ids = await start(
      graph('stream', [echo('a', {}, to('b')), echo('b', {}, to('c')), echo('c', { n: '{{ trigger.n }}' })]),
      200,
    );
    await leaving.close();
    await engine.open();
    expect((await results(ids)).map(({ outputs }) => outputs)).toEqual(ids.map((_, n) => ({ n })));
    for (const id of ids.slice(0, 20)) expect(await engine.attempts(id)).toHaveLength(3);
  });

  it('hands over the parameters that the attempt was given, whatever was merged into them', async () => {
    const leaving = await engine.open({ engine: { drainMs: 0 } });
    const [executionId] = await start(
      graph('patched', [
        held('first', to('second')),
        held('second', { parameters: { a: 'template', b: 'template', n: '{{ trigger.n }}' } }),
      ]),
      1,
    );
    const first = await work.next('first');
    const signal = (signalId: string, type: 'UPDATE_PARAMS' | 'INJECT_OVERRIDE', payload: JsonObject) =>
      leaving.executions.signal(TENANT, executionId!, { signalId, type, payload: { stepId: 'second', ...payload } });
    await signal('s1', 'UPDATE_PARAMS', { newParams: { a: 'patched' } });
    await signal('s2', 'INJECT_OVERRIDE', { override: { b: 'overridden' } });
    await expect
      .poll(async () => (await engine.facts(executionId!)).filter(({ type }) => type === 'SignalApplied'))
      .toHaveLength(2);
    first.succeed();
    const before = await work.next('second');
    before.context.signal.addEventListener('abort', () => before.fail(new Error('stopped')));
    await leaving.close();
    await engine.open();
    const after = await work.next('second');
    expect(before.params).toEqual({ a: 'patched', b: 'overridden', n: 0 });
    expect(after.params).toEqual(before.params);
    after.succeed();
    expect((await engine.pawl.result(executionId!)).status).toBe('Succeeded');
  });
});
