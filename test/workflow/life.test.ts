// The rest of the life of a workflow over HTTP: archive, reactivate, enable, delete, and who may see the workflow.

import { describe, expect, it, vi } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl } from '../../src/main.ts';
import { withClient } from '../support/database.ts';
import { type Refusal, useApi } from './api.ts';
import { echo } from './definition.ts';

const api = useApi();

async function published(id: string): Promise<void> {
  await api().post('/workflows', echo(id));
  await api().post(`/workflows/${id}/publish`);
}

const execute = (id: string) => api().post<Refusal & { executionId: string }>(`/workflows/${id}/execute`, {});
const query = async (text: string, values: unknown[]): Promise<Record<string, unknown>[]> =>
  withClient(api().database.connectionString, async (client) => (await client.query(text, values)).rows);

describe('archiving', () => {
  it('an archived workflow refuses executions until it is reactivated', async () => {
    await published('old');
    expect((await api().post('/workflows/old/archive')).body).toEqual({ workflowId: 'old', status: 'Archived' });
    expect((await api().get('/workflows/old')).body).toMatchObject({ status: 'Archived', isEnabled: false });
    expect((await execute('old')).body.error.code).toBe('WORKFLOW_NOT_ACTIVE');
    expect((await api().post<Refusal>('/workflows/old/publish')).status).toBe(409);
    expect((await api().post<Refusal>('/workflows', echo('old', 'x'))).body.error.code).toBe('WORKFLOW_IMMUTABLE');
    expect((await api().post('/workflows/old/draft')).status).toBe(409);
    expect((await api().send('PATCH', '/workflows/old', { isEnabled: true })).status).toBe(409);
    expect((await api().post('/workflows/old/archive')).status).toBe(200);

    expect((await api().post('/workflows/old/reactivate')).body).toEqual({ workflowId: 'old', status: 'Active' });
    const { status, body } = await execute('old');
    expect(status).toBe(202);
    expect(await api().pawl.result(body.executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('archiving lets running executions finish', async () => {
    const nodes = [{ id: 'wait', actionType: 'core.delay', parameters: { durationMs: 500 } }];
    await api().post('/workflows', { id: 'finishing', displayName: 'Finishing', startNode: 'wait', nodes });
    await api().post('/workflows/finishing/publish');
    const { body } = await execute('finishing');
    // A claimed execution has not begun yet, and an execution that has not begun is refused.
    const node = async () => (await api().pawl.executions.inspect('default', body.executionId)).state.nodes[0]!.status;
    await vi.waitUntil(async () => (await node()) === 'Sleeping');
    await api().post('/workflows/finishing/archive');
    expect(await api().pawl.result(body.executionId)).toMatchObject({ status: 'Succeeded' });
  });

  it('archiving fails executions that are still pending', async () => {
    await published('pending');
    const database = { url: api().database.connectionString };
    await api().pawl.runner!.stop();
    const { body } = await execute('pending');
    await api().post('/workflows/pending/archive');
    const another = await createPawl({ database });
    const result = await another.result(body.executionId).finally(() => another.close());
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'WORKFLOW_NOT_ACTIVE' } });
    await api().pawl.runner!.start();
  });

  it('archiving disables the enabled triggers, and reactivating enables the same ones', async () => {
    await published('triggered');
    const triggers = async () =>
      query('select trigger_type, is_enabled from workflow_triggers where workflow_id = $1 order by trigger_type', [
        'triggered',
      ]);
    const add = `insert into workflow_triggers (tenant_id, workflow_id, trigger_type, is_enabled, config) values ('default', 'triggered', $1, $2, '{}')`;
    await query(add, ['Event', true]);
    await query(add, ['Manual', false]);
    await api().post('/workflows/triggered/archive');
    expect((await triggers()).map(({ is_enabled }) => is_enabled)).toEqual([false, false]);
    await api().post('/workflows/triggered/reactivate');
    expect((await triggers()).map(({ is_enabled }) => is_enabled)).toEqual([true, false]);
  });

  it('a workflow that was never published can be neither archived nor reactivated', async () => {
    await api().post('/workflows', echo('young'));
    expect((await api().post('/workflows/young/archive')).status).toBe(409);
    expect((await api().post('/workflows/young/reactivate')).status).toBe(409);
    expect((await execute('young')).body.error.code).toBe('WORKFLOW_NOT_ACTIVE');
  });
});

describe('disabling', () => {
  it('a disabled workflow refuses executions until it is enabled again', async () => {
    await published('paused');
    expect((await api().send('PATCH', '/workflows/paused', { isEnabled: false })).body).toMatchObject({
      id: 'paused',
      status: 'Active',
      isEnabled: false,
    });
    const refused = await execute('paused');
    expect(refused.status).toBe(409);
    expect(refused.body.error.code).toBe('WORKFLOW_DISABLED');
    await api().send('PATCH', '/workflows/paused', { isEnabled: true });
    expect((await execute('paused')).status).toBe(202);
  });

  it('a PATCH without a clear isEnabled is refused', async () => {
    await published('vague');
    for (const body of [{}, { isEnabled: 'no' }, { isEnabled: true, enabled: false }, { status: 'Active' }]) {
      const { status, body: answer } = await api().send<Refusal>('PATCH', '/workflows/vague', body);
      expect([status, answer.error.code]).toEqual([400, 'REQUEST_INVALID']);
    }
  });
});

describe('deleting', () => {
  it('deleting a Draft removes it, and its name can be used again', async () => {
    await api().post('/workflows', echo('gone', 'one'));
    expect((await api().send('DELETE', '/workflows/gone')).status).toBe(204);
    expect((await api().get('/workflows/gone')).status).toBe(404);
    expect((await api().send('DELETE', '/workflows/gone')).status).toBe(404);
    expect(await query('select id from workflows where id = $1', ['gone'])).toEqual([]);
    expect((await api().post('/workflows', echo('gone', 'two'))).status).toBe(201);
  });

  it('a workflow created again under a deleted name gets a new version number', async () => {
    await api().post('/workflows', echo('numbered', 'one'));
    await api().post('/workflows/numbered/publish?autoActivate=false');
    expect((await api().send('DELETE', '/workflows/numbered')).status).toBe(204);
    await api().post('/workflows', echo('numbered', 'two'));
    expect((await api().post('/workflows/numbered/publish')).body).toMatchObject({ version: 2 });
    expect((await api().get('/workflows/numbered?version=1')).status).toBe(404);
  });

  it.each(['Active', 'Archived'])('deleting an %s workflow is refused', async (status) => {
    const id = `keep-${status.toLowerCase()}`;
    await published(id);
    if (status === 'Archived') await api().post(`/workflows/${id}/archive`);
    const refused = await api().send<Refusal>('DELETE', `/workflows/${id}`);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'WORKFLOW_STATE']);
    expect((await api().get(`/workflows/${id}`)).status).toBe(200);
  });
});

