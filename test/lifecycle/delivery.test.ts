// What a transition sends, over HTTP: hooks and their answers, subscriptions, dead letters, notices, timeouts.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createClient } from '../../src/sdk/client.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';
import { loan, loanCalls } from './lifecycle-server.ts';

const server = useServer();
const { importLoan, trigger, pull, ack, until, timeline, instance } = loanCalls(server);
const DELIVERIES = '/api/v1/deliveries';
const CONSUMERS = '/api/v1/consumers';

beforeAll(async () => {
  await server.pawl.publish(chain('notify-underwriter', echo('note', { ref: '{{ trigger.externalRef }}' })), {
    tenantId: 'acme',
  });
  await importLoan();
});

/** The hook to `kyc` for the loan with this reference. */
async function hookOf(externalRef: string): Promise<JsonObject> {
  await trigger(externalRef, 'submit', { payload: { amount: 5_000 } });
  const hook = (await pull('kyc')).find((event) => event.externalRef === externalRef);
  expect(hook).toBeDefined();
  return hook!;
}

describe('the loan of the examples', () => {
  it('the loan sends a hook, starts a workflow, and is approved when the check succeeds', async () => {
    const hook = await hookOf('loan-1');
    expect(hook).toEqual({
      ackGuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'hook',
      externalRef: 'loan-1',
      env: 'prod',
      definition: 'loan',
      version: 1,
      instanceId: (await instance('loan-1')).instanceId,
      occurredAt: (await instance('loan-1')).stateSince,
      event: { name: 'submit', id: expect.any(String), code: 1001, from: 'draft', to: 'submitted' },
      hook: 'verify-identity',
      policy: 'check-identity',
      actor: 'ada',
      requestId: expect.any(String),
      payload: { amount: 5_000 },
    });
    const ackGuid = hook.ackGuid as string;
    const stages = [];
    for (const stage of ['Delivered', 'Processed', 'Processed', 'Delivered']) {
      stages.push(await ack(ackGuid, { consumer: 'kyc', stage, result: { score: 7 } }));
    }
    expect(stages.map(({ status, body }) => [status, body.stage, body.changed])).toEqual([
      [200, 'Delivered', true],
      [200, 'Processed', true],
      [200, 'Processed', false],
      [200, 'Processed', false],
    ]);
    await until('loan-1', 'approved');
    expect((await timeline('loan-1')).at(-1)).toMatchObject({
      event: 'approve',
      cause: { type: 'policy', ackGuid },
      payload: { score: 7 },
    });
    expect((await server.get(`${DELIVERIES}/${ackGuid}`)).body).toMatchObject({
      message: hook,
      deliveries: [{ consumer: 'kyc', stage: 'Processed', outcome: 'succeeded', attempts: 1 }],
    });
    const started = async () => {
      const { body } = await server.get('/api/v1/executions?workflowId=notify-underwriter');
      return (body.data as JsonObject[]).filter((one) => (one.trigger as JsonObject).externalRef === 'loan-1');
    };
    await expect.poll(async () => (await started()).map(({ status }) => status)).toEqual(['Succeeded']);
  });

  it('a hook is not sent when its condition is false; a condition that fails gives a notice', async () => {
    await trigger('small', 'submit', { payload: { amount: 5 } });
    await trigger('silent', 'submit');
    expect((await server.get(`${DELIVERIES}?consumer=kyc`)).body.data).toEqual([]);
    const notices = async () => (await server.get('/api/v1/notices?limit=200')).body.data as JsonObject[];
    await expect
      .poll(async () => (await notices()).map(({ kind, details }) => [kind, (details as JsonObject).externalRef]))
      .toContainEqual(['DispatchFailure', 'silent']);
  });

  it('the loan is rejected when the check fails for good, and the dead letter can be sent again', async () => {
    const { ackGuid } = await hookOf('loan-2');
    const failed = { consumer: 'kyc', stage: 'Processed', outcome: 'failed', message: 'no passport' };
    expect(await ack(ackGuid as string, failed)).toMatchObject({ status: 200, body: { stage: 'Dead' } });
    await until('loan-2', 'rejected');
    const dead = async () => (await server.get(`${DELIVERIES}?stage=Dead&consumer=kyc`)).body.data as JsonObject[];
    expect(await dead()).toMatchObject([{ ackGuid, stage: 'Dead', message: 'no passport', consumer: 'kyc' }]);
    expect(await server.post(`${DELIVERIES}/${ackGuid}/requeue`, {})).toMatchObject({
      status: 202,
      body: { count: 1 },
    });
    expect(await pull('kyc')).toMatchObject([{ ackGuid, externalRef: 'loan-2' }]);
    await ack(ackGuid as string, { consumer: 'kyc', stage: 'Processed' });
    expect(await dead()).toEqual([]);
    expect(await server.post(`${DELIVERIES}/${ackGuid}/requeue`, {})).toMatchObject({ status: 404 });
    expect((await instance('loan-2')).state).toBe('rejected');
  });

  it('a hook is sent again when the consumer asks for it', async () => {
    const hook = await hookOf('loan-3');
    const retryAt = new Date(Date.now() + 300).toISOString();
    const failed = { consumer: 'kyc', stage: 'Processed', outcome: 'failed', retryAt };
    expect(await ack(hook.ackGuid as string, failed)).toMatchObject({ body: { stage: 'Failed' } });
    expect(await pull('kyc')).toEqual([hook]);
    const told = async () => {
      const { body } = await server.get('/api/v1/notices?limit=200');
      return (body.data as JsonObject[]).map(({ kind, message }) => `${kind}: ${message}`);
    };
    const retry = `DeliveryRetryRaised: the hook on "submit" of loan (${hook.ackGuid}) is sent to "kyc" again: attempt 2`;
    await expect.poll(told).toContainEqual(retry);
    await ack(hook.ackGuid as string, { consumer: 'kyc', stage: 'Processed' });
    await until('loan-3', 'approved');
  });
});

