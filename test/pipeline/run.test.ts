// Runs of pipelines through their API: the answer to a trigger, the result of each task, and the end of a run.

import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { createApiKey } from '../../src/server/auth/api-key.ts';
import { withClient } from '../support/database.ts';
import { type Refusal, useApi } from '../workflow/api.ts';
import { echo } from '../workflow/definition.ts';
import { create, ended, executionIdOf, getRun, type Run, runOnce, runUntil, statuses, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
const shop = useShop();

const call = (path: string, rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });

describe('a trigger of a pipeline', () => {
  it('triggering a pipeline answers with the run', async () => {
    const { body: pipeline } = await create(api(), 'started', { a: call('/started') });
    const { status, body } = await api().post('/workflows/started/trigger', { order_id: 1 });
    expect(status).toBe(201);
    expect(body).toEqual({
      data: {
        run_id: expect.stringMatching(/^run_[0-9a-f]{32}$/),
        workflow_id: pipeline.data.id,
        status: 'running',
        started_at: expect.stringMatching(/Z$/),
      },
    });
  });

  it.each<Json>([{ tenantId: 'mine', n: 1 }, [1, 2], 'text', 7, true])(
    'a trigger accepts any JSON: %j',
    async (body) => {
      const name = `any-${JSON.stringify(body).replaceAll(/[^a-z0-9]/g, '')}`;
      await runOnce(api(), name, { a: call(`/${name}`, { body: { got: '{{trigger.body}}' } }) }, body);
      expect(shop().bodies(`/${name}`)).toEqual([{ got: body }]);
    },
  );

  it('a trigger passes headers on in lower case, without credentials', async () => {
    const body = { shop: '{{trigger.headers.x-shop-id}}', all: '{{trigger.headers}}' };
    await create(api(), 'headers', { a: call('/headers', { body }) });
    const owner = { tenantId: 'default', name: 'shop', roles: [], expiresAt: null };
    const { key } = await createApiKey(api().pawl.store, { ...owner, scopes: ['workflows:execute'] });
    const headers = { 'X-Shop-Id': 's1', Authorization: `Bearer ${key}`, Cookie: `session=${key}`, 'X-Api-Key': key };
    const { body: started } = await api().post<{ data: { run_id: string } }>('/workflows/headers/trigger', {}, headers);
    await ended(api(), 'headers', started.data.run_id);
    const [seen] = shop().bodies('/headers') as { shop: string; all: JsonObject }[];
    expect(seen).toMatchObject({ shop: 's1', all: { 'x-shop-id': 's1', 'content-type': 'application/json' } });
    expect(JSON.stringify(seen)).not.toContain(key);
  });

  it('a trigger sent many times with one Idempotency-Key starts one run', async () => {
    await create(api(), 'once', { a: call('/once') });
    const send = () =>
      api().post<{ data: { run_id: string } }>('/workflows/once/trigger', {}, { 'Idempotency-Key': 'k-1' });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    const ids = new Set(replies.map(({ body }) => body.data.run_id));
    expect(ids.size).toBe(1);
    expect(replies.map(({ status }) => status).sort()).toEqual([...Array(19).fill(200), 201]);
    await ended(api(), 'once', [...ids][0]!);
    expect(shop().bodies('/once')).toHaveLength(1);
    const other = await api().post<Refusal>('/workflows/headers/trigger', {}, { 'Idempotency-Key': 'k-1' });
    expect([other.status, other.body.error.code]).toEqual([409, 'WFENG001']);
  });

  it('`trigger` works on a graph, and `execute` works on a pipeline', async () => {
    await api().post('/workflows', echo('graph', '{{ trigger.name }}'));
    await api().post('/workflows/graph/publish');
    const run = await ended(api(), 'graph', await trigger(api(), 'graph', { name: 'Ada' }));
    expect(run).toMatchObject({ status: 'completed', tasks: { say: { status: 'success', status_code: null } } });

    const { body: pipeline } = await create(api(), 'executed', {
      a: call('/executed', { body: '{{trigger.body.n}}' }),
    });
    for (const id of ['executed', pipeline.data.id]) {
      const { status, body } = await api().post<{ executionId: string }>(`/workflows/${id}/execute`, {
        trigger: { n: 5 },
      });
      expect(status).toBe(202);
      expect(await api().pawl.result(body.executionId)).toMatchObject({ status: 'Succeeded' });
    }
    expect(shop().bodies('/executed')).toEqual([5, 5]);
  });
});

