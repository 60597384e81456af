import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { engineUnderTest, eventually, TENANT } from './engine-under-test.ts';
import { delay, echo, graph, held, to } from './workflow-definition.ts';

const engine = engineUnderTest();

async function tokenOf(executionId: string, nodeId: string): Promise<string> {
  return callbackToken(await engine.pawl.store.secretGet({ name: 'callback' }), { executionId, nodeId });
}

async function received(executionId: string): Promise<unknown[]> {
  return (await engine.facts(executionId)).filter(({ type }) => type === 'WebhookBuffered');
}

describe('a sleep', () => {
  it('a long sleep is spent out of memory and never ends early', async () => {
    const executionId = await engine.start(
      graph('sleeper', [delay('nap', 1_000, to('after')), echo('after', { awake: true })]),
    );
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    expect(engine.pawl.runner!.holds(executionId)).toBe(false);
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { awake: true } });
    const [nap] = await engine.pawl.store.executionAttempts({ executionId, parameters: true });
    expect(nap!.endedAt - nap!.startedAt).toBeGreaterThanOrEqual(1_000);
  });

  it('a sleep takes its length from a template', async () => {
    const definition = graph('told-how-long', [delay('nap', '{{ trigger.ms }}')]);
    expect((await engine.run(definition, { trigger: { ms: 20 } })).status).toBe('Succeeded');
    expect(await engine.run(definition, { trigger: { ms: 'soon' } })).toMatchObject({
      status: 'Failed',
      error: { code: 'PARAMETERS_INVALID', nodeId: 'nap' },
    });
  });

  it('the sleeps of 100 executions each end once', async () => {
    await engine.pawl.publish(
      graph('crowd', [delay('nap', 200, to('after')), echo('after', { n: '{{ trigger.n }}' })]),
    );
    const started = await Promise.all(
      Array.from({ length: 100 }, (_, n) => engine.pawl.start('crowd', { trigger: { n } })),
    );
    const results = await Promise.all(started.map(({ executionId }) => engine.pawl.result(executionId)));
    expect(results.map(({ outputs }) => (outputs as JsonObject).n)).toEqual(Array.from({ length: 100 }, (_, n) => n));
  });
});

describe('a checkpoint', () => {
  it('a checkpoint is written when a long execution is parked, and the execution wakes from it unchanged', async () => {
    const chain = Array.from({ length: 40 }, (_, index) =>
      echo(`n${index}`, { index }, index < 39 ? to(`n${index + 1}`) : to('nap')),
    );
    const executionId = await engine.start(
      graph('long-story', [
        ...chain,
        delay('nap', 1_000, to('sum')),
        echo('sum', { first: '{{ context.data.n0.index }}', last: '{{ context.data.n39.index }}' }),
      ]),
    );
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    const [checkpoint] = await engine.sql<{ seq: number }>(
      'select seq from execution_checkpoints where execution_id = $1',
      [executionId],
    );
    expect(checkpoint!.seq).toBeGreaterThanOrEqual(64);
    expect(await engine.pawl.result(executionId)).toMatchObject({
      status: 'Succeeded',
      outputs: { first: 0, last: 39 },
    });
  });

  it('a checkpoint of another decider version is not used', async () => {
    const chain = Array.from({ length: 40 }, (_, index) =>
      echo(`n${index}`, {}, index < 39 ? to(`n${index + 1}`) : to('nap')),
    );
    const executionId = await engine.start(
      graph('old-story', [...chain, delay('nap', 1_000, to('end')), echo('end', { ok: true })]),
    );
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    await engine.sql(
      `update execution_checkpoints set decider_version = 0, state = '{"nonsense":true}' where execution_id = $1`,
      [executionId],
    );
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { ok: true } });
  });
});

