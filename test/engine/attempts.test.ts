import { describe, expect, it } from 'vitest';
import { RetryableError, TerminalError } from '../../src/main.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { echo, graph, held, to, tries } from './workflow-definition.ts';

const engine = engineUnderTest();

describe('a node that fails', () => {
  it('a failing node is retried with the same parameters and key, and every attempt is recorded', async () => {
    const executionId = await engine.start(
      graph('persistent', [held('call', { ...tries(3), parameters: { order: '{{ trigger.order }}' } })]),
      { trigger: { order: 7 } },
    );
    const first = await engine.work.next();
    first.fail(new RetryableError('BUSY', 'busy'));
    const second = await engine.work.next();
    second.fail(new Error('anything else is tried again by policy'));
    const third = await engine.work.next();
    third.succeed({ id: 'x1' });

    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { id: 'x1' } });
    expect([first, second, third].map(({ params, context }) => [params, context.attempt])).toEqual([
      [{ order: 7 }, 1],
      [{ order: 7 }, 2],
      [{ order: 7 }, 3],
    ]);
    const keys = [first, second, third].map(({ context }) => context.idempotencyKey);
    expect(new Set(keys)).toEqual(new Set([`${executionId}:call`]));
    expect(await engine.attempts(executionId)).toEqual([
      attempt(1, 'RetriableFailure', { error: { code: 'BUSY', message: 'busy' } }),
      attempt(2, 'RetriableFailure', {
        error: { code: 'ACTION_FAILED', message: 'anything else is tried again by policy' },
      }),
      attempt(3, 'Succeeded', { outputs: { id: 'x1' } }),
    ]);
    const rows = await engine.sql(
      'select attempt, retry_count, parameters from action_executions_view where workflow_execution_id = $1 order by attempt',
      [executionId],
    );
    expect(rows).toEqual([1, 2, 3].map((n) => ({ attempt: n, retry_count: n - 1, parameters: { order: 7 } })));

    function attempt(number: number, status: string, rest: object) {
      const ending = { outputs: null, error: null, ...rest };
      return { nodeId: 'call', attempt: number, status, parameters: { order: 7 }, ...ending };
    }
  });

  it('a failing node fails for good when its attempts are used up', async () => {
    const executionId = await engine.start(graph('unlucky', [held('call', tries(2))]));
    (await engine.work.next()).fail(new RetryableError('DOWN', 'no'));
    (await engine.work.next()).fail(new RetryableError('DOWN', 'still no'));
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'DOWN', message: 'still no', nodeId: 'call' },
    });
    expect((await engine.attempts(executionId)).map(({ status }) => status)).toEqual(['RetriableFailure', 'Failed']);
  });

  it('a node that fails with a terminal error is not retried', async () => {
    const executionId = await engine.start(graph('refused', [held('call', tries(5))]));
    (await engine.work.next()).fail(new TerminalError('NO_ACCOUNT', 'no such account'));
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'NO_ACCOUNT' } });
    expect(await engine.attempts(executionId)).toHaveLength(1);
  });

  it('a failing node is retried after the delay it asks for, and its execution is parked meanwhile', async () => {
    const executionId = await engine.start(graph('throttled', [held('call', tries(2))]));
    (await engine.work.next()).fail(new RetryableError('BUSY', 'later', { retryAfterMs: 1_000 }));
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    const again = await engine.work.next();
    expect(again.context.attempt).toBe(2);
    again.succeed();
    await engine.pawl.result(executionId);
    const [first, second] = await engine.pawl.store.executionAttempts({ executionId, parameters: true });
    expect(second!.startedAt - first!.endedAt).toBeGreaterThanOrEqual(1_000);
  });
});

