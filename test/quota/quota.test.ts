// Quotas of tenants through the API: what is refused and how, and that many requests at once do not get around a quota.

import type { ServerResponse } from 'node:http';
import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { testServers } from '../../src/action/http/server.testing.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { startInTransaction } from '../../src/main.ts';
import { QUOTA_PRESETS } from '../../src/protocol/quota.ts';
import { useShop } from '../pipeline/shop.ts';
import { chain, echo, type Reply, tokenFor, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { tenantOf } from './tenant.ts';

const server = useServer();
/** A server whose memory is soon full. */
const cramped = useServer({ engine: { maxResident: 40 } });
const shop = useShop();
const servers = testServers();
afterAll(() => servers.close());

const call = (path = '/ok', rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });
const WAIT = { pause: { wait_for_webhook: { timeout: '1h' } } };
const statuses = (replies: readonly Reply[]): number[] => replies.map(({ status }) => status).sort();
const many = <T>(count: number, one: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => one(index)));

describe('the quota of a tenant', () => {
  it('a quota is a preset, limits of its own, or both, and can be lifted', async () => {
    const tenant = await tenantOf(server);
    expect(await tenant.setQuota({ preset: 'free' })).toEqual({
      tenantId: tenant.name,
      preset: 'free',
      limits: QUOTA_PRESETS.free,
      usage: {
        workflows: 0,
        concurrentRuns: 0,
        executionsThisMonth: 0,
        resetsAt: expect.stringMatching(/-01T00:00:00/),
      },
    });
    const raised = await tenant.setQuota({ preset: 'pro', limits: { concurrentRuns: 50, tasksPerWorkflow: null } });
    expect(raised).toMatchObject({
      preset: 'pro',
      limits: { concurrentRuns: 50, executionsPerMonth: 1_000_000, cron: true, httpStepsAtOnce: 5 },
    });
    const lifted = await tenant.setQuota({ preset: null });
    expect(lifted.limits).toEqual({ cron: true });
    expect(lifted.preset).toBeUndefined();
  });

  it.each([
    [{}],
    [{ preset: 'gold' }],
    [{ limits: { workflows: -1 } }],
    [{ limits: { httpStepsAtOnce: 0 } }],
    [{ limits: { wrokflows: 3 } }],
  ])('an invalid quota is refused: %j', async (body) => {
    const tenant = await tenantOf(server);
    const reply = await tenant.put(`/api/v1/admin/tenants/${tenant.name}/quota`, body);
    expect([reply.status, (reply.body.error as JsonObject).code]).toEqual([400, 'REQUEST_INVALID']);
  });

  it('only the platform sets a quota, and a tenant sees its own only (S1)', async () => {
    const { name } = await tenantOf(server);
    const path = `/api/v1/admin/tenants/${name}/quota`;
    const theirs = await tokenFor({ tenant: name, roles: ['Admin'] });
    const others = await tokenFor({ tenant: 'globex', roles: ['Admin'] });
    await server.ask('PUT', path, { body: { preset: 'free' } });
    expect((await server.get(path, { token: theirs })).body).toMatchObject({ preset: 'free' });
    expect((await server.ask('PUT', path, { token: theirs, body: { preset: 'pro' } })).status).toBe(403);
    expect((await server.get(path, { token: others })).status).toBe(404);
    expect((await server.ask('PUT', path, { token: others, body: { preset: null } })).status).toBe(404);
    expect((await server.get('/api/v1/admin/tenants/nobody-at-all/quota')).status).toBe(404);
  });
});

