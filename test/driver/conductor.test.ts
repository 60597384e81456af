// Workflows on a real Conductor server. `npm run servers` obtains the server; without it these tests are skipped, and say so.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { parseRef } from '../../src/protocol/driver.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { conductorMissing, startConductor } from './conductor-server.ts';
import type { TestServer } from './temporal-server.ts';

const to = (...targets: string[]) => ({ edges: targets.map((targetNode) => ({ targetNode })) });
const echo = (id: string, ...next: string[]) => ({
  id,
  actionType: 'core.echo',
  parameters: { from: id },
  ...to(...next),
});
const graph = (id: string, ...nodes: object[]): Json =>
  ({ id, displayName: id, startNode: (nodes[0] as { id: string }).id, nodes }) as Json;

// Conductor takes seconds for a chain of lanes, and longer on a busy machine.
describe.skipIf(conductorMissing !== null)('executions on Conductor', { timeout: 300_000 }, () => {
  let server: TestServer;
  let other: TestServer;
  let proxy: TcpProxy;
  let database: TestDatabase;
  let pawl: Pawl;
  const back = () => proxy.target(Number(new URL(server.address).port));
  const away = () => proxy.target(null);

  beforeAll(async () => {
    [server, other, proxy, database] = await Promise.all([
      startConductor(),
      startConductor(),
      startTcpProxy(),
      testDatabase(),
    ]);
    back();
    pawl = await createPawl({
      database: { url: database.connectionString },
      driver: { default: 'conductor' },
      conductor: {
        url: `http://127.0.0.1:${proxy.port}`,
        instances: { other: other.address },
        byEnvironment: { staging: 'other' },
      },
    });
  }, 300_000);
  afterAll(async () => {
    await pawl?.close();
    await database?.drop();
    await proxy?.close();
    await Promise.all([server?.stop(), other?.stop()]);
  });

  async function run(definition: Json, trigger: Json = {}) {
    const { workflowId } = await pawl.publish(definition);
    const { executionId } = await pawl.start(workflowId, { trigger });
    return { executionId, result: await pawl.result(executionId) };
  }

  it('a diamond runs to its end, and its reference names the run', async () => {
    const { executionId, result } = await run(
      graph('diamond', echo('a', 'b', 'c'), echo('b', 'd'), echo('c', 'd'), echo('d')),
    );
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { from: 'd' } });
    const view = await pawl.store.executionGet({ tenantId: 'default', executionId });
    expect(view).toMatchObject({ driver: 'conductor' });
  });

  it('a branch that is not taken is skipped, and the join does not wait for it', async () => {
    const start = { ...echo('a'), edges: [{ targetNode: 'b', condition: 'trigger.take' }, { targetNode: 'c' }] };
    const { result } = await run(graph('branch', start, echo('b', 'd'), echo('c', 'd'), echo('d')), { take: false });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { from: 'd' } });
  });

  it('a node that fails once is retried on Conductor', async () => {
    const flaky = {
      id: 'flaky',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 1 },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 100 } },
    };
    const { result } = await run(graph('retries', flaky));
    expect(result).toMatchObject({ status: 'Succeeded' });
  });

  it('a cancel ends an execution that sleeps', async () => {
    const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 600_000 } };
    const { workflowId } = await pawl.publish(graph('sleeps', nap));
    const { executionId } = await pawl.start(workflowId);
    await pawl.executions.cancel('default', executionId, 'enough');
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
  });

  const viewOf = (executionId: string) => pawl.executions.get('default', executionId);
  const refOf = async (executionId: string) => {
    const { engineRunRef } = await viewOf(executionId);
    return engineRunRef === null ? null : parseRef(engineRunRef);
  };
  const runOf = async (address: string, executionId: string) => {
    const { workflowId } = (await refOf(executionId))!;
    const answer = await fetch(`${address}/api/workflow/${workflowId}?includeTasks=false`);
    return (await answer.json()) as { status: string; reasonForIncompletion?: string };
  };
  const engineError = async (executionId: string) => pawl.queries.engineError(await viewOf(executionId));
  const nap = { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 600_000 } };
  const startNap = async (id: string) => {
    const { workflowId } = await pawl.publish(graph(id, nap));
    return (await pawl.start(workflowId)).executionId;
  };

  it('a cancel while Conductor is away ends the execution at once, and the run when Conductor is back', async () => {
    const executionId = await startNap('cancelled-alone');
    await eventually(async () => (await viewOf(executionId)).status).toBe('Running');
    await eventually(() => refOf(executionId)).not.toBeNull();
    away();
    await pawl.executions.cancel('default', executionId, 'enough');
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Cancelled', error: { message: 'enough' } });
    expect(await runOf(server.address, executionId)).toMatchObject({ status: 'RUNNING' });
    back();
    await eventually(() => runOf(server.address, executionId)).toMatchObject({
      status: 'TERMINATED',
      reasonForIncompletion: 'The execution was cancelled',
    });
  });

  it('an execution that was never handed over can be cancelled, and says until then why it waits', async () => {
    away();
    const executionId = await startNap('never-handed-over');
    await eventually(() => engineError(executionId)).toMatch(/Conductor does not answer .*Check conductor\.url/);
    await pawl.executions.cancel('default', executionId, 'enough');
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
    back();
    expect(await refOf(executionId)).toBeNull();
  });

  it('an execution goes on after an outage of Conductor, and says meanwhile why nothing happens', async () => {
    const { workflowId } = await pawl.publish(
      graph('in-the-middle', { ...nap, id: 'a', parameters: { durationMs: 1_500 }, ...to('b') }, echo('b')),
    );
    const { executionId } = await pawl.start(workflowId);
    await eventually(() => refOf(executionId)).not.toBeNull();
    away();
    const { engineRunRef: ref } = await viewOf(executionId);
    await pawl.store.externalNote({ executionId, epoch: 1, ref: ref!, lookAfterMs: 0 });
    await eventually(() => engineError(executionId)).toMatch(/Conductor does not answer/);
    back();
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { from: 'b' } });
  });

  it('an environment with its own Conductor runs there, and the reference names that instance', async () => {
    const { workflowId } = await pawl.publish(graph('staged', echo('a', 'b'), echo('b')));
    const staged = await pawl.start(workflowId, { environmentId: 'staging' });
    const usual = await pawl.start(workflowId);
    for (const { executionId } of [staged, usual]) {
      expect(await pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { from: 'b' } });
    }
    expect(await refOf(staged.executionId)).toMatchObject({ conductorUrl: other.address });
    expect(await refOf(usual.executionId)).toMatchObject({ conductorUrl: `http://127.0.0.1:${proxy.port}` });
    await eventually(() => runOf(other.address, staged.executionId)).toMatchObject({ status: 'COMPLETED' });
  });

  it('a failed execution is a failed run in Conductor', async () => {
    const { executionId, result } = await run(graph('fails', { id: 'a', actionType: 'core.fail', parameters: {} }));
    expect(result).toMatchObject({ status: 'Failed' });
    await eventually(() => runOf(server.address, executionId)).toMatchObject({
      status: 'FAILED',
      reasonForIncompletion: expect.stringContaining('The execution ended as Failed'),
    });
  });

  it('a workflow with more nodes than Conductor has lanes for is refused when it is published', async () => {
    const many = Array.from({ length: 101 }, (_, index) =>
      echo(`n${index}`, ...(index < 100 ? [`n${index + 1}`] : [])),
    );
    await expect(
      pawl.publish({ ...(graph('many', ...many) as object), driver: 'conductor' } as Json),
    ).rejects.toMatchObject({
      details: [expect.objectContaining({ code: 'UNSUPPORTED_BY_ENGINE' })],
    });
  });
});
