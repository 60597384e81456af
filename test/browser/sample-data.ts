// Data like that of a real installation, made through the SDK: workflows of every format, executions that finished, failed, wait,
// sleep and retry, lifecycles with consumers, and triggers. Also hostile data, which must stay text on every page.

import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json } from '../../src/core/json/json.ts';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';

export const HOSTILE = '<img src=x onerror="window.hacked=1"> ‮rtl 🚀';

/** As long and as strange as a reference may be. */
export const HOSTILE_REF = `<img src=x onerror=hacked()> ${'x'.repeat(100)}`;

/** As deep as the server accepts. */
const deep = (): Json => Array.from({ length: 60 }).reduce<Json>((inner) => ({ in: inner }), HOSTILE);

const echo = (id: string, parameters: object, edges: readonly object[] = []) => ({
  id,
  actionType: 'core.echo',
  parameters,
  edges,
});

const ORDERS = {
  id: 'orders',
  displayName: 'Orders',
  description: 'Charges a card, sends the receipt, and reports what failed.',
  triggerSchema: {
    type: 'object',
    required: ['amount'],
    properties: { amount: { type: 'number', minimum: 1 }, customer: { type: 'string' }, express: { type: 'boolean' } },
  },
  startNode: 'fetch',
  nodes: [
    echo('fetch', { customer: '{{ trigger.customer ?? "ada" }}', amount: '{{ trigger.amount }}' }, [
      { targetNode: 'charge' },
    ]),
    {
      id: 'charge',
      actionType: 'http.request',
      parameters: { url: '{{ trigger.gateway }}', method: 'POST', body: { amount: '{{ context.data.fetch.amount }}' } },
      policies: { retry: { maxAttempts: 3, baseDelayMs: 150, jitter: false } },
      edges: [
        { targetNode: 'receipt' },
        { targetNode: 'gift', condition: 'context.data.fetch.amount > 500' },
        { targetNode: 'report', when: 'failure' },
      ],
    },
    echo('receipt', { to: '{{ context.data.fetch.customer }}' }, [{ targetNode: 'archive' }]),
    echo('gift', { item: 'mug' }, [{ targetNode: 'archive' }]),
    echo('archive', { done: true }),
    echo('report', { failed: '{{ context.data.charge.error.code }}' }, [{ targetNode: 'stop' }]),
    {
      id: 'stop',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 9 },
      policies: { retry: { maxAttempts: 1 } },
    },
  ],
};

const ONBOARD = {
  id: 'onboard',
  displayName: 'Onboarding',
  startNode: 'create',
  nodes: [
    echo('create', { account: '{{ trigger.name }}' }, [{ targetNode: 'rest' }]),
    { id: 'rest', actionType: 'core.delay', parameters: { durationMs: 7_200_000 }, edges: [{ targetNode: 'welcome' }] },
    echo('welcome', { sent: true }),
  ],
};

const FLAKY = {
  id: 'sync-crm',
  displayName: 'Sync CRM',
  startNode: 'pull',
  nodes: [
    {
      id: 'pull',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: 99 },
      policies: { retry: { maxAttempts: 8, baseDelayMs: 60_000, jitter: false } },
      edges: [{ targetNode: 'push' }],
    },
    echo('push', { ok: true }),
  ],
};

