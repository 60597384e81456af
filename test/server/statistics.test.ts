// Numbers over time, failures by cause, bulk actions, the search for a pasted text, and API keys.

import { beforeAll, describe, expect, it, vi } from 'vitest';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const tenantId = 'acme';
let client: PawlClient;

const fail = (message: string) => ({
  id: 'f',
  actionType: 'core.fail',
  parameters: { message },
  policies: { retry: { maxAttempts: 1 } },
});

const run = async (workflowId: string, trigger = {}): Promise<string> => {
  const { executionId } = await client.executions.execute(workflowId, { trigger });
  await client.executions.waitFor(executionId);
  return executionId;
};

/** Writes the statistics now, which are otherwise written every ten seconds. */
const written = () => server.pawl.statistics.flush();

beforeAll(async () => {
  client = createClient({ url: server.url, token: await tokenFor() });
  await server.pawl.publish(chain('works', echo('only')), { tenantId });
  await server.pawl.publish(chain('fails', fail('order {{ trigger.order }} is gone')), { tenantId });
  await server.pawl.publish(chain('sleeps', sleep('nap', 3_600_000)), { tenantId });
});

describe('statistics', () => {
  it('statistics count ended executions by workflow, version and action, with quantiles', async () => {
    for (let times = 0; times < 3; times++) await run('works');
    await written();
    const { data } = await client.statistics.over({ workflowId: 'works' });
    const total = (field: 'started' | 'succeeded' | 'failed') => data.reduce((sum, point) => sum + point[field], 0);
    expect([total('started'), total('succeeded'), total('failed')]).toEqual([3, 3, 0]);
    expect(data[0]).toMatchObject({ key: 'works', p50Ms: expect.any(Number), p95Ms: expect.any(Number) });
    const byVersion = await client.statistics.over({ by: 'version', bucket: 'day', workflowId: 'works' });
    expect(byVersion.data).toMatchObject([{ key: 'works@1', succeeded: 3 }]);
    const byAction = await client.statistics.over({ by: 'action', action: 'core.echo', bucket: 'hour' });
    expect(byAction.data.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(3);
    const listed = await server.get('/api/v1/workflows?search=works&include=stats');
    expect(listed.body.data).toMatchObject([{ stats: [{ succeeded: 3 }] }]);
  });

  it('statistics add up over several writes', async () => {
    await run('works');
    await written();
    const { data } = await client.statistics.over({ workflowId: 'works', bucket: 'day' });
    expect(data).toMatchObject([{ started: 4, succeeded: 4 }]);
  });

  it('statistics refuse a range that is empty or has too many steps', async () => {
    const asked = (from: string, until: string) =>
      server.get(`/api/v1/stats?from=${from}T00:00:00Z&until=${until}T00:00:00Z`);
    expect((await asked('2026-01-02', '2026-01-01')).status).toBe(400);
    expect((await asked('2026-01-01', '2026-03-01')).status).toBe(400);
  });
});

describe('failures', () => {
  it('failures are grouped by cause, whatever the numbers in their messages, with the latest sample', async () => {
    await run('fails', { order: 17 });
    const last = await run('fails', { order: 18 });
    await written();
    const { data } = await client.statistics.failures({ workflowId: 'fails' });
    expect(data).toMatchObject([{ workflowId: 'fails', nodeId: 'f', count: 2, sampleId: last }]);
    expect(data[0]!.message).toContain('order');
    const later = new Date(Date.now() + 3_600_000).toISOString();
    expect((await client.statistics.failures({ since: later })).data).toEqual([]);
  });

  it('S1: failures of another tenant are not shown', async () => {
    const other = createClient({ url: server.url, token: await tokenFor({ tenant: 'globex' }) });
    expect((await other.statistics.failures()).data).toEqual([]);
    expect((await other.statistics.over({ bucket: 'day' })).data).toEqual([]);
  });
});

describe('an action on many executions', () => {
  const until = async (bulkId: string, state: string) =>
    vi.waitUntil(async () => (await client.bulk.get(bulkId)).state === state, { timeout: 30_000 });

  it('a bulk action can be counted first, is done once however often it is sent, and shows progress', async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await client.executions.execute('sleeps')).executionId);
    await vi.waitUntil(
      async () => (await client.executions.rows({ workflowId: 'sleeps', status: ['Running'] })).data.length === 3,
    );
    const filter = { workflowId: 'sleeps', status: ['Running' as const] };
    const order = { requestId: 'stop-them', action: 'cancel' as const, reason: 'maintenance', filter };
    expect(await client.bulk.order({ ...order, dryRun: true })).toEqual({ count: 3, isCapped: false });
    expect((await client.executions.rows(filter)).data).toHaveLength(3);
    const first = await client.bulk.order(order);
    const again = await client.bulk.order(order);
    expect(again.bulkId).toBe(first.bulkId);
    await until(first.bulkId!, 'done');
    expect(await client.bulk.get(first.bulkId!)).toMatchObject({
      action: 'cancel',
      count: 3,
      done: 3,
      failed: 0,
      by: 'ada',
    });
    for (const id of ids) expect((await client.executions.waitFor(id)).status).toBe('Cancelled');
    const audit = await client.admin.audit({ action: 'bulk.create' });
    expect(audit.data).toMatchObject([
      { target: `bulk/${first.bulkId}`, details: { reason: 'maintenance', count: 3 } },
    ]);
    expect((await client.bulk.list()).data).toMatchObject([{ bulkId: first.bulkId }]);
  });

  it('a bulk action skips executions that it does not apply to, and starts each replay once', async () => {
    const failed = await run('fails', { order: 1 });
    const worked = await run('works');
    const { bulkId } = await client.bulk.order({
      requestId: 'again',
      action: 'retry',
      reason: 'fixed',
      ids: [failed, worked],
    });
    await until(bulkId!, 'done');
    expect(await client.bulk.get(bulkId!)).toMatchObject({ done: 1, skipped: 1, failed: 0 });
    const replayed = await client.bulk.order({ requestId: 'replay', action: 'replay', reason: 'fixed', ids: [worked] });
    await until(replayed.bulkId!, 'done');
    const found = await client.executions.rows({ requestId: `bulk:${replayed.bulkId}:${worked}` });
    expect(found.data).toHaveLength(1);
  });

  it.each([
    [{ filter: {} }, '/filter'],
    [{}, ''],
    [{ ids: [], filter: undefined }, '/ids'],
  ])('a bulk action on nothing or everything is refused: %j', async (choice, path) => {
    const body = { requestId: 'x', action: 'cancel', reason: 'x', ...choice };
    const { status, body: answer } = await server.post('/api/v1/bulk', body);
    expect(status).toBe(400);
    const { details } = answer.error as unknown as { details: { path: string }[] };
    expect(details.map((problem) => problem.path)).toContain(path);
  });

  it('a bulk action needs the same rights as the action on one execution', async () => {
    const token = await tokenFor({ scope: ['executions:signal'], roles: ['Operator'] });
    const order = (action: string) =>
      server.post('/api/v1/bulk', { requestId: action, action, reason: 'x', ids: [crypto.randomUUID()] }, { token });
    expect((await order('cancel')).status).toBe(403);
    expect((await order('retry')).status).toBe(403);
    expect((await order('pause')).status).toBe(202);
  });
});