describe('runs of one pipeline at once', () => {
  it('runs of one pipeline at the same time do not see each other', async () => {
    await create(api(), 'crowd', {
      open: call('/crowd-open', { body: { id: '{{trigger.body.id}}', url: '{{wait.paid.url}}' } }),
      paid: { needs: ['open'], wait_for_webhook: {} },
      ship: call('/crowd-ship', {
        needs: ['paid'],
        body: { id: '{{trigger.body.id}}', paid: '{{tasks.paid.body.by}}' },
      }),
    });
    const ids = Array.from({ length: 20 }, (_, index) => index);
    const runs = await Promise.all(ids.map((id) => trigger(api(), 'crowd', { id })));
    for (const runId of runs) {
      await runUntil(api(), 'crowd', runId, ({ tasks }) => tasks.paid?.status === 'waiting');
    }
    const opened = shop().bodies('/crowd-open') as { id: number; url: string }[];
    expect(new Set(opened.map(({ url }) => url)).size).toBe(20);
    await Promise.all(opened.map(({ id, url }) => api().post(new URL(url).pathname, { by: id })));
    for (const runId of runs) expect((await ended(api(), 'crowd', runId)).status).toBe('completed');
    const shipped = shop().bodies('/crowd-ship') as { id: number; paid: number }[];
    expect(shipped.map(({ id }) => id).sort((a, b) => a - b)).toEqual(ids);
    for (const { id, paid } of shipped) expect(paid).toBe(id);
  });
});

describe('the result of each task', () => {
  it('the result of a task has the documented fields', async () => {
    shop().answer('/charge', 200, { amount: 12 });
    const run = await runOnce(api(), 'documented', {
      charge: call('/charge'),
      receipt: call('/receipt', { needs: ['charge'], body: { amount: '{{tasks.charge.body.amount}}' } }),
    });
    expect(run).toEqual({
      id: expect.stringMatching(/^run_/),
      workflow_id: expect.stringMatching(/^wf_/),
      status: 'completed',
      started_at: expect.any(String),
      finished_at: expect.any(String),
      trigger_body: {},
      tasks: {
        charge: {
          status: 'success',
          status_code: 200,
          duration_ms: expect.any(Number),
          started_at: expect.any(String),
          finished_at: expect.any(String),
          attempt: 1,
          is_truncated: false,
        },
        receipt: expect.objectContaining({ status: 'success', status_code: 200 }),
      },
    });
    expect(shop().bodies('/receipt')).toEqual([{ amount: 12 }]);
    const bodies = await getRun(api(), 'documented', run.id, '?include=body');
    expect(bodies.tasks.charge!.response_body).toEqual({ amount: 12 });
    expect(bodies.tasks.charge!.response_headers).toMatchObject({ 'content-type': 'application/json' });
  });

  it('a failed task skips the tasks that need it, unless a condition decides otherwise', async () => {
    shop().answer('/declined', 402, { reason: 'no money' });
    const run = await runOnce(api(), 'cascade', {
      charge: call('/declined'),
      receipt: call('/never', { needs: ['charge'] }),
      survey: call('/never', { needs: ['receipt'] }),
      'handle-failure': call('/handled', { needs: ['charge'], if: 'tasks.charge.status_code != 200' }),
      'handle-success': call('/never', { needs: ['charge'], if: 'tasks.charge.status_code == 200' }),
      'handle-skip': call('/skipped', { needs: ['receipt'], if: "tasks.receipt.status == 'skipped'" }),
      independent: call('/independent'),
    });
    expect(run.status).toBe('completed');
    expect(statuses(run)).toEqual({
      charge: 'failed',
      receipt: 'skipped',
      survey: 'skipped',
      'handle-failure': 'success',
      'handle-success': 'skipped',
      'handle-skip': 'success',
      independent: 'success',
    });
    expect(run.tasks.charge).toMatchObject({
      status_code: 402,
      attempt: 1,
      error_message: expect.stringContaining('402'),
    });
    expect(run.tasks.receipt).toMatchObject({ status_code: null, skip_reason: expect.stringContaining('charge') });
    expect(run.tasks.receipt).not.toHaveProperty('started_at');
    expect(run.tasks.survey!.skip_reason).toContain('receipt');
    expect(run.tasks['handle-success']!.skip_reason).toContain('condition');
    expect(shop().bodies('/never')).toEqual([]);
  });

  it('the result of a task counts its attempts', async () => {
    shop().answer('/flaky', 503, {});
    await create(api(), 'flaky', { a: call('/flaky', { retries: 1 }) });
    const runId = await trigger(api(), 'flaky');
    const retrying = await runUntil(api(), 'flaky', runId, ({ tasks }) => tasks.a?.error_message !== undefined);
    expect(retrying.tasks.a).toMatchObject({ status: 'running', attempt: 1 });
    const { started_at: startedAt } = retrying.tasks.a!;
    shop().answer('/flaky', 200, { ok: true });
    const run = await ended(api(), 'flaky', runId);
    expect(run.tasks.a).toMatchObject({ status: 'success', status_code: 200, attempt: 2, started_at: startedAt });
    expect(run.tasks.a).not.toHaveProperty('error_message');
    const keys = shop()
      .received.filter(({ path }) => path === '/flaky')
      .map(({ headers }) => headers['idempotency-key']);
    expect(new Set(keys).size).toBe(1);
  });

  it('a task fails when its server cannot be reached', async () => {
    const run = await runOnce(api(), 'refused', { a: { url: 'http://127.0.0.1:1', retries: 0 } });
    expect(run.tasks.a).toMatchObject({ status: 'failed', status_code: null, error_message: expect.any(String) });
  });
});

