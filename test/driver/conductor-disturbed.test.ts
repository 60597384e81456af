// Conductor behind a proxy that delivers tasks and answers twice and out of order, refuses definitions, and beside people who end or
// restart runs by hand: our state stays the truth.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { compileDefinition } from '../../src/core/definition/compile.ts';
import { laneDefinition } from '../../src/driver/conductor/lane-definition.ts';
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
    if (url === '/api/workflow' && body.includes(REFUSED)) {
      return response.writeHead(400).end('{"message":"the definition is too strange"}');
    }
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

describe.skipIf(conductorMissing !== null)('Conductor, disturbed', { timeout: 240_000 }, () => {
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

  test('a definition that Conductor refuses fails the execution with the reason', async () => {
    const executionId = await start(graph(REFUSED, [echo('a')]));
    const { status, error } = await pair.pawl.result(executionId);
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'RUN_REFUSED' });
    expect(error?.message).toContain('the definition is too strange');
  });

  test('a run that is terminated by hand closes its execution with the reason', async () => {
    const executionId = await start(graph('ended-by-hand', [held('a')]));
    await pair.work.of(executionId).next('a');
    await eventually(() => refOf(executionId)).not.toBeNull();
    const { workflowId } = JSON.parse((await refOf(executionId))!) as { workflowId: string };
    await call('DELETE', `/api/workflow/${workflowId}?reason=by%20hand`);
    await lookNow(executionId);
    const { status, error } = await pair.pawl.result(executionId);
    expect({ status, code: error?.code }).toEqual({ status: 'Failed', code: 'RUN_LOST' });
    expect(error?.message).toContain('by hand');
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

  test('a run of an execution that nobody knows comes to its end', async () => {
    const compiled = compileDefinition(graph('nobody', [echo('a')]));
    if (!compiled.ok) throw new Error('not valid');
    const definition = laneDefinition(compiled.plan);
    const { name, version } = definition;
    const input = { executionId: randomUUID(), epoch: 1 };
    const workflowId = await call('POST', '/api/workflow', { name, version, input, workflowDef: definition });
    await eventually(async () => JSON.parse(await call('GET', `/api/workflow/${workflowId}`)).status).toBe('COMPLETED');
  });
});