describe('the number of workflows', () => {
  it('a tenant creates no more workflows than its quota allows, even all at once', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    const replies = await many(10, (index) => tenant.create(`w-${index}`, { a: call() }));
    expect(statuses(replies)).toEqual([201, 201, 201, ...Array(7).fill(403)]);
    const refused = replies.find(({ status }) => status === 403)!;
    expect(refused.body.error).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message: expect.stringContaining('3 workflows'),
      details: { limit: 'workflows', value: 3 },
    });
    expect((await tenant.quota()).usage.workflows).toBe(3);
  });

  it('deleting or archiving a workflow frees its place, and reactivating needs a free place', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ limits: { workflows: 1 } });
    await tenant.post('/api/v1/workflows', chain('first', echo('a')));
    await tenant.post('/api/v1/workflows/first/publish');
    expect((await tenant.create('second', { a: call() })).status).toBe(403);
    await tenant.post('/api/v1/workflows/first/archive');
    expect((await tenant.create('second', { a: call() })).status).toBe(201);
    expect((await tenant.put('/api/v1/workflows/second', { tasks: { b: call() } })).status).toBe(200);
    const back = await tenant.post('/api/v1/workflows/first/reactivate');
    expect([back.status, (back.body.error as JsonObject).code]).toEqual([403, 'QUOTA_EXCEEDED']);
  });

  it('a workflow has no more tasks than the quota allows, in every format', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ limits: { tasksPerWorkflow: 2 } });
    const two = { a: call(), b: call() };
    expect((await tenant.create('two', two)).status).toBe(201);
    const refused = [
      await tenant.create('three', { ...two, c: call() }),
      await tenant.put('/api/v1/workflows/two', { tasks: { ...two, c: call() } }),
      await tenant.post('/api/v1/workflows', chain('graph', echo('a'), echo('b'), echo('c'))),
    ];
    for (const { status, body } of refused) {
      expect([status, body.error]).toMatchObject([
        403,
        { code: 'QUOTA_EXCEEDED', details: { limit: 'tasksPerWorkflow', value: 2, used: 3 } },
      ]);
    }
  });
});

describe('schedules', () => {
  const NIGHTLY = { trigger: 'cron', cron_expression: '0 3 * * *' };

  it('a schedule is refused where the quota allows none', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    await tenant.create('plain', { a: call() });
    const schedule = { workflowId: 'plain', triggerType: 'Schedule', config: { cron: '0 3 * * *' } };
    for (const reply of [
      await tenant.create('nightly', { a: call() }, NIGHTLY),
      await tenant.put('/api/v1/workflows/plain', { tasks: { a: call() }, ...NIGHTLY }),
      await tenant.post('/api/v1/triggers', schedule),
    ]) {
      expect([reply.status, reply.body.error]).toMatchObject([403, { details: { limit: 'cron', value: false } }]);
    }
    await tenant.setQuota({ preset: 'pro' });
    expect((await tenant.create('nightly', { a: call() }, NIGHTLY)).status).toBe(201);
  });

  it('an existing schedule starts nothing under a quota without schedules, and the slot says why', async () => {
    const tenant = await tenantOf(server);
    await tenant.create('each-minute', { a: call() }, { trigger: 'cron', cron_expression: '* * * * *' });
    const [trigger] = (await tenant.get('/api/v1/triggers?workflowId=each-minute')).body.data as [{ id: string }];
    await tenant.setQuota({ preset: 'free' });
    await withClient(server.database.connectionString, (client) =>
      client.query(
        `update workflow_triggers set settled_through = clock_timestamp() - interval '1 minute', due_at = '-infinity' where id = $1`,
        [trigger.id],
      ),
    );
    await server.pawl.triggering.scheduler.runOnce();
    for (let firings: JsonObject[] = []; firings.length === 0; ) {
      firings = (await tenant.get(`/api/v1/triggers/${trigger.id}/firings`)).body.data as JsonObject[];
      for (const firing of firings) {
        expect(firing).toMatchObject({
          outcome: 'skipped',
          reason: expect.stringContaining('does not allow schedules'),
        });
      }
    }
    expect((await tenant.get('/api/v1/executions?workflowId=each-minute')).body.data).toEqual([]);
  });
});

