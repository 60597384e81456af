import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { SignalType } from '../../src/core/decider/signal-type.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { RetryableError, TerminalError } from '../../src/main.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { delay, echo, graph, held, to, tries } from './workflow-definition.ts';

const engine = engineUnderTest();
const { work } = engine;
let signals = 0;

function send(executionId: string, type: SignalType, payload: JsonObject = {}, signalId = `signal-${++signals}`) {
  return engine.pawl.executions.signal(TENANT, executionId, { signalId, type, payload });
}

const status = async (executionId: string) => (await engine.pawl.executions.get(TENANT, executionId)).status;
const applied = async (executionId: string) =>
  (await engine.facts(executionId)).filter((fact) => fact.type === 'SignalApplied');

describe('PAUSE and RESUME', () => {
  it('a paused execution lets its attempt finish and starts nothing new until it is resumed', async () => {
    const executionId = await engine.start(graph('paused', [held('first', to('second')), held('second')]));
    const first = await work.next('first');
    await send(executionId, 'PAUSE');
    await eventually(() => applied(executionId)).toHaveLength(1);
    expect(first.context.signal.aborted).toBe(false);
    // The execution is Paused from now on, however long the attempt takes.
    expect(await status(executionId)).toBe('Paused');
    first.succeed();
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    expect(await status(executionId)).toBe('Paused');
    expect(await engine.nodes(executionId)).toEqual({ first: 'Succeeded', second: 'Pending' });
    await send(executionId, 'RESUME');
    (await work.next('second')).succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });

  it('a parked execution that is paused while it sleeps does not go on when the sleep ends', async () => {
    const executionId = await engine.start(graph('paused-asleep', [delay('nap', 1_000, to('after')), held('after')]));
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    await send(executionId, 'PAUSE');
    await eventually(() => status(executionId)).toBe('Paused');
    await eventually(() => engine.nodes(executionId)).toEqual({ nap: 'Succeeded', after: 'Pending' });
    await eventually(() => status(executionId)).toBe('Paused');
    await send(executionId, 'RESUME');
    (await work.next('after')).succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });

  it('the deadline of a paused execution is checked when it is resumed', async () => {
    const executionId = await engine.start(
      graph('paused-overdue', [held('first', to('second')), held('second')], { timeoutMs: 1_000 }),
    );
    const first = await work.next('first');
    await send(executionId, 'PAUSE');
    await eventually(() => applied(executionId)).toHaveLength(1);
    first.succeed();
    const { startedAt } = await engine.pawl.executions.get(TENANT, executionId);
    await eventually(() => engine.pawl.store.now()).toBeGreaterThan(startedAt! + 1_000);
    expect(await status(executionId)).toBe('Paused');
    await send(executionId, 'RESUME');
    expect((await engine.pawl.result(executionId)).status).toBe('TimedOut');
  });
});

describe('UPDATE_PARAMS', () => {
  it('UPDATE_PARAMS changes attempts that have not begun, of one step or of all steps', async () => {
    const executionId = await engine.start(
      graph('updated', [
        held('first', to('second', 'third')),
        held('second', { parameters: { region: 'eu', size: 1 } }),
        held('third', { parameters: { region: 'eu', size: 1 } }),
      ]),
    );
    const first = await work.next('first');
    await send(executionId, 'UPDATE_PARAMS', { stepId: 'second', newParams: { size: 2 } });
    await send(executionId, 'UPDATE_PARAMS', { newParams: { region: 'us' } });
    await eventually(() => applied(executionId)).toHaveLength(2);
    first.succeed();
    const [second, third] = [await work.next('second'), await work.next('third')];
    expect([second.params, third.params]).toEqual([
      { region: 'us', size: 2 },
      { region: 'us', size: 1 },
    ]);
    second.succeed();
    third.succeed();
    await engine.pawl.result(executionId);
    const recorded = await engine.attempts(executionId);
    expect(recorded.find(({ nodeId }) => nodeId === 'second')).toMatchObject({ parameters: { region: 'us', size: 2 } });
  });
});

describe('INJECT_OVERRIDE', () => {
  it('counts for the next attempt only', async () => {
    const executionId = await engine.start(
      graph('overridden', [
        held('first', to('second')),
        held('second', { parameters: { mode: 'plain' }, ...tries(2) }),
      ]),
    );
    const first = await work.next('first');
    await send(executionId, 'INJECT_OVERRIDE', { stepId: 'second', override: { mode: 'special' } });
    await eventually(() => applied(executionId)).toHaveLength(1);
    first.succeed();
    const once = await work.next('second');
    once.fail(new RetryableError('BUSY', 'again'));
    const twice = await work.next('second');
    twice.succeed();
    await engine.pawl.result(executionId);
    expect([once.params, twice.params]).toEqual([{ mode: 'special' }, { mode: 'plain' }]);
  });
});