describe('a callback', () => {
  const hooked = (name: string, timeout: string): JsonObject => ({
    name,
    tasks: {
      gate: { wait_for_webhook: {} },
      hook: { needs: ['gate'], wait_for_webhook: { timeout } },
      paid: { needs: ['hook'], if: "tasks.hook.body.status == 'paid'", sleep: 0 },
      late: { needs: ['hook'], if: "tasks.hook.status == 'timeout'", sleep: 0 },
    },
  });

  async function callBack(executionId: string, nodeId: string, payload: JsonObject = {}): Promise<string> {
    return engine.pawl.executions.callBack(await tokenOf(executionId, nodeId), payload);
  }

  it('a callback wakes the execution that waits for it', async () => {
    const executionId = await engine.start(hooked('hook-waiting', '1h'));
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    expect(await callBack(executionId, 'gate')).toBe('accepted');
    await eventually(() => engine.nodes(executionId)).toMatchObject({ hook: 'Waiting' });
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    expect(await callBack(executionId, 'hook', { status: 'paid' })).toBe('accepted');
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await engine.nodes(executionId)).toMatchObject({ hook: 'Succeeded', paid: 'Succeeded', late: 'Skipped' });
  });

  it('a callback that comes before the wait is kept for the wait, and a repeat changes nothing', async () => {
    const executionId = await engine.start(hooked('hook-early', '1h'));
    expect(await callBack(executionId, 'hook', { status: 'paid' })).toBe('accepted');
    await eventually(() => received(executionId)).toHaveLength(1);
    expect(await callBack(executionId, 'hook', { status: 'refunded' })).toBe('accepted');
    await callBack(executionId, 'gate');
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await callBack(executionId, 'hook', { status: 'again' })).toBe('accepted');
    expect(await received(executionId)).toHaveLength(1);
    const hook = (await engine.attempts(executionId)).find(({ nodeId }) => nodeId === 'hook');
    expect(hook).toMatchObject({ status: 'Succeeded', outputs: { status: 'paid' } });
  });

  it('a callback of 20 senders at once counts once', async () => {
    const executionId = await engine.start(hooked('hook-crowd', '1h'));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, sender) => callBack(executionId, 'hook', { status: 'paid', sender })),
    );
    expect(new Set(answers)).toEqual(new Set(['accepted']));
    await callBack(executionId, 'gate');
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await received(executionId)).toHaveLength(1);
  });

  it('a callback that does not come in time ends the wait, and is refused afterwards', async () => {
    const executionId = await engine.start(hooked('hook-late', '1s'));
    await callBack(executionId, 'gate');
    expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
    expect(await engine.nodes(executionId)).toMatchObject({ hook: 'TimedOut', paid: 'Skipped', late: 'Succeeded' });
    expect(await callBack(executionId, 'hook')).toBe('gone');
  });

  it('a callback without a valid token is refused', async () => {
    const executionId = await engine.start(hooked('hook-forged', '1h'));
    const { executions } = engine.pawl;
    const token = await tokenOf(executionId, 'hook');
    const forged = callbackToken(new Uint8Array(32), { executionId, nodeId: 'hook' });
    for (const wrong of [
      '',
      'nonsense',
      forged,
      token.slice(0, -1),
      `${token}.x`,
      await tokenOf(executionId, 'nobody'),
      await tokenOf('0190d2c0-0000-7000-8000-000000000000', 'hook'),
    ]) {
      expect(await executions.callBack(wrong, {})).toBe('unknown');
    }
    await executions.cancel(TENANT, executionId);
    expect((await engine.pawl.result(executionId)).status).toBe('Cancelled');
    expect(await executions.callBack(token, {})).toBe('gone');
  });
});

describe('a long attempt', () => {
  it('a long attempt keeps its execution in memory, and signals still reach the execution', async () => {
    const executionId = await engine.start(graph('busy', [held('long')]));
    const attempt = await engine.work.next();
    expect(engine.pawl.runner!.holds(executionId)).toBe(true);
    const signal = { signalId: 's1', type: 'ESCALATE_ALERT' as const, payload: {} };
    await engine.pawl.executions.signal(TENANT, executionId, signal);
    await eventually(() => engine.facts(executionId)).toContainEqual(expect.objectContaining({ signalId: 's1' }));
    attempt.succeed();
    await engine.pawl.result(executionId);
  });
});
