import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Pawl } from '../../src/main.ts';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { graph, held } from './workflow-definition.ts';

// The engine of this file only accepts requests: each test lets a backlog build up, then opens a runner for it.
const engine = engineUnderTest({ runner: false, engine: { maxParallelActions: 1 } });
const job = graph('job', [held('step', { parameters: { name: '{{ trigger.name }}' } })]);

async function accept(name: string, request: { tenantId?: string; priority?: number } = {}): Promise<string> {
  await engine.pawl.publish(job, request.tenantId === undefined ? {} : { tenantId: request.tenantId });
  return (await engine.pawl.start('job', { trigger: { name }, ...request })).executionId;
}

/** Lets every attempt succeed as it begins, until `count` have. Returns the names in the order in which the attempts began. */
async function workOff(count: number): Promise<unknown[]> {
  const names: unknown[] = [];
  for (let done = 0; done < count; done++) {
    const attempt = await engine.work.next();
    names.push(attempt.params.name);
    attempt.succeed();
  }
  return names;
}

async function allEnded(pawl: Pawl, started: readonly { executionId: string; tenantId?: string }[]): Promise<void> {
  for (const { executionId, tenantId } of started) {
    await pawl.result(executionId, tenantId === undefined ? {} : { tenantId });
  }
}

describe('a cancel', () => {
  it('a cancel waits neither for the backlog nor for a free place in the runner', async () => {
    const first = await accept('first');
    const backlog: string[] = [];
    for (let index = 0; index < 12; index++) backlog.push(await accept(`waits ${index}`));
    const runner = await engine.open({ engine: { maxResident: 1 } });
    const running = await engine.work.next();
    const last = backlog.at(-1)!;
    await runner.executions.cancel(TENANT, last, 'not wanted any more');
    expect((await runner.result(last)).status).toBe('Cancelled');
    running.succeed();
    expect((await runner.result(first)).status).toBe('Succeeded');
    expect(await workOff(11)).not.toContain('waits 11');
    await allEnded(
      runner,
      backlog.map((executionId) => ({ executionId })),
    );
  });
});

describe('a signal behind unread signals', () => {
  it('a signal that names an unknown step is refused, whatever unread signals are before it', async () => {
    const executionId = await accept('signalled');
    const refusal = (type: 'PAUSE' | 'UPDATE_PARAMS' | 'RETRY_STEP', payload: JsonObject) =>
      engine.pawl.executions.signalRefusal(TENANT, executionId, { signalId: randomUUID(), type, payload });
    const pause = { signalId: randomUUID(), type: 'PAUSE', payload: {} } as const;
    await engine.pawl.executions.signal(TENANT, executionId, pause);
    expect(await refusal('PAUSE', {})).toBe(null);
    expect(await refusal('RETRY_STEP', { stepId: 'step' })).toBe(null);
    expect(await refusal('UPDATE_PARAMS', { newParams: {} })).toBe(null);
    expect(await refusal('UPDATE_PARAMS', { stepId: 'nobody', newParams: {} })).toBe('no step "nobody"');
    await engine.pawl.executions.cancel(TENANT, executionId);
  });
});

describe('the order of a backlog', () => {
  it('a backlog runs by priority, and by age within a priority', async () => {
    const started = [];
    for (const [name, priority] of [
      ['low', 1],
      ['normal 1', 5],
      ['high 1', 9],
      ['normal 2', 5],
      ['high 2', 9],
    ] as const) {
      started.push({ executionId: await accept(name, { priority }) });
    }
    const runner = await engine.open();
    expect(await workOff(5)).toEqual(['high 1', 'high 2', 'normal 1', 'normal 2', 'low']);
    await allEnded(runner, started);
  });

  it('tenants take turns in the backlog, however many executions one of them has', async () => {
    const started = [];
    for (let index = 0; index < 20; index++) {
      started.push({ tenantId: 'big', executionId: await accept(`big ${index}`, { tenantId: 'big', priority: 9 }) });
    }
    for (const tenantId of ['small', 'tiny']) {
      started.push({ tenantId, executionId: await accept(tenantId, { tenantId, priority: 1 }) });
    }
    const runner = await engine.open();
    const order = await workOff(22);
    // In order of priority or of age these two would be the last of 22. Claims reach a few executions ahead.
    expect(order.indexOf('small')).toBeLessThan(15);
    expect(order.indexOf('tiny')).toBeLessThan(15);
    expect(order.filter((name) => String(name).startsWith('big'))).toHaveLength(20);
    await allEnded(runner, started);
  });

  it('an execution that has waited longer than a minute runs before more urgent ones', async () => {
    const patient = await accept('patient', { priority: 0 });
    const started = [{ executionId: patient }];
    for (let index = 0; index < 12; index++) {
      started.push({ executionId: await accept(`urgent ${index}`, { priority: 9 }) });
    }
    await engine.sql(`update execution_queue set ready_at = now() - interval '2 minutes' where execution_id = $1`, [
      patient,
    ]);
    const runner = await engine.open();
    const order = await workOff(13);
    // A claim takes a few executions at a time from every lane whose turn it is. Without its age, this one would be the last of
    // all.
    expect(order.indexOf('patient')).toBeLessThan(8);
    await allEnded(runner, started);
  });
});

