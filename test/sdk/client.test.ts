// The client against a real server: every namespace, errors, and a bad network.

import { beforeAll, describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../src/sdk/client.ts';
import {
  createClient,
  everyItem,
  PawlApiError,
  type PawlClient,
  pipeline,
  signWebhook,
  workflow,
} from '../../src/sdk/client.ts';
import { executionIdOf } from '../pipeline/run.ts';
import { useShop } from '../pipeline/shop.ts';
import { tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
const shop = useShop();
let token: string;
let client: PawlClient;

beforeAll(async () => {
  token = await tokenFor();
  client = connect();
});

const connect = (rest: Partial<ClientOptions> = {}): PawlClient => createClient({ url: server.url, token, ...rest });

const echo = (id: string) =>
  workflow({ id, displayName: id })
    .trigger<{ x: number }>()
    .node('say', { action: 'core.echo', parameters: ({ trigger }) => ({ x: trigger.x }) })
    .build();

async function publish(id: string, definition = echo(id)): Promise<void> {
  await client.workflows.create(definition);
  await client.workflows.publish(id);
}

/** A workflow that works until it is stopped. */
const slow = (id: string) =>
  workflow({ id, displayName: id })
    .node('wait', { action: 'core.delay', parameters: { durationMs: 3_600_000 } })
    .build();

const refusalOf = (work: Promise<unknown>): Promise<PawlApiError> =>
  work.then(
    () => expect.unreachable('it was not refused'),
    (error: unknown) => {
      expect(error).toBeInstanceOf(PawlApiError);
      return error as PawlApiError;
    },
  );

describe('graph workflows', () => {
  it('the client takes a graph from draft to version to execution to its end', async () => {
    const draft = await client.workflows.create(echo('greet'));
    expect(draft).toMatchObject({ id: 'greet', status: 'Draft', hasDraft: true });
    expect(await client.workflows.publish('greet')).toMatchObject({ version: 1, status: 'Active' });
    const { executionId } = await client.workflows.execute('greet', { trigger: { x: 7 } });
    const ended = await client.executions.waitFor(executionId);
    expect(ended).toMatchObject({ status: 'Succeeded', outputs: { x: 7 } });
    expect(await client.executions.get(executionId, { include: ['actions'] })).toMatchObject({
      actions: [{ nodeId: 'say', status: 'Succeeded' }],
    });
    const { nodes } = await client.executions.graph(executionId);
    expect(nodes).toMatchObject([{ id: 'say', status: 'Succeeded' }]);
    expect(await client.executions.hierarchy(executionId)).toMatchObject({ executionId, children: [] });
  });

  it('the client opens drafts, lists versions, archives and reactivates a graph', async () => {
    await publish('life');
    expect(await client.workflows.openDraft('life')).toMatchObject({ hasDraft: true });
    await client.workflows.create({ ...echo('life'), displayName: 'Life' });
    expect((await client.workflows.diff('life')).changes.map(({ path }) => path)).toContain('/displayName');
    await client.workflows.publish('life');
    expect((await client.workflows.versions('life')).data.map(({ version }) => version)).toEqual([2, 1]);
    await client.workflows.openDraft('life');
    await client.workflows.dropDraft('life');
    expect(await client.workflows.archive('life')).toEqual({ workflowId: 'life', status: 'Archived' });
    expect((await refusalOf(client.workflows.execute('life'))).code).toBe('WORKFLOW_NOT_ACTIVE');
    await client.workflows.reactivate('life');
    await client.workflows.setEnabled('life', false);
    expect((await refusalOf(client.workflows.execute('life'))).code).toBe('WORKFLOW_DISABLED');
    expect(await client.workflows.get('life', { version: 1 })).toMatchObject({ definition: { displayName: 'life' } });
  });

  it('the client lists workflows page by page', async () => {
    for (const id of ['page-a', 'page-b', 'page-c']) await client.workflows.create(echo(id));
    const ids: string[] = [];
    const pages = everyItem((cursor) => client.workflows.list({ search: 'page-', limit: 2, cursor }));
    for await (const { id } of pages) ids.push(id);
    expect(ids).toEqual(['page-a', 'page-b', 'page-c']);
  });
});

describe('pipelines', () => {
  const orders = () =>
    pipeline({ name: 'sdk-orders', waits: ['paid'] })
      .trigger<{ id: number }>()
      .http('open', ({ trigger, wait }) => ({
        url: `${shop().url}/sdk-open`,
        body: { id: trigger.body.id, callback: wait.paid.url },
      }))
      .waitForWebhook('paid', { needs: ['open'], timeout: '1h' })
      .build();

  it('the client creates, runs, replaces and deletes a pipeline', async () => {
    const created = await client.workflows.create(orders());
    expect(created).toMatchObject({ name: 'sdk-orders', task_count: 2, enabled: true });
    const { run_id: runId } = await client.workflows.trigger('sdk-orders', { id: 5 });
    await expect.poll(async () => (await client.workflows.run('sdk-orders', runId)).tasks.paid?.status).toBe('waiting');
    const [{ callback, id }] = shop().bodies('/sdk-open') as [{ callback: string; id: number }];
    expect(id).toBe(5);
    expect((await fetch(callback, { method: 'POST', body: '{"ok":true}' })).status).toBe(200);
    await client.executions.waitFor(executionIdOf(runId));
    const run = await client.workflows.run('sdk-orders', runId, { include: 'body' });
    expect(run).toMatchObject({ status: 'completed', tasks: { paid: { status: 'success' } } });
    expect((await client.workflows.runs('sdk-orders')).data).toHaveLength(1);

    const { tasks } = orders();
    expect(await client.workflows.update('sdk-orders', { tasks })).toMatchObject({ version: 1 });
    expect(await client.workflows.get('sdk-orders')).toMatchObject({ tasks: { open: expect.anything() } });
    expect((await client.workflows.list({ format: 'pipeline' })).data[0]).toHaveProperty('task_count');
    await client.workflows.delete('sdk-orders');
    expect((await refusalOf(client.workflows.get('sdk-orders'))).status).toBe(404);
  });

  it('the client triggers a pipeline once per idempotency key, and cancels the run', async () => {
    await client.workflows.create(pipeline({ name: 'sdk-nap' }).sleep('nap', '1h').build());
    const first = await client.workflows.trigger('sdk-nap', {}, { idempotencyKey: 'once' });
    const again = await client.workflows.trigger('sdk-nap', {}, { idempotencyKey: 'once' });
    expect(again.run_id).toBe(first.run_id);
    await client.workflows.cancelRun('sdk-nap', first.run_id);
    expect(await client.executions.waitFor(executionIdOf(first.run_id))).toMatchObject({ status: 'Cancelled' });
  });
});

describe('executions', () => {
  it('the client reads events from the first to the last', async () => {
    await publish('told');
    const { executionId } = await client.executions.execute('told', { trigger: { x: 1 } });
    const types: string[] = [];
    for await (const { type } of client.executions.events(executionId)) types.push(type);
    expect([types[0], types.at(-1)]).toEqual(['ExecutionStarted', 'ExecutionSucceeded']);
    expect((await client.executions.eventPage(executionId)).data.map(({ type }) => type)).toEqual(types);
  });

  it('the client loses and repeats no event when the connection breaks', async () => {
    await publish('broken');
    const { executionId } = await client.executions.execute('broken', { trigger: { x: 1 } });
    await client.executions.waitFor(executionId);
    const { data: all } = await client.executions.eventPage(executionId);
    let cuts = 0;
    const cutting: typeof fetch = async (...request) => {
      const answer = await fetch(...request);
      if (answer.headers.get('content-type')?.startsWith('text/event-stream') !== true || cuts++ >= 2) return answer;
      return new Response(afterEvents(answer.body!, 2), answer);
    };
    const seen: number[] = [];
    for await (const { seq } of connect({ fetch: cutting }).executions.events(executionId)) seen.push(seq);
    expect(cuts).toBe(3);
    expect(seen).toEqual(all.map(({ seq }) => seq));
  });

  it('the client pauses, resumes, cancels and finds an execution', async () => {
    await publish('slow', slow('slow'));
    const { executionId } = await client.executions.execute('slow');
    const signalId = crypto.randomUUID();
    expect(await client.executions.signal(executionId, { signalId, type: 'PAUSE', payload: {} })).toMatchObject({
      signalId,
      repeated: false,
    });
    expect(await client.executions.signal(executionId, { signalId, type: 'PAUSE', payload: {} })).toMatchObject({
      repeated: true,
    });
    await client.executions.signal(executionId, { type: 'RESUME', payload: {} });
    const live = await client.executions.list({ workflowId: 'slow', status: ['Pending', 'Running', 'Paused'] });
    expect(live.data.map((found) => found.executionId)).toEqual([executionId]);
    await client.executions.cancel(executionId, { reason: 'enough' });
    expect((await client.executions.waitFor(executionId)).status).toBe('Cancelled');
  });

  it('the client publishes a definition of any format again without a new version', async () => {
    const typed = workflow({ id: 'typed', displayName: 'typed' })
      .trigger<{ name: string }>()
      .node('greet', {
        action: 'core.echo',
        parameters: ({ trigger, execution }) => ({ text: trigger.name, id: execution.id }),
        onFailure: 'sorry',
      })
      .node('sorry', { action: 'core.echo' })
      .build();
    const plan = {
      metadata: {
        planId: 'planned',
        planVersion: '1',
        createdAt: '2026-02-22T10:00:00Z',
        createdBy: 'planner',
        schemaVersion: 'v1',
      },
      scope: { tenantId: 'default', projectId: 'p', environmentId: 'e', repoSha: 's' },
      steps: [{ stepId: 'a', type: 'core.echo', inputs: {}, timeout: '1m' }],
    };
    for (const definition of [typed, plan, { name: 'piped', tasks: { nap: { sleep: 0 } } }]) {
      const first = await client.workflows.publish(definition);
      expect(first).toMatchObject({ version: 1, status: 'Active' });
      expect(await client.workflows.publish(definition)).toMatchObject({ version: 1, workflowId: first.workflowId });
    }
    const { executionId } = await client.workflows.execute(typed, { trigger: { name: 'Ada' } });
    expect(await client.executions.waitFor(executionId)).toMatchObject({ outputs: { text: 'Ada', id: executionId } });
  });

  it('the client retries a failed execution', async () => {
    const failing = workflow({ id: 'failing', displayName: 'failing' })
      .node('fail', { action: 'core.fail', parameters: { message: 'no' }, policies: { retry: { maxAttempts: 1 } } })
      .build();
    await publish('failing', failing);
    const { executionId } = await client.executions.execute('failing');
    expect((await client.executions.waitFor(executionId)).status).toBe('Failed');
    expect(await client.executions.retry(executionId)).toEqual({ executionId, nodes: ['fail'] });
  });

  it('the client stops waiting for an execution when the caller aborts', async () => {
    await publish('endless', slow('endless'));
    const { executionId } = await client.executions.execute('endless');
    const giveUp = new AbortController();
    const waiting = client.executions.waitFor(executionId, { signal: giveUp.signal });
    giveUp.abort(new Error('that is long enough'));
    await expect(waiting).rejects.toThrow('that is long enough');
  });
});

describe('refusals of the server', () => {
  it('a refusal becomes an error with everything that the answer said', async () => {
    const refusal = await refusalOf(client.workflows.create({ ...echo('BAD ID'), id: 'BAD ID' }));
    expect(refusal).toMatchObject({ code: 'WFENG005', status: 400, correlationId: expect.any(String) });
    expect(refusal.details).toEqual(expect.arrayContaining([expect.objectContaining({ path: '/id' })]));
  });

  it('an answer that is not from Pawl becomes an error of its own', async () => {
    const elsewhere = createClient({ url: shop().url });
    shop().answer('/api/v1/workflows', 404, 'nothing here');
    expect(await refusalOf(elsewhere.workflows.list())).toMatchObject({ code: 'NOT_PAWL', status: 404 });
    expect(() => createClient({ url: 'localhost' })).toThrow('is not a URL');
  });

  it('the client gets 401 without a token, and can fetch a token for each request', async () => {
    expect((await refusalOf(createClient({ url: server.url }).workflows.list())).status).toBe(401);
    let asked = 0;
    const fresh = connect({ token: () => Promise.resolve(++asked > 0 ? token : '') });
    await fresh.workflows.list();
    await fresh.workflows.list();
    expect(asked).toBe(2);
  });
});

describe('a bad network', () => {
  /** Every request arrives, but the first `lost` answers do not. */
  function losing(lost: number) {
    const sent: string[] = [];
    const lossy: typeof fetch = async (url, init) => {
      sent.push(String(init?.method));
      const answer = await fetch(url, init);
      if (sent.length <= lost) throw new TypeError('fetch failed');
      return answer;
    };
    return { sent, client: connect({ fetch: lossy }) };
  }

  it('the client starts one execution, however often the answer is lost', async () => {
    await publish('once');
    const { sent, client: lossy } = losing(2);
    const { executionId } = await lossy.workflows.execute('once', { trigger: { x: 1 } });
    expect(sent).toHaveLength(3);
    const found = await client.executions.list({ workflowId: 'once' });
    expect(found.data.map((one) => one.executionId)).toEqual([executionId]);
  });

  it('the error of a failed request names the address and the reason', async () => {
    const nowhere = connect({ url: 'http://127.0.0.1:9', retries: 0 });
    await expect(nowhere.workflows.list()).rejects.toThrow(
      /^the request to http:\/\/127\.0\.0\.1:9 failed: fetch failed \(.+\)$/,
    );
  });

  it('the client does not repeat a request that may be unsafe to repeat', async () => {
    const { sent, client: lossy } = losing(1);
    await expect(lossy.workflows.create(echo('unsure'))).rejects.toThrow('fetch failed');
    expect(sent).toEqual(['POST']);
  });

  it('the client gives up after its retries', async () => {
    const { sent, client: lossy } = losing(100);
    await expect(lossy.workflows.list()).rejects.toThrow('fetch failed');
    expect(sent).toHaveLength(4);
  });

  it('the client does not wait for a quota that resets next month', async () => {
    const tenant = 'sdk-limited';
    const limited = connect({ token: await tokenFor({ tenant }) });
    await client.admin.setQuota(tenant, { limits: { executionsPerMonth: 0 } });
    await limited.workflows.create(pipeline({ name: 'nap' }).sleep('nap', 1).build());
    const refusal = await refusalOf(limited.workflows.trigger('nap'));
    expect(refusal).toMatchObject({ code: 'QUOTA_EXHAUSTED', status: 429, details: { limit: 'executionsPerMonth' } });
    expect(refusal.retryAfterMs).toBeGreaterThan(0);
    expect(await client.admin.quota(tenant)).toMatchObject({ limits: { executionsPerMonth: 0 } });
  });
});

describe('triggers', () => {
  it('the client creates a trigger, fires it by webhook and by hand, and reads its firings', async () => {
    await publish('hooked');
    const created = await client.triggers.create({
      workflowId: 'hooked',
      triggerType: 'Webhook',
      config: { generateSecret: true },
    });
    const body = '{"x":3}';
    const answer = await fetch(created.webhookUrl!, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(await signWebhook(body, created.secret!)) },
    });
    expect(answer.status).toBe(202);
    expect(await client.triggers.fire(created.id, { x: 4 })).toHaveProperty('executionId');
    expect((await client.triggers.firings(created.id)).data.map(({ outcome }) => outcome)).toEqual([
      'started',
      'started',
    ]);
    expect(await client.triggers.rotateSecret(created.id)).toHaveProperty('secret');
    await client.triggers.update(created.id, { isEnabled: false });
    expect(await client.triggers.get(created.id)).toMatchObject({ isEnabled: false });
    await client.triggers.delete(created.id);
    expect((await client.triggers.list({ workflowId: 'hooked' })).data).toEqual([]);
  });

  it('the client publishes an event once for an event trigger', async () => {
    await publish('listening');
    await client.triggers.create({
      workflowId: 'listening',
      triggerType: 'Event',
      config: { eventType: 'order.paid' },
    });
    const event = { id: 'evt-1', type: 'order.paid', data: { x: 9 } };
    const { executions } = await client.triggers.publishEvent(event);
    expect(executions).toEqual([expect.objectContaining({ started: true })]);
    const again = await client.triggers.publishEvent(event);
    expect(again.executions[0]!.executionId).toBe(executions[0]!.executionId);
  });
});

