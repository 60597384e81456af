import { describe, expect, it } from 'vitest';
import { DeadLetters } from '../../src/execution/dead-letters.ts';
import { engineUnderTest, eventually, QUICK, TENANT } from './engine-under-test.ts';
import { superviseRunner } from './spawned-runner.ts';
import { echo, graph, held } from './workflow-definition.ts';

const unreadable = new Set<string>();
const engine = engineUnderTest({ runner: false, unreadable });
const letters = () => engine.pawl.store.deadLetterList({ tenantId: TENANT, afterId: '0', limit: 100 });

/** Publishes a workflow with an action that only runner processes have, so the check that the action exists here is left out. */
async function publish(id: string, actionType: string, parameters: object): Promise<void> {
  const definition = JSON.stringify(graph(id, [{ id: 'step', actionType, parameters: { ...parameters } }]));
  const workflow = { tenantId: TENANT, workflowId: id, displayName: id, description: null, format: 'graph' };
  await engine.pawl.store.workflowPublish({ ...workflow, definition, checksum: id });
}

describe('an execution that crashes its runner again and again', () => {
  it('an execution that keeps crashing its runner becomes a dead letter, and its neighbours succeed', async () => {
    await publish('bomb', 'test.crash', { afterMs: 100 });
    await publish('bystander', 'test.nap', { ms: 200 });
    const bomb = await engine.pawl.start('bomb');
    const bystanders = await Promise.all(Array.from({ length: 4 }, () => engine.pawl.start('bystander')));
    const runner = superviseRunner({
      url: engine.url,
      engine: { ...QUICK, leaseMs: 600, leaseMarginMs: 100, maxPoisonRetries: 2, poisonDelayMs: 50 },
    });

    expect(await engine.pawl.result(bomb.executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'POISON', message: expect.stringContaining('its runner crashed 3 times') },
    });
    for (const { executionId } of bystanders) {
      expect((await engine.pawl.result(executionId)).status).toBe('Succeeded');
      expect(await engine.attempts(executionId)).toHaveLength(1);
    }
    expect(runner.crashes).toBeGreaterThanOrEqual(3);
    expect(await letters()).toMatchObject([
      {
        executionId: bomb.executionId,
        reason: 'POISON',
        attempts: 3,
        payload: expect.stringContaining('"triggerPayload":{}'),
      },
    ]);
    expect(await engine.nodes(bomb.executionId)).toEqual({ step: 'Running' });

    // Somebody looks at the letter and purges it.
    const [letter] = await letters();
    expect(await engine.pawl.store.deadLetterPurge({ tenantId: 'stranger', ids: [letter!.id] })).toBe(0);
    expect(await engine.pawl.store.deadLetterPurge({ tenantId: TENANT, ids: [letter!.id] })).toBe(1);
  });
});

describe('executions whose runners have crashed several times', () => {
  async function startSuspects(count: number, crashes: number, definition = graph('suspect', [held('step')])) {
    const { workflowId } = await engine.pawl.publish(definition);
    const started = await Promise.all(Array.from({ length: count }, () => engine.pawl.start(workflowId)));
    const ids = started.map(({ executionId }) => executionId);
    const crash = `update execution_queue set crashes = $2::int, epoch = $2::int where execution_id = any($1::uuid[])`;
    await engine.sql(crash, [ids, crashes]);
    return ids;
  }

  /**
   * This runner polls seldom, so the next execution starts in time only if the runner remembers it. It does poll sometimes: a
   * hint may name a runner of an earlier test, and that runner is believed to have room for some seconds after it was killed.
   */
  const openForgetful = () => engine.open({ engine: { pollMs: 3_000 } });

  it('executions on their last chance run alone in their runner until they make progress', async () => {
    await engine.pawl.publish(graph('trusted', [echo('a')]));
    const ids = await startSuspects(4, 3);
    const runner = await openForgetful();
    for (const turn of ids.keys()) {
      const attempt = await engine.work.next();
      const trusted = await engine.pawl.start('trusted');
      expect(await engine.queueState(trusted.executionId)).toBe('ready');
      expect(engine.work.begun).toHaveLength(turn + 1);
      attempt.succeed();
      expect(await runner.result(trusted.executionId)).toMatchObject({ status: 'Succeeded' });
    }
    for (const id of ids) expect(await runner.result(id)).toMatchObject({ status: 'Succeeded' });
    expect(await letters()).toEqual([]);
  });

  it('executions run a few at a time after the second crash, and those on their last chance come later', async () => {
    await engine.pawl.publish(graph('trusted', [echo('a')]));
    const last = await startSuspects(1, 3);
    const ids = await startSuspects(14, 2);
    const before = engine.work.begun.length;
    const begun = () => engine.work.begun.length - before;
    const runner = await openForgetful();
    await eventually(begun).toBe(10);
    const trusted = await engine.pawl.start('trusted');
    expect(await runner.result(trusted.executionId)).toMatchObject({ status: 'Succeeded' });
    expect(begun()).toBe(10);
    for (let done = 0; done < ids.length; done++) (await engine.work.next()).succeed();
    for (const id of ids) expect(await runner.result(id)).toMatchObject({ status: 'Succeeded' });
    (await engine.work.next()).succeed();
    expect(await runner.result(last[0]!)).toMatchObject({ status: 'Succeeded' });
  });

  it('executions that may have crashed their runner give up their place while they only wait', async () => {
    const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 1_500 } };
    const ids = await startSuspects(3, 3, graph('napping', [nap]));
    await engine.open({ engine: { parkAfterMs: 2_000 } });
    await eventually(async () => Promise.all(ids.map((id) => engine.queueState(id)))).toEqual(ids.map(() => 'parked'));
  });
});

