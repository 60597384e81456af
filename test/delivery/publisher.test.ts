import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemTimers } from '../../src/clock/system-timers.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { eventSchemaFiles, type PublishedEvent } from '../../src/protocol/event.ts';
import { StoreError } from '../../src/store/store-error.ts';
import { PlanCache } from '../../src/workflow/plan-cache.ts';
import { withClient } from '../support/database.ts';
import { type DeliveryUnderTest, deliveryWorld, TENANT, type World } from './delivery-under-test.ts';

let world: World;
let pawl: Pawl;
let process: DeliveryUnderTest;
let events: PublishedEvent[];

beforeAll(async () => {
  world = await deliveryWorld();
  // The monitor of this engine would publish too, so it hardly ever runs here.
  const monitor = { intervalMs: 3_600_000 };
  pawl = await createPawl({ database: { url: world.database.connectionString }, engine: { pollMs: 20 }, monitor });
});
afterAll(async () => {
  await pawl.close();
  await world.close();
});
beforeEach(async () => {
  await query('delete from commit_batches');
  await query('delete from consumers');
  await query('delete from outbox_leadership');
  process = await withPlans();
  events = [];
});
afterEach(() => process.stop());

const query = (text: string) =>
  withClient(world.database.connectionString, async (client) => (await client.query<JsonObject>(text)).rows);

async function withPlans(changes: Parameters<World['process']>[0] = {}) {
  let plans: PlanCache | null = null;
  const opened = await world.process({
    planOf: async (row) => {
      plans ??= new PlanCache(opened.store, systemTimers);
      const loaded = await plans.plan(row);
      return loaded !== null && 'plan' in loaded ? loaded.plan : null;
    },
    ...changes,
  });
  return opened;
}

const subscribe = async (subscription: JsonObject, code = 'bus') => {
  await process.register({ code, kind: 'process', subscriptions: [subscription] });
  const seen: PublishedEvent[] = [];
  process.processChannel.handle(TENANT, code, (work) => {
    seen.push(work as unknown as PublishedEvent);
    events.push(work as unknown as PublishedEvent);
  });
  return seen;
};

/** Publishes and handles everything in the outbox. */
const publishAll = async (publishing = process) => {
  while ((await publishing.publisher.runOnce()).more);
  await publishing.dispatcher.settled();
};

const echo = (id: string, parameters: JsonObject = {}) => ({ id, actionType: 'core.echo', parameters });
const workflow = (id: string, nodes: JsonObject[], edges: JsonObject[] = []): JsonObject => ({
  id,
  displayName: id,
  startNode: nodes[0]!.id!,
  nodes: nodes.map((node) => ({
    ...node,
    edges: edges.filter(({ from }) => from === node.id).map(({ to }) => ({ targetNode: to! })),
  })),
});

const run = async (definition: JsonObject) => {
  const { workflowId } = await pawl.publish(definition, { tenantId: TENANT });
  const { executionId } = await pawl.start(workflowId, { tenantId: TENANT });
  const { status } = await pawl.result(executionId, { tenantId: TENANT });
  return { executionId, status };
};

