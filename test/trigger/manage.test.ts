// Managing triggers over HTTP: which settings are accepted, what is shown, and to whom.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { createTrigger, firings, publishEcho } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
beforeAll(() => publishEcho(server, 'hello'));

const HOURLY = { cron: '0 * * * *', timezone: 'Europe/Berlin', catchUp: 'all' };

describe('a schedule', () => {
  it('a schedule is created, shown with its next fire times, changed and deleted', async () => {
    const created = await createTrigger(server, { workflowId: 'hello', triggerType: 'Schedule', config: HOURLY });
    expect(created).toMatchObject({ workflowId: 'hello', triggerType: 'Schedule', isEnabled: true, config: HOURLY });
    const times = created.nextFireTimes as string[];
    expect(times).toHaveLength(5);
    const steps = times.slice(1).map((time, index) => Date.parse(time) - Date.parse(times[index]!));
    expect(new Set(steps)).toEqual(new Set([3_600_000]));

    const path = `/api/v1/triggers/${created.id}`;
    expect((await server.get(path)).body).toMatchObject({ id: created.id, config: HOURLY });
    const changed = await server.ask('PUT', path, { body: { config: { cron: '@daily' }, isEnabled: false } });
    expect(changed.body).toMatchObject({ isEnabled: false, config: { cron: '@daily' } });
    expect(changed.body).not.toHaveProperty('nextFireTimes');
    expect((await server.ask('DELETE', path)).status).toBe(204);
    expect((await server.get(path)).body).toMatchObject({ error: { code: 'TRIGGER_NOT_FOUND' } });
    expect((await server.ask('DELETE', path)).status).toBe(404);
  });
});

describe('a webhook', () => {
  it('a webhook keeps its configured path, and is reached by its id', async () => {
    const config = { path: '/orders/paid' };
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const trigger = { workflowId: 'hello', triggerType: 'Webhook', config: { ...config, secret } };
    const created = await createTrigger(server, trigger);
    expect(created.config).toEqual(config);
    expect(created.webhookUrl).toMatch(`/api/v1/triggers/${created.id}`);
  });

  it('a webhook read, edited and sent back keeps its secret', async () => {
    const config = { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' };
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Webhook', config });
    const path = `/api/v1/triggers/${id}`;
    const { body: shown } = await server.get(path);
    expect(await server.ask('PUT', path, { body: { ...shown, isEnabled: false } })).toMatchObject({
      status: 200,
      body: { id, isEnabled: false, hasSecret: true, webhookUrl: shown.webhookUrl },
    });
    expect(await server.ask('PUT', path, { body: { ...shown, id: 'another' } })).toMatchObject({
      status: 400,
      body: { error: { details: [{ code: 'CANNOT_CHANGE', path: '/id' }] } },
    });
  });
});

describe('an invalid trigger', () => {
  const problemsOf = async (trigger: JsonObject): Promise<string[]> => {
    const { status, body } = await server.post('/api/v1/triggers', trigger);
    expect(status).toBe(400);
    const { code, details } = body.error as unknown as { code: string; details: { code: string; path: string }[] };
    expect(code).toBe('REQUEST_INVALID');
    return details.map((problem) => `${problem.path} ${problem.code}`);
  };

  it('a trigger for an unknown workflow is answered with 404', async () => {
    const trigger = { workflowId: 'nobody', triggerType: 'Manual' };
    expect(await server.post('/api/v1/triggers', trigger)).toMatchObject({
      status: 404,
      body: { error: { code: 'WORKFLOW_NOT_FOUND' } },
    });
  });

  it('creating an invalid trigger reports every problem', async () => {
    expect(
      await problemsOf({
        workflowId: 'hello',
        triggerType: 'Schedule',
        config: { cron: '99 * * * *', timezone: 'Mars/Olympus', catchUp: 'maybe', payload: [1], colour: 'red' },
        activationCondition: 'trigger.a ===',
      }),
    ).toEqual([
      '/config/colour UNKNOWN_FIELD',
      '/activationCondition BAD_CONDITION',
      '/config/payload CONFIG_INVALID',
      '/config/catchUp CONFIG_INVALID',
      '/config/timezone CONFIG_INVALID',
      '/config/cron CONFIG_INVALID',
    ]);
    const config = { cron: '@daily', payload: { text: 'x'.repeat(70_000) } };
    expect(await problemsOf({ workflowId: 'hello', triggerType: 'Schedule', config })).toEqual([
      '/config/payload CONFIG_INVALID',
    ]);
  });

  it.each([
    ['a schedule without a cron expression', 'Schedule', {}, '/config/cron CONFIG_INVALID'],
    ['a schedule that never fires', 'Schedule', { cron: '0 0 30 2 *' }, '/config/cron CONFIG_INVALID'],
    ['an event trigger without a type', 'Event', {}, '/config/eventType CONFIG_INVALID'],
    ['a filter that is no expression', 'Event', { eventType: 'a', filter: 'event.(' }, '/config/filter BAD_CONDITION'],
    ['a filter that looks elsewhere', 'Event', { eventType: 'a', filter: 'spec.a' }, '/config/filter BAD_CONDITION'],
    ['a short secret', 'Webhook', { secret: 'whsec_c2hvcnQ=' }, '/config/secret CONFIG_INVALID'],
    ['a path that is no text', 'Webhook', { generateSecret: true, path: 1 }, '/config/path CONFIG_INVALID'],
    ['a webhook without a secret', 'Webhook', {}, '/config/secret SECRET_REQUIRED'],
    ['a manual trigger with a configuration', 'Manual', { cron: '@daily' }, '/config/cron UNKNOWN_FIELD'],
  ])('a trigger is refused: %s', async (_, triggerType, config, problem) => {
    expect(await problemsOf({ workflowId: 'hello', triggerType, config })).toEqual([problem]);
  });

  it('a trigger cannot change its workflow or its type', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Manual' });
    const body = { workflowId: 'other', triggerType: 'Event' };
    const { status, body: answer } = await server.ask('PUT', `/api/v1/triggers/${id}`, { body });
    expect([status, answer]).toMatchObject([
      400,
      { error: { details: [{ path: '/workflowId' }, { path: '/triggerType' }] } },
    ]);
  });
});

