// The audit log: every change leaves a record, in the transaction that made it. Records cannot be changed. Each tenant sees its
// own records.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createApiKey, revokeApiKey } from '../../src/server/auth/api-key.ts';
import { withClient } from '../support/database.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const records = async (query = ''): Promise<JsonObject[]> =>
  (await server.get(`/api/v1/admin/audit${query}`)).body.data as JsonObject[];
const lines = async (query = '') =>
  (await records(query)).map(({ actor, action, target }) => `${actor} ${action} ${target}`).reverse();

beforeAll(async () => {
  await server.pawl.publish(chain('long', sleep('nap', 3_600_000)), { tenantId: 'acme' });
});

describe('the audit record of a change', () => {
  it('a change of a workflow is recorded after it happened, with its author and its result', async () => {
    const ben = { token: await tokenFor({ subject: 'ben' }), headers: { 'x-correlation-id': 'ticket-7' } };
    await server.post('/api/v1/workflows', chain('w', echo('a')));
    await server.post('/api/v1/workflows/w/publish');
    await server.post('/api/v1/workflows/w/publish');
    await server.ask('PATCH', '/api/v1/workflows/w', { body: { isEnabled: false } });
    await server.post('/api/v1/workflows/w/archive', undefined, ben);
    await server.post('/api/v1/workflows/w/archive', undefined, ben);
    await server.ask('DELETE', '/api/v1/workflows/w');
    expect(await lines('?target=workflow/w')).toEqual([
      'ada workflow.publish workflow/w',
      'ada workflow.disable workflow/w',
      'ben workflow.archive workflow/w',
    ]);
    expect(await records('?target=workflow/w&actor=ben')).toEqual([
      expect.objectContaining({ action: 'workflow.archive', correlationId: 'ticket-7', at: expect.any(String) }),
    ]);
    expect(await records('?action=workflow.publish')).toMatchObject([{ details: { version: 1, status: 'Active' } }]);
  });

  it('a change of an execution is recorded with its signal; a repeat or a refusal is not recorded', async () => {
    const { body } = await server.post('/api/v1/workflows/long/execute', {});
    const id = body.executionId as string;
    const pause = { signalId: randomUUID(), type: 'PAUSE', payload: { reason: 'lunch' } };
    const path = `/api/v1/executions/${id}`;
    expect((await server.post(`${path}/signals`, pause)).status).toBe(202);
    expect((await server.post(`${path}/signals`, pause)).status).toBe(200);
    await expect.poll(async () => (await server.get(path)).body.status).toBe('Paused');
    expect((await server.post(`${path}/signals`, { ...pause, signalId: randomUUID() })).status).toBe(409);
    expect((await server.post(`${path}/cancel`, { reason: 'enough' })).status).toBe(202);
    await server.pawl.result(id, { tenantId: 'acme' });
    expect((await server.post(`${path}/retry`)).status).toBe(202);
    const found = await records(`?target=execution/${id}`);
    expect(found.map(({ action, details }) => [action, details]).reverse()).toEqual([
      ['execution.signal', pause],
      ['execution.cancel', { reason: 'enough' }],
      ['execution.retry', { nodes: ['nap'] }],
    ]);
  });

  it('cancelling the run of a pipeline is recorded once', async () => {
    await server.post('/api/v1/workflows', { name: 'naps', tasks: { nap: { sleep: '1h' } } });
    const { body } = await server.post('/api/v1/workflows/naps/trigger', {});
    const { run_id: runId } = body.data as { run_id: string };
    for (const status of [202, 200]) {
      expect((await server.post(`/api/v1/workflows/naps/runs/${runId}/cancel`)).status).toBe(status);
    }
    const [execution] = (await server.get('/api/v1/executions?workflowId=naps')).body.data as JsonObject[];
    const found = await records(`?target=execution/${execution!.executionId}`);
    expect(found).toMatchObject([{ actor: 'ada', action: 'execution.cancel' }]);
  });

  it('a change of a lifecycle or consumer is recorded without addresses and secrets; a repeat is not', async () => {
    const machine = {
      env: 'test',
      name: 'ticket',
      initial: 'open',
      states: { open: {}, closed: { final: true } },
      events: { close: {} },
      transitions: [{ from: 'open', on: 'close', to: 'closed' }],
    };
    for (let times = 0; times < 2; times++) await server.post('/api/v1/lifecycles', { definition: machine });
    const hook = { code: 'crm', kind: 'webhook', url: 'https://crm.example/hidden' };
    for (let times = 0; times < 2; times++) await server.post('/api/v1/consumers', hook);
    await server.post('/api/v1/consumers/crm/pause');
    await server.post('/api/v1/consumers/crm/pause');
    await server.post('/api/v1/consumers/crm/resume');
    await server.ask('PATCH', '/api/v1/consumers/crm', { body: { concurrency: 3 } });
    await server.post('/api/v1/consumers/crm/rotate-secret', {});
    await server.post('/api/v1/consumers/crm/replay', { from: '2020-01-01T00:00:00Z' });
    await server.ask('DELETE', '/api/v1/consumers/crm');
    expect(await lines('?action=lifecycle')).toEqual(['ada lifecycle.import lifecycle/test/ticket']);
    expect(await lines('?target=consumer/crm')).toEqual([
      'ada consumer.register consumer/crm',
      'ada consumer.pause consumer/crm',
      'ada consumer.resume consumer/crm',
      'ada consumer.update consumer/crm',
      'ada consumer.rotate-secret consumer/crm',
      'ada consumer.replay consumer/crm',
      'ada consumer.delete consumer/crm',
    ]);
    expect(JSON.stringify(await records())).not.toMatch(/hidden|whsec_/);
  });

  it('changes of triggers, the catalog, quotas, templates and keys are recorded without secrets', async () => {
    const config = { generateSecret: true };
    const { body } = await server.post('/api/v1/triggers', { workflowId: 'long', triggerType: 'Webhook', config });
    await server.post(`/api/v1/triggers/${body.id}/rotate-secret`, {});
    await server.ask('DELETE', `/api/v1/triggers/${body.id}`);
    await server.ask('PATCH', '/api/v1/actions/core.echo', { body: { deprecationNotice: 'soon' } });
    await server.ask('PATCH', '/api/v1/connectors/core', { body: { isEnabled: true } });
    await server.ask('PUT', '/api/v1/admin/tenants/acme/quota', { body: { preset: null } });
    await server.ask('PUT', '/api/v1/templates/sets/briefs', { body: { displayName: 'Briefs', team: 'x' } });
    const key = { tenantId: 'acme', name: 'ci', scopes: ['workflows:read' as const], roles: [], expiresAt: null };
    const made = await createApiKey(server.pawl.store, key);
    expect(await revokeApiKey(server.pawl.store, { tenantId: 'acme', id: made.id })).toBe(true);
    expect(await revokeApiKey(server.pawl.store, { tenantId: 'acme', id: made.id })).toBe(false);
    const actions = (await records('?limit=10')).map(({ action }) => action).reverse();
    expect(actions.slice(-9)).toEqual([
      'trigger.create',
      'trigger.rotate-secret',
      'trigger.delete',
      'action.update',
      'connector.update',
      'tenant.quota',
      'template.set',
      'key.create',
      'key.revoke',
    ]);
    const everything = JSON.stringify(await records('?limit=200'));
    expect(everything).not.toContain('whsec_');
    expect(everything).not.toContain(made.key);
  });

  it('a change that fails leaves no record, and a record that fails leaves no change', async () => {
    const { store } = server.pawl;
    const enable = (isEnabled: boolean, fail: boolean) =>
      store.audited({
        tenantId: 'acme',
        by: { name: 'x' },
        work: (joined) => joined.workflowEnable({ tenantId: 'acme', workflowId: 'long', isEnabled }),
        deed: () => {
          if (fail) throw new Error('not recorded');
          return { action: 'test.enable', target: 'x' };
        },
      });
    await expect(enable(false, true)).rejects.toThrow('not recorded');
    expect((await server.get('/api/v1/workflows/long')).body.isEnabled).toBe(true);
    expect(await records('?action=test')).toEqual([]);
  });
});