describe('an execution that no runner has begun', () => {
  it('an execution that no runner has begun is Pending', async () => {
    const executionId = await accept('waits');
    expect(await engine.pawl.executions.get(TENANT, executionId)).toMatchObject({ status: 'Pending', startedAt: null });
    const runner = await engine.open();
    await workOff(1);
    await allEnded(runner, [{ executionId }]);
  });

  it('an execution cancelled before it began never runs its action', async () => {
    const executionId = await accept('cancelled before it began');
    const before = engine.work.begun.length;
    expect(await engine.pawl.executions.cancel(TENANT, executionId, 'changed my mind')).toEqual({ repeated: false });
    expect(await engine.pawl.executions.cancel(TENANT, executionId)).toEqual({ repeated: true });
    const runner = await engine.open();
    expect(await runner.result(executionId)).toMatchObject({
      status: 'Cancelled',
      error: { code: 'CANCELLED', message: 'changed my mind' },
    });
    expect(await engine.nodes(executionId)).toEqual({ step: 'Skipped' });
    expect(engine.work.begun).toHaveLength(before);
    expect(await engine.pawl.executions.cancel(TENANT, executionId)).toEqual({ repeated: true });
  });

  it('an execution fails when its workflow is archived before it began', async () => {
    await engine.pawl.publish(graph('closing', [held('step')]));
    const { executionId } = await engine.pawl.start('closing');
    await engine.pawl.store.workflowArchive({ tenantId: TENANT, workflowId: 'closing' });
    const runner = await engine.open();
    expect(await runner.result(executionId)).toMatchObject({
      status: 'Failed',
      error: { code: 'WORKFLOW_NOT_ACTIVE', message: 'workflow "closing" is archived' },
    });
  });

  it('keeps the version that it was started with', async () => {
    const version = (step: string) => graph('growing', [held(step)]);
    await engine.pawl.publish(version('first'));
    const { executionId } = await engine.pawl.start('growing');
    await engine.pawl.publish(version('second'));
    const runner = await engine.open();
    (await engine.work.next()).succeed({ ran: 'the version of its start' });
    expect(await runner.result(executionId)).toMatchObject({ status: 'Succeeded' });
    expect(await engine.nodes(executionId)).toEqual({ first: 'Succeeded' });
  });
});

describe('an execution that a newer version has started', () => {
  it('an execution of a newer version says that it needs a newer runner, and runs when one can take it', async () => {
    const executionId = await accept('from the future');
    await engine.sql('update execution_queue set behaviour = 2 where execution_id = $1', [executionId]);
    const why = async () =>
      (await engine.sql<{ why: string }>('select execution_why($1) as why', [executionId]))[0]!.why;
    expect(await why()).toBe('noWorker');
    const older = await engine.open();
    await expect.poll(why).toBe('needsNewerRunner');
    await older.store.runnerRegister({ name: 'newer', slots: 1, leaseMs: 60_000, behaviour: 2 });
    expect(await why()).toBe('queued');
    await engine.sql('update execution_queue set behaviour = 1 where execution_id = $1', [executionId]);
    (await engine.work.next()).succeed();
    expect(await older.result(executionId)).toMatchObject({ status: 'Succeeded' });
  });
});