describe('lists of triggers', () => {
  it('the list of triggers is filtered and paged', async () => {
    await publishEcho(server, 'listed');
    for (const type of ['a', 'b', 'c']) {
      const isEnabled = type !== 'b';
      await createTrigger(server, {
        workflowId: 'listed',
        triggerType: 'Event',
        isEnabled,
        config: { eventType: type },
      });
    }
    await createTrigger(server, { workflowId: 'listed', triggerType: 'Manual' });
    const count = async (query: string) =>
      ((await server.get(`/api/v1/triggers?workflowId=listed${query}`)).body.data as unknown[]).length;
    expect(await count('')).toBe(4);
    expect(await count('&triggerType=Event')).toBe(3);
    expect(await count('&triggerType=Event&isEnabled=true')).toBe(2);
    const seen: string[] = [];
    let cursor = '';
    do {
      const { body } = await server.get(`/api/v1/triggers?workflowId=listed&limit=3${cursor}`);
      seen.push(...(body.data as { id: string }[]).map(({ id }) => id));
      cursor = body.nextCursor === undefined ? '' : `&cursor=${String(body.nextCursor)}`;
    } while (cursor !== '');
    expect(new Set(seen).size).toBe(4);
    expect((await server.get('/api/v1/triggers?cursor=what')).status).toBe(400);
  });
});

describe('another tenant', () => {
  it('another tenant can neither see nor change a trigger, nor use the workflow', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Manual' });
    const token = await tokenFor({ tenant: 'globex' });
    const path = `/api/v1/triggers/${id}`;
    const asked = [
      await server.get(path, { token }),
      await server.ask('PUT', path, { token, body: { isEnabled: false } }),
      await server.ask('DELETE', path, { token }),
      await server.get(`${path}/firings`, { token }),
      await server.post(`${path}/fire`, {}, { token }),
      await server.post(`${path}/rotate-secret`, {}, { token }),
    ];
    for (const { status, body } of asked) {
      expect([status, body]).toMatchObject([404, { error: { code: 'TRIGGER_NOT_FOUND' } }]);
    }
    expect((await server.get('/api/v1/triggers', { token })).body).toEqual({ data: [] });
    const foreign = await server.post('/api/v1/triggers', { workflowId: 'hello', triggerType: 'Manual' }, { token });
    expect([foreign.status, foreign.body]).toMatchObject([404, { error: { code: 'WORKFLOW_NOT_FOUND' } }]);
    expect((await server.get(path)).body).toMatchObject({ isEnabled: true });
  });
});