describe('events of executions', () => {
  it('events of an execution plan carry the run id and the plan version of the planner', async () => {
    await subscribe({ kinds: ['execution'] });
    const plan = {
      metadata: {
        ...{ planId: 'nightly', planVersion: '7.1', schemaVersion: 'v1' },
        ...{ createdAt: '2026-02-22T10:00:00Z', createdBy: 'planner' },
      },
      scope: { tenantId: TENANT, projectId: 'default', environmentId: 'default', repoSha: 'abc' },
      steps: [{ stepId: 'load', type: 'core.fail', inputs: { message: 'no' }, timeout: '10s' }],
    };
    const { workflowId } = await pawl.publish(plan, { tenantId: TENANT });
    const { executionId } = await pawl.start(workflowId, { tenantId: TENANT, requestId: 'nightly-2026-02-22' });
    await pawl.result(executionId, { tenantId: TENANT });
    await publishAll();
    const named = {
      runId: 'nightly-2026-02-22',
      planVersion: '7.1',
      engineRunRef: { provider: 'native', executionId },
    };
    const error = { category: 'ACTION', code: 'ACTION_FAILED', message: 'no' };
    expect(events).toMatchObject([
      { eventType: 'RunStarted', ...named },
      { eventType: 'StepStarted', ...named, stepId: 'load' },
      { eventType: 'StepFailed', ...named, stepId: 'load', payload: { error } },
      { eventType: 'RunFailed', ...named, payload: { error: { ...error, stepId: 'load' } } },
    ]);
    const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
    expect(events[1]!.idempotencyKey).toBe(sha256('nightly-2026-02-22|load|1|stepstarted|7.1'));
  });

  it('events of an execution come in order and match their published schemas', async () => {
    await subscribe({ kinds: ['execution'] });
    const nodes = [echo('first', { n: 1 }), { id: 'second', actionType: 'core.fail', parameters: { message: 'no' } }];
    const { executionId, status } = await run(workflow('events', nodes, [{ from: 'first', to: 'second' }]));
    expect(status).toBe('Failed');
    await publishAll();
    expect(events.map(({ eventType }) => eventType)).toEqual([
      'RunStarted',
      'StepStarted',
      'StepCompleted',
      'StepStarted',
      'StepFailed',
      'RunFailed',
    ]);
    const sequences = events.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(events.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(events.length);
    expect(events[1]).toMatchObject({
      schemaVersion: 'v1',
      tenantId: TENANT,
      runId: executionId,
      stepId: 'first',
      attemptId: '1',
      engineRunRef: { provider: 'native', executionId },
      workflowId: 'events',
      planVersion: 1,
      payload: { stepType: 'core.echo' },
    });
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const folder = join(import.meta.dirname, '../../contracts/events');
    for (const event of events) {
      const file = `${event.eventType.replace(/(?!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase()}.v1.schema.json`;
      const validate = ajv.compile(JSON.parse(readFileSync(join(folder, file), 'utf8')) as object);
      expect(validate(event), JSON.stringify(validate.errors)).toBe(true);
      const { idempotencyKey: _missing, ...incomplete } = event;
      expect(validate(incomplete)).toBe(false);
    }
    // The schemas of Appendix A, and the alert.
    expect(eventSchemaFiles()).toHaveLength(8);
  });

  it('events are filtered by type and workflow, per tenant', async () => {
    const ends = await subscribe({ types: ['RunCompleted'] }, 'ends');
    const others = await subscribe({ workflows: ['other'] }, 'others');
    await process.consumers.register('stranger', {
      code: 'x',
      kind: 'pull',
      subscriptions: [{ kinds: ['execution'] }],
    });
    await run(workflow('this', [echo('only')]));
    await run(workflow('other', [echo('only')]));
    await publishAll();
    expect(ends.map(({ workflowId, eventType }) => [workflowId, eventType])).toEqual([
      ['this', 'RunCompleted'],
      ['other', 'RunCompleted'],
    ]);
    expect(new Set(others.map(({ workflowId }) => workflowId))).toEqual(new Set(['other']));
    expect(others).toHaveLength(4);
    expect(await process.deliveries.pull('stranger', 'x', { waitMs: 0, limit: 10 })).toEqual([]);
  });

  it('events without a subscriber are deleted from the outbox without being read', async () => {
    const { store } = process;
    const withFacts: boolean[] = [];
    const outboxRead: typeof store.outboxRead = (params) => {
      withFacts.push(params.withFacts);
      return store.outboxRead(params);
    };
    const watched = await withPlans({ store: { ...store, outboxRead } });
    await run(workflow('quiet', [echo('only')]));
    expect((await query('select id from commit_batches')).length).toBeGreaterThan(0);
    await publishAll(watched);
    expect(await query('select id from commit_batches')).toEqual([]);
    expect(withFacts).toEqual([false]);
  });

  it('events reach a consumer registered before the execution, even if the publisher did not know it yet', async () => {
    const elsewhere = await world.process();
    await elsewhere.register({ code: 'new', kind: 'pull', subscriptions: [{ types: ['RunCompleted'] }] });
    expect(process.book.idOf(TENANT, 'new')).toBe(null);
    await run(workflow('early', [echo('only')]));
    await publishAll();
    expect(await elsewhere.deliveries.pull(TENANT, 'new', { waitMs: 0, limit: 10 })).toHaveLength(1);
  });

  it('events are published by one process at a time, and by another when its lease has ended', async () => {
    await subscribe({ types: ['RunCompleted'] });
    const other = await withPlans();
    await publishAll();
    await run(workflow('led', [echo('only')]));
    expect((await process.publisher.runOnce()).published).toBe(1);
    await run(workflow('led', [echo('only')]));
    expect(await other.publisher.runOnce()).toEqual({ published: 0, more: false });
    await query(`update outbox_leadership set expires_at = now() - interval '1 second'`);
    const third = await withPlans();
    expect((await third.publisher.runOnce()).published).toBe(1);
    // The process believes that it still leads, and finds out that it does not.
    await run(workflow('led', [echo('only')]));
    expect((await process.publisher.runOnce()).more).toBe(false);
    expect(await query('select id from commit_batches')).not.toEqual([]);
    await publishAll(third);
    expect(await query('select id from commit_batches')).toEqual([]);
    await process.timePasses();
    expect(events).toHaveLength(3);
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(3);
  });

  it('events are published by another process at once when the publishing process stops', async () => {
    await subscribe({ types: ['RunCompleted'] });
    const other = await withPlans();
    await run(workflow('handed', [echo('only')]));
    await other.publisher.runOnce();
    await run(workflow('handed', [echo('only')]));
    await other.monitor.stop();
    expect((await process.publisher.runOnce()).published).toBe(1);
  });

  it('events start event triggers, once each', async () => {
    const handed: { id: string; type: string }[] = [];
    const feeding = await withPlans({ handInEvent: async (_tenantId, event) => void handed.push(event) });
    await pawl.publish(workflow('chained', [echo('only')]), { tenantId: TENANT });
    const trigger = { workflowId: 'chained', triggerType: 'Event' as const, config: { eventType: 'RunCompleted' } };
    const { trigger: made } = await pawl.triggering.triggers.create(TENANT, trigger);
    await process.stop();
    await run(workflow('cause', [echo('only')]));
    await publishAll(feeding);
    await feeding.timePasses();
    expect(handed).toMatchObject([{ type: 'RunCompleted', data: { workflowId: 'cause' } }]);
    await pawl.triggering.triggers.delete({ tenantId: TENANT, triggerId: made.triggerId });
  });

  it('a batch of events that cannot be stored is given up with a warning, and the others are published', async () => {
    const { store } = process;
    const picky = await withPlans({
      store: {
        ...store,
        outboxPublish: (params) =>
          params.messages.some(({ source }) => source === 'poison')
            ? Promise.reject(new StoreError('data', 'invalid byte sequence'))
            : store.outboxPublish(params),
      },
    });
    await subscribe({ types: ['RunCompleted'] });
    await picky.book.refresh();
    await run(workflow('fine', [echo('only')]));
    const { executionId } = await run(workflow('poison', [echo('only')]));
    await run(workflow('fine', [echo('only')]));
    await publishAll(picky);
    expect(picky.warnings.join()).toContain(executionId);
    await process.timePasses();
    expect(events.map(({ workflowId }) => workflowId)).toEqual(['fine', 'fine']);
  });
});
