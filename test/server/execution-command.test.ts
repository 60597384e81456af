// Cancel, signals, retry and callbacks through the API: stored before they are acknowledged, harmless to repeat, open to the
// right role only.

import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Problem } from '../../src/core/problem/problem.ts';
import { callbackToken } from '../../src/execution/callback-token.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const tenantId = 'acme';
const start = async (workflowId: string): Promise<string> =>
  (await server.post(`/api/v1/workflows/${workflowId}/execute`, {})).body.executionId as string;
const statusOf = async (id: string) => (await server.get(`/api/v1/executions/${id}`)).body.status;
const signal = (
  id: string,
  type: string,
  payload: JsonObject = {},
  options: { token?: string; signalId?: string } = {},
) =>
  server.post(
    `/api/v1/executions/${id}/signals`,
    { signalId: options.signalId ?? randomUUID(), type, payload },
    options.token === undefined ? {} : { token: options.token },
  );

beforeAll(async () => {
  await server.pawl.publish(chain('long', sleep('nap', 3_600_000)), { tenantId });
  await server.pawl.publish(chain('quick', echo('a')), { tenantId });
  const failing = { id: 'f', actionType: 'core.fail', parameters: { message: 'no' } };
  await server.pawl.publish(chain('fails', failing), { tenantId });
  const waiting = {
    name: 'waits',
    tasks: { hook: { wait_for_webhook: { timeout: '1h' } }, later: { needs: ['hook'], sleep: '1h' } },
  };
  expect((await server.post('/api/v1/workflows', waiting)).status).toBe(201);
});

