import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/main.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { delay, echo, graph, held, plan, to, tries } from './workflow-definition.ts';

const engine = engineUnderTest();
const { work } = engine;
const refusal = () => new TerminalError('NO', 'it will not do');

describe('a cancelled execution', () => {
  it('a cancel tells the running attempt to stop, and skips nodes that have not begun', async () => {
    const executionId = await engine.start(graph('cancelled', [held('now', to('never')), held('never')]));
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped as asked')));
    expect(await engine.pawl.executions.cancel(TENANT, executionId, 'not needed')).toEqual({ repeated: false });
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Cancelled',
      error: { code: 'CANCELLED', message: 'not needed' },
    });
    expect(await engine.nodes(executionId)).toEqual({ now: 'Cancelled', never: 'Skipped' });
    expect((await engine.attempts(executionId)).map(({ status }) => status)).toEqual(['Cancelled']);
  });

  it('a cancelled execution records the result that its attempt still returned', async () => {
    const executionId = await engine.start(graph('cancelled-late', [held('now')]));
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.succeed({ done: true }));
    await engine.pawl.executions.cancel(TENANT, executionId);
    expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
    expect(await engine.attempts(executionId)).toMatchObject([{ status: 'Succeeded', outputs: { done: true } }]);
  });

  it('a parked execution can be cancelled', async () => {
    const executionId = await engine.start(
      graph('cancelled-asleep', [delay('nap', 3_600_000, to('after')), echo('after')]),
    );
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    await engine.pawl.executions.cancel(TENANT, executionId);
    expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
    expect(await engine.nodes(executionId)).toEqual({ nap: 'Cancelled', after: 'Skipped' });
  });

  it('a cancel of a succeeded execution is a conflict', async () => {
    const { executionId } = await engine.run(graph('done', [echo('a')]));
    await expect(engine.pawl.executions.cancel(TENANT, executionId)).rejects.toMatchObject({
      code: 'WFENG002',
      message: 'the execution has already ended as Succeeded',
    });
    await expect(engine.pawl.executions.cancel('stranger', executionId)).rejects.toMatchObject({
      code: 'EXECUTION_NOT_FOUND',
    });
  });
});

describe('an unhandled failure', () => {
  const forked = (id: string) =>
    graph(id, [
      echo('fork', {}, to('bad', 'good')),
      held('bad', { ...tries(1), ...to('join') }),
      held('good', to('join')),
      held('join'),
    ]);

  it('an unhandled failure ends a graph at once, and running attempts may finish within the grace period', async () => {
    const executionId = await engine.start(forked('fail-fast'));
    const good = await work.next('good');
    good.context.signal.addEventListener('abort', () => good.succeed({ just: 'in time' }));
    (await work.next('bad')).fail(refusal());
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'NO', message: 'it will not do', nodeId: 'bad' },
    });
    expect(await engine.nodes(executionId)).toEqual({
      fork: 'Succeeded',
      bad: 'Failed',
      good: 'Succeeded',
      join: 'Skipped',
    });
    const skipped = (await engine.facts(executionId)).find(({ type }) => type === 'NodeSkipped');
    expect(skipped).toMatchObject({ reason: 'fail fast' });
  });

  it('an unhandled failure does not wait longer than the grace period for an attempt that ignores its signal', async () => {
    const executionId = await engine.start(forked('fail-fast-deaf'));
    const deaf = await work.next('good');
    (await work.next('bad')).fail(refusal());
    expect((await engine.pawl.result(executionId)).status).toBe('Failed');
    expect(await engine.nodes(executionId)).toMatchObject({ good: 'Cancelled' });
    deaf.succeed({ far: 'too late' });
    // Another execution runs to its end, so the late result has had every chance to do harm.
    expect((await engine.run(graph('after-deaf', [echo('a')]))).status).toBe('Succeeded');
    expect((await engine.attempts(executionId)).map(({ nodeId, status }) => [nodeId, status])).toContainEqual([
      'good',
      'Cancelled',
    ]);
  });

  it('an unhandled failure lets the other tasks of a pipeline go on', async () => {
    const result = await engine.run({
      name: 'pipeline-goes-on',
      tasks: {
        blocked: { url: 'http://127.0.0.1:9/private' },
        beside: { sleep: 0.02 },
        cascade: { needs: ['blocked'], sleep: 0 },
        rescue: { needs: ['blocked'], if: "tasks.blocked.status == 'failed'", sleep: 0.01 },
      },
    });
    expect(result.status).toBe('Succeeded');
    expect(await engine.nodes(result.executionId)).toEqual({
      blocked: 'Failed',
      beside: 'Succeeded',
      cascade: 'Skipped',
      rescue: 'Succeeded',
    });
    expect((await engine.attempts(result.executionId)).find(({ nodeId }) => nodeId === 'blocked')).toMatchObject({
      error: { code: 'SSRF_BLOCKED' },
    });
  });

  it('an unhandled failure lets running steps of an execution plan finish, and starts no new step', async () => {
    const executionId = await engine.start(plan('drains', { a: [], b: [], 'after-a': ['a'], 'after-b': ['b'] }));
    const b = await work.next('b');
    (await work.next('a')).fail(refusal());
    await eventually(() => engine.nodes(executionId)).toMatchObject({ a: 'Failed', b: 'Running' });
    expect(b.context.signal.aborted).toBe(false);
    b.succeed();
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Failed', error: { nodeId: 'a' } });
    expect(await engine.nodes(executionId)).toEqual({
      a: 'Failed',
      b: 'Succeeded',
      'after-a': 'Skipped',
      'after-b': 'Skipped',
    });
  });
});

