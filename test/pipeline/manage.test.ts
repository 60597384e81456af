// Pipelines through their API: create, read, replace, disable, delete.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from '../workflow/api.ts';
import { echo } from '../workflow/definition.ts';
import { create, ended, executionIdOf, getRun, runUntil, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
const shop = useShop();

const call = (path = '/ok', rest: JsonObject = {}): JsonObject => ({ url: `${shop().url}${path}`, ...rest });

describe('creating a pipeline', () => {
  it('a created pipeline is enabled at once, and the answer is as documented', async () => {
    const { status, body } = await create(api(), 'orders', {
      charge: call(),
      receipt: call('/r', { needs: ['charge'] }),
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      data: {
        id: expect.stringMatching(/^wf_[0-9a-f]{32}$/),
        name: 'orders',
        trigger: 'api',
        task_count: 2,
        enabled: true,
        version: 1,
        inserted_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    const runId = await trigger(api(), body.data.id);
    expect((await ended(api(), 'orders', runId)).status).toBe('completed');
  });

  it('creating a pipeline under the name of a pipeline or a graph is refused', async () => {
    await create(api(), 'taken', { a: call() });
    await api().post('/workflows', echo('graph-first'));
    for (const name of ['taken', 'graph-first']) {
      const { status, body } = await api().post<Refusal>('/workflows', { name, tasks: { b: call() } });
      expect([status, body.error.code]).toEqual([409, 'WORKFLOW_EXISTS']);
    }
    const over = await api().post<Refusal>('/workflows', echo('taken'));
    expect([over.status, over.body.error.code]).toEqual([400, 'WORKFLOW_IMMUTABLE']);
  });

  it('twenty requests that create one pipeline at once get one 201 and nineteen 409', async () => {
    const replies = await Promise.all(Array.from({ length: 20 }, () => create(api(), 'rush', { a: call() })));
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
  });

  it.each<[string, JsonObject, string, string]>([
    [
      'a misspelled need',
      { charge: { url: 'http://x/' }, b: { url: 'http://x/', needs: ['chrage'] } },
      '/tasks/b/needs/0',
      '`charge`',
    ],
    ['a misspelled key', { charge: { ulr: 'http://x/' } }, '/tasks/charge/ulr', '`url`'],
    [
      'a task in a condition that is not there',
      {
        charge: { url: 'http://x/' },
        b: { url: 'http://x/', needs: ['charge'], if: 'tasks.chrage.status_code == 200' },
      },
      '/tasks/b/if',
      'charge',
    ],
    [
      'a wait that is not there',
      { charge: { url: 'http://x/', body: '{{wait.paid.url}}' } },
      '/tasks/charge/body',
      'paid',
    ],
    ['two types', { a: { url: 'http://x/', sleep: '1d' } }, '/tasks/a/sleep', 'cannot stand beside'],
    ['no type', { a: { needs: [] } }, '/tasks/a', 'url'],
    ['a duration that is none', { a: { sleep: '3 days' } }, '/tasks/a/sleep', '30s'],
    ['a circle', { a: { url: 'http://x/', needs: ['b'] }, b: { url: 'http://x/', needs: ['a'] } }, '/tasks', 'a'],
  ])('creating a pipeline with %s is refused with a hint', async (_what, tasks, path, hint) => {
    const { status, body } = await api().post<Refusal>('/workflows', { name: 'broken', tasks });
    expect([status, body.error.code]).toEqual([400, 'WFENG005']);
    const problem = body.error.details!.find((one) => one.path.startsWith(path));
    expect(problem, JSON.stringify(body.error.details)).toBeDefined();
    expect(`${problem!.message} ${problem!.suggestion ?? ''}`).toContain(hint);
    expect((await api().get('/workflows/broken')).status).toBe(404);
  });

  it('null counts as absent in a pipeline, even for `if`', async () => {
    const nothing = { needs: null, if: null, headers: null, retries: null, timeout: null, sleep: null };
    const rest = { description: null, trigger: null, cron_expression: null, max_duration_seconds: null, enabled: null };
    const { status, body } = await create(api(), 'nothing', { a: call('/nothing', nothing) }, rest);
    expect(status, JSON.stringify(body)).toBe(201);
    expect(body.data).toMatchObject({ trigger: 'api', enabled: true });
    const run = await ended(api(), 'nothing', await trigger(api(), 'nothing'));
    expect(run.tasks.a).toMatchObject({ status: 'success' });
    expect(shop().bodies('/nothing')).toEqual([null]);
    const read = await api().get<{ data: JsonObject }>('/workflows/nothing');
    expect(read.body.data.tasks).toEqual({ a: call('/nothing', nothing) });
  });

  it('reading a pipeline shows every field, so that editing and sending it back loses nothing', async () => {
    const more = { finally: ['last'], outputs: { code: '{{tasks.a.status_code}}' }, driver: 'native' };
    await create(api(), 'whole', { a: call(), last: call() }, more);
    const { data } = (await api().get<{ data: JsonObject }>('/workflows/whole')).body;
    expect(data).toMatchObject(more);
  });

  it('a pipeline keeps its trigger settings', async () => {
    const cron = await create(api(), 'nightly', { a: call() }, { trigger: 'cron', cron_expression: '0 3 * * *' });
    expect(cron.body.data).toMatchObject({ trigger: 'cron', cron_expression: '0 3 * * *' });
    const zoned = {
      trigger: 'cron',
      cron_expression: '0 3 * * *',
      timezone: 'Europe/Berlin',
      catch_up: 'all',
      payload: { of: 'night' },
    };
    expect((await create(api(), 'zoned', { a: call() }, zoned)).status).toBe(201);
    expect((await api().get<{ data: JsonObject }>('/workflows/zoned')).body.data).toMatchObject(zoned);
    const { triggers } = api().pawl.triggering;
    const [schedule] = await triggers.list({ tenantId: 'default', workflowId: 'zoned' }, { afterId: null, limit: 1 });
    expect(JSON.parse(schedule!.config)).toEqual({
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      catchUp: 'all',
      payload: { of: 'night' },
    });
    const daily = await create(api(), 'daily', { a: call() }, { trigger: 'cron', cron_expression: '@daily' });
    expect(daily).toMatchObject({ status: 201, body: { data: { cron_expression: '@daily' } } });
    const webhook = await create(api(), 'hooked', { a: call() }, { trigger: 'webhook' });
    expect(webhook.body.data.webhook_url).toMatch(new RegExp(`^${api().url}/api/v1/triggers/[0-9a-f-]{36}$`));
    for (const wrong of [
      { trigger: 'cron' },
      { trigger: 'cron', cron_expression: 'at night' },
      { trigger: 'cron', cron_expression: '@never' },
      { cron_expression: '0 3 * * *' },
      { ...zoned, timezone: 'Europe/Berlim' },
      { ...zoned, catch_up: 'some' },
      { timezone: 'Europe/Berlin' },
      { catch_up: 'all' },
      { payload: {} },
      { ...zoned, payload: 7 },
    ]) {
      expect((await create(api(), 'never', { a: call() }, wrong)).status).toBe(400);
    }
  });
});

describe('reading a pipeline', () => {
  it('a pipeline is read by name and by id, with all tasks as written', async () => {
    const tasks = {
      a: call('/a', { retries: 1 }),
      b: { needs: ['a'], sleep: '1d' },
      c: { wait_for_webhook: { timeout: 60 } },
    };
    const { body: created } = await create(api(), 'readable', tasks, {
      description: 'all of it',
      max_duration_seconds: 60,
    });
    for (const id of ['readable', created.data.id]) {
      const { status, body } = await api().get(`/workflows/${id}`);
      expect(status).toBe(200);
      expect(body).toEqual({ data: { ...created.data, description: 'all of it', max_duration_seconds: 60, tasks } });
    }
  });

  it('executions and triggers of a pipeline are listed by its name and by its id', async () => {
    const { body: created } = await create(api(), 'found', { a: call() }, { trigger: 'webhook' });
    const executionId = executionIdOf(await trigger(api(), 'found'));
    for (const id of ['found', created.data.id]) {
      const executions = await api().get<{ data: JsonObject[] }>(`/executions?workflowId=${id}`);
      expect(executions.body.data).toEqual([expect.objectContaining({ executionId })]);
      const triggers = await api().get<{ data: JsonObject[] }>(`/triggers?workflowId=${id}`);
      expect(triggers.body.data).toEqual([expect.objectContaining({ workflowId: 'found' })]);
    }
    const nobody = await api().get<{ data: JsonObject[] }>(`/executions?workflowId=wf_${'0'.repeat(32)}`);
    expect(nobody.body.data).toEqual([]);
  });

  it('the list of workflows shows pipelines with their own fields', async () => {
    const { body } = await api().get<{ data: JsonObject[] }>('/workflows?format=pipeline&search=readable');
    expect(body.data).toEqual([expect.objectContaining({ name: 'readable', task_count: 3, enabled: true })]);
    expect(body.data[0]!.id).toMatch(/^wf_/);
  });

  it.each(['wf_00000000000000000000000000000000', 'nobody', 'wf_zz', 'run_1', '%00'])(
    'reading the pipeline %s answers 404',
    async (id) => {
      expect((await api().get(`/workflows/${id}`)).status).toBe(404);
    },
  );
});

describe('replacing a pipeline', () => {
  it('replacing a pipeline makes a new version and leaves runs in flight alone', async () => {
    await create(api(), 'moving', { hold: { wait_for_webhook: {} }, after: call('/before', { needs: ['hold'] }) });
    const runId = await trigger(api(), 'moving');
    await runUntil(api(), 'moving', runId, ({ tasks }) => tasks.hold?.status === 'waiting');
    const replaced = await api().send('PUT', '/workflows/moving', { name: 'moving', tasks: { only: call('/after') } });
    expect(replaced.status).toBe(200);
    expect(replaced.body.data).toMatchObject({ name: 'moving', task_count: 1, version: 2 });
    expect(Object.keys((await getRun(api(), 'moving', runId)).tasks)).toEqual(['hold', 'after']);
    const second = await ended(api(), 'moving', await trigger(api(), 'moving'));
    expect(Object.keys(second.tasks)).toEqual(['only']);
    expect(shop().bodies('/after')).toHaveLength(1);
    expect(shop().bodies('/before')).toEqual([]);
  });

  it('the same definition makes no new version, and an older one brings its version back', async () => {
    const put = async (path: string) =>
      (await api().send<{ data: { version: number } }>('PUT', '/workflows/again', { tasks: { a: call(path) } })).body
        .data.version;
    await create(api(), 'again', { a: call('/1') });
    expect([await put('/1'), await put('/2'), await put('/1'), await put('/3')]).toEqual([1, 2, 1, 3]);
  });

  it('twenty replacements at once give each definition one version', async () => {
    await create(api(), 'contested', { a: call('/0') });
    const put = (i: number) =>
      api().send<{ data: { version: number } }>('PUT', '/workflows/contested', { tasks: { a: call(`/${i}`) } });
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => put((i % 5) + 1)));
    expect(new Set(replies.map(({ body }) => body.data.version))).toEqual(new Set([2, 3, 4, 5, 6]));
  });

  it('a replaced pipeline keeps its webhook URL, and stays enabled or disabled', async () => {
    const { body } = await create(api(), 'stable', { a: call() }, { trigger: 'webhook', enabled: false });
    const put = (rest: JsonObject) => api().send('PUT', '/workflows/stable', { tasks: { a: call('/2') }, ...rest });
    expect((await put({ trigger: 'webhook' })).body.data).toMatchObject({
      webhook_url: body.data.webhook_url,
      enabled: false,
    });
    const kept = (await put({ enabled: true })).body.data;
    expect(kept).toMatchObject({ trigger: 'webhook', webhook_url: body.data.webhook_url, enabled: true });
    // The secret is still the one that was shown when the webhook was created.
    expect(kept).not.toHaveProperty('webhook_secret');
    expect((await put({ trigger: 'api' })).body.data).toMatchObject({ trigger: 'api', enabled: true });
    expect((await put({})).body.data).not.toHaveProperty('webhook_url');
  });

  it('a replaced pipeline keeps its schedule, and shows its last and next run', async () => {
    const schedule = {
      trigger: 'cron',
      cron_expression: '0 3 * * *',
      timezone: 'Europe/Berlin',
      payload: { full: true },
    };
    await create(api(), 'kept-nightly', { a: call() }, schedule);
    expect((await api().send('PUT', '/workflows/kept-nightly', { tasks: { b: call() } })).status).toBe(200);
    const run = await ended(api(), 'kept-nightly', await trigger(api(), 'kept-nightly', { by: 'hand' }));
    expect(run).toMatchObject({ trigger_body: { by: 'hand' } });
    const look = async () => (await api().get<{ data: JsonObject }>('/workflows/kept-nightly')).body.data;
    // A new schedule gets its next time when a scheduler has looked at it.
    await expect.poll(async () => (await look()).next_run_at).toEqual(expect.any(String));
    const shown = await look();
    expect(shown).toMatchObject({ ...schedule, tasks: { b: {} }, last_run: { id: run.id, status: 'completed' } });
    expect(Date.parse(shown.next_run_at as string)).toBeGreaterThan(Date.parse(run.started_at));
    const { body: listed } = await api().get<{ data: JsonObject[] }>('/workflows?format=pipeline&search=kept-nightly');
    expect(listed.data).toEqual([
      expect.objectContaining({ last_run: shown.last_run, next_run_at: shown.next_run_at }),
    ]);
  });

  it('a run in flight shows when it expires', async () => {
    await create(api(), 'limited', { hold: { wait_for_webhook: {} } }, { max_duration_seconds: 600 });
    const runId = await trigger(api(), 'limited');
    const run = await runUntil(api(), 'limited', runId, ({ tasks }) => tasks.hold?.status === 'waiting');
    const { expires_at: expires } = run as unknown as { expires_at: string };
    expect(Date.parse(expires) - Date.parse(run.started_at)).toBeGreaterThanOrEqual(600_000);
  });

  it('a pipeline that was read and edited can be sent back', async () => {
    const { body: created } = await create(api(), 'edited', { a: call('/1') }, { trigger: 'webhook' });
    const { body: shown } = await api().get<{ data: JsonObject }>('/workflows/edited');
    for (const [round, id] of ['edited', created.data.id].entries()) {
      const edited = { ...shown.data, tasks: { a: call(`/edited-${round}`) } };
      const { status, body } = await api().send<{ data: JsonObject }>('PUT', `/workflows/${id}`, edited);
      expect([status, body.data.version]).toEqual([200, round + 2]);
      expect(body.data).toMatchObject({ id: created.data.id, webhook_url: shown.data.webhook_url });
    }
    const { body: other } = await create(api(), 'edited-too', { a: call('/1') });
    const stray = await api().send<Refusal>('PUT', '/workflows/edited', { ...shown.data, id: other.data.id });
    expect([stray.status, stray.body.error.details]).toMatchObject([400, [{ code: 'CANNOT_CHANGE', path: '/id' }]]);
  });

  it('replacing a graph or an unknown pipeline, or sending no tasks, is refused', async () => {
    await create(api(), 'fixed', { a: call() });
    await api().post('/workflows', echo('a-graph'));
    expect((await api().send('PUT', '/workflows/a-graph', { tasks: { a: call() } })).status).toBe(409);
    expect((await api().send('PUT', '/workflows/fixed', { tasks: {} })).status).toBe(400);
    expect((await api().send('PUT', '/workflows/nobody', { tasks: { a: call() } })).status).toBe(404);
  });

  it.each<[string, JsonObject, string]>([
    ['a graph', { id: 'shaped', displayName: 'x', startNode: 'a', nodes: [] }, 'this is a graph'],
    ['no tasks', { description: 'new words' }, '`tasks` is missing'],
  ])('replacing a pipeline with %s is refused with the shape of a pipeline', async (_what, body, message) => {
    await create(api(), 'shaped', { a: call() });
    const { status, body: refused } = await api().send<Refusal>('PUT', '/workflows/shaped', body);
    expect([status, refused.error.code]).toEqual([400, 'WFENG005']);
    expect(refused.error.details).toMatchObject([
      { code: 'NOT_A_PIPELINE', suggestion: expect.stringContaining('tasks') },
    ]);
    expect(refused.error.message).toContain(message);
  });

  it('replacing an archived pipeline is refused', async () => {
    await create(api(), 'shelved', { a: call() });
    await api().post('/workflows/shelved/archive');
    const refused = await api().send<Refusal>('PUT', '/workflows/shelved', { tasks: { a: call('/2') } });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'WORKFLOW_STATE']);
    await expect(api().pawl.publish({ name: 'shelved', tasks: { a: call('/2') } })).rejects.toMatchObject({
      code: 'WORKFLOW_STATE',
    });
    await api().post('/workflows/shelved/reactivate');
    expect((await api().send('PUT', '/workflows/shelved', { tasks: { a: call('/2') } })).status).toBe(200);
  });
});

