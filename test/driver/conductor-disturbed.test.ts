// Conductor behind a proxy that delivers tasks and answers twice and out of order and refuses definitions, and beside people who
// end or restart runs by hand. The state in Pawl stays the truth.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { compileDefinition } from '../../src/core/definition/compile.ts';
import { laneDefinition, TURN_TASK } from '../../src/driver/conductor/lane-definition.ts';
import { agreeOnRandomDefinitions } from '../conformance/agreement.ts';
import { driverPair, TENANT } from '../conformance/driver-pair.ts';
import { eventually } from '../engine/engine-under-test.ts';
import { echo, graph, held, to } from '../engine/workflow-definition.ts';
import { conductorMissing } from './conductor-server.ts';

const REFUSED = 'refused-by-conductor';
let proxy: Server | undefined;
let delivered = 0;

/** Every answer arrives twice, the second time late; every third poll brings a task that was given out before. */
async function disturbing(address: string): Promise<string> {
  const given: unknown[] = [];
  proxy = createServer(async (request, response) => {
    const { method, url = '' } = request;
    let body = '';
    for await (const piece of request) body += piece;
    const send = () =>
      fetch(`${address}${url}`, {
        method: method!,
        ...(body === '' ? {} : { body, headers: { 'content-type': 'application/json' } }),
      });
    // Two tasks with the same name, which the server itself refuses.
    if (url === '/api/workflow' && body.includes(REFUSED)) body = body.replace('"gate_b_1"', '"gate_a_0"');
    try {
      if (url === '/api/tasks') await sleep(Math.random() * 60);
      const answer = await send();
      let text = await answer.text();
      if (url === '/api/tasks') void sleep(Math.random() * 300).then(() => send().catch(() => undefined));
      if (url.startsWith('/api/tasks/poll') && answer.ok) {
        const tasks = (text === '' ? [] : JSON.parse(text)) as { taskType: string }[];
        given.push(...tasks);
        const old = given.filter((task) => url.includes(`/${(task as { taskType: string }).taskType}?`));
        if (old.length > 0 && delivered++ % 3 === 0) {
          text = JSON.stringify([...tasks, old[Math.floor(Math.random() * old.length)]]);
        }
      }
      response
        .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' })
        .end(text);
    } catch {
      response.destroy();
    }
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

describe.skipIf(conductorMissing !== null)('Conductor behind a disturbing proxy', { timeout: 240_000 }, () => {
  const pair = driverPair({ driver: 'conductor', behind: disturbing });
  afterAll(() => proxy?.close());
  const call = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await fetch(`${pair.server.address}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    });
    return answer.text();
  };
  const start = async (definition: ReturnType<typeof graph>) => {
    const { workflowId } = await pair.pawl.publish(definition);
    return (await pair.pawl.start(workflowId, { driver: 'conductor' })).executionId;
  };
  const refOf = async (executionId: string) =>
    (await pair.pawl.executions.get(TENANT, executionId)).engineRunRef as string | null;
  const lookNow = async (executionId: string) =>
    pair.pawl.store.externalNote({ executionId, epoch: 1, ref: (await refOf(executionId))!, lookAfterMs: 0 });

  agreeOnRandomDefinitions(pair, 'conductor', { count: 8, atOnce: 8 });

  test('an output of 5 MB runs under the default limits, and does not pass through Conductor', async () => {
    const given = { parameters: { blob: '{{ context.data.a.blob }}' } };
    const executionId = await start(graph('large', [held('a', to('b')), held('b', given)]));
    const work = pair.work.of(executionId);
    (await work.next('a')).succeed({ blob: 'x'.repeat(5_000_000) });
    const attempt = await work.next('b');
    expect(attempt.params).toEqual({ blob: 'x'.repeat(5_000_000) });
    attempt.succeed({ done: true });
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Succeeded', outputs: { done: true } });
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    const run = await call('GET', `/api/workflow/${workflowId}?includeTasks=true`);
    expect(run).toContain(executionId);
    expect(run.length).toBeLessThan(100_000);
  });

  test('a definition that Conductor refuses fails the execution with the reason', async () => {
    const executionId = await start(graph(REFUSED, [echo('a', {}, to('b')), echo('b')]));
    const { status, error } = await pair.pawl.result(executionId);
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'RUN_REFUSED' });
    expect(pair.warnings).toContainEqual(
      expect.objectContaining({ event: 'an engine refuses an execution', executionId }),
    );
    expect(error?.message).toMatch(/refused \(400\).*gate_a_0.*see docs\/conductor\.md/);
  });

  test('a run that is terminated by hand fails its execution with the reason', async () => {
    const executionId = await start(graph('ended-by-hand', [held('a')]));
    await pair.work.of(executionId).next('a');
    await eventually(() => refOf(executionId)).not.toBeNull();
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    await call('DELETE', `/api/workflow/${workflowId}?reason=by%20hand`);
    await lookNow(executionId);
    const { status, error } = await pair.pawl.result(executionId);
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'RUN_LOST' });
    expect(error?.message).toContain('by hand');
    expect(pair.warnings).toContainEqual(expect.objectContaining({ executionId, providerStatus: 'TERMINATED' }));
  });

  test('a run that is rerun or restarted by hand after the end changes nothing', async () => {
    const executionId = await start(graph('again-by-hand', [echo('a', {}, to('b')), echo('b')]));
    await pair.pawl.result(executionId);
    await eventually(() => refOf(executionId)).not.toBeNull();
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    const before = await pair.pawl.store.executionJournal({ executionId, afterSeq: -1, limit: 100 });
    await eventually(async () => JSON.parse(await call('GET', `/api/workflow/${workflowId}`)).status).toBe('COMPLETED');
    await call('POST', `/api/workflow/${workflowId}/rerun`, { reRunFromWorkflowId: workflowId });
    await call('POST', `/api/workflow/${workflowId}/restart?useLatestDefinitions=false`);
    await eventually(async () => JSON.parse(await call('GET', `/api/workflow/${workflowId}`)).status).toBe('COMPLETED');
    expect(await pair.pawl.store.executionJournal({ executionId, afterSeq: -1, limit: 100 })).toEqual(before);
  });

  const again = [
    { how: 'rerun', ask: 'rerun', body: (id: string) => ({ reRunFromWorkflowId: id }) },
    { how: 'restarted', ask: 'restart?useLatestDefinitions=false', body: () => undefined },
  ];
  test.each(again)('a run that is terminated and $how by hand goes on where its execution was', async (one) => {
    const { how, ask, body } = one;
    const executionId = await start(graph(`${how}-by-hand`, [held('a', to('b')), echo('b')]));
    const attempt = await pair.work.of(executionId).next('a');
    await eventually(() => refOf(executionId)).not.toBeNull();
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    await call('DELETE', `/api/workflow/${workflowId}?reason=by%20hand`);
    await call('POST', `/api/workflow/${workflowId}/${ask}`, body(workflowId));
    await lookNow(executionId);
    attempt.succeed();
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Succeeded' });
    expect(await pair.pawl.store.executionAttempts({ executionId })).toHaveLength(2);
  });

  test('an execution whose run is paused by hand says so, and goes on when the run is resumed', async () => {
    const executionId = await start(graph('paused-by-hand', [held('a', to('b')), echo('b')]));
    const attempt = await pair.work.of(executionId).next('a');
    await eventually(() => refOf(executionId)).not.toBeNull();
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    await call('PUT', `/api/workflow/${workflowId}/pause`);
    await lookNow(executionId);
    const engineError = async () => pair.pawl.queries.engineError(await pair.pawl.executions.get(TENANT, executionId));
    await eventually(engineError).toMatch(/somebody paused the run .* in Conductor\. Resume it there/);
    attempt.succeed();
    await call('PUT', `/api/workflow/${workflowId}/resume`);
    expect(await pair.pawl.result(executionId)).toMatchObject({ status: 'Succeeded' });
  });

  const runOf = async (workflowId: string) =>
    JSON.parse(await call('GET', `/api/workflow/${workflowId}`)) as { status: string; reasonForIncompletion?: string };
  const UNKNOWN = {
    status: 'FAILED',
    reasonForIncompletion: expect.stringContaining('Pawl does not know this execution'),
  };

  test('a run of an unknown execution fails with the reason, which is also in the log', async () => {
    const compiled = compileDefinition(graph('nobody', [echo('a')]));
    if (!compiled.ok) throw new Error('not valid');
    const definition = laneDefinition(compiled.plan);
    const { name, version } = definition;
    const input = { executionId: randomUUID(), epoch: 1 };
    const workflowId = await call('POST', '/api/workflow', { name, version, input, workflowDef: definition });
    await eventually(() => runOf(workflowId)).toMatchObject(UNKNOWN);
    expect(pair.warnings).toContainEqual(expect.objectContaining({ executionId: input.executionId, workflowId }));
  });

  test('a task of a foreign workflow definition fails with the reason', async () => {
    const taskDefinition = { name: TURN_TASK, retryCount: 0, timeoutSeconds: 0, responseTimeoutSeconds: 10 };
    const task = { name: TURN_TASK, taskReferenceName: 'mine', type: 'SIMPLE', inputParameters: {}, taskDefinition };
    const workflowDef = { name: 'somebody-elses', version: 1, schemaVersion: 2, ownerEmail: 'a@b.c', tasks: [task] };
    const { name, version } = workflowDef;
    const workflowId = await call('POST', '/api/workflow', { name, version, input: {}, workflowDef });
    await eventually(() => runOf(workflowId)).toMatchObject(UNKNOWN);
  });
});
