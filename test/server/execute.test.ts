// `POST /workflows/{id}/execute`: stored before it is acknowledged, the same execution for the same requestId, and refused with a
// code that gives the reason.

import { beforeAll, describe, expect, it } from 'vitest';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const EXECUTE = '/api/v1/workflows/greet/execute';

beforeAll(async () => {
  const greet = chain('greet', echo('hello', { text: 'Hello, {{ trigger.name ?? "you" }}' }));
  const triggerSchema = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' } },
    additionalProperties: false,
  };
  await server.pawl.publish({ ...greet, triggerSchema }, { tenantId: 'acme' });
  await server.pawl.publish(chain('other', echo('a')), { tenantId: 'acme' });
});

describe('starting an execution', () => {
  it('starting an execution answers 202 with a status URL, and the execution runs as requested', async () => {
    const { status, body, headers } = await server.post(EXECUTE, {
      requestId: 'first',
      trigger: { name: 'Doug' },
      priority: 7,
      tenantId: 'acme',
      spec: { a: 1 },
    });
    expect(status).toBe(202);
    const { executionId } = body as { executionId: string };
    const statusUrl = `/api/v1/executions/${executionId}`;
    expect(body).toEqual({ executionId, status: 'Pending', statusUrl });
    expect(headers.get('location')).toBe(statusUrl);
    const result = await server.pawl.result(executionId, { tenantId: 'acme' });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { text: 'Hello, Doug' } });
    expect((await server.get(statusUrl)).body).toMatchObject({
      executionId,
      workflowId: 'greet',
      version: 1,
      format: 'graph',
      status: 'Succeeded',
      tenantId: 'acme',
      trigger: { name: 'Doug' },
      spec: { a: 1 },
      principal: { userId: 'ada', displayName: 'ada', email: null },
      priority: 7,
      correlationId: executionId,
      requestId: 'first',
      driver: 'native',
      outputs: { text: 'Hello, Doug' },
    });
  });

  it('forty requests with one requestId at once get the same execution', async () => {
    const request = { requestId: 'once', trigger: { name: 'Ada' } };
    const replies = await Promise.all(Array.from({ length: 40 }, () => server.post(EXECUTE, request)));
    expect(new Set(replies.map(({ body }) => body.executionId)).size).toBe(1);
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(39);
    const { executionId } = replies[0]!.body as { executionId: string };
    await server.pawl.result(executionId, { tenantId: 'acme' });
    expect((await server.post(EXECUTE, request)).body).toMatchObject({ executionId, status: 'Succeeded' });
  });

  it('an Idempotency-Key that is too long is refused, and the message names the header', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(201) };
    const { status, body } = await server.post(EXECUTE, {}, { headers });
    const message = 'the header Idempotency-Key must have 1 to 200 characters';
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID', message } } });
  });

  it('an Idempotency-Key serves as the requestId of a request without one', async () => {
    const headers = { 'idempotency-key': 'from-the-header' };
    const first = await server.ask('POST', EXECUTE, { body: {}, headers });
    const again = await server.ask('POST', EXECUTE, { body: { trigger: { name: 'Ada' } }, headers });
    expect([first.status, again.status, again.body.executionId]).toEqual([202, 200, first.body.executionId]);
    const named = await server.ask('POST', EXECUTE, { body: { requestId: 'from-the-body' }, headers });
    expect(named.status).toBe(202);
    expect((await server.get(named.body.statusUrl as string)).body).toMatchObject({ requestId: 'from-the-body' });
  });

  it('a requestId of another workflow is answered with 409 WFENG001', async () => {
    await server.post(EXECUTE, { requestId: 'taken' });
    const { status, body } = await server.post('/api/v1/workflows/other/execute', { requestId: 'taken' });
    const error = { code: 'WFENG001', name: 'REQUEST_ID_CONFLICT_OTHER_WORKFLOW' };
    expect({ status, body }).toMatchObject({ status: 409, body: { error } });
  });

  it('tenants can use the same requestId', async () => {
    await server.pawl.publish(chain('greet', echo('a')), { tenantId: 'globex' });
    const mine = await server.post(EXECUTE, { requestId: 'shared' });
    const theirs = await server.post(EXECUTE, { requestId: 'shared' }, { token: await tokenFor({ tenant: 'globex' }) });
    expect([mine.status, theirs.status]).toEqual([202, 202]);
    expect(mine.body.executionId).not.toBe(theirs.body.executionId);
  });

  it('an invalid trigger payload is refused with every problem', async () => {
    const { status, body } = await server.post(EXECUTE, { trigger: { name: 'x', age: 'old', extra: 1 } });
    expect(status).toBe(400);
    const { code, details } = body.error as { code: string; details: { path: string; message: string }[] };
    expect(code).toBe('TRIGGER_INVALID');
    expect(details.map(({ path }) => path).sort()).toEqual(['', '/age', '/name']);
    expect(details.find(({ path }) => path === '')?.message).toContain('extra');
  });

  it('an invalid start request is refused with every problem', async () => {
    const { status, body } = await server.post(EXECUTE, { priority: 10, requestId: '', triger: {}, nonsense: true });
    expect(status).toBe(400);
    const { code, details, timestamp } = body.error as { code: string; details: { path: string }[]; timestamp: string };
    expect(code).toBe('REQUEST_INVALID');
    expect(details.map(({ path }) => path)).toEqual(['/requestId', '/priority', '/triger', '/nonsense']);
    const message = expect.stringContaining('is not a field here');
    expect(details).toContainEqual({
      code: 'UNKNOWN_KEY',
      path: '/triger',
      message,
      suggestion: 'did you mean `trigger`?',
    });
    expect(new Date(timestamp).toISOString()).toBe(timestamp);
  });

  it('a start for another tenant or for another principal is refused', async () => {
    const foreign = await server.post(EXECUTE, { tenantId: 'globex' });
    expect(foreign).toMatchObject({ status: 403, body: { error: { code: 'TENANT_MISMATCH' } } });
    const token = await tokenFor({ scope: 'workflows:execute workflows:read' });
    const other = await server.post(EXECUTE, { principal: { userId: 'U123' } }, { token });
    expect(other).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    const self = await server.post(EXECUTE, { principal: { userId: 'ada', email: 'ada@example.com' } }, { token });
    expect(self.status).toBe(202);
    const anybody = await server.post(EXECUTE, { principal: { userId: 'U123', displayName: 'Doug' } });
    const execution = await server.get(`/api/v1/executions/${anybody.body.executionId}`);
    expect(execution.body.principal).toEqual({ userId: 'U123', displayName: 'Doug', email: null });
  });

  it('a start takes the correlation id of the request, or gets a new one', async () => {
    const given = await server.post(EXECUTE, {}, { headers: { 'x-correlation-id': 'trace 42' } });
    expect(given.headers.get('x-correlation-id')).toBe('trace 42');
    const execution = await server.get(`/api/v1/executions/${given.body.executionId}`);
    expect(execution.body.correlationId).toBe('trace 42');
    expect(execution.headers.get('x-correlation-id')).toMatch(/^[0-9a-f-]{36}$/);
    const tooLong = await server.get('/health/live', { headers: { 'x-correlation-id': 'x'.repeat(201) } });
    expect(tooLong).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID' } } });
  });

  it('the refusal of a start says why the workflow cannot be started', async () => {
    const unknown = await server.post('/api/v1/workflows/nowhere/execute', {});
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'WORKFLOW_NOT_FOUND' } } });
    const version = await server.post(EXECUTE, { version: 99 });
    expect(version).toMatchObject({ status: 404, body: { error: { code: 'WORKFLOW_NOT_FOUND' } } });
    await server.post('/api/v1/workflows', chain('draft', echo('a')));
    const draft = await server.post('/api/v1/workflows/draft/execute', {});
    expect(draft).toMatchObject({ status: 409, body: { error: { code: 'WORKFLOW_NOT_ACTIVE' } } });
    await server.ask('PATCH', '/api/v1/workflows/other', { body: { isEnabled: false } });
    const disabled = await server.post('/api/v1/workflows/other/execute', {});
    expect(disabled).toMatchObject({ status: 409, body: { error: { code: 'WORKFLOW_DISABLED' } } });
  });

  it('a repeated start gives the accepted execution, even after the workflow is archived', async () => {
    await server.pawl.publish(chain('short-lived', echo('a')), { tenantId: 'acme' });
    const first = await server.post('/api/v1/workflows/short-lived/execute', { requestId: 'before' });
    await server.pawl.result(first.body.executionId as string, { tenantId: 'acme' });
    await server.post('/api/v1/workflows/short-lived/archive');
    const again = await server.post('/api/v1/workflows/short-lived/execute', { requestId: 'before' });
    expect(again).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    const ref = { workflowId: 'short-lived' };
    const { uid } = (await server.pawl.store.workflowFind({ tenantId: 'acme', ref }))!;
    const byUid = await server.post(`/api/v1/workflows/wf_${uid.replaceAll('-', '')}/execute`, { requestId: 'before' });
    expect(byUid).toMatchObject({ status: 200, body: { executionId: first.body.executionId } });
    expect((await server.post('/api/v1/workflows/short-lived/execute', { requestId: 'after' })).status).toBe(409);
  });
});
