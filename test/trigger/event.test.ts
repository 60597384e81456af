// Events: an event starts every trigger that waits for its type and whose filter holds, once per event.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { tokenFor, useServer } from '../server/api-server.ts';
import { createTrigger, executionsOf, firings, publishEcho } from './trigger-api.ts';

const server = useServer({ trigger: { enableSchedules: false } });
beforeAll(() => publishEcho(server, 'listener'));

const on = (eventType: string, config = {}, rest = {}) =>
  createTrigger(server, { workflowId: 'listener', triggerType: 'Event', config: { eventType, ...config }, ...rest });

const emit = async (event: JsonObject, token?: string) => {
  const { status, body } = await server.post('/api/v1/events', event, token === undefined ? {} : { token });
  expect({ status, body }).toMatchObject({ status: 202 });
  return body as unknown as {
    eventId: string;
    executions: { triggerId: string; executionId?: string; started: boolean; reason?: string }[];
  };
};

describe('an event', () => {
  it('an event starts every enabled trigger of its type whose filter and condition hold', async () => {
    const all = await on('order.paid');
    const large = await on('order.paid', { filter: 'event.data.amount > 100 && event.type.startsWith("order")' });
    const picky = await on('order.paid', {}, { activationCondition: 'trigger.country === "SE"' });
    await on('order.paid', {}, { isEnabled: false });
    await on('order.sent');

    const small = await emit({ id: 'e1', type: 'order.paid', data: { amount: 5, country: 'SE' } });
    expect(small.eventId).toBe('e1');
    expect(small.executions.map(({ triggerId, started }) => [triggerId, started])).toEqual([
      [all.id, true],
      [picky.id, true],
    ]);
    const executionId = small.executions[0]!.executionId!;
    expect((await server.get(`/api/v1/executions/${executionId}`)).body).toMatchObject({
      trigger: { amount: 5, country: 'SE' },
      requestId: `event:${all.id}:e1`,
      principal: { userId: 'ada' },
    });

    const foreign = await emit({ type: 'order.paid', data: { amount: 500, country: 'NO' } });
    expect(foreign.executions).toMatchObject([
      { triggerId: all.id, started: true },
      { triggerId: large.id, started: true },
      { triggerId: picky.id, started: false, reason: 'the activation condition is false' },
    ]);
    // A trigger that does not match has nothing to do with the event. A trigger that refused the event is on record.
    expect(await firings(server, large.id)).toHaveLength(1);
    expect(await firings(server, picky.id)).toMatchObject([{ outcome: 'condition_false' }, { outcome: 'started' }]);
  });

  it('an event that is sent again starts nothing new', async () => {
    await publishEcho(server, 'counted');
    for (const _ of [1, 2, 3]) {
      await createTrigger(server, { workflowId: 'counted', triggerType: 'Event', config: { eventType: 'tick' } });
    }
    const answers = await Promise.all(Array.from({ length: 10 }, () => emit({ id: 'once', type: 'tick' })));
    for (const { executions } of answers) expect(executions).toEqual(answers[0]!.executions);
    expect(await executionsOf(server, 'counted')).toHaveLength(3);
  });

  it('an event whose filter fails starts nothing for that trigger, and the reason is recorded', async () => {
    const { id } = await on('broken', { filter: 'event.data.customer.name === "x"' });
    const { executions } = await emit({ type: 'broken', data: {} });
    expect(executions).toMatchObject([{ triggerId: id, started: false }]);
    expect(executions[0]!.reason).toContain('the filter could not be evaluated');
    expect(await firings(server, id)).toMatchObject([{ outcome: 'condition_false' }]);
  });

  it('an event reaches more triggers than fit into one page', async () => {
    await publishEcho(server, 'many');
    const { store } = server.pawl;
    for (let index = 0; index < 250; index++) {
      await store.triggerCreate({
        triggerId: `01890000-0000-7000-8000-${String(index).padStart(12, '0')}`,
        tenantId: 'acme',
        workflowId: 'many',
        triggerType: 'Event',
        isEnabled: true,
        config: '{"eventType":"flood"}',
        activationCondition: null,
        eventType: 'flood',
        secrets: [],
      });
    }
    expect((await emit({ type: 'flood' })).executions.filter(({ started }) => started)).toHaveLength(250);
  });

  it('an event stays within its tenant, and an invalid event is refused', async () => {
    await on('private');
    const token = await tokenFor({ tenant: 'globex' });
    expect((await emit({ type: 'private' }, token)).executions).toEqual([]);
    for (const event of [
      {},
      { type: '' },
      { type: 'a', id: 'with space' },
      { type: 'a', more: 1 },
      { type: 'a\u0000' },
    ]) {
      expect((await server.post('/api/v1/events', event)).status).toBe(400);
    }
  });

  it('a trigger whose event type changes listens to the new type only', async () => {
    const { id } = await on('old.type');
    await server.ask('PUT', `/api/v1/triggers/${id}`, { body: { config: { eventType: 'new.type' } } });
    expect((await emit({ type: 'old.type' })).executions).toEqual([]);
    expect((await emit({ type: 'new.type' })).executions).toMatchObject([{ triggerId: id, started: true }]);
  });

  it('an event is matched against filters, triggers and workflows as they are now', async () => {
    await publishEcho(server, 'moody');
    const config = { eventType: 'mood', filter: 'trigger.shop == 1' };
    const { id } = await createTrigger(server, { workflowId: 'moody', triggerType: 'Event', config });
    const path = `/api/v1/triggers/${id}`;
    const started = async (shop: number) =>
      (await emit({ type: 'mood', data: { shop } })).executions.map(({ triggerId }) => triggerId);
    expect([await started(1), await started(2)]).toEqual([[id], []]);
    await server.ask('PUT', path, { body: { config: { ...config, filter: 'trigger.shop == 2' } } });
    expect([await started(1), await started(2)]).toEqual([[], [id]]);
    await server.ask('PUT', path, { body: { isEnabled: false } });
    expect(await started(2)).toEqual([]);
    await server.ask('PUT', path, { body: { isEnabled: true } });
    expect(await started(2)).toEqual([id]);
    expect((await server.post('/api/v1/workflows/moody/archive')).status).toBeLessThan(300);
    expect(await started(2)).toEqual([]);
    expect((await server.post('/api/v1/workflows/moody/reactivate')).status).toBeLessThan(300);
    expect(await started(2)).toEqual([id]);
    expect((await server.ask('DELETE', path)).status).toBeLessThan(300);
    expect(await started(2)).toEqual([]);
  });

  it('an event sent many times at once is recorded once for each trigger', async () => {
    await publishEcho(server, 'burst');
    const triggers = await Promise.all(
      [1, 2].map(() =>
        createTrigger(server, { workflowId: 'burst', triggerType: 'Event', config: { eventType: 'burst' } }),
      ),
    );
    const ids = ['b1', 'b2', 'b1', 'b3', 'b2', 'b1'];
    const answers = await Promise.all(ids.map((id) => emit({ id, type: 'burst' })));
    for (const { executions } of answers) expect(executions.map(({ started }) => started)).toEqual([true, true]);
    for (const { id } of triggers) expect(await firings(server, id)).toHaveLength(3);
    expect(await executionsOf(server, 'burst')).toHaveLength(6);
  });

  it('an event that a workflow refuses is kept, and can be retried after the workflow is repaired', async () => {
    const order = { type: 'object', required: ['order'] };
    await publishEcho(server, 'strict-listener', { triggerSchema: order });
    const config = { eventType: 'order.lost' };
    const { id } = await createTrigger(server, { workflowId: 'strict-listener', triggerType: 'Event', config });
    for (const _ of [1, 2]) {
      const { executions } = await emit({ id: 'lost-1', type: 'order.lost', data: { ordr: 7 } });
      expect(executions).toMatchObject([{ started: false, reason: expect.stringContaining('order') }]);
    }
    const letters = async () => (await server.get('/api/v1/admin/dead-letters')).body.data as JsonObject[];
    const requestId = `event:${id}:lost-1`;
    expect(await letters()).toEqual([
      {
        id: expect.any(String),
        triggerId: id,
        requestId,
        enqueuedAt: expect.any(String),
        reason: 'TRIGGER_INVALID',
        payload: { workflowId: 'strict-listener', requestId, triggerPayload: { ordr: 7 } },
        attempts: 2,
        lastError: expect.stringContaining('order'),
      },
    ]);
    const [letter] = await letters();
    const requeue = () => server.post(`/api/v1/admin/dead-letters/${letter!.id}/requeue`);
    expect(await requeue()).toMatchObject({ status: 400, body: { error: { code: 'TRIGGER_INVALID' } } });
    expect(await letters()).toHaveLength(1);

    await publishEcho(server, 'strict-listener', { triggerSchema: { type: 'object' } });
    const { status, body } = await requeue();
    expect(status, JSON.stringify(body)).toBe(202);
    expect((await server.get(`/api/v1/executions/${body.executionId}`)).body).toMatchObject({
      trigger: { ordr: 7 },
      requestId,
    });
    expect(await letters()).toEqual([]);
    expect(await firings(server, id)).toMatchObject([{ outcome: 'started', executionId: body.executionId }]);
  });
});