describe('the log', () => {
  it('the audit log is read in pages, within one tenant', async () => {
    const first = await server.get('/api/v1/admin/audit?limit=2');
    const next = await server.get(`/api/v1/admin/audit?limit=200&cursor=${first.body.nextCursor}`);
    const all = (await records('?limit=200')).map(({ id }) => id);
    const paged = [first, next].flatMap(({ body }) => (body.data as JsonObject[]).map(({ id }) => id));
    expect(paged).toEqual(all);
    const token = await tokenFor({ tenant: 'globex' });
    const { body: theirs } = await server.get('/api/v1/admin/audit', { token });
    const ofEveryone = (theirs.data as JsonObject[]).map(({ action }) => action as string);
    expect(ofEveryone.filter((action) => !/^(?:action|connector)\./.test(action))).toEqual([]);
    expect((await server.get('/api/v1/admin/audit?cursor=x')).status).toBe(400);
  });

  it('audit records cannot be changed, even with direct access to the database', async () => {
    const client = new pg.Client({ connectionString: server.database.connectionString });
    await client.connect();
    try {
      for (const sql of ['update audit_log set actor = $$x$$', 'delete from audit_log', 'truncate audit_log']) {
        await expect(client.query(sql)).rejects.toThrow('append-only');
      }
    } finally {
      await client.end();
    }
  });
});

