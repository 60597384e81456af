// The Temporal driver on a real server: what its histories hold, what happens to runs that people end in Temporal, and what is
// refused.

import { describe, expect, test } from 'vitest';
import { bundleInterpreter } from '../../src/driver/temporal/bundle.ts';
import { driverPair, TENANT } from '../conformance/driver-pair.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { delay, echo, graph, held, subworkflow, to } from '../engine/workflow-definition.ts';
import { temporalMissing } from './temporal-server.ts';

const CANARY = 'canary-4711-never-in-a-history';

describe.skipIf(temporalMissing !== null)('Temporal', () => {
  const pair = driverPair();
  const client = async () => {
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: pair.server.address });
    return new Client({ connection, namespace: 'default-default' });
  };
  const start = async (definition: Parameters<typeof pair.pawl.publish>[0], trigger = {}) => {
    const { workflowId } = await pair.pawl.publish(definition);
    const { executionId } = await pair.pawl.start(workflowId, { driver: 'temporal', trigger });
    return { executionId, runId: `pawl/${executionId}/1` };
  };

  test('a Temporal history holds no payload, parameter or output', async () => {
    await pair.pawl.publish(graph('canary-child', [echo('inner', { secret: '{{ trigger.secret }}' })]));
    const child = subworkflow('sub', 'canary-child', { parameters: { secret: '{{ trigger.secret }}' } });
    const { executionId, runId } = await start(
      graph('canary', [echo('a', { secret: '{{ trigger.secret }}' }, to('sub')), child]),
      { secret: CANARY },
    );
    expect(JSON.stringify(await pair.pawl.result(executionId))).toContain(CANARY);
    const [inner] = await pair.pawl.store.executionChildren({ executionId });
    const temporal = await client();
    for (const id of [runId, `pawl/${inner!.executionId}/1`]) {
      const history = await temporal.workflow.getHandle(id).fetchHistory();
      const bytes = JSON.stringify(history, (_key, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
      );
      expect(bytes).toContain(executionId.slice(0, 8));
      expect(bytes).not.toContain(CANARY);
    }
    await temporal.connection.close();
  });

  test('a child run can be found by its own id and by tenant, project and environment of its parent', async () => {
    await pair.pawl.publish(graph('found-child', [echo('inner')]));
    const { executionId } = await start(graph('found', [subworkflow('sub', 'found-child')]));
    await pair.pawl.result(executionId);
    const [child] = await pair.pawl.store.executionChildren({ executionId });
    const temporal = await client();
    const { searchAttributes } = await temporal.workflow.getHandle(`pawl/${child!.executionId}/1`).describe();
    expect(searchAttributes).toMatchObject({
      tenantId: [TENANT],
      projectId: ['default'],
      environmentId: ['default'],
      runId: [child!.executionId],
      planId: ['found-child'],
    });
    await temporal.connection.close();
  });

  test('the secrets of a plan are resolved in the attempt, and no history holds one', async () => {
    const metadata = { planId: 'secretive', planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests' };
    const { executionId, runId } = await start({
      metadata: { ...metadata, schemaVersion: 'v1' },
      scope: { tenantId: TENANT, projectId: 'p', environmentId: 'default', repoSha: 'x' },
      steps: [
        {
          ...{ stepId: 'a', type: 'core.echo', inputs: { said: 'x' }, timeout: '30s' },
          secretRefs: [{ provider: 'test', key: 'warehouse', as: 'password' }],
        },
      ],
    });
    expect(await pair.pawl.result(executionId)).toMatchObject({
      status: 'Succeeded',
      outputs: { said: 'x', password: '[redacted]' },
    });
    const temporal = await client();
    const history = await temporal.workflow.getHandle(runId).fetchHistory();
    const bytes = JSON.stringify(history, (_key, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
    );
    expect(bytes).toContain(executionId.slice(0, 8));
    expect(bytes).not.toContain('secret-of-warehouse');
    await temporal.connection.close();
  });

  test('an output of 5 MB runs under the default limits, and does not pass through Temporal', async () => {
    const given = { parameters: { blob: '{{ context.data.a.blob }}' } };
    const { executionId, runId } = await start(graph('large', [held('a', to('b')), held('b', given)]));
    const work = pair.work.of(executionId);
    (await work.next('a')).succeed({ blob: 'x'.repeat(5_000_000) });
    const attempt = await work.next('b');
    expect(attempt.params).toEqual({ blob: 'x'.repeat(5_000_000) });
    attempt.succeed({ done: true });
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { done: true } });
    const temporal = await client();
    const { historySize } = await temporal.workflow.getHandle(runId).describe();
    expect(historySize).toBeLessThan(100_000);
    await temporal.connection.close();
  });

  test('a plan of 1,000 nodes runs over several histories', { timeout: 600_000 }, async () => {
    const leaves = Array.from({ length: 998 }, (_, index) => `n${index}`);
    const definition = graph('wide', [
      echo('root', {}, to(...leaves)),
      ...leaves.map((id) => echo(id, {}, to('join'))),
      echo('join', { done: true }, { join: 'all' }),
    ]);
    const { executionId } = await start(definition);
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { done: true } });
    expect(await pair.pawl.store.executionAttempts({ executionId })).toHaveLength(1_000);
  });

  test('an execution is cancelled when its run is cancelled in Temporal', async () => {
    const { executionId, runId } = await start(graph('cancelled-there', [delay('nap', 600_000)]));
    await eventually(async () => (await pair.pawl.executions.get(TENANT, executionId)).status).toBe('Running');
    const temporal = await client();
    await temporal.workflow.getHandle(runId).cancel();
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
    await temporal.connection.close();
  });

  test('an execution fails with the reason when its run is terminated in Temporal', async () => {
    const { executionId, runId } = await start(graph('terminated-there', [held('a')]));
    await pair.work.next('a');
    const temporal = await client();
    await temporal.workflow.getHandle(runId).terminate('by hand');
    // Pawl looks at every run within a minute; here it looks at once.
    await pair.pawl.store.externalNote({
      executionId,
      epoch: 1,
      ref: (await pair.pawl.executions.get(TENANT, executionId)).engineRunRef!,
      lookAfterMs: 0,
    });
    const { status, error } = await pair.pawl.result(executionId);
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'RUN_LOST' });
    expect(error?.message).toContain('by hand');
    await temporal.connection.close();
  });

  test('a driver that the installation does not have is refused', async () => {
    await pair.pawl.publish(graph('elsewhere', [echo('a')], { driver: 'conductor' }));
    await expect(pair.pawl.start('elsewhere')).rejects.toMatchObject({ code: 'DRIVER_NOT_CONFIGURED' });
  });

  test('the history of a run replays, and not on an interpreter that was changed without a guard', async () => {
    const { executionId, runId } = await start(graph('replayed', [echo('a', {}, to('b')), delay('b', 50)]));
    await pair.pawl.result(executionId);
    const temporal = await client();
    const history = await temporal.workflow.getHandle(runId).fetchHistory();
    await temporal.connection.close();
    const { Worker } = await import('@temporalio/worker');
    const source = new URL('../../src/driver/temporal/interpreter.ts', import.meta.url).pathname;
    const code = await bundleInterpreter(source);
    await Worker.runReplayHistory({ workflowBundle: { code } }, history);
    const advance = 'this.take(await turns.advance(';
    const changed = code.replace(advance, `await turns.cancelled({ executionId, epoch }); ${advance}`);
    expect(changed).not.toBe(code);
    await expect(Worker.runReplayHistory({ workflowBundle: { code: changed } }, history)).rejects.toThrow();
  });
});