describe('a pasted text', () => {
  it('a pasted text is matched exactly with executions, requestIds, workflows and triggers', async () => {
    const { executionId } = await client.executions.execute('works', { requestId: 'order-4711' });
    const { id: triggerId } = await client.triggers.create({ workflowId: 'works', triggerType: 'Manual' });
    const kinds = async (text: string) => (await client.system.find(text)).data.map(({ kind, id }) => `${kind} ${id}`);
    expect(await kinds(executionId)).toEqual([`execution ${executionId}`]);
    expect(await kinds(`run_${executionId.replaceAll('-', '')}`)).toEqual([`execution ${executionId}`]);
    expect(await kinds('order-4711')).toEqual([`execution ${executionId}`]);
    expect(await kinds('works')).toEqual(['workflow works']);
    expect(await kinds(triggerId)).toEqual([`trigger ${triggerId}`]);
    expect(await kinds('wor')).toEqual([]);
    const other = createClient({ url: server.url, token: await tokenFor({ tenant: 'globex' }) });
    expect((await other.system.find(executionId)).data).toEqual([]);
  });
});

describe('an API key', () => {
  it('an API key is shown once, works until it is revoked, and has no more rights than its creator', async () => {
    const { id, key } = await client.admin.createKey({ name: 'ci', scopes: ['workflows:read'] });
    const keyed = createClient({ url: server.url, token: key });
    expect(await keyed.system.session()).toMatchObject({ subject: 'key:ci', scopes: ['workflows:read'] });
    const { data } = await client.admin.keys();
    expect(data).toMatchObject([{ id, name: 'ci' }]);
    expect(JSON.stringify(data)).not.toContain(key);
    await client.admin.revokeKey(id);
    await expect(keyed.system.session()).rejects.toMatchObject({ status: 401 });
    await expect(client.admin.revokeKey(id)).rejects.toMatchObject({ status: 404 });
    const limited = createClient({ url: server.url, token: await tokenFor({ scope: ['admin'], roles: [] }) });
    await expect(limited.admin.createKey({ name: 'x', scopes: ['workflows:read'] })).rejects.toMatchObject({
      status: 403,
    });
  });
});