describe('cancelling an execution', () => {
  it('cancelling answers 202 at first, 200 when repeated, and 409 when the execution has ended', async () => {
    const id = await start('long');
    expect((await server.post(`/api/v1/executions/${id}/cancel`, { reason: 'enough' })).status).toBe(202);
    await server.pawl.result(id, { tenantId });
    const again = await server.post(`/api/v1/executions/${id}/cancel`);
    expect(again).toMatchObject({ status: 200, body: { executionId: id, status: 'Cancelled' } });
    const quick = await start('quick');
    await server.pawl.result(quick, { tenantId });
    expect(await server.post(`/api/v1/executions/${quick}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: 'WFENG002' } },
    });
  });
});

describe('a cancelled execution', () => {
  it('a cancelled execution shows no edge as undecided', async () => {
    const id = await start('waits');
    await server.post(`/api/v1/executions/${id}/cancel`);
    await server.pawl.result(id, { tenantId });
    expect((await server.get(`/api/v1/executions/${id}/graph`)).body).toMatchObject({
      nodes: [
        { id: 'hook', status: 'Cancelled' },
        { id: 'later', status: 'Skipped' },
      ],
      edges: [{ from: 'hook', to: 'later', state: 'unsatisfied' }],
    });
  });
});

describe('signals', () => {
  it('signals pause and resume an execution, once per signalId', async () => {
    const id = await start('long');
    const signalId = randomUUID();
    expect((await signal(id, 'PAUSE', { reason: 'lunch' }, { signalId })).status).toBe(202);
    await expect.poll(() => statusOf(id)).toBe('Paused');
    expect((await signal(id, 'RESUME')).status).toBe(202);
    await expect.poll(() => statusOf(id)).toBe('Running');
    const repeated = await signal(id, 'PAUSE', { reason: 'lunch' }, { signalId });
    expect(repeated).toMatchObject({ status: 200, body: { repeated: true } });
    expect(await statusOf(id)).toBe('Running');
  });

  it('a signal needs the role for its type', async () => {
    const id = await start('long');
    const payloads: Record<string, JsonObject> = {
      PAUSE: {},
      RESUME: {},
      RETRY_STEP: { stepId: 'nap' },
      RERUN_FROM: { stepId: 'nap' },
      COMPLETE_STEP: { stepId: 'nowhere' },
      UPDATE_PARAMS: { newParams: { a: 1 } },
      INJECT_OVERRIDE: { stepId: 'nap', override: {} },
      ESCALATE_ALERT: { level: 'LOW' },
    };
    const allowed: Record<string, string[]> = {
      Operator: ['PAUSE', 'RESUME'],
      Engineer: ['PAUSE', 'RESUME', 'RETRY_STEP', 'RERUN_FROM'],
      Admin: Object.keys(payloads),
      System: ['ESCALATE_ALERT'],
      Nobody: [],
    };
    for (const [role, types] of Object.entries(allowed)) {
      const token = await tokenFor({ roles: [role] });
      const open: string[] = [];
      for (const [type, payload] of Object.entries(payloads)) {
        const { status } = await signal(id, type, payload, { token });
        if (status !== 403) open.push(type);
      }
      expect({ role, open }).toEqual({ role, open: types });
    }
  });

  it('a signal whose payload does not match its type is refused', async () => {
    const id = await start('long');
    const wrong: [string, JsonObject][] = [
      ['RETRY_STEP', {}],
      ['RERUN_FROM', {}],
      ['COMPLETE_STEP', { outputs: {} }],
      ['UPDATE_PARAMS', { newParams: 1 }],
      ['ESCALATE_ALERT', { level: 'EXTREME' }],
      ['DANCE', {}],
    ];
    for (const [type, payload] of wrong) {
      expect({ type, status: (await signal(id, type, payload)).status }).toEqual({ type, status: 400 });
    }
    expect((await signal(id, 'PAUSE', {}, { signalId: 'not-a-uuid' })).status).toBe(400);
  });

  it.each<[JsonObject, string[]]>([
    [{}, ['/type', '/signalId']],
    [{ type: 'DANCE', signalId: 7, foo: 1, payload: 1 }, ['/type', '/signalId', '/foo']],
    [{ type: 'RETRY_STEP', foo: 1, payload: {} }, ['/signalId', '/payload/stepId', '/foo']],
  ])('a signal with several problems is refused with all of them: %j', async (body, paths) => {
    const id = await start('long');
    const reply = await server.post(`/api/v1/executions/${id}/signals`, body);
    const { details } = reply.body.error as unknown as { details: Problem[] };
    expect(details.map(({ path }) => path)).toEqual(paths);
  });
});

describe('a signal that cannot be applied', () => {
  it('a signal that cannot be applied is refused at once, and can be sent again later', async () => {
    const id = await start('long');
    await expect.poll(() => statusOf(id)).toBe('Running');
    const signalId = randomUUID();
    expect(await signal(id, 'RESUME', {}, { signalId })).toMatchObject({
      status: 409,
      body: { error: { code: 'WFENG002', message: 'RESUME cannot be applied: not paused' } },
    });
    expect((await signal(id, 'RETRY_STEP', { stepId: 'nap' })).body).toMatchObject({
      error: { message: expect.stringContaining('the step has not failed') },
    });
    expect((await signal(id, 'INJECT_OVERRIDE', { stepId: 'nobody', override: {} })).status).toBe(409);
    await signal(id, 'PAUSE');
    await expect.poll(() => statusOf(id)).toBe('Paused');
    expect((await signal(id, 'PAUSE')).status).toBe(409);
    expect((await signal(id, 'RESUME', {}, { signalId })).status).toBe(202);
    await expect.poll(() => statusOf(id)).toBe('Running');
    expect((await signal(id, 'RESUME', {}, { signalId })).status).toBe(200);
    expect((await signal(randomUUID(), 'PAUSE')).status).toBe(404);
  });

  it('a signal is not refused because of an earlier signal that is still on its way', async () => {
    const id = await start('long');
    const replies = [await signal(id, 'PAUSE'), await signal(id, 'RESUME')];
    expect(replies.map(({ status }) => status)).toEqual([202, 202]);
    await expect
      .poll(async () => {
        const { body } = await server.get(`/api/v1/executions/${id}/events`);
        return (body.data as JsonObject[]).map(({ type }) => type);
      })
      .toContain('ExecutionResumed');
  });
});

describe('retrying an execution', () => {
  it('retrying runs failed nodes again, and answers 409 when no node has failed', async () => {
    const id = await start('fails');
    await server.pawl.result(id, { tenantId });
    const retried = await server.post(`/api/v1/executions/${id}/retry`);
    expect(retried).toMatchObject({ status: 202, body: { executionId: id, nodes: ['f'] } });
    await server.pawl.result(id, { tenantId });
    const { body } = await server.get(`/api/v1/executions/${id}?include=events`);
    const types = (body.events as JsonObject[]).map(({ type }) => type);
    expect(types).toContain('ExecutionReopened');
    expect(types.filter((type) => type === 'NodeFailed')).toHaveLength(2);
    const quick = await start('quick');
    await server.pawl.result(quick, { tenantId });
    expect((await server.post(`/api/v1/executions/${quick}/retry`)).status).toBe(409);
  });
});

describe('callbacks', () => {
  const callbackPath = async (executionId: string): Promise<string> => {
    const key = await server.pawl.store.secretGet({ name: 'callback' });
    return `/wh/${callbackToken(key, { executionId, nodeId: 'hook' })}`;
  };

  it('a callback gets 200 also when repeated, 404 for a wrong token, and 410 when nobody waits', async () => {
    const id = await start('waits');
    const path = await callbackPath(id);
    const call = (body: string, type: string) =>
      server.ask('POST', path, { token: null, text: body, headers: { 'content-type': type } });
    expect(await call('{"paid":true}', 'application/json')).toMatchObject({ status: 200, body: { received: true } });
    await expect
      .poll(async () => {
        const { body } = await server.get(`/api/v1/executions/${id}/graph`);
        return (body.nodes as JsonObject[])[0]!.status;
      })
      .toBe('Succeeded');
    expect((await call('{"paid":false}', 'application/json')).status).toBe(200);
    const { body } = await server.get(`/api/v1/executions/${id}?include=actions`);
    expect(JSON.stringify((body.actions as JsonObject[])[0]!.outputs)).toContain('"paid":true');

    const cancelled = await start('waits');
    await server.post(`/api/v1/executions/${cancelled}/cancel`);
    await server.pawl.result(cancelled, { tenantId });
    const late = await callbackPath(cancelled);
    expect(await server.ask('POST', late, { token: null })).toMatchObject({
      status: 410,
      body: { error: { code: 'CALLBACK_GONE' } },
    });
    const forged = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A');
    expect(await server.ask('POST', forged, { token: null })).toMatchObject({
      status: 404,
      body: { error: { code: 'CALLBACK_NOT_FOUND' } },
    });
  });

  it('a callback may have any body, and a body that is not JSON arrives as text', async () => {
    const id = await start('waits');
    const path = await callbackPath(id);
    const sent = await server.ask('POST', path, {
      token: null,
      text: 'a=1&b=2',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(sent.status).toBe(200);
    await expect
      .poll(async () => {
        const { body } = await server.get(`/api/v1/executions/${id}?include=actions`);
        return JSON.stringify((body.actions as JsonObject[])[0]?.outputs);
      })
      .toContain('a=1&b=2');
  });
});