describe('firing by hand', () => {
  it('firing by hand starts the workflow with the body, even when the trigger is disabled', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Manual', isEnabled: false });
    const { status, body } = await server.post(`/api/v1/triggers/${id}/fire`, { tenantId: 'not ours', n: 1 });
    expect(status).toBe(202);
    const execution = (await server.get(`/api/v1/executions/${body.executionId as string}`)).body;
    expect(execution).toMatchObject({ trigger: { tenantId: 'not ours', n: 1 }, principal: { userId: 'ada' } });
    expect(await firings(server, id)).toMatchObject([{ outcome: 'started', executionId: body.executionId }]);
  });

  it('firing by hand twice with one Idempotency-Key starts one execution', async () => {
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Manual' });
    const fire = () => server.post(`/api/v1/triggers/${id}/fire`, {}, { headers: { 'idempotency-key': 'k1' } });
    const [first, second] = [await fire(), await fire()];
    expect([first.status, second.status]).toEqual([202, 200]);
    expect(second.body).toEqual(first.body);
  });

  it.each(['', 'k'.repeat(201)])('firing by hand with an invalid Idempotency-Key is refused: %j', async (key) => {
    const { id } = await createTrigger(server, { workflowId: 'hello', triggerType: 'Manual' });
    const headers = { 'idempotency-key': key };
    const { status, body } = await server.post(`/api/v1/triggers/${id}/fire`, {}, { headers });
    const message = 'the header Idempotency-Key must have 1 to 200 characters';
    expect({ status, body }).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID', message } } });
    const longest = { headers: { 'idempotency-key': 'k'.repeat(200) } };
    expect((await server.post(`/api/v1/triggers/${id}/fire`, {}, longest)).status).toBe(202);
  });

  it('firing by hand respects the condition, and a condition that fails gives the reason', async () => {
    const make = (activationCondition: string) =>
      createTrigger(server, { workflowId: 'hello', triggerType: 'Manual', activationCondition });
    const picky = await make('trigger.amount > 100');
    const fire = (id: string, body: unknown) => server.post(`/api/v1/triggers/${id}/fire`, body);
    const refused = await fire(picky.id, { amount: 5 });
    expect([refused.status, refused.body]).toEqual([
      200,
      { started: false, reason: 'the activation condition is false' },
    ]);
    expect((await fire(picky.id, { amount: 500 })).status).toBe(202);
    expect(await firings(server, picky.id)).toMatchObject([{ outcome: 'started' }, { outcome: 'condition_false' }]);

    const broken = await make('trigger.customer.name.length > 3');
    const { body } = await fire(broken.id, {});
    expect(body).toMatchObject({ started: false });
    expect(body.reason).toContain('the activation condition could not be evaluated');
    expect(await firings(server, broken.id)).toMatchObject([{ outcome: 'condition_false', reason: body.reason }]);
  });

  it('firing by hand does not start an inactive workflow, and gives the reason', async () => {
    await server.post('/api/v1/workflows', {
      id: 'young',
      displayName: 'Y',
      startNode: 'a',
      nodes: [{ id: 'a', actionType: 'core.echo', parameters: {} }],
    });
    const young = await createTrigger(server, { workflowId: 'young', triggerType: 'Manual' });
    expect((await server.post(`/api/v1/triggers/${young.id}/fire`)).body).toEqual({
      started: false,
      reason: 'workflow "young" is a Draft: publish it',
    });
    await publishEcho(server, 'off');
    const off = await createTrigger(server, { workflowId: 'off', triggerType: 'Manual' });
    await server.ask('PATCH', '/api/v1/workflows/off', { body: { isEnabled: false } });
    expect((await server.post(`/api/v1/triggers/${off.id}/fire`)).body).toMatchObject({ started: false });
    expect(await firings(server, off.id)).toMatchObject([{ outcome: 'skipped', reason: 'workflow "off" is disabled' }]);
  });
});
