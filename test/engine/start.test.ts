import { describe, expect, it } from 'vitest';
import { engineUnderTest, TENANT } from './engine-under-test.ts';
import { echo, graph } from './workflow-definition.ts';

const engine = engineUnderTest();
const greeting = graph('greeting', [echo('hello', { to: '{{ trigger.name }}' })]);

describe('the same request', () => {
  it('a repeated request is answered with the execution that it started', async () => {
    await engine.pawl.publish(greeting);
    const first = await engine.pawl.start('greeting', { trigger: { name: 'Ada' }, requestId: 'order-1' });
    const second = await engine.pawl.start('greeting', { trigger: { name: 'Bob' }, requestId: 'order-1' });
    expect(first.isNew).toBe(true);
    expect(second).toEqual({ executionId: first.executionId, isNew: false });
    expect(await engine.pawl.result(first.executionId)).toMatchObject({ outputs: { to: 'Ada' } });
    const third = await engine.pawl.start('greeting', { trigger: { name: 'Eve' }, requestId: 'order-1' });
    expect(third).toEqual({ executionId: first.executionId, isNew: false });
  });

  it('the same request of fifty callers at once starts one execution', async () => {
    await engine.pawl.publish(greeting);
    const starts = await Promise.all(
      Array.from({ length: 50 }, (_, caller) =>
        engine.pawl.start('greeting', { trigger: { name: `caller ${caller}` }, requestId: 'one-for-all' }),
      ),
    );
    expect(new Set(starts.map(({ executionId }) => executionId)).size).toBe(1);
    expect(starts.filter(({ isNew }) => isNew)).toHaveLength(1);
    await engine.pawl.result(starts[0]!.executionId);
  });

  it('the same request of fifty callers in two processes starts one execution', async () => {
    const other = await engine.open({ runner: false });
    const starts = await Promise.all(
      Array.from({ length: 50 }, (_, caller) =>
        (caller % 2 === 0 ? other : engine.pawl).start('greeting', { trigger: { name: '' }, requestId: 'two-doors' }),
      ),
    );
    expect(new Set(starts.map(({ executionId }) => executionId)).size).toBe(1);
    expect(starts.filter(({ isNew }) => isNew)).toHaveLength(1);
    await engine.pawl.result(starts[0]!.executionId);
  });

  it('a request id used for another workflow is a conflict', async () => {
    await engine.pawl.publish(greeting);
    await engine.pawl.publish(graph('farewell', [echo('bye')]));
    const { executionId } = await engine.pawl.start('greeting', { trigger: { name: 'x' }, requestId: 'order-2' });
    await expect(engine.pawl.start('farewell', { requestId: 'order-2' })).rejects.toMatchObject({
      code: 'WFENG001',
      message: 'requestId "order-2" belongs to an execution of workflow "greeting"',
    });
    await engine.pawl.result(executionId);
  });

  it('a request id used for another workflow is a conflict, even if that workflow could not start at all', async () => {
    await engine.pawl.publish(greeting);
    await engine.pawl.publish({ ...graph('resting', [echo('a')]), triggerSchema: { type: 'object', required: ['x'] } });
    const { executionId } = await engine.pawl.start('greeting', { trigger: { name: 'x' }, requestId: 'order-4' });
    const conflict = { code: 'WFENG001', message: expect.stringContaining('of workflow "greeting"') };
    const key = { tenantId: TENANT, workflowId: 'resting' };
    const start = (request: object = {}) => engine.pawl.start('resting', { requestId: 'order-4', ...request });
    await expect(start({ trigger: {} })).rejects.toMatchObject(conflict);
    await expect(start({ trigger: { x: 1 }, version: 99 })).rejects.toMatchObject(conflict);
    await engine.pawl.store.workflowEnable({ ...key, isEnabled: false });
    await expect(start()).rejects.toMatchObject(conflict);
    await engine.pawl.store.workflowArchive(key);
    await expect(start()).rejects.toMatchObject(conflict);
    await expect(engine.pawl.start('nobody', { requestId: 'order-4' })).rejects.toMatchObject(conflict);
    await expect(start({ requestId: 'order-5' })).rejects.toMatchObject({ code: 'WORKFLOW_NOT_ACTIVE' });
    await engine.pawl.result(executionId);
  });

  it('the same request id of another tenant starts another execution', async () => {
    await engine.pawl.publish(greeting, { tenantId: 'acme' });
    const ours = await engine.pawl.start('greeting', { trigger: { name: 'x' }, requestId: 'order-3' });
    const theirs = await engine.pawl.start('greeting', {
      tenantId: 'acme',
      trigger: { name: 'y' },
      requestId: 'order-3',
    });
    expect(theirs).toMatchObject({ isNew: true });
    expect(theirs.executionId).not.toBe(ours.executionId);
    await engine.pawl.result(theirs.executionId, { tenantId: 'acme' });
    await expect(engine.pawl.result(theirs.executionId)).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
    await engine.pawl.result(ours.executionId);
  });
});