describe('another tenant', () => {
  const other = { 'x-tenant-id': 'other' };

  it('another tenant cannot see or change a workflow, and may use the same name', async () => {
    await published('private');
    const {
      data: [listed],
    } = (await api().get<{ data: JsonObject[] }>('/workflows?search=private')).body;
    expect(listed).toMatchObject({ id: 'private' });
    const requests: [string, string][] = [
      ['GET', ''],
      ['GET', '/versions'],
      ['GET', '/diff?from=1&to=1'],
      ['GET', '/runs'],
      ['POST', '/publish'],
      ['POST', '/draft'],
      ['DELETE', '/draft'],
      ['POST', '/archive'],
      ['POST', '/reactivate'],
      ['POST', '/trigger'],
      ['DELETE', ''],
    ];
    for (const [method, path] of requests) {
      const reply = await api().send<Refusal>(method, `/workflows/private${path}`, undefined, other);
      expect([method, path, reply.status]).toEqual([method, path, 404]);
      expect(reply.body.error.code).toBe('WORKFLOW_NOT_FOUND');
    }
    expect((await api().send('PATCH', '/workflows/private', { isEnabled: false }, other)).status).toBe(404);
    expect((await api().get<{ data: unknown[] }>('/workflows', other)).body.data).toEqual([]);
    expect((await api().post('/workflows', echo('private', 'theirs'), other)).status).toBe(201);
    expect((await api().get('/workflows/private')).body).toMatchObject({ status: 'Active', hasDraft: false });
  });
});