describe('the chain of records', () => {
  const verify = async (head?: string) =>
    (await server.get(`/api/v1/admin/audit/verify${head === undefined ? '' : `?head=${head}`}`)).body;
  /** As somebody with the rights of the database owner. */
  const tamper = (sql: string) =>
    withClient(server.database.connectionString, async (client) => {
      await client.query('set session_replication_role = replica');
      await client.query(sql);
    });

  it('the chain of records stays whole when many changes happen at once', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `at-once-${index}`);
    await Promise.all(names.map((name) => server.ask('PUT', `/api/v1/secrets/${name}`, { body: { value: 'x' } })));
    expect(await verify()).toEqual({
      ok: true,
      records: expect.any(Number),
      head: expect.stringMatching(/^\d+:[0-9a-f]{64}$/),
    });
  });

  it('the chain reveals a changed record, a removed record and a cut-off end', async () => {
    const { head, records: count } = await verify();
    expect(await verify(head as string)).toMatchObject({ ok: true, records: count });
    const last = Number((head as string).split(':')[0]);
    await tamper(`update audit_log set actor = 'nobody' where tenant_id = 'acme' and seq = ${last}`);
    expect(await verify()).toMatchObject({ ok: false, problem: `record ${last} was changed, or one before it was` });
    await tamper(`delete from audit_log where tenant_id = 'acme' and seq = ${last}`);
    expect(await verify()).toMatchObject({ ok: true, records: last - 1 });
    expect(await verify(head as string)).toMatchObject({ ok: false, problem: '1 records at the end are missing' });
    await tamper(`delete from audit_log where tenant_id = 'acme' and seq in (${last - 4}, ${last - 3})`);
    expect(await verify()).toMatchObject({
      ok: false,
      records: last - 5,
      problem: `records ${last - 4} to ${last - 3} are missing`,
    });
  });
});

describe('requests that change nothing', () => {
  it('a refused request or a sensitive read is recorded once a minute', async () => {
    const eve = { token: await tokenFor({ subject: 'eve', scope: ['workflows:read', 'secrets:manage'] }) };
    for (let count = 0; count < 3; count++) {
      expect((await server.post('/api/v1/workflows/w/execute', {}, eve)).status).toBe(403);
      expect((await server.get('/api/v1/secrets', eve)).status).toBe(200);
    }
    await expect
      .poll(() => lines('?actor=eve'))
      .toEqual(['eve access.denied POST /api/v1/workflows/:workflowId/execute', 'eve access.read GET /api/v1/secrets']);
    expect(await records('?action=access.denied&actor=eve')).toMatchObject([
      { details: { reason: expect.stringContaining('workflows:execute') } },
    ]);
  });
});

describe('tenants', () => {
  it('System sees all tenants in the list, and others see only their own', async () => {
    await server.pawl.publish(chain('w', echo('a')), { tenantId: 'globex' });
    await server.ask('PUT', '/api/v1/admin/tenants/initech/quota', { body: { preset: 'free' } });
    const { body } = await server.get('/api/v1/admin/tenants');
    expect((body.data as JsonObject[]).map(({ tenantId }) => tenantId)).toEqual(['acme', 'globex', 'initech']);
    expect((body.data as JsonObject[])[2]).toEqual({
      tenantId: 'initech',
      preset: 'free',
      workflows: 0,
      concurrentRuns: 0,
    });
    const first = await server.get('/api/v1/admin/tenants?limit=1');
    const page = await server.get(`/api/v1/admin/tenants?limit=1&cursor=${first.body.nextCursor as string}`);
    expect(page.body).toMatchObject({
      data: [{ tenantId: 'globex', workflows: 1 }],
      nextCursor: expect.any(String),
    });
    const token = await tokenFor({ roles: ['Admin'] });
    expect((await server.get('/api/v1/admin/tenants', { token })).body).toMatchObject({ data: [{ tenantId: 'acme' }] });
  });
});