describe('an acknowledgement', () => {
  it('a repeated acknowledgement gets the same answer, even after its retry time has passed', async () => {
    const hook = await hookOf('repeated');
    const ackGuid = hook.ackGuid as string;
    const retryAt = new Date(Date.now() - 3_600_000).toISOString();
    const failed = { consumer: 'kyc', stage: 'Processed', outcome: 'failed', message: 'busy', retryAt };
    expect(await ack(ackGuid, failed)).toMatchObject({ status: 200, body: { stage: 'Failed', changed: true } });
    expect(await pull('kyc')).toEqual([hook]);
    expect(await ack(ackGuid, failed)).toMatchObject({ status: 200, body: { stage: 'Pending', changed: false } });
    await ack(ackGuid, { consumer: 'kyc', stage: 'Processed' });
    expect(await ack(ackGuid, failed)).toMatchObject({ status: 200, body: { stage: 'Processed', changed: false } });
  });

  const unknown = '01a1e1b7-7e42-7ac3-9117-e8a155bfb90e';

  it.each<[string, string, JsonObject, number]>([
    ['of nothing', unknown, { consumer: 'kyc', stage: 'Delivered' }, 404],
    ['by nobody', unknown, { consumer: 'nobody', stage: 'Delivered' }, 404],
    ['of no guid', 'guid', { consumer: 'kyc', stage: 'Delivered' }, 404],
    ['without a consumer', unknown, { stage: 'Delivered' }, 400],
    ['of a stage that is none', unknown, { consumer: 'kyc', stage: 'Dead' }, 400],
    ['with a bad time', unknown, { consumer: 'kyc', stage: 'Processed', outcome: 'failed', retryAt: 'later' }, 400],
  ])('an acknowledgement %s is refused', async (_, ackGuid, body, status) => {
    expect((await ack(ackGuid, body)).status).toBe(status);
  });

  it('an acknowledgement by another tenant is answered with 404', async () => {
    const { ackGuid } = await hookOf('theirs');
    const token = await tokenFor({ tenant: 'globex' });
    const body = { consumer: 'kyc', stage: 'Processed' };
    expect(await server.post(`${DELIVERIES}/${ackGuid}/ack`, body, { token })).toMatchObject({ status: 404 });
    expect(await server.get(`${DELIVERIES}/${ackGuid}`, { token })).toMatchObject({ status: 404 });
    await ack(ackGuid as string, body);
  });
});