describe('disabling and deleting a pipeline', () => {
  it('a disabled pipeline cannot be triggered until it is enabled', async () => {
    await create(api(), 'off', { a: call() }, { enabled: false });
    const refused = await api().post<Refusal>('/workflows/off/trigger', {});
    expect([refused.status, refused.body.error.code]).toEqual([409, 'WORKFLOW_DISABLED']);
    expect((await api().send('PATCH', '/workflows/off', { enabled: true })).body.data).toMatchObject({ enabled: true });
    expect((await api().post('/workflows/off/trigger', {})).status).toBe(201);
  });

  it('a deleted pipeline is gone, its runs go on, and its name is free', async () => {
    const tasks = { hold: { wait_for_webhook: {} }, after: call('/late', { needs: ['hold'] }) };
    const { body: first } = await create(api(), 'mortal', tasks);
    const runId = await trigger(api(), 'mortal');
    await runUntil(api(), 'mortal', runId, ({ tasks: { hold } }) => hold?.status === 'waiting');
    const executionId = executionIdOf(runId);

    expect((await api().send('DELETE', '/workflows/mortal')).status).toBe(204);
    for (const id of ['mortal', first.data.id]) expect((await api().get(`/workflows/${id}`)).status).toBe(404);
    expect((await api().post('/workflows/mortal/trigger', {})).status).toBe(404);
    expect((await api().get<{ data: unknown[] }>('/workflows?search=mortal')).body.data).toEqual([]);
    for (const id of ['mortal', first.data.id]) {
      const { body: run } = await api().get<{ data: object }>(`/workflows/${id}/runs/${runId}`);
      expect(run.data).toMatchObject({ workflow_id: first.data.id, status: 'running', tasks: { hold: {}, after: {} } });
      const { body: runs } = await api().get<{ data: object[] }>(`/workflows/${id}/runs`);
      expect(runs.data).toMatchObject([{ id: runId }]);
    }

    const { status, body: second } = await create(api(), 'mortal', { only: call() });
    expect(status).toBe(201);
    expect(second.data.id).not.toBe(first.data.id);
    expect((await api().get(`/workflows/${first.data.id}`)).status).toBe(404);
    expect((await api().get<{ data: unknown[] }>('/workflows/mortal/runs')).body.data).toEqual([]);

    for (const id of [runId, executionId]) {
      const { status: found, body } = await api().get<Refusal>(`/workflows/mortal/runs/${id}`);
      expect([found, body.error.code]).toEqual([404, 'EXECUTION_NOT_FOUND']);
    }
    expect((await api().post(`/workflows/mortal/runs/${runId}/cancel`)).status).toBe(404);

    const { body: runs } = await api().get<{ data: object[] }>(`/workflows/${first.data.id}/runs`);
    expect(runs.data).toMatchObject([{ id: runId }]);
    expect((await api().post(`/workflows/${first.data.id}/runs/${runId}/cancel`)).status).toBe(202);
    expect(await api().pawl.result(executionId)).toMatchObject({ status: 'Cancelled' });
  });

  it('a recreated pipeline does not answer with a run of the deleted pipeline', async () => {
    const once = { 'Idempotency-Key': 'heir-1' };
    await create(api(), 'heir', { a: call() });
    expect((await api().post('/workflows/heir/trigger', {}, once)).status).toBe(201);
    await api().send('DELETE', '/workflows/heir');
    await create(api(), 'heir', { b: call() });
    const { status, body } = await api().post<Refusal>('/workflows/heir/trigger', {}, once);
    expect([status, body.error.code]).toEqual([409, 'WFENG001']);
  });

  it('a recreated pipeline runs its own definition, even when it is the same as before', async () => {
    await create(api(), 'phoenix', { a: call('/phoenix') });
    await ended(api(), 'phoenix', await trigger(api(), 'phoenix'));
    await api().send('DELETE', '/workflows/phoenix');
    const { body } = await create(api(), 'phoenix', { a: call('/phoenix') });
    expect(body.data).toMatchObject({ task_count: 1 });
    const run = await ended(api(), 'phoenix', await trigger(api(), 'phoenix'));
    expect(run.status).toBe('completed');
    const versions = await api().get<{ data: unknown[] }>('/workflows/phoenix/versions');
    expect(versions.body.data).toHaveLength(1);
  });
});