describe('ESCALATE_ALERT', () => {
  it('ESCALATE_ALERT is recorded and changes nothing', async () => {
    const executionId = await engine.start(graph('alarming', [held('first')]));
    const first = await work.next('first');
    await send(executionId, 'ESCALATE_ALERT', { note: 'please look' });
    await eventually(() => applied(executionId)).toMatchObject([
      { signal: 'ESCALATE_ALERT', payload: { note: 'please look' } },
    ]);
    first.succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });
});

describe('RERUN_FROM', () => {
  it('RERUN_FROM runs a succeeded step and all later steps again, and keeps the earlier ones', async () => {
    const executionId = await engine.start(
      graph('again', [held('first', to('second')), held('second', to('third')), held('third')]),
    );
    for (const nodeId of ['first', 'second', 'third']) (await work.next(nodeId)).succeed({ nodeId });
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await send(executionId, 'RERUN_FROM', { stepId: 'second' }, 'again')).toEqual({ repeated: false });
    const second = await work.next('second');
    expect(second.context).toMatchObject({ attempt: 2, idempotencyKey: `${executionId}:second:1` });
    expect(await send(executionId, 'RERUN_FROM', { stepId: 'second' }, 'again')).toEqual({ repeated: true });
    second.succeed();
    (await work.next('third')).succeed({ better: true });
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { better: true } });
    const attempts = (await engine.attempts(executionId)).map(({ nodeId, attempt }) => `${nodeId} ${attempt}`);
    expect(attempts).toEqual(['first 1', 'second 1', 'third 1', 'second 2', 'third 2']);
  });
});

describe('COMPLETE_STEP', () => {
  it('COMPLETE_STEP gives a failed step its outputs, records them as an attempt, and the execution goes on', async () => {
    const executionId = await engine.start(
      graph('by-hand', [
        held('broken', { ...tries(1), ...to('after') }),
        echo('after', { value: '{{ context.data.broken.paid }}' }),
      ]),
    );
    (await work.next()).fail(new TerminalError('NO', 'broken'));
    expect((await engine.pawl.result(executionId)).status).toBe('Failed');
    await send(executionId, 'COMPLETE_STEP', { stepId: 'broken', outputs: { paid: 7 } });
    await eventually(() => status(executionId)).toBe('Succeeded');
    const attempts = await engine.attempts(executionId);
    expect(attempts.map(({ nodeId, attempt, status: s }) => `${nodeId} ${attempt} ${s}`).sort()).toEqual([
      'after 1 Succeeded',
      'broken 1 Failed',
      'broken 2 Succeeded',
    ]);
  });
});

describe('RETRY_STEP', () => {
  it('RETRY_STEP retries at once, without waiting for the retry delay', async () => {
    const hour = { retry: { maxAttempts: 2, baseDelayMs: 3_600_000 } };
    const executionId = await engine.start(
      graph('impatient', [held('call', { policies: hour })], { timeoutMs: 86_400_000 }),
    );
    (await work.next()).fail(new RetryableError('BUSY', 'later'));
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    await send(executionId, 'RETRY_STEP', { stepId: 'call' });
    const again = await work.next();
    expect(again.context.attempt).toBe(2);
    again.succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });

  it('RETRY_STEP reopens a failed execution and runs the steps that the failure had skipped', async () => {
    const executionId = await engine.start(
      graph('reopened', [held('broken', { ...tries(1), ...to('after') }), held('after')]),
    );
    (await work.next()).fail(new TerminalError('NO', 'broken'));
    expect((await engine.pawl.result(executionId)).status).toBe('Failed');
    expect(await engine.nodes(executionId)).toEqual({ broken: 'Failed', after: 'Skipped' });

    expect(await send(executionId, 'RETRY_STEP', { stepId: 'broken', force: true }, 'mend')).toEqual({
      repeated: false,
    });
    const again = await work.next('broken');
    expect(again.context).toMatchObject({ attempt: 2, idempotencyKey: `${executionId}:broken:1` });
    expect(await send(executionId, 'RETRY_STEP', { stepId: 'broken', force: true }, 'mend')).toEqual({
      repeated: true,
    });
    again.succeed();
    (await work.next('after')).succeed({ all: 'well' });
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { all: 'well' } });
    expect(await send(executionId, 'RETRY_STEP', { stepId: 'broken', force: true }, 'mend')).toEqual({
      repeated: true,
    });
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect((await engine.attempts(executionId)).map(({ nodeId, attempt, status: s }) => [nodeId, attempt, s])).toEqual([
      ['broken', 1, 'Failed'],
      ['broken', 2, 'Succeeded'],
      ['after', 1, 'Succeeded'],
    ]);
  });

  it('RETRY_STEP without force is refused when the step is out of attempts, and the execution stays Failed', async () => {
    const executionId = await engine.start(graph('spent', [held('broken', tries(1))]));
    (await work.next()).fail(new RetryableError('BUSY', 'no'));
    await engine.pawl.result(executionId);
    await send(executionId, 'RETRY_STEP', { stepId: 'broken' });
    await eventually(() => applied(executionId)).toMatchObject([
      { refused: 'the step is out of attempts; use force to try again all the same' },
    ]);
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'BUSY' } });
    expect(await engine.queueState(executionId)).toBeNull();
  });

  it('retry tries every failed step of the execution again', async () => {
    const executionId = await engine.start(
      graph('both-broken', [
        echo('fork', {}, to('left', 'right')),
        held('left', { ...tries(1), edges: [{ targetNode: 'end', when: 'always' }] }),
        held('right', { ...tries(1), edges: [{ targetNode: 'end', when: 'always' }] }),
        echo('end', {}, to('last')),
        held('last', tries(1)),
      ]),
    );
    (await work.next('left')).fail(new TerminalError('NO', 'left'));
    (await work.next('right')).fail(new TerminalError('NO', 'right'));
    (await work.next('last')).fail(new TerminalError('NO', 'last'));
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Failed', error: { nodeId: 'last' } });

    const { nodes } = await engine.pawl.executions.retry(TENANT, executionId);
    expect(nodes).toEqual(['left', 'right', 'last']);
    (await work.next('left')).succeed();
    (await work.next('right')).succeed();
    (await work.next('last')).succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(Object.values(await engine.nodes(executionId))).toEqual(Array(5).fill('Succeeded'));
  });
});