describe('a consumer', () => {
  it('a consumer subscribes to transitions, is paused and resumed, and can replay everything', async () => {
    const subscriptions = [{ env: 'prod', definition: 'loan', events: ['submit'] }];
    const registered = await server.post(CONSUMERS, { code: 'crm', kind: 'pull', subscriptions });
    expect(registered).toMatchObject({
      status: 201,
      body: { code: 'crm', kind: 'pull', subscriptions, isPaused: false },
    });
    const from = new Date(Date.now() - 1_000).toISOString();
    await server.post(`${CONSUMERS}/crm/pause`);
    await trigger('subscribed', 'submit', { payload: { amount: 1 } });
    expect((await server.get(`${DELIVERIES}?consumer=crm`)).body.data).toEqual([]);
    expect(await server.post(`${CONSUMERS}/crm/resume`)).toMatchObject({ body: { isPaused: false } });
    const [event] = await pull('crm');
    expect(event).toMatchObject({
      kind: 'transition',
      externalRef: 'subscribed',
      event: { from: 'draft', to: 'submitted' },
    });
    await ack(event!.ackGuid as string, { consumer: 'crm', stage: 'Processed' });
    expect(await server.post(`${CONSUMERS}/crm/replay`, { from })).toMatchObject({ status: 202, body: { count: 1 } });
    expect(await pull('crm')).toEqual([event]);
    const changed = await server.ask('PATCH', `${CONSUMERS}/crm`, { body: { subscriptions: [] } });
    expect(changed).toMatchObject({ status: 200, body: { subscriptions: [] } });
    expect((await server.ask('DELETE', `${CONSUMERS}/crm`)).status).toBe(204);
    expect(await server.get(`${CONSUMERS}/crm`)).toMatchObject({
      status: 404,
      body: { error: { code: 'CONSUMER_NOT_FOUND' } },
    });
  });

  it('a webhook consumer has a secret that is shown once', async () => {
    const url = 'http://127.0.0.1:9/hook';
    const { status, body } = await server.post(CONSUMERS, { code: 'erp', kind: 'webhook', url });
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { url, secret: expect.stringMatching(/^whsec_/), validSecrets: 1 },
    });
    expect((await server.get(`${CONSUMERS}/erp`)).body).not.toHaveProperty('secret');
    const rotated = await server.post(`${CONSUMERS}/erp/rotate-secret`, {});
    expect(rotated.body).toMatchObject({ secret: expect.stringMatching(/^whsec_/), validSecrets: 2 });
    expect(rotated.body.secret).not.toBe(body.secret);
    const codes = (answer: JsonObject) => (answer.data as JsonObject[]).map(({ code }) => code);
    expect(codes((await server.get('/api/v1/admin/consumers')).body)).toEqual(['erp', 'kyc']);
    expect(JSON.stringify((await server.get(CONSUMERS)).body)).not.toContain('whsec_');
  });

  it.each<[string, JsonObject]>([
    ['of no kind', { code: 'x', kind: 'pigeon' }],
    ['without an address', { code: 'x', kind: 'webhook' }],
    ['with a bad code', { code: '(workflows)', kind: 'pull' }],
    ['with bad subscriptions', { code: 'x', kind: 'pull', subscriptions: [{ events: 'submit' }] }],
    ['with a field that nobody knows', { code: 'x', kind: 'pull', subscription: [] }],
  ])('a consumer %s is refused', async (_, body) => {
    expect(await server.post(CONSUMERS, body)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID' } },
    });
  });

  it('a consumer can receive its messages as a stream', async () => {
    await server.post(CONSUMERS, { code: 'live', kind: 'pull', subscriptions: [{ definition: 'loan' }] });
    const controller = new AbortController();
    const answer = await fetch(`${server.url}${DELIVERIES}?consumer=live`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${await tokenFor()}` },
      signal: controller.signal,
    });
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    await trigger('streamed', 'submit', { payload: { amount: 1 } });
    let text = '';
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes('data: ') && text.endsWith('\n\n')) break;
    }
    controller.abort();
    expect(text).toMatch(/id: [0-9a-f-]{36}\nevent: transition\ndata: \{.*"externalRef":"streamed".*\}\n\n/);
    expect(await server.get(`${DELIVERIES}?consumer=nobody`)).toMatchObject({ status: 404 });
  });
});

describe('page by page', () => {
  const walk = async (path: string, keyOf: (item: JsonObject) => unknown): Promise<unknown[]> => {
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await server.get(`${path}&limit=1${cursor}`);
      expect({ status, body }).toMatchObject({ status: 200 });
      seen.push(...(body.data as JsonObject[]).map(keyOf));
      if (body.nextCursor === undefined) return seen;
      expect(new Set(seen).size).toBe(seen.length);
      cursor = `&cursor=${body.nextCursor as string}`;
    }
  };

  it.each<[string, (item: JsonObject) => unknown]>([
    [`${DELIVERIES}?tenantId=acme`, ({ ackGuid, consumer }) => `${ackGuid} ${consumer}`],
    ['/api/v1/notices?after=0', ({ id }) => id],
    ['/api/v1/lifecycles/prod/loan/instances?after=walked-1', ({ externalRef }) => externalRef],
  ])('paging through %s shows every item once', async (path, keyOf) => {
    for (const externalRef of ['walked-1', 'walked-2', 'walked-3']) {
      await trigger(externalRef, 'submit', { payload: { amount: 5_000 } });
      await trigger(externalRef, 'submit');
    }
    const whole = ((await server.get(`${path}&limit=200`)).body.data as JsonObject[]).map(keyOf);
    expect(whole.length).toBeGreaterThan(1);
    expect(await walk(path, keyOf)).toEqual(expect.arrayContaining(whole));
  });
});

describe('notices', () => {
  it('notices are listed, and streamed as they come', async () => {
    const controller = new AbortController();
    const { body: before } = await server.get('/api/v1/notices?limit=1');
    const after = (before.data as JsonObject[]).at(-1)?.id ?? '0';
    const answer = await fetch(`${server.url}/api/v1/notices?after=${after as string}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${await tokenFor()}` },
      signal: controller.signal,
    });
    await trigger('noticed', 'reject');
    let text = '';
    for await (const piece of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (/"externalRef":"noticed"/.test(text)) break;
    }
    controller.abort();
    expect(text).toMatch(/event: TransitionRejected\ndata: .*"externalRef":"noticed"/);
    const { body } = await server.get(`/api/v1/notices?after=${after as string}`);
    expect((body.data as JsonObject[]).at(-1)).toMatchObject({
      kind: 'TransitionRejected',
      message: expect.any(String),
    });
    const token = await tokenFor({ tenant: 'globex' });
    expect((await server.get('/api/v1/notices', { token })).body).toEqual({ data: [] });
  });
});

describe('a state with a timeout', () => {
  it('a state that lasts too long triggers its event, up to its maximum, and the timeline says why', async () => {
    const definition = loan();
    const states = definition.states as JsonObject;
    const timeout = { after: '50ms', event: 'remind', mode: 'repeat', max: 2 };
    const quick = { ...definition, name: 'quick', states: { ...states, submitted: { timeout } } };
    await server.post('/api/v1/lifecycles', { definition: quick });
    const base = '/api/v1/lifecycles/prod/quick';
    await server.post(`${base}/trigger`, { externalRef: 'late', event: 'submit', requestId: 'r' });
    const entries = async () => (await server.get(`${base}/instances/late/timeline`)).body.data as JsonObject[];
    await expect.poll(async () => (await entries()).length).toBe(3);
    expect((await entries()).slice(1)).toMatchObject([
      { event: 'remind', cause: { type: 'timeout', state: 'submitted', count: 1 } },
      { event: 'remind', cause: { type: 'timeout', state: 'submitted', count: 2 } },
    ]);
    expect((await server.get(`${base}/instances/late`)).body).not.toHaveProperty('timeoutAt');
  });
});

describe('a program that pulls', () => {
  it('a pulling program gets and acknowledges events of executions like those of lifecycles', async () => {
    const consumer = { code: 'reports', kind: 'pull', subscriptions: [{ types: ['RunCompleted'] }] };
    expect((await server.post(CONSUMERS, consumer)).status).toBe(201);
    await server.pawl.publish(chain('reported', echo('a')), { tenantId: 'acme' });
    const { executionId } = await server.pawl.start('reported', { tenantId: 'acme' });
    const pawl = createClient({ url: server.url, token: await tokenFor() });
    const stop = new AbortController();
    const seen: unknown[] = [];
    const work = pawl.deliveries.work('reports', async (event) => void seen.push(event), { signal: stop.signal });
    await expect.poll(() => seen).toMatchObject([{ eventType: 'RunCompleted', runId: executionId }]);
    const { ackGuid, eventId } = seen[0] as { ackGuid: string; eventId: string };
    expect(ackGuid).toBe(eventId);
    const stages = async () => (await pawl.deliveries.get(ackGuid)).deliveries.map(({ stage }) => stage);
    await expect.poll(stages).toEqual(['Processed']);
    stop.abort();
    await work;
  });
});
