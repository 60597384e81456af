// Runs of execution plans, given in the request or by reference. The reference is checked before anything is read. Also the debug
// endpoints.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { useServer } from './api-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-plans-'));
const outside = mkdtempSync(join(tmpdir(), 'pawl-outside-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(outside, { recursive: true });
});
const server = useServer({ server: { port: 0, checkAnswers: true, planFolder: folder, maxPlanBytes: 4_096 } });

const plan = (planId: string, tenantId = 'acme'): JsonObject => ({
  metadata: { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' },
  scope: { tenantId, projectId: 'shop', environmentId: 'prod', repoSha: 'abc' },
  steps: [{ stepId: 'one', type: 'core.echo', inputs: { greeting: 'hi' }, timeout: '10s' }],
});

function stored(name: string, bytes: Buffer, where = folder): JsonObject {
  const file = join(where, name);
  writeFileSync(file, bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { uri: pathToFileURL(file).href, sha256, schemaVersion: 'v1', planId: name, planVersion: '1' };
}
const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const startRun = (body: JsonObject) => server.post('/api/v1/engine/runs', body);

describe('starting a run of a plan', () => {
  it('starting a run with a plan answers 202, and the same runId gives the same run', async () => {
    const body = { plan: plan('given'), context: { runId: 'run-1', projectId: 'shop', environmentId: 'staging' } };
    const first = await startRun(body);
    expect(first).toMatchObject({ status: 202, body: { runId: 'run-1', engineRunRef: { provider: 'native' } } });
    const { executionId } = first.body.engineRunRef as { executionId: string };
    expect(first.body.statusUrl).toBe(`/api/v1/executions/${executionId}`);
    expect(await startRun(body)).toMatchObject({
      status: 200,
      body: { runId: 'run-1', engineRunRef: { executionId } },
    });
    expect(await server.pawl.result(executionId, { tenantId: 'acme' })).toMatchObject({ status: 'Succeeded' });
    expect((await server.get(first.body.statusUrl as string)).body).toMatchObject({
      format: 'plan',
      workflowId: 'given',
      projectId: 'shop',
      environmentId: 'staging',
    });
  });

  it('starting a run again with another plan publishes nothing and gives the first run', async () => {
    const changed = { ...plan('settled'), steps: [{ stepId: 'two', type: 'core.echo', inputs: {}, timeout: '10s' }] };
    const context = { runId: 'run-settled', projectId: 'shop', environmentId: 'staging' };
    const first = await startRun({ plan: plan('settled'), context });
    const again = await startRun({ plan: changed, context });
    expect(again).toMatchObject({ status: 200, body: { engineRunRef: first.body.engineRunRef as JsonObject } });
    expect((await server.get('/api/v1/workflows/settled')).body).toMatchObject({ currentVersion: 1 });
    expect(await startRun({ plan: plan('another'), context })).toMatchObject({
      status: 409,
      body: { error: { code: 'WFENG001' } },
    });
  });

  it('starting a run warns of ignored fields of the plan, and refuses invalid ones', async () => {
    const withStep = (planId: string, fields: JsonObject) => {
      const given = plan(planId);
      return { plan: { ...given, steps: [{ ...(given.steps as JsonObject[])[0]!, ...fields }] } };
    };
    expect(await startRun(withStep('routed', { dispatch: { taskQueue: 'tq' }, retryPolicyRef: 'r' }))).toMatchObject({
      status: 202,
      body: { warnings: [{ path: '/steps/0/retryPolicyRef' }] },
    });
    expect(await startRun(withStep('secret', { secretRefs: [{ provider: 'table' }] }))).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: '/steps/0/secretRefs/0/key' }] } },
    });
    const graph = { id: 'no-plan', displayName: 'x', startNode: 'a', nodes: [{ id: 'a', actionType: 'core.echo' }] };
    expect(await startRun({ plan: graph })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005', details: [{ code: 'NOT_A_PLAN' }] } },
    });
    expect((await server.get('/api/v1/workflows/no-plan')).status).toBe(404);
  });

  it('starting a run by a reference to a file accepts plain and gzip files', async () => {
    const plain = stored('plain', json(plan('plain')));
    expect((await startRun({ planRef: plain })).status).toBe(202);
    const marked = stored('marked', Buffer.concat([Buffer.from('\uFEFF'), json(plan('marked'))]));
    expect((await startRun({ planRef: marked })).status).toBe(202);
    const zipped = stored('zipped', gzipSync(json(plan('zipped'))));
    expect((await startRun({ planRef: { ...zipped, compression: 'gzip' } })).status).toBe(202);
  });

  it('a plan that differs only in its creation time runs the existing version', async () => {
    await startRun({ plan: plan('again') });
    const { metadata, ...rest } = plan('again') as { metadata: JsonObject };
    const later = { ...rest, metadata: { ...metadata, createdAt: '2026-03-01T10:00:00Z' } };
    expect((await startRun({ plan: later })).status).toBe(202);
    expect((await server.get('/api/v1/workflows/again')).body).toMatchObject({ currentVersion: 1 });
    await startRun({ plan: { ...later, metadata: { ...later.metadata, createdBy: 'somebody else' } } });
    expect((await server.get('/api/v1/workflows/again')).body).toMatchObject({ currentVersion: 2 });
  });

  it('starting a run by a reference to a stored version works', async () => {
    await server.pawl.publish(plan('ours'), { tenantId: 'acme' });
    const row = await server.pawl.store.definitionGet({ tenantId: 'acme', workflowId: 'ours', version: 1 });
    const sha256 = createHash('sha256').update(row!.definition).digest('hex');
    const planRef = {
      uri: 'pawl:workflows/ours/versions/1',
      sha256,
      schemaVersion: 'v1',
      planId: 'ours',
      planVersion: '1',
    };
    expect((await startRun({ planRef })).status).toBe(202);
    const { body } = await server.get('/api/v1/workflows/ours/versions');
    const [{ checksum }] = body.data as [{ checksum: string }];
    expect((await startRun({ planRef: { ...planRef, sha256: checksum } })).status).toBe(202);
  });

  it('the plan behind a reference is read once and kept until the reference expires', async () => {
    const planRef = stored('kept', json(plan('kept')));
    const until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await startRun({ planRef: { ...planRef, expiresAt: until } })).status).toBe(202);
    rmSync(join(folder, 'kept'));
    expect((await startRun({ planRef })).status).toBe(202);
    for (const change of [
      { sizeBytes: 1 },
      { compression: 'gzip' },
      { planVersion: '2' },
      { sha256: 'f'.repeat(64) },
      { expiresAt: '2020-01-01T00:00:00Z' },
    ]) {
      expect((await startRun({ planRef: { ...planRef, ...change } })).status).toBe(422);
    }
  });

  it('a reference that does not match its plan is refused', async () => {
    const good = stored('good', json(plan('good')));
    const secret = stored('secret', json(plan('secret')), outside);
    symlinkSync(join(outside, 'secret'), join(folder, 'link'));
    const huge = stored('huge', gzipSync(json({ ...plan('huge'), padding: 'x'.repeat(10_000) })));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    const refused: Record<string, JsonObject> = {
      'another hash': { ...good, sha256: 'f'.repeat(64) },
      'another size': { ...good, sizeBytes: 1 },
      expired: { ...good, expiresAt: '2020-01-01T00:00:00Z' },
      'another plan': { ...good, planId: 'else' },
      'another schema': { ...good, schemaVersion: 'v2' },
      'a file outside': secret,
      'a link to outside': { ...secret, uri: pathToFileURL(join(folder, 'link')).href },
      'no such file': { ...good, uri: pathToFileURL(join(folder, 'nothing')).href },
      'a bomb': { ...huge, compression: 'gzip' },
      'another scheme': { ...good, uri: 'ftp://example.com/plan.json' },
      'a bucket that is not named': { ...good, uri: 's3://elsewhere/plan.json' },
      'a pipe nobody writes': { ...good, uri: pathToFileURL(join(folder, 'pipe')).href },
      'a folder': { ...good, uri: pathToFileURL(`${folder}/`).href },
      'no version of ours': { ...good, uri: 'pawl:plans/good' },
      'not UTF-8': stored('latin', Buffer.from(JSON.stringify(plan('latin')).replace('tests', 't\xe9sts'), 'latin1')),
      'not gzip': { ...good, compression: 'gzip' },
    };
    for (const [what, planRef] of Object.entries(refused)) {
      const { status, body } = await startRun({ planRef });
      expect({ what, status, code: (body.error as JsonObject).code }).toEqual({
        what,
        status: 422,
        code: 'PLAN_UNAVAILABLE',
      });
    }
  });

  it('starting a run without a plan, with two, with another tenant or an invalid plan is refused', async () => {
    expect((await startRun({})).status).toBe(400);
    expect((await startRun({ plan: plan('a'), planRef: stored('a', json(plan('a'))) })).status).toBe(400);
    expect(await startRun({ plan: plan('a', 'globex') })).toMatchObject({
      status: 403,
      body: { error: { code: 'TENANT_MISMATCH' } },
    });
    expect(await startRun({ plan: { ...plan('a'), steps: [] } })).toMatchObject({
      status: 400,
      body: { error: { code: 'WFENG005' } },
    });
  });
});

