// What starting a run does to the workflow that the plan names: it makes a new version of a plan, and changes no other format.

import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { withClient } from '../support/database.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const workflow = async (id: string) => (await server.get(`/api/v1/workflows/${id}`)).body;

function plan(planId: string, stepId = 'one'): JsonObject {
  return {
    metadata: { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' },
    scope: { tenantId: 'acme', projectId: 'shop', environmentId: 'prod', repoSha: 'abc' },
    steps: [{ stepId, type: 'core.echo', inputs: {}, timeout: '10s' }],
  };
}

/** Asks as a planner, who may publish a plan by running it. */
async function startRun(body: JsonObject, tenant = 'acme') {
  const token = await tokenFor({ tenant, subject: 'planner', scope: 'workflows:execute workflows:manage' });
  const { status, body: answer } = await server.post('/api/v1/engine/runs', body, { token });
  const { code, message } = (answer.error ?? {}) as JsonObject;
  return { status, code, message };
}

describe('a workflow of another format', () => {
  const pipeline = { name: 'a-pipeline', tasks: { only: { url: 'http://127.0.0.1:9/' } } };

  it('a plan does not replace a graph of its name, whatever the status of the graph', async () => {
    const path = '/api/v1/workflows/a-graph';
    const refusal = { status: 409, code: 'WORKFLOW_EXISTS', message: expect.stringContaining('"a-graph" is a graph') };
    const unchanged = async () => {
      const before = [await workflow('a-graph'), (await server.get(`${path}/versions`)).body];
      expect(await startRun({ plan: plan('a-graph') })).toEqual(refusal);
      expect([await workflow('a-graph'), (await server.get(`${path}/versions`)).body]).toEqual(before);
      return before[0];
    };
    await server.post('/api/v1/workflows', chain('a-graph', echo('a')));
    expect(await unchanged()).toMatchObject({ status: 'Draft', hasDraft: true });
    await server.post(`${path}/publish`);
    expect(await unchanged()).toMatchObject({ status: 'Active', currentVersion: 1, hasDraft: false });
    await server.post(`${path}/draft`);
    expect(await unchanged()).toMatchObject({ status: 'Active', hasDraft: true });
    await server.ask('PATCH', path, { body: { isEnabled: false } });
    expect(await unchanged()).toMatchObject({ isEnabled: false });
    await server.post(`${path}/archive`);
    expect(await unchanged()).toMatchObject({ status: 'Archived' });
  });

  it('a plan does not replace a pipeline of its name, even with the runId of its execution', async () => {
    const { status } = await server.post('/api/v1/workflows', pipeline);
    expect(status).toBe(201);
    await server.post('/api/v1/workflows/a-pipeline/execute', { requestId: 'run-of-a-pipeline' });
    for (const context of [{}, { runId: 'run-of-a-pipeline' }]) {
      expect(await startRun({ plan: plan('a-pipeline'), context })).toMatchObject({
        status: 409,
        code: 'WORKFLOW_EXISTS',
        message: expect.stringContaining('"a-pipeline" is a pipeline'),
      });
    }
    const { body } = await server.get('/api/v1/workflows/a-pipeline');
    expect(body.data).toMatchObject({ name: 'a-pipeline', task_count: 1 });
  });

  it('a graph and a plan created at the same moment: one wins, and the other is refused whole', async () => {
    for (const id of ['race-1', 'race-2', 'race-3', 'race-4', 'race-5']) {
      const [saved, ...runs] = await Promise.all([
        server.post('/api/v1/workflows', chain(id, echo('a'))),
        startRun({ plan: plan(id) }),
        startRun({ plan: plan(id, 'two') }),
      ]);
      const { format } = await workflow(id);
      const isGraph = format === 'graph';
      expect(saved!.status).toBe(isGraph ? 201 : 400);
      expect(runs.map(({ status }) => status)).toEqual(isGraph ? [409, 409] : [202, 202]);
      const versions = (await server.get(`/api/v1/workflows/${id}/versions`)).body.data as JsonObject[];
      expect(versions.map((version) => version.version)).toEqual(isGraph ? [] : [2, 1]);
    }
  });
});

describe('a plan that is disabled or archived', () => {
  const path = '/api/v1/workflows/resting';

  it('a run of a disabled plan is refused as by execute, and makes no version', async () => {
    expect(await startRun({ plan: plan('resting') })).toMatchObject({ status: 202 });
    await server.ask('PATCH', path, { body: { isEnabled: false } });
    const before = await workflow('resting');
    expect(before).toMatchObject({ isEnabled: false, currentVersion: 1 });
    const executed = (await server.post(`${path}/execute`, {})).body.error as JsonObject;
    for (const stepId of ['one', 'two']) {
      expect(await startRun({ plan: plan('resting', stepId) })).toEqual({
        status: 409,
        code: 'WORKFLOW_DISABLED',
        message: executed.message,
      });
    }
    expect(await workflow('resting')).toEqual(before);
    await server.ask('PATCH', path, { body: { isEnabled: true } });
    expect(await startRun({ plan: plan('resting', 'two') })).toMatchObject({ status: 202 });
  });

  it('a run of an archived plan is refused as by execute', async () => {
    expect(await startRun({ plan: plan('gone') })).toMatchObject({ status: 202 });
    await server.post('/api/v1/workflows/gone/archive');
    const executed = (await server.post('/api/v1/workflows/gone/execute', {})).body.error as JsonObject;
    const refusal = { status: 409, code: 'WORKFLOW_NOT_ACTIVE', message: executed.message };
    expect(await startRun({ plan: plan('gone', 'two') })).toEqual(refusal);
    expect(await workflow('gone')).toMatchObject({ status: 'Archived', currentVersion: 1 });
  });
});

describe('a refused run and its version', () => {
  const nothing = async (id: string) => expect((await server.get(`/api/v1/workflows/${id}`)).status).toBe(404);

  it('a run whose runId belongs to another workflow leaves no version behind', async () => {
    expect(await startRun({ plan: plan('first'), context: { runId: 'taken' } })).toMatchObject({ status: 202 });
    expect(await startRun({ plan: plan('second'), context: { runId: 'taken' } })).toEqual({
      status: 409,
      code: 'WFENG001',
      message: 'requestId "taken" belongs to an execution of workflow "first"',
    });
    await nothing('second');
  });

  it('a run whose context cannot be stored leaves no version behind', async () => {
    expect(await startRun({ plan: plan('unwritable'), context: { projectId: 'a\0b' } })).toMatchObject({
      status: 400,
      code: 'REQUEST_INVALID',
    });
    await nothing('unwritable');
  });

  it('a run over the quota of its tenant leaves no version behind', async () => {
    const quota = (body: JsonObject) => server.ask('PUT', '/api/v1/admin/tenants/acme/quota', { body });
    for (const limit of ['concurrentRuns', 'executionsPerMonth']) {
      expect((await quota({ limits: { [limit]: 0 } })).status).toBe(200);
      expect(await startRun({ plan: plan('costly') })).toMatchObject({ status: 429, code: 'QUOTA_EXHAUSTED' });
      await nothing('costly');
    }
    await quota({ preset: null });
    expect(await startRun({ plan: plan('costly') })).toMatchObject({ status: 202 });
  });

  it('eight equal requests at once get the one accepted run, even when it fills the quota', async () => {
    const steps = [{ stepId: 'nap', type: 'core.delay', inputs: { durationMs: 60_000 }, timeout: '2m' }];
    const scope = { tenantId: 'solo', projectId: 'shop', environmentId: 'prod', repoSha: 'abc' };
    const body = { plan: { ...plan('only'), scope, steps }, context: { runId: 'only-one' } };
    const token = await tokenFor({ tenant: 'solo' });
    await server.ask('PUT', '/api/v1/admin/tenants/solo/quota', { body: { limits: { concurrentRuns: 1 } }, token });
    const answers = await Promise.all(Array.from({ length: 8 }, () => startRun(body, 'solo')));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(7).fill(200), 202]);
  });
});

