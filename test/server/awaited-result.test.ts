// Starting and waiting for the result: execute and trigger with `wait`, reading with `wait`, webhooks that respond with the
// result, and `run` of the client. A longer execution is answered as without `wait`.

import { beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../src/sdk/client.ts';
import { createTrigger, sendWebhook } from '../trigger/trigger-api.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer({ trigger: { enableSchedules: false } });
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

beforeAll(async () => {
  const publish = (definition: Parameters<typeof server.pawl.publish>[0]) =>
    server.pawl.publish(definition, { tenantId: 'acme' });
  await publish(chain('quick', echo('hello', { text: 'Hello, {{ trigger.name ?? "you" }}' })));
  await publish(chain('broken', { id: 'no', actionType: 'core.fail', parameters: { code: 'NO', message: 'no' } }));
  await publish(chain('slow', { id: 'nap', actionType: 'core.delay', parameters: { durationMs: 600_000 } }));
  const pipeline = { name: 'nap', tasks: { nap: { sleep: '1s' } } };
  expect((await server.post('/api/v1/workflows', pipeline)).status).toBe(201);
});

const execute = (workflowId: string, wait: string, body = {}) =>
  server.post(`/api/v1/workflows/${workflowId}/execute?wait=${wait}`, body);

describe('execute with wait', () => {
  it('execute with wait answers 200 with the finished execution, the same as reading it', async () => {
    const { status, body } = await execute('quick', '30s', { trigger: { name: 'Ada' }, spec: { a: 1 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'Succeeded', outputs: { text: 'Hello, Ada' }, workflowId: 'quick' });
    expect((await server.get(`/api/v1/executions/${body.executionId as string}`)).body).toEqual(body);
  });

  it('execute with wait answers 200 with a failed execution: the request itself succeeded', async () => {
    const { status, body } = await execute('broken', '30');
    expect([status, body]).toMatchObject([200, { status: 'Failed', error: { code: 'NO', nodeId: 'no' } }]);
  });

  it('execute with wait answers 202, as without wait, when time is up', async () => {
    const { status, body, headers } = await execute('slow', '10ms');
    expect(status).toBe(202);
    expect(body).toEqual({
      executionId: expect.any(String),
      status: 'Pending',
      statusUrl: `/api/v1/executions/${body.executionId as string}`,
    });
    expect(headers.get('location')).toBe(body.statusUrl);
  });

  it('execute with wait and the same requestId answers with the same finished execution', async () => {
    const first = await execute('quick', '30s', { requestId: 'again' });
    expect(await execute('quick', '30s', { requestId: 'again' })).toMatchObject({ status: 200, body: first.body });
    const plain = await server.post('/api/v1/workflows/quick/execute', { requestId: 'again' });
    expect(plain.body).toEqual({
      executionId: first.body.executionId,
      status: 'Succeeded',
      statusUrl: expect.any(String),
    });
  });

  it('execute with an invalid wait is refused', async () => {
    const { status, body } = await execute('quick', 'soon');
    expect([status, body]).toMatchObject([400, { error: { details: [{ path: '/query/wait' }] } }]);
  });
});

describe('trigger with wait', () => {
  it('trigger with wait answers 200 with the run and its tasks', async () => {
    const { status, body } = await server.post('/api/v1/workflows/nap/trigger?wait=30s', {});
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: expect.stringMatching(/^run_/),
      status: 'completed',
      tasks: { nap: { status: 'success' } },
    });
  });

  it('trigger with wait answers 201, as without wait, when time is up', async () => {
    const { status, body } = await server.post('/api/v1/workflows/slow/trigger?wait=0', {});
    expect([status, body]).toMatchObject([201, { data: { run_id: expect.any(String), status: 'running' } }]);
  });
});

describe('a webhook that responds with the result', () => {
  it('a webhook with respond "result" answers 200 with the finished execution', async () => {
    const config = { secret: SECRET, respond: 'result' };
    const { id } = await createTrigger(server, { workflowId: 'quick', triggerType: 'Webhook', config });
    const { status, body } = await sendWebhook(server, id, { secret: SECRET, body: '{"name":"Bo"}' });
    expect([status, body]).toMatchObject([200, { status: 'Succeeded', outputs: { text: 'Hello, Bo' } }]);
  });

  it('a webhook with an unknown respond setting is refused', async () => {
    const config = { secret: SECRET, respond: 'later' };
    const trigger = { workflowId: 'quick', triggerType: 'Webhook', config };
    expect(await server.post('/api/v1/triggers', trigger)).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: '/config/respond' }] } },
    });
  });
});

describe('the client', () => {
  it('the client runs a workflow and returns its result', async () => {
    const pawl = createClient({ url: server.url, token: await tokenFor() });
    expect(await pawl.executions.run('quick', { trigger: { name: 'Cy' } })).toMatchObject({
      status: 'Succeeded',
      outputs: { text: 'Hello, Cy' },
    });
  });

  it('the client waits for an execution that another caller ends', async () => {
    const pawl = createClient({ url: server.url, token: await tokenFor() });
    const { executionId } = await pawl.executions.execute('slow');
    const waiting = pawl.executions.waitFor(executionId);
    await pawl.executions.cancel(executionId);
    expect(await waiting).toMatchObject({ executionId, status: 'Cancelled' });
  });
});