describe('debug endpoints', () => {
  it('debug endpoints show the plan reference, the logs of a step and a snapshot', async () => {
    const artifact = { uri: 's3://results/manifest.json', kind: 'dbt-manifest', sizeBytes: 7 };
    const { metadata, scope } = plan('debug') as { metadata: JsonObject; scope: JsonObject };
    const inputs = { artifactRefs: [artifact, 'not one'], metadata: {} };
    const debugged = {
      metadata: { ...metadata, planVersion: '7.1-beta' },
      scope,
      steps: [{ stepId: 'one', type: 'core.echo', inputs, timeout: '10s' }],
    };
    const { body } = await startRun({ plan: debugged, context: { runId: 'run-debug' } });
    const { executionId } = body.engineRunRef as { executionId: string };
    await server.pawl.result(executionId, { tenantId: 'acme' });
    for (const id of ['run-debug', executionId]) {
      expect((await server.get(`/api/v1/engine/runs/${id}/debug`)).body).toMatchObject({
        runId: id,
        engineRunRef: { provider: 'native', executionId },
        planId: 'debug',
        planVersion: '7.1-beta',
        workflowId: 'debug',
        version: 1,
        status: 'Succeeded',
        providerStatus: 'COMPLETED',
      });
    }
    const logs = await server.get('/api/v1/engine/runs/run-debug/steps/one/logs');
    expect(logs).toMatchObject({
      status: 200,
      body: { stepId: 'one', pointers: [`/api/v1/executions/${executionId}/events`] },
    });
    expect((await server.post('/api/v1/engine/runs/run-debug/inspect')).body).toMatchObject({
      run: { planId: 'debug' },
      execution: { actions: [{ nodeId: 'one', status: 'Succeeded' }] },
      graph: { nodes: [{ id: 'one', status: 'Succeeded' }] },
      artifacts: [{ stepId: 'one', ...artifact }],
    });
    expect(await server.get('/engine/runs/run-debug/steps/nobody/logs')).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND', message: 'the run has no step "nobody"' } },
    });
    expect((await server.get('/engine/runs/unknown/debug')).status).toBe(404);
  });

  it('debug endpoints give the error and the error category of a failed run', async () => {
    const inputs = { code: 'HTTP_TIMEOUT', message: 'no answer' };
    const steps = [{ stepId: 'one', type: 'core.fail', inputs, timeout: '10s' }];
    const { body } = await startRun({ plan: { ...plan('late'), steps }, context: { runId: 'run-late' } });
    const { executionId } = body.engineRunRef as { executionId: string };
    await server.pawl.result(executionId, { tenantId: 'acme' });
    expect((await server.get('/engine/runs/run-late/debug')).body).toMatchObject({
      providerStatus: 'FAILED',
      error: { category: 'TIMEOUT', code: 'HTTP_TIMEOUT', message: 'no answer', nodeId: 'one' },
    });
  });
});