/** Loops, a wait for one of several things, joins, an early end, and the compensations after it. */
const FULFIL = {
  id: 'fulfil',
  displayName: 'Fulfil an order',
  startNode: 'order',
  finally: ['release'],
  nodes: [
    echo(
      'order',
      { stop: '{{ trigger.stop ?? false }}' },
      ['ship', 'poll', 'quote-a', 'quote-b'].map((targetNode) => ({ targetNode })),
    ),
    {
      id: 'ship',
      actionType: 'core.sometimes-fails',
      parameters: { failTimes: '{{ item }}' },
      forEach: { items: [0, 0, 9, 0, 0], parallel: 2, tolerate: 1 },
      policies: { retry: { maxAttempts: 1 } },
      compensate: 'recall',
      edges: [{ targetNode: 'pack' }],
    },
    {
      id: 'poll',
      actionType: 'core.echo',
      parameters: { round: '{{ round }}' },
      repeat: { until: 'output.round >= 2', maxRounds: 9, delayMs: 20 },
      edges: [{ targetNode: 'give-up', condition: 'context.data.order.stop' }, { targetNode: 'pack' }],
    },
    echo('quote-a', { price: 7 }, [{ targetNode: 'choose' }]),
    echo('quote-b', { price: 9 }, [{ targetNode: 'choose' }]),
    {
      ...echo('choose', {}, [{ targetNode: 'decision', condition: '!context.data.order.stop' }]),
      join: { first: 1, cancelRest: true },
    },
    {
      id: 'decision',
      nodeType: 'wait',
      callback: true,
      timeoutMs: 86_400_000,
      events: ['order.approved', 'order.rejected'].map((type) => ({ type, key: '{{ trigger.id }}', at: 'id' })),
      edges: [{ targetNode: 'pack' }],
    },
    { ...echo('pack', { packed: true }), join: 'all' },
    {
      id: 'give-up',
      nodeType: 'end',
      status: 'Failed',
      error: { code: 'OUT_OF_STOCK', message: 'nothing is left' },
    },
    echo('recall', { recalled: true }),
    echo('release', { released: true }),
  ],
};

const HOSTILE_FLOW = {
  id: 'hostile',
  displayName: HOSTILE,
  description: HOSTILE,
  startNode: 'say',
  nodes: [echo('say', { text: '{{ trigger.text }}', [HOSTILE]: 1 })],
};

const pipelineOf = (base: string) => ({
  name: 'checkout-flow',
  description: 'Charges, waits for the approval, ships.',
  trigger: 'api',
  tasks: {
    charge: { url: `${base}/ok`, method: 'POST' },
    notify: { url: `${base}/broken`, needs: ['charge'], retries: 0 },
    approval: { needs: ['charge'], wait_for_webhook: { timeout: '2d' } },
    ship: { url: `${base}/ok`, needs: ['approval'] },
  },
});

const LOAN = {
  env: 'prod',
  name: 'loan',
  initial: 'draft',
  states: {
    draft: {},
    submitted: { timeout: { after: '48h', event: 'remind' } },
    approved: { final: true },
    rejected: { final: true },
  },
  events: { submit: {}, remind: {}, approve: {}, reject: {} },
  transitions: [
    { from: 'draft', on: 'submit', to: 'submitted' },
    { from: 'submitted', on: 'remind', to: 'submitted' },
    { from: 'submitted', on: 'approve', to: 'approved' },
    { from: 'submitted', on: 'reject', to: 'rejected' },
  ],
};

/** Three consumers, so that the matrix has columns: one pulls its messages, and two are webhooks, one of them broken. */
async function fillLifecycles(client: PawlClient, shop: string): Promise<void> {
  await client.lifecycles.import({ definition: LOAN });
  const subscriptions = [{ definition: 'loan' }];
  await client.consumers.register({ code: 'audit', kind: 'pull', subscriptions });
  await client.consumers.register({ code: 'crm', kind: 'webhook', url: `${shop}/ok`, subscriptions });
  await client.consumers.register({
    code: 'kyc',
    kind: 'webhook',
    url: `${shop}/broken`,
    subscriptions,
    options: { maxAttempts: 1 },
  });
  const loans = client.lifecycles.of('prod', 'loan');
  const events = [
    ['loan-16', 'submit'],
    ['loan-16', 'approve'],
    ['loan-17', 'submit'],
    ['loan-18', 'submit'],
    ['loan-18', 'reject'],
    ['loan-19', 'submit'],
    [HOSTILE_REF, 'submit'],
  ] as const;
  for (const [externalRef, event] of events)
    await loans.trigger({
      externalRef,
      event,
      requestId: `${externalRef.slice(0, 40)}-${event}`,
      payload: { by: HOSTILE },
    });
}

export interface SampleData {
  readonly client: PawlClient;
  readonly failed: string;
  readonly succeeded: string;
  readonly sleeping: string;
  readonly waiting: string;
  readonly retrying: string;
  readonly hostile: string;
  readonly webhookTrigger: string;
  /** The id of a message to the consumers. */
  readonly message: string;
  readonly shopUrl: string;
  stop(): void;
}