describe('a sleeping task', () => {
  it('a sleeping task shows when it wakes, and then the run goes on', async () => {
    await create(api(), 'naps', {
      a: call('/nap'),
      nap: { needs: ['a'], sleep: 1 },
      b: call('/woke', { needs: ['nap'] }),
    });
    const runId = await trigger(api(), 'naps');
    const asleep = await runUntil(api(), 'naps', runId, ({ tasks }) => tasks.nap?.status === 'sleeping');
    const { started_at: from, wake_at: until } = asleep.tasks.nap!;
    expect(Date.parse(until!) - Date.parse(from!)).toBe(1000);
    expect(asleep.tasks.b).toEqual({ status: 'pending', status_code: null });
    const run = await ended(api(), 'naps', runId);
    expect(statuses(run)).toEqual({ a: 'success', nap: 'success', b: 'success' });
    expect(run.tasks.nap!.duration_ms).toBeGreaterThanOrEqual(1000);
  });
});

describe('the end of a run', () => {
  it('a run that takes longer than it may ends as `timeout`', async () => {
    await create(
      api(),
      'expires',
      { a: { sleep: '1h' }, b: call('/never', { needs: ['a'] }) },
      { max_duration_seconds: 1 },
    );
    const run = await ended(api(), 'expires', await trigger(api(), 'expires'));
    expect(run.status).toBe('timeout');
    expect(run.tasks.b!.status).toBe('skipped');
  });

  it('a run that is cancelled ends as `cancelled`, once', async () => {
    await create(api(), 'stopped', { a: { sleep: '1h' }, b: call('/never', { needs: ['a'] }) });
    const runId = await trigger(api(), 'stopped');
    await runUntil(api(), 'stopped', runId, ({ tasks }) => tasks.a?.status === 'sleeping');
    const cancel = () => api().post<{ data: Run }>(`/workflows/stopped/runs/${runId}/cancel`);
    const first = await cancel();
    expect([first.status, first.body.data.status]).toEqual([202, 'cancelled']);
    const run = await ended(api(), 'stopped', runId);
    expect(run.status).toBe('cancelled');
    expect(statuses(run)).toEqual({ a: 'cancelled', b: 'skipped' });
    expect((await cancel()).status).toBe(200);
    const done = await runOnce(api(), 'done', { a: call('/ok') });
    const late = await api().post<Refusal>(`/workflows/done/runs/${done.id}/cancel`);
    expect([late.status, late.body.error.code]).toEqual([409, 'WFENG002']);
    expect(late.body.error.message).toBe('the run has already ended as completed');
  });

  it('a cancel that comes too late is answered with 409, not with success', async () => {
    const hops = ['a', 'b', 'c', 'd'];
    const tasks = hops.map((name, index) => [name, call('/race', { needs: hops.slice(0, index) })]);
    await create(api(), 'race', Object.fromEntries(tasks));
    const races = Array.from({ length: 30 }, async () => {
      const runId = await trigger(api(), 'race');
      const end = ended(api(), 'race', runId);
      const { status, body } = await api().post<{ data?: Run }>(`/workflows/race/runs/${runId}/cancel`);
      return { status, said: body.data?.status, became: (await end).status };
    });
    for (const { status, said, became } of await Promise.all(races)) {
      if (status === 409) expect(became).toBe('completed');
      else if (said !== 'running') expect([status, said, became]).toEqual([202, 'cancelled', 'cancelled']);
    }
  });

  it('a run ends as `failed` only when the engine gives up', async () => {
    await create(api(), 'unreadable', { a: call('/never') });
    await withClient(api().database.connectionString, (client) =>
      client.query(`update workflow_definitions set definition = '{}' where workflow_id = 'unreadable'`),
    );
    const run = await ended(api(), 'unreadable', await trigger(api(), 'unreadable'));
    expect(run).toMatchObject({ status: 'failed', error_message: expect.stringContaining('not valid'), tasks: {} });
  });
});