describe('the audit log', () => {
  it('the audit log shows who published a version through a run, and no run without a new version', async () => {
    const headers = { 'x-correlation-id': 'night-7' };
    const token = await tokenFor({ subject: 'planner', scope: 'workflows:execute workflows:manage' });
    const records = async () =>
      (await server.get('/api/v1/admin/audit?target=workflow/nightly')).body.data as JsonObject[];
    await server.post('/api/v1/engine/runs', { plan: plan('nightly') }, { token, headers });
    await startRun({ plan: plan('nightly') });
    const published = { actor: 'planner', action: 'workflow.publish', details: { version: 1, status: 'Active' } };
    expect(await records()).toMatchObject([{ ...published, correlationId: 'night-7' }]);
    await startRun({ plan: plan('nightly', 'two') });
    await startRun({ plan: plan('nightly', 'one') });
    expect((await records()).map(({ action, details }) => [action, details])).toEqual(
      [1, 2, 1].map((version) => ['workflow.publish', { version, status: 'Active' }]),
    );
    await startRun({ plan: plan('nightly', 'one') });
    expect(await records()).toHaveLength(3);
  });
});

describe('a version that no execution refers to any more', () => {
  it('a version goes with its last execution, unless it is current or just changed (I24)', async () => {
    const query = (text: string) =>
      withClient(server.database.connectionString, async (client) => (await client.query(text)).rows);
    const versions = async () => {
      const { data } = (await server.get('/api/v1/workflows/yearly/versions')).body as { data: JsonObject[] };
      return data.map(({ version }) => version).toSorted();
    };
    for (const [stepId, runId] of [
      ['one', 'y1'],
      ['two', 'y2'],
      ['three', 'y3'],
    ]) {
      await startRun({ plan: plan('yearly', stepId!), context: { runId: runId! } });
      const [{ id }] = await query(`select id from workflow_executions where request_id = '${runId}'`);
      await server.pawl.result(id, { tenantId: 'acme' });
    }
    await expect.poll(() => query('select from commit_batches')).toEqual([]);
    const purge = () => server.pawl.store.retentionPurge({ endedBefore: Date.now() + 86_400_000, limit: 1_000 });
    // The second version is still needed.
    await query(
      "update execution_outcomes set ended_at = 'infinity' where execution_id in (select id from workflow_executions where request_id = 'y2')",
    );
    await query("update workflows set updated_at = now() - interval '2 hours' where id = 'yearly'");
    // A commit that is not published yet holds the purge back for a moment.
    let purged = 0;
    await expect.poll(async () => (purged += await purge())).toBeGreaterThanOrEqual(2);
    expect(await versions()).toEqual([2, 3]);
  });
});