describe('concurrent runs', () => {
  it('a tenant has no more runs at once than its quota allows, and the end of one frees a place', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ limits: { concurrentRuns: 3 } });
    await tenant.create('waits', WAIT);
    const replies = await many(20, () => tenant.trigger('waits'));
    expect(statuses(replies)).toEqual([201, 201, 201, ...Array(17).fill(429)]);
    const refused = replies.find(({ status }) => status === 429)!;
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.body.error).toMatchObject({
      code: 'QUOTA_EXHAUSTED',
      message: expect.stringContaining('3 concurrent runs'),
      details: { limit: 'concurrentRuns', value: 3, used: 3 },
    });
    const live = replies.find(({ status }) => status === 201)!;
    await tenant.post(`/api/v1/workflows/waits/runs/${(live.body.data as JsonObject).run_id}/cancel`);
    await tenant.ended('waits', live);
    expect((await tenant.trigger('waits')).status).toBe(201);
    expect((await tenant.trigger('waits')).status).toBe(429);
  });

  it('a repeated trigger gets its accepted run even when the quota is full', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    await tenant.create('waits', WAIT);
    const key = { 'idempotency-key': 'order-7' };
    const first = await tenant.trigger('waits', key);
    const again = await tenant.trigger('waits', key);
    expect([first.status, again.status, (again.body.data as JsonObject).run_id]).toEqual([
      201,
      200,
      (first.body.data as JsonObject).run_id,
    ]);
    expect((await tenant.trigger('waits')).status).toBe(429);
  });

  it('runs that were live before the quota count against it', async () => {
    const tenant = await tenantOf(server);
    await tenant.create('waits', WAIT);
    expect(statuses(await many(2, () => tenant.trigger('waits')))).toEqual([201, 201]);
    await tenant.setQuota({ preset: 'free' });
    expect((await tenant.trigger('waits')).status).toBe(429);
    await tenant.setQuota({ preset: null });
    expect((await tenant.trigger('waits')).status).toBe(201);
  });

  it('a run that is retried after its end counts again', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    shop().answer('/recovers', 400, {});
    await tenant.create('again', {
      call: call('/recovers', { retries: 0 }),
      hold: { needs: ['call'], wait_for_webhook: { timeout: '1h' } },
    });
    const run = await tenant.trigger('again');
    expect((await tenant.ended('again', run)).status).toBe('completed');
    shop().answer('/recovers', 200, {});
    const runId = (run.body.data as { run_id: string }).run_id;
    for (const path of ['', '/graph', '/events', '/hierarchy']) {
      expect([path, (await tenant.get(`/api/v1/executions/${runId}${path}`)).status]).toEqual([path, 200]);
    }
    expect((await tenant.post(`/api/v1/executions/${runId}/retry`)).status).toBe(202);
    expect((await tenant.trigger('again')).status).toBe(429);
  });

  it('a retried run also counts again when its retry was accepted before the end and read after it', async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    shop().answer('/crosses', 400, {});
    await tenant.create('crossed', {
      call: call('/crosses', { retries: 0 }),
      hold: { needs: ['call'], wait_for_webhook: { timeout: '1h' } },
    });
    const run = await tenant.trigger('crossed');
    await tenant.ended('crossed', run);
    await tenant.ended('crossed', await tenant.trigger('crossed'));
    shop().answer('/crosses', 200, {});
    const signal = { signalId: 's', signal: 'RETRY_STEP', payload: { stepId: 'call', force: true } };
    const { run_id: runId } = run.body.data as { run_id: string };
    await withClient(server.database.connectionString, (client) =>
      client.query(
        `insert into execution_inbox (id, execution_id, kind, key, body) values (gen_random_uuid(), $1, 'signal', 'RETRY_STEP:s', $2)`,
        [runId.slice('run_'.length), JSON.stringify({ kind: 'signal', ...signal })],
      ),
    );
    await expect.poll(async () => (await tenant.get(`/api/v1/executions/${runId}`)).body.status).toBe('Running');
    expect((await tenant.trigger('crossed')).status).toBe(429);
  });

  it("a start in an application's own transaction is refused by the quota, and the transaction goes on", async () => {
    const tenant = await tenantOf(server);
    await tenant.setQuota({ preset: 'free' });
    await tenant.create('waits', WAIT);
    const client = new pg.Client({ connectionString: server.database.connectionString });
    await client.connect();
    await client.query('begin');
    const request = { tenantId: tenant.name, workflowId: 'waits' };
    expect((await startInTransaction(client, request)).isNew).toBe(true);
    await expect(startInTransaction(client, request)).rejects.toMatchObject({ code: 'QUOTA_EXHAUSTED' });
    await client.query('commit');
    await client.end();
    expect((await tenant.quota()).usage.concurrentRuns).toBe(1);
    expect((await tenant.trigger('waits')).status).toBe(429);
  });
});

