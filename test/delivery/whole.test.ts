import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type WebhookReceiver, webhookReceiver } from './webhook-receiver.ts';

let database: TestDatabase;
let pawl: Pawl;
let receiver: WebhookReceiver;

beforeAll(async () => {
  database = await testDatabase();
  receiver = await webhookReceiver();
  pawl = await createPawl({
    database: { url: database.connectionString },
    engine: { pollMs: 20 },
    monitor: { intervalMs: 20 },
    http: { allowLoopback: true },
    delivery: {
      consumers: [
        { code: 'audit', kind: 'webhook', url: receiver.url, subscriptions: [{ types: ['RunCompleted'] }] },
        { tenantId: 'acme', code: 'theirs', kind: 'pull', subscriptions: [{ types: ['RunCompleted'] }] },
      ],
    },
  });
});
afterAll(async () => {
  await pawl.close();
  await receiver.close();
  await database.drop();
});

const loan = {
  env: 'prod',
  name: 'loan',
  initial: 'draft',
  states: { draft: {}, submitted: {}, approved: { final: true } },
  events: { submit: {}, approve: {} },
  transitions: [
    { from: 'draft', on: 'submit', to: 'submitted' },
    { from: 'submitted', on: 'approve', to: 'approved' },
  ],
};
const policies = {
  env: 'prod',
  definition: 'loan',
  policies: [{ name: 'decide', on: { transition: { event: 'submit' } }, routes: [{ workflow: 'decide-loan' }] }],
};
const workflow = (id: string, node: JsonObject): JsonObject => ({
  id,
  displayName: id,
  startNode: 'only',
  nodes: [{ id: 'only', edges: [], ...node }],
});
const approve = {
  actionType: 'lifecycle.trigger',
  parameters: { env: 'prod', definition: 'loan', externalRef: '{{ trigger.externalRef }}', event: 'approve' },
};

describe('a lifecycle, a workflow and their messages', () => {
  it('a transition starts a workflow, the workflow fires an event, and its end reaches the consumers', async () => {
    const told: string[] = [];
    await pawl.lifecycles.onWork({ consumer: 'app', subscriptions: [{ definition: 'loan' }] }, (work) => {
      told.push((work.event as { name: string }).name);
      return { stage: 'Processed' };
    });
    await pawl.publish(workflow('decide-loan', approve));
    await pawl.publish(workflow('celebrate', { actionType: 'core.echo', parameters: {} }));
    const config = { eventType: 'RunCompleted', filter: 'event.data.workflowId == "decide-loan"' };
    await pawl.triggering.triggers.create('default', { workflowId: 'celebrate', triggerType: 'Event', config });
    await pawl.lifecycles.import({ definition: loan, policies });

    const at = { env: 'prod', definition: 'loan', externalRef: 'L-1' };
    await pawl.lifecycles.trigger({ ...at, event: 'submit', requestId: 'r-1' });
    await expect.poll(async () => (await pawl.lifecycles.instance(at)).state).toBe('approved');
    const [, approved] = await pawl.lifecycles.timeline(at);
    expect(JSON.parse(approved!.cause!)).toMatchObject({ type: 'workflow', nodeId: 'only' });
    await expect.poll(() => told).toEqual(['submit', 'approve']);
    const completed = () => receiver.received.map(({ body }) => (JSON.parse(body) as JsonObject).workflowId);
    await expect.poll(completed).toEqual(['decide-loan', 'celebrate']);
  });

  it('the end of an execution reaches the consumers of its tenant, also those of the configuration', async () => {
    await pawl.publish(workflow('theirs', { actionType: 'core.echo', parameters: {} }), { tenantId: 'acme' });
    await pawl.start('theirs', { tenantId: 'acme' });
    const { deliveries } = pawl.messaging;
    const due = async () => (await deliveries.list('acme', { consumer: 'theirs', after: null, limit: 10 })).length;
    await expect.poll(due).toBe(1);
    expect(await pawl.messaging.consumers.list('default')).not.toContainEqual(
      expect.objectContaining({ code: 'theirs' }),
    );
  });
});

describe('another process', () => {
  it('a notification tells another process of messages for its handlers and of notices', async () => {
    const parcel = { env: 'prod', definition: 'parcel', externalRef: 'P-1' };
    const transitions = [{ from: 'draft', on: 'submit', to: 'submitted' }];
    const { env, initial, states, events } = loan;
    await pawl.lifecycles.import({
      definition: {
        env,
        name: 'parcel',
        initial,
        states,
        events,
        transitions: [...transitions, ...loan.transitions.slice(1)],
      },
    });
    // By itself, this process would look only after a minute.
    const other = await createPawl({
      database: { url: database.connectionString },
      runner: false,
      monitor: { intervalMs: 60_000 },
    });
    try {
      const told: string[] = [];
      const noticed: string[] = [];
      other.lifecycles.onNotice(({ kind, tenantId }) => void noticed.push(`${kind} ${tenantId}`));
      await other.lifecycles.onWork({ consumer: 'elsewhere', subscriptions: [{ definition: 'parcel' }] }, (work) => {
        told.push(String(work.externalRef));
        return { stage: 'Processed' };
      });
      await pawl.lifecycles.trigger({ ...parcel, event: 'submit', requestId: 'p-1' });
      await expect.poll(() => told).toEqual(['P-1']);
      await expect(pawl.lifecycles.trigger({ ...parcel, event: 'submit', requestId: 'p-2' })).resolves.toMatchObject({
        applied: false,
      });
      await expect.poll(() => noticed).toEqual(['NoOpAlreadyInState default']);
    } finally {
      await other.close();
    }
  });
});