describe('a run that the engine gave up on', () => {
  it('a run that the engine gave up on has no running task', async () => {
    await create(api(), 'abandoned', {
      a: call('/abandoned', { body: { url: '{{wait.paid.url}}' } }),
      paid: { needs: ['a'], wait_for_webhook: {} },
      ship: call('/never', { needs: ['paid'] }),
    });
    const runId = await trigger(api(), 'abandoned');
    await runUntil(api(), 'abandoned', runId, ({ tasks }) => tasks.paid?.status === 'waiting');
    const crash = `update execution_queue set crashes = 9, epoch = 9 where execution_id = $1 and runner_id is null`;
    await withClient(api().database.connectionString, async (client) => {
      while ((await client.query(crash, [executionIdOf(runId)])).rowCount === 0);
    });
    const [{ url }] = shop().bodies('/abandoned') as [{ url: string }];
    await api().post(url.slice(api().url.length), {});
    const run = await ended(api(), 'abandoned', runId);
    expect([run.status, run.error_message]).toEqual(['failed', expect.stringContaining('crashed 9 times')]);
    expect(run.tasks).toMatchObject({
      a: { status: 'success' },
      paid: { status: 'failed', error_message: run.error_message, finished_at: run.finished_at },
      ship: { status: 'skipped', skip_reason: 'the run failed' },
    });
  });
});

describe('lists of runs', () => {
  it('runs are listed newest first, in pages', async () => {
    await create(api(), 'listed', { a: call('/listed') });
    const started: string[] = [];
    for (let i = 0; i < 5; i++) started.unshift(await trigger(api(), 'listed'));
    for (const runId of started) await ended(api(), 'listed', runId);
    const first = await api().get<{ data: JsonObject[]; nextCursor: string }>('/workflows/listed/runs?limit=3');
    expect(first.body.data.map(({ id }) => id)).toEqual(started.slice(0, 3));
    expect(first.body.data[0]).toEqual({
      id: started[0],
      workflow_id: expect.stringMatching(/^wf_/),
      status: 'completed',
      started_at: expect.any(String),
      finished_at: expect.any(String),
    });
    const rest = await api().get<{ data: JsonObject[] }>(
      `/workflows/listed/runs?limit=3&cursor=${first.body.nextCursor}`,
    );
    expect(rest.body.data.map(({ id }) => id)).toEqual(started.slice(3));
    expect(rest.body).not.toHaveProperty('nextCursor');
  });

  it('runs are listed by the statuses asked for', async () => {
    await create(api(), 'sorted', { a: call('/sorted'), wait: { if: 'trigger.body.wait', wait_for_webhook: {} } });
    const done = await trigger(api(), 'sorted');
    await ended(api(), 'sorted', done);
    const stopped = await trigger(api(), 'sorted', { wait: true });
    await api().post(`/workflows/sorted/runs/${stopped}/cancel`);
    await ended(api(), 'sorted', stopped);
    const waiting = await trigger(api(), 'sorted', { wait: true });
    const idsOf = async (status: string) =>
      (await api().get<{ data: JsonObject[] }>(`/workflows/sorted/runs?status=${status}`)).body.data.map(
        ({ id }) => id,
      );
    expect(await idsOf('completed')).toEqual([done]);
    expect(await idsOf('running,cancelled')).toEqual([waiting, stopped]);
    expect(await idsOf('failed')).toEqual([]);
    expect((await api().get<Refusal>('/workflows/sorted/runs?status=done')).status).toBe(400);
  });

  it('a run has the same start time in every answer, even to a repeated trigger', async () => {
    await create(api(), 'begun', { a: call('/begun') });
    const once = { 'idempotency-key': 'begun-once' };
    const start = () =>
      api().post<{ data: { run_id: string; started_at: string } }>('/workflows/begun/trigger', {}, once);
    const { run_id: runId, started_at: startedAt } = (await start()).body.data;
    const run = await ended(api(), 'begun', runId);
    const listed = await api().get<{ data: JsonObject[] }>('/workflows/begun/runs');
    expect([run.started_at, listed.body.data[0]!.started_at, (await start()).body.data.started_at]).toEqual(
      Array(3).fill(startedAt),
    );
  });

  it('runs of another workflow or another tenant answer 404', async () => {
    const run = await runOnce(api(), 'mine', { a: call('/mine') });
    expect((await api().get(`/workflows/mine/runs/${run.id}`)).status).toBe(200);
    for (const path of [`/workflows/listed/runs/${run.id}`, '/workflows/mine/runs/run_1', '/workflows/mine/runs/x']) {
      expect([path, (await api().get(path)).status]).toEqual([path, 404]);
    }
    const other = { 'x-tenant-id': 'other' };
    expect((await api().get(`/workflows/mine/runs/${run.id}`, other)).status).toBe(404);
    expect((await api().post(`/workflows/mine/runs/${run.id}/cancel`, {}, other)).status).toBe(404);
    await api().post('/workflows', { name: 'mine', tasks: { a: { sleep: 1 } } }, other);
    expect((await api().get(`/workflows/mine/runs/${run.id}`, other)).status).toBe(404);
  });
});