describe('a start that is refused', () => {
  it('a start of an unknown workflow or version is refused', async () => {
    await engine.pawl.publish(greeting);
    await expect(engine.pawl.start('nobody')).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
    await expect(engine.pawl.start('greeting', { tenantId: 'stranger' })).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_FOUND',
    });
    await expect(engine.pawl.start('greeting', { version: 99 })).rejects.toMatchObject({ code: 'WORKFLOW_NOT_FOUND' });
  });

  it('a start of a draft is refused', async () => {
    const draft = { tenantId: TENANT, workflowId: 'half-done', displayName: 'Half done', description: null };
    const definition = JSON.stringify(graph('half-done', [echo('a')]));
    await engine.pawl.store.draftSave({ ...draft, format: 'graph', definition, checksum: 'c' });
    await expect(engine.pawl.start('half-done')).rejects.toMatchObject({
      code: 'WORKFLOW_NOT_ACTIVE',
      message: 'workflow "half-done" is Draft, not Active',
    });
  });

  it('a start of a disabled or archived workflow is refused until the workflow is active again', async () => {
    const key = { tenantId: TENANT, workflowId: 'seasonal' };
    await engine.pawl.publish(graph('seasonal', [echo('a')]));
    await engine.pawl.store.workflowEnable({ ...key, isEnabled: false });
    await expect(engine.pawl.start('seasonal')).rejects.toMatchObject({ code: 'WORKFLOW_DISABLED' });
    await engine.pawl.store.workflowEnable({ ...key, isEnabled: true });
    await engine.pawl.store.workflowArchive(key);
    await expect(engine.pawl.start('seasonal')).rejects.toMatchObject({ code: 'WORKFLOW_NOT_ACTIVE' });
    await engine.pawl.store.workflowReactivate(key);
    const { executionId } = await engine.pawl.start('seasonal');
    expect(await engine.pawl.result(executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('a refused start does not keep valid starts of the same moment from succeeding', async () => {
    await engine.pawl.publish(greeting);
    const start = (request: { requestId: string; priority?: number }) =>
      engine.pawl.start('greeting', { trigger: { name: 'x' }, ...request });
    const [good, badPriority, badId, alsoGood] = await Promise.allSettled([
      start({ requestId: 'good-1' }),
      start({ requestId: 'bad-1', priority: 12 }),
      start({ requestId: 'bad\u0000id' }),
      start({ requestId: 'good-2' }),
    ]);
    expect([good.status, alsoGood.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(badPriority).toMatchObject({ status: 'rejected', reason: { code: 'REQUEST_INVALID' } });
    expect(badId).toMatchObject({ status: 'rejected', reason: { code: 'REQUEST_INVALID' } });
    for (const started of [good, alsoGood]) {
      if (started.status === 'fulfilled') await engine.pawl.result(started.value.executionId);
    }
  });
});