describe('parameters of a retry', () => {
  const definition = (id: string, rerenderOnRetry: boolean) =>
    graph(id, [
      echo('start', {}, to('flaky', 'source')),
      held('source'),
      held('flaky', {
        parameters: { seen: '{{ context.data.source?.value ?? "nothing yet" }}' },
        ...tries(2, { rerenderOnRetry }),
      }),
    ]);

  it.each([
    { rerenderOnRetry: false, expected: 'nothing yet' },
    { rerenderOnRetry: true, expected: 'news' },
  ])(
    'the parameters of a retry with rerenderOnRetry $rerenderOnRetry are "$expected"',
    async ({ rerenderOnRetry, expected }) => {
      const executionId = await engine.start(definition(`rerender-${rerenderOnRetry}`, rerenderOnRetry));
      const first = await engine.work.next('flaky');
      (await engine.work.next('source')).succeed({ value: 'news' });
      await eventually(() => engine.nodes(executionId)).toMatchObject({ source: 'Succeeded' });
      first.fail(new RetryableError('BUSY', 'again'));
      const second = await engine.work.next('flaky');
      second.succeed();
      await engine.pawl.result(executionId);
      expect([first.params, second.params]).toEqual([{ seen: 'nothing yet' }, { seen: expected }]);
      const recorded = (await engine.attempts(executionId)).filter(({ nodeId }) => nodeId === 'flaky');
      expect(recorded.map(({ parameters }) => parameters)).toEqual([{ seen: 'nothing yet' }, { seen: expected }]);
    },
  );
});

describe('an attempt that takes too long', () => {
  it('a slow attempt is told to stop, counts as timed out, and is retried', async () => {
    const executionId = await engine.start(graph('slow', [held('call', tries(2, { timeoutMs: 30 }))]));
    const first = await engine.work.next();
    await aborted(first.context.signal);
    const second = await engine.work.next();
    await aborted(second.context.signal);
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'ATTEMPT_TIMEOUT', nodeId: 'call' },
    });
    expect((await engine.attempts(executionId)).map(({ status }) => status)).toEqual(['RetriableFailure', 'TimedOut']);
    expect(await engine.nodes(executionId)).toEqual({ call: 'TimedOut' });
  });

  it('a result that arrives after the timeout changes nothing', async () => {
    const executionId = await engine.start(
      graph('late', [held('call', { ...tries(1, { timeoutMs: 20 }), onFailure: 'report' }), held('report')]),
    );
    const late = await engine.work.next('call');
    const report = await engine.work.next('report');
    late.succeed({ too: 'late' });
    report.succeed({ reported: true });
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { reported: true } });
    expect((await engine.attempts(executionId)).map(({ nodeId, status }) => [nodeId, status])).toEqual([
      ['call', 'TimedOut'],
      ['report', 'Succeeded'],
    ]);
  });
});

describe('a join', () => {
  it('a join runs once, after all of its branches, in whatever order they end', async () => {
    const branches = ['b1', 'b2', 'b3', 'b4', 'b5'];
    const executionId = await engine.start(
      graph('fan', [
        echo('split', {}, to(...branches)),
        ...branches.map((id) => held(id, to('join'))),
        held('join', { parameters: { all: branches.map((id) => `{{ context.data.${id}.n }}`) } }),
      ]),
    );
    const attempts = await Promise.all(branches.map((id) => engine.work.next(id)));
    for (const [index, branch] of attempts.toReversed().entries()) branch.succeed({ n: index });
    const join = await engine.work.next('join');
    expect(join.params).toEqual({ all: [4, 3, 2, 1, 0] });
    join.succeed({ joined: true });
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { joined: true } });
    expect(engine.work.begun.filter(({ context }) => context.nodeId === 'join')).toHaveLength(1);
  });
});

describe('the context of an action', () => {
  it('an action sees its tenant, principal and correlation id, and its log lines are kept', async () => {
    const principal = { userId: 'u1', displayName: 'Ada', email: 'ada@example.com' };
    const executionId = await engine.start(graph('observed', [held('call')]), { principal, correlationId: 'corr-1' });
    const attempt = await engine.work.next();
    const { tenantId, correlationId, nodeId } = attempt.context;
    expect({ tenantId, correlationId, nodeId }).toEqual({ tenantId: TENANT, correlationId: 'corr-1', nodeId: 'call' });
    expect(attempt.context.principal).toEqual(principal);
    attempt.context.log.info('halfway', { rows: 3 });
    attempt.succeed();
    await engine.pawl.result(executionId);
    expect(await engine.pawl.store.executionLogs({ executionId, limit: 10 })).toMatchObject([
      { nodeId: 'call', attempt: 1, level: 'info', message: 'halfway', data: '{"rows":3}' },
    ]);
  });
});

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