describe('an execution whose plan cannot be loaded', () => {
  it.each([
    {
      how: 'is not valid',
      damage: `update workflow_definitions set definition = '{"nodes":"gone"}'`,
      reason: 'PLAN_INVALID',
    },
    { how: 'is gone', damage: 'delete from workflow_definitions', reason: 'WORKFLOW_NOT_FOUND' },
  ])(
    'an execution whose definition $how becomes a dead letter, and its neighbour succeeds',
    async ({ damage, reason }) => {
      const id = `damaged-${reason.toLowerCase().replaceAll('_', '-')}`;
      await engine.pawl.publish(graph(id, [echo('a')]));
      await engine.pawl.publish(graph('sound', [echo('a')]));
      const damaged = await engine.pawl.start(id);
      const sound = await engine.pawl.start('sound');
      unreadable.add(damaged.executionId);
      await engine.sql(`${damage} where workflow_id = $1`, [id]);
      const runner = await engine.open();
      expect(await runner.result(damaged.executionId)).toMatchObject({ status: 'Failed', error: { code: reason } });
      expect((await runner.result(sound.executionId)).status).toBe('Succeeded');
      expect(await letters()).toContainEqual(expect.objectContaining({ executionId: damaged.executionId, reason }));
    },
  );

  it('an execution with an unreadable fact becomes a dead letter', async () => {
    await engine.pawl.publish(
      graph('garbled', [{ id: 'nap', actionType: 'core.delay', parameters: { durationMs: 1_000 } }]),
    );
    const { executionId } = await engine.pawl.start('garbled');
    unreadable.add(executionId);
    const runner = await engine.open();
    await eventually(() => engine.queueState(executionId)).toBe('parked');
    await engine.sql(
      `update execution_events set facts = '[{"type":"NodeStarted","node":99,"attempt":1}]' where execution_id = $1`,
      [executionId],
    );
    expect(await runner.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'POISON' } });
    expect(await letters()).toContainEqual(expect.objectContaining({ executionId, reason: 'POISON' }));
  });
});

describe('an installation without dead letters', () => {
  it('an installation without dead letters fails the execution it gives up on, and keeps no letter', async () => {
    await engine.pawl.publish(graph('unkept', [echo('a')]));
    const { executionId } = await engine.pawl.start('unkept');
    unreadable.add(executionId);
    await engine.sql(`update workflow_definitions set definition = '{}' where workflow_id = 'unkept'`);
    const runner = await engine.open({ engine: { deadLetters: false } });
    expect(await runner.result(executionId)).toMatchObject({ status: 'Failed', error: { code: 'PLAN_INVALID' } });
    expect(await letters()).not.toContainEqual(expect.objectContaining({ executionId }));
    await runner.close();
  });
});

describe('a dead letter', () => {
  it('a dead letter is settled when its execution is requeued after the repair', async () => {
    await engine.pawl.publish(graph('repairable', [echo('a', { ok: true })]));
    const { executionId } = await engine.pawl.start('repairable');
    const [stored] = await engine.sql<{ definition: object }>(
      `select definition from workflow_definitions where workflow_id = 'repairable'`,
    );
    await engine.sql(`update workflow_definitions set definition = '{}' where workflow_id = 'repairable'`);
    const first = await engine.open();
    expect((await first.result(executionId)).status).toBe('Failed');
    await engine.sql(`update workflow_definitions set definition = $1 where workflow_id = 'repairable'`, [
      JSON.stringify(stored!.definition),
    ]);
    await first.close();

    const second = await engine.open();
    const [letter] = (await letters()).filter((one) => one.executionId === executionId);
    const deadLetters = new DeadLetters({
      store: engine.pawl.store,
      workWanted: () => {},
      fireAgain: () => Promise.reject(new Error('it is no firing')),
    });
    expect(await deadLetters.requeue('stranger', letter!.id)).toBeNull();
    expect(await deadLetters.requeue(TENANT, letter!.id)).toBe(executionId);
    expect(await letters()).not.toContainEqual(expect.objectContaining({ executionId }));
    expect(await second.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { ok: true } });
  });
});
