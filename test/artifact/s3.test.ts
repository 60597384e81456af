// Artifacts and plans in S3, against a real server that speaks the protocol (moto). `npm run servers` obtains the server; without
// it these tests are skipped, and say so. moto does not check signatures: those are tested against the examples of AWS
// (sigv4.test.ts).

import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { s3Artifacts } from '../../src/artifact/s3/s3-artifacts.ts';
import { cacheFolder } from '../../src/config/config.ts';
import { signAws } from '../../src/connection/sigv4.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { lastingPorts } from '../support/lasting-port.ts';

const program = join(cacheFolder(), 'moto', 'bin', 'moto_server');
const isThere = existsSync(program);
if (!isThere) console.warn('SKIPPED: the tests of S3. Run `npm run servers` to obtain a server that speaks it.');

const key = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret', region: 'us-east-1', service: 's3' };
const sign = (request: Parameters<typeof signAws>[0]) => signAws(request, key, new Date());

describe.skipIf(!isThere)('S3', { timeout: 120_000 }, () => {
  let moto: ChildProcess;
  let endpoint: string;
  let database: TestDatabase;
  let pawl: Pawl;

  async function put(path: string, body = ''): Promise<void> {
    const url = new URL(`${endpoint}/${path}`);
    const headers = sign({ method: 'PUT', url, headers: {}, body });
    const answer = await fetch(url, { method: 'PUT', headers, body });
    expect(answer.status).toBe(200);
  }

  beforeAll(async () => {
    const [port] = await lastingPorts(1);
    endpoint = `http://127.0.0.1:${port}`;
    moto = spawn(program, ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
    await vi.waitFor(() => fetch(endpoint), { timeout: 60_000, interval: 200 });
    await put('results');
    await put('plans');
    database = await testDatabase();
    pawl = await createPawl({
      database: { url: database.connectionString },
      serve: true,
      server: { port: 0, planBuckets: ['plans'] },
      auth: { allowLooseAuth: true },
      http: { allowLoopback: true },
      artifact: {
        s3Bucket: 'results',
        s3Endpoint: endpoint,
        s3AccessKeyId: 'AKIDEXAMPLE',
        s3SecretAccessKey: 'secret',
      },
    });
  }, 120_000);
  afterAll(async () => {
    await pawl?.close();
    await database?.drop();
    moto?.kill('SIGKILL');
  });

  it('S3 stores artifacts of one part and of several, and a removed artifact is gone', async () => {
    const bytes = s3Artifacts({ endpoint, bucket: 'results', prefix: 'x/', sign, partBytes: 5 * 1024 * 1024 });
    for (const [artifactId, size] of [
      ['empty', 0],
      ['small', 10],
      ['large', 12 * 1024 * 1024 + 1],
    ] as const) {
      const content = Buffer.alloc(size, 'pawl ');
      async function* chunks() {
        for (let at = 0; at < size; at += 700_001) yield content.subarray(at, at + 700_001);
      }
      const where = { tenantId: 'a cme', artifactId };
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(await bytes.write(where, chunks())).toEqual({ sizeBytes: size, sha256 });
      const read = createHash('sha256');
      for await (const chunk of await bytes.open(where)) read.update(chunk as Uint8Array);
      expect(read.digest('hex')).toBe(sha256);
      await bytes.remove(where);
      await bytes.remove(where);
      await expect(bytes.open(where)).rejects.toMatchObject({ code: 'ARTIFACT_GONE' });
    }
  });

  it('large outputs of an execution are stored in S3', async () => {
    const steps = [{ stepId: 'a', type: 'core.echo', inputs: { rows: '{{ inputs.rows }}' }, timeout: '10s' }];
    await pawl.publish({ ...plan('large'), steps });
    const rows = Array.from({ length: 1_000 }, () => 'x'.repeat(900));
    const { executionId } = await pawl.start('large', { trigger: { rows: [...rows, 'y'.repeat(200_000)] } });
    expect(await pawl.result(executionId)).toMatchObject({ status: 'Succeeded' });
    const [artifact] = await pawl.store.artifactList({ tenantId: 'default', executionId, afterId: null, limit: 5 });
    const answer = await fetch(`${pawl.url}/api/v1/artifacts/${artifact!.artifactId}`);
    expect(
      createHash('sha256')
        .update(await answer.bytes())
        .digest('hex'),
    ).toBe(artifact!.sha256);
  });

  const plan = (planId: string): JsonObject => ({
    metadata: { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'tests', schemaVersion: 'v1' },
    scope: { tenantId: 'default', projectId: 'p', environmentId: 'test', repoSha: 'x' },
    steps: [{ stepId: 'one', type: 'core.echo', inputs: {}, timeout: '10s' }],
  });
  const refOf = (uri: string, planId: string): JsonObject => {
    const sha256 = createHash('sha256')
      .update(JSON.stringify(plan(planId)))
      .digest('hex');
    return { uri, sha256, schemaVersion: 'v1', planId, planVersion: '1' };
  };
  const start = async (planRef: JsonObject, context: JsonObject = {}) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ planRef, context });
    const answer = await fetch(`${pawl.url}/api/v1/engine/runs`, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as JsonObject };
  };

  it('a plan is read from an S3 bucket that the configuration allows, and from no other bucket', async () => {
    await put('plans/nightly/a%20plan.json', JSON.stringify(plan('in-bucket')));
    expect(await start(refOf('s3://plans/nightly/a%20plan.json', 'in-bucket'))).toMatchObject({ status: 202 });
    for (const uri of ['s3://plans/nothing.json', 's3://results/a.json']) {
      expect(await start(refOf(uri, 'in-bucket-2'))).toMatchObject({
        status: 422,
        body: { error: { code: 'PLAN_UNAVAILABLE' } },
      });
    }
  });

  it('a plan on a web server is asked for three times, then at the second address of its reference', async () => {
    const asked: string[] = [];
    const web: Server = createServer(({ url = '' }, answer) => {
      asked.push(url);
      const isWell =
        url.startsWith('/well') || (url.startsWith('/twice') && asked.filter((one) => one === url).length > 2);
      answer.writeHead(isWell ? 200 : url.startsWith('/gone') ? 404 : 503);
      answer.end(JSON.stringify(plan(url.split('/')[2]!)));
    });
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    const base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    try {
      expect(await start(refOf(`${base}/twice/late`, 'late'))).toMatchObject({ status: 202 });
      expect(asked).toEqual(['/twice/late', '/twice/late', '/twice/late']);
      const fallback = { ...refOf(`${base}/gone/second`, 'second'), fallbackUri: `${base}/well/second` };
      expect(await start(fallback)).toMatchObject({ status: 202 });
      expect(await start(refOf(`${base}/never/x`, 'x'))).toMatchObject({
        status: 422,
        body: { error: { message: expect.stringContaining('3 tries') } },
      });
      expect(asked.filter((url) => url === '/never/x')).toHaveLength(3);
      const lost = { ...refOf(`${base}/never/y`, 'y'), fallbackUri: `${base}/never/z` };
      const refused = await start(lost, { runId: 'lost-1' });
      expect(refused).toMatchObject({ status: 422, body: { error: { details: { runId: 'lost-1' } } } });
      expect(asked.filter((url) => url.startsWith('/never/z'))).toHaveLength(3);
      const { executionId } = (refused.body.error as { details: { executionId: string } }).details;
      expect(await pawl.result(executionId, { tenantId: 'default' })).toMatchObject({ status: 'Failed' });
      const debug = await fetch(`${pawl.url}/engine/runs/lost-1/debug`);
      expect(await debug.json()).toMatchObject({
        ...{ runId: 'lost-1', status: 'Failed', providerStatus: 'FAILED' },
        error: { code: 'PLAN_UNAVAILABLE', category: 'VALIDATION' },
      });
    } finally {
      await new Promise((resolve) => web.close(resolve));
    }
  });
});