describe('the catalog, plans and admin routes', () => {
  it('the client reads the catalog, runners, dead letters and debug information', async () => {
    expect((await client.catalog.connectors()).data.map(({ id }) => id)).toContain('http');
    expect(await client.catalog.connector('core')).toMatchObject({ isEnabled: true });
    expect((await client.catalog.connectorActions('core')).data.map(({ id }) => id)).toContain('core.echo');
    expect((await client.catalog.actions({ search: 'echo' })).data.length).toBeGreaterThan(0);
    expect(await client.catalog.action('core.echo')).toHaveProperty('parameterSchema');
    await client.catalog.setConnectorEnabled('email', false);
    expect(await client.catalog.setConnectorEnabled('email', true)).toMatchObject({ isEnabled: true });
    expect(await client.catalog.updateAction('core.fail', { isEnabled: true })).toMatchObject({ id: 'core.fail' });
    expect((await client.admin.runners()).data[0]).toMatchObject({ state: 'live' });
    expect((await client.admin.deadLetters()).data).toEqual([]);
    expect((await refusalOf(client.plans.debug('no-such-run'))).status).toBe(404);
  });
});

/** Breaks the stream off after `count` events. */
function afterEvents(body: ReadableStream<Uint8Array>, count: number): ReadableStream<Uint8Array> {
  let left = count;
  const decoder = new TextDecoder();
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        for (const message of decoder.decode(piece).split(/(?<=\n\n)/)) {
          if (message.includes('data:') && left-- === 0) return controller.error(new Error('the line is dead'));
          controller.enqueue(new TextEncoder().encode(message));
        }
      },
    }),
  );
}