describe('a signal', () => {
  it('a signal sent twice is applied once', async () => {
    const executionId = await engine.start(graph('told-twice', [held('first', to('second')), held('second')]));
    const first = await work.next('first');
    expect(await send(executionId, 'PAUSE', {}, 'only-once')).toEqual({ repeated: false });
    await eventually(() => applied(executionId)).toHaveLength(1);
    await send(executionId, 'RESUME');
    await eventually(() => applied(executionId)).toHaveLength(2);
    expect(await send(executionId, 'PAUSE', {}, 'only-once')).toEqual({ repeated: true });
    first.succeed();
    (await work.next('second')).succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await applied(executionId)).toHaveLength(2);
  });

  it('a signal to an ended execution, or to an execution of another tenant, is an error', async () => {
    const { executionId } = await engine.run(graph('over', [echo('a')]));
    await expect(send(executionId, 'PAUSE')).rejects.toMatchObject({ code: 'WFENG002' });
    await expect(engine.pawl.executions.retry(TENANT, executionId)).rejects.toMatchObject({ code: 'WFENG002' });
    const signal = { signalId: 's', type: 'PAUSE' as const, payload: {} };
    await expect(engine.pawl.executions.signal('stranger', executionId, signal)).rejects.toMatchObject({
      code: 'EXECUTION_NOT_FOUND',
    });
  });

  it('a signal that does not apply is recorded as refused', async () => {
    const executionId = await engine.start(graph('nonsense', [held('first')]));
    const first = await work.next('first');
    await send(executionId, 'RESUME');
    await send(executionId, 'RETRY_STEP', { stepId: 'nobody' });
    await send(executionId, 'UPDATE_PARAMS', { newParams: 7 });
    await eventually(() => applied(executionId)).toMatchObject([
      { refused: 'not paused' },
      { refused: 'no step "nobody"' },
      { refused: 'newParams must be an object' },
    ]);
    first.succeed();
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
  });
});

describe('a signal still unread when the execution ends', () => {
  // The inbox is polled once a minute here, so a message without a hint is not seen in time.
  const slow = engineUnderTest({ engine: { inboxPollMs: 60_000 } });

  it('a signal accepted before the end of the execution is applied after it', async () => {
    const executionId = await slow.start(
      graph('crossed', [
        held('broken', { ...tries(1), edges: [{ targetNode: 'last', when: 'always' }] }),
        held('last'),
      ]),
    );
    (await slow.work.next('broken')).fail(new TerminalError('NO', 'broken'));
    const last = await slow.work.next('last');
    const mail = { signalId: 'in-time', signal: 'RETRY_STEP', payload: { stepId: 'broken', force: true } };
    const sent = await slow.pawl.store.inboxSend({
      tenantId: TENANT,
      message: {
        id: randomUUID(),
        executionId,
        kind: 'signal',
        key: `RETRY_STEP:${mail.signalId}`,
        body: JSON.stringify({ kind: 'signal', ...mail }),
      },
    });
    expect(sent).toMatchObject({ live: true, fresh: true });
    last.succeed();
    (await slow.work.next('broken')).succeed();
    expect((await slow.pawl.result(executionId)).status).toBe('Succeeded');
    await eventually(() => slow.nodes(executionId)).toEqual({ broken: 'Succeeded', last: 'Succeeded' });
  });
});