describe('executions of a month', () => {
  it('HTTP steps count once whatever their attempts, and at the limit nothing starts until next month', async () => {
    const tenant = await tenantOf(server);
    let calls = 0;
    const url = await servers.http((_request, response) => {
      response.writeHead(++calls === 1 ? 503 : 200, { 'content-type': 'application/json', 'retry-after': '0' });
      response.end('{}');
    });
    await tenant.setQuota({ limits: { executionsPerMonth: 2 } });
    await tenant.create('two', {
      flaky: { url },
      nap: { needs: ['flaky'], sleep: 0 },
      after: { url, needs: ['nap'] },
      never: { url, needs: ['nap'], if: 'tasks.flaky.status_code == 500' },
    });
    const run = await tenant.ended('two', await tenant.trigger('two'));
    expect([run.status, calls]).toEqual(['completed', 3]);
    const { usage } = await tenant.quotaWhen((quota) => quota.usage.executionsThisMonth >= 2);
    expect(usage.executionsThisMonth).toBe(2);
    const refused = await tenant.trigger('two');
    expect(refused.status).toBe(429);
    expect(refused.body.error).toMatchObject({
      code: 'QUOTA_EXHAUSTED',
      message: expect.stringContaining('2 executions a month'),
      details: { limit: 'executionsPerMonth', value: 2, used: 2, resetsAt: usage.resetsAt },
    });
    const wait = Number(refused.headers.get('retry-after'));
    expect(Math.abs(Date.now() + wait * 1000 - Date.parse(usage.resetsAt))).toBeLessThan(60_000);
  });
});

describe('HTTP steps at once', () => {
  it('a tenant makes no more HTTP calls at once than its quota allows, and other tenants do not wait', async () => {
    const [small, other] = [await tenantOf(server), await tenantOf(server)];
    await small.setQuota({ preset: 'pro' });
    const held: ServerResponse[] = [];
    let arrived = () => {};
    let highest = 0;
    const url = await servers.http((_request, response) => {
      held.push(response);
      highest = Math.max(highest, held.length);
      arrived();
    });
    const release = () => held.splice(0).forEach((response) => void response.end('{}'));
    const holds = (count: number) =>
      new Promise<void>((resolve) => {
        arrived = () => (held.length >= count ? resolve() : undefined);
        arrived();
      });
    const tasks = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`t${index}`, { url }]));
    await small.create('wide', tasks);
    const run = await small.trigger('wide');
    await holds(5);
    await other.create('quick', { a: call() });
    expect((await other.ended('quick', await other.trigger('quick'))).status).toBe('completed');
    expect(held).toHaveLength(5);
    release();
    await holds(5);
    release();
    expect((await small.ended('wide', run)).status).toBe('completed');
    expect(highest).toBe(5);
  });

  it('HTTP steps that wait for their turn leave room for other tenants', async () => {
    const [small, other] = [await tenantOf(cramped), await tenantOf(cramped)];
    await small.setQuota({ limits: { httpStepsAtOnce: 2 } });
    const held: ServerResponse[] = [];
    let isOpen = false;
    const url = await servers.http((_request, response) => void (isOpen ? response.end('{}') : held.push(response)));
    await small.create('slow', { a: { url } });
    const runs = await many(100, () => small.trigger('slow'));
    await other.create('quick', { a: call() });
    for (let turn = 0; turn < 3; turn++) {
      expect((await other.ended('quick', await other.trigger('quick'))).status).toBe('completed');
    }
    expect(held.length).toBeLessThanOrEqual(2);
    isOpen = true;
    for (const response of held) response.end('{}');
    for (const run of runs) expect((await small.ended('slow', run)).status).toBe('completed');
  });
});