describe('a handled failure', () => {
  it('a failure goes to the onFailure node, which sees the error, and the execution succeeds', async () => {
    const executionId = await engine.start(
      graph('handled', [
        held('risky', { ...tries(1), onFailure: 'report', ...to('happy') }),
        echo('happy'),
        echo('report', { why: '{{ context.data.risky.error.message }}', where: '{{ context.data.risky.errorNode }}' }),
      ]),
    );
    (await work.next()).fail(refusal());
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Succeeded',
      outputs: { why: 'it will not do', where: 'risky' },
    });
    expect(await engine.nodes(executionId)).toEqual({ risky: 'Failed', happy: 'Skipped', report: 'Succeeded' });
  });

  it('a failure goes along an explicit failure edge instead of onFailure', async () => {
    const executionId = await engine.start(
      graph('handled-explicitly', [
        held('risky', { ...tries(1), onFailure: 'fallback', edges: [{ targetNode: 'explicit', when: 'failure' }] }),
        echo('explicit', { by: 'edge' }),
        echo('fallback', { by: 'onFailure' }),
      ]),
    );
    (await work.next()).fail(refusal());
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { by: 'edge' } });
    expect(await engine.nodes(executionId)).toMatchObject({ explicit: 'Succeeded', fallback: 'Skipped' });
  });

  it('a failure goes along an always edge, whose condition may choose', async () => {
    const executionId = await engine.start(
      graph('handled-always', [
        held('risky', {
          ...tries(1),
          edges: [
            { targetNode: 'clean-up', when: 'always' },
            { targetNode: 'celebrate', when: 'always', condition: 'context.data.risky.error === undefined' },
          ],
        }),
        echo('clean-up'),
        echo('celebrate'),
      ]),
    );
    (await work.next()).fail(refusal());
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await engine.nodes(executionId)).toMatchObject({ 'clean-up': 'Succeeded', celebrate: 'Skipped' });
  });
});

describe('an execution that takes too long', () => {
  it('an execution is stopped at its deadline while an attempt runs', async () => {
    const executionId = await engine.start(
      graph('overdue', [held('long', to('next')), echo('next')], { timeoutMs: 1_000 }),
    );
    const attempt = await work.next();
    attempt.context.signal.addEventListener('abort', () => attempt.fail(new Error('stopped')));
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'TimedOut',
      error: { code: 'EXECUTION_TIMEOUT', message: 'The execution took longer than 1000 ms' },
    });
    expect(await engine.nodes(executionId)).toEqual({ long: 'Cancelled', next: 'Skipped' });
  });

  it('an execution is stopped at its deadline while it is parked in a sleep', async () => {
    const result = await engine.run(graph('overslept', [delay('nap', 3_600_000)], { timeoutMs: 200 }));
    expect(result.status).toBe('TimedOut');
    const { startedAt, endedAt } = await engine.pawl.executions.get(TENANT, result.executionId);
    expect(endedAt! - startedAt!).toBeGreaterThanOrEqual(200);
  });
});