it('an execution can wait for the end of another execution, without a trigger', async () => {
  const wait = (id: string, event: JsonObject): JsonObject => ({
    ...{ id, displayName: id, startNode: 'wait' },
    nodes: [{ id: 'wait', nodeType: 'wait', events: [event] }],
  });
  const definitions = [
    wait('awaited-run', { type: 'run.go', key: '{{ trigger.order }}', at: 'order' }),
    wait('awaiting-run', { type: 'RunCompleted', key: '{{ trigger.run }}', at: 'runId' }),
  ];
  for (const definition of definitions) await server.pawl.publish(definition, { tenantId: 'acme' });
  const start = (id: string, trigger: JsonObject) => server.pawl.start(id, { tenantId: 'acme', trigger });
  const { executionId: run } = await start('awaited-run', { order: 'r1' });
  const { executionId: other } = await start('awaited-run', { order: 'r2' });
  const { executionId } = await start('awaiting-run', { run });
  for (const order of ['r2', 'r1']) await emit({ type: 'run.go', data: { order } });
  const { status, outputs } = await server.pawl.result(executionId, { tenantId: 'acme' });
  expect([status, outputs]).toMatchObject(['Succeeded', { by: 'RunCompleted', data: { runId: run } }]);
  expect(other).not.toBe(run);
});