/** A web service of the tests that is healthy at `/ok` and broken everywhere else. */
export async function startShop(): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    request.resume();
    const isFine = request.url === '/ok';
    response.writeHead(isFine ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isFine ? { charged: true } : { error: 'the gateway is down' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, stop: () => void server.close() };
}

export async function fillWithSamples(url: string, token?: string): Promise<SampleData> {
  const client = createClient({ url, ...(token === undefined ? {} : { token }) });
  const shop = await startShop();
  for (const definition of [ORDERS, ONBOARD, FLAKY, HOSTILE_FLOW]) {
    await client.workflows.create(definition as never);
    await client.workflows.publish(definition.id);
  }
  await client.workflows.create(pipelineOf(shop.url) as never);
  const start = async (id: string, trigger: Json, requestId?: string) =>
    (await client.executions.execute(id, { trigger, ...(requestId === undefined ? {} : { requestId }) })).executionId;
  await fillLifecycles(client, shop.url);
  await client.triggers.create({
    workflowId: 'sync-crm',
    triggerType: 'Schedule',
    config: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
  });
  await client.triggers.create({ workflowId: 'onboard', triggerType: 'Event', config: { eventType: 'user.created' } });
  const webhook = await client.triggers.create({
    workflowId: 'orders',
    triggerType: 'Webhook',
    config: { generateSecret: true },
  });
  for (let index = 0; index < 12; index++) {
    await start(
      'orders',
      { amount: 100 + 90 * index, customer: `customer-${index}`, gateway: `${shop.url}/ok` },
      `order-${index}`,
    );
  }
  const failed = await start('orders', { amount: 120, customer: 'grace', gateway: `${shop.url}/charge` }, 'order-7291');
  const succeeded = await start('orders', { amount: 250, customer: 'linus', gateway: `${shop.url}/ok` }, 'order-7292');
  const sleeping = await start('onboard', { name: 'ada' });
  const retrying = await start('sync-crm', {});
  const hostile = await start('hostile', { text: HOSTILE, long: 'x'.repeat(700_000), deep: deep() }, 'hostile-1');
  const waiting = executionOfRun((await client.workflows.trigger('checkout-flow', { cart: 42 })).run_id);
  await client.executions.waitFor(failed, { signal: AbortSignal.timeout(30_000) });
  await client.executions.waitFor(hostile, { signal: AbortSignal.timeout(30_000) });
  await until(async () => (await client.executions.graph(waiting)).nodes.some(({ status }) => status === 'Waiting'));
  await until(async () => (await client.executions.graph(retrying)).nodes.some(({ status }) => status === 'Retrying'));
  await client.documents.putSet('letters', { displayName: HOSTILE, team: HOSTILE });
  await client.documents.add('letters', 'welcome', {
    displayName: HOSTILE,
    fields: [{ key: 'name', label: HOSTILE }],
    bodyTemplate: `<p>Dear {{ answers.name }}, ${HOSTILE}</p>`,
  });
  await until(async () => (await client.deliveries.list({ stage: 'any', limit: 1 })).data.length > 0);
  const messages = await client.deliveries.list({ stage: 'any', limit: 1 });
  return {
    client,
    failed,
    succeeded,
    sleeping,
    waiting,
    retrying,
    hostile,
    webhookTrigger: webhook.id,
    message: messages.data[0]!.ackGuid,
    shopUrl: shop.url,
    stop: shop.stop,
  };
}

/** Two executions of the workflow: one waits for one of several events, after loops; the other ended early, and was undone. */
export async function fulfil(client: PawlClient): Promise<{ deciding: string; undone: string }> {
  await client.workflows.create(FULFIL as never);
  await client.workflows.publish(FULFIL.id);
  const start = async (trigger: Json) => (await client.executions.execute(FULFIL.id, { trigger })).executionId;
  const [deciding, undone] = [await start({ id: 'o-1' }), await start({ id: 'o-2', stop: true })];
  await client.executions.waitFor(undone, { signal: AbortSignal.timeout(30_000) });
  await until(async () => (await client.executions.graph(deciding)).nodes.some(({ status }) => status === 'Waiting'));
  return { deciding, undone };
}

export const executionOfRun = (runId: string): string =>
  runId.replace(/^run_(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + 30_000;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error('the sample data did not get to its state in time');
    await pause(50);
  }
}
