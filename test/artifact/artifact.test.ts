// Artifacts from the attempt to the download: an artifact that an action writes is listed, streams back byte for byte, belongs to
// its tenant, and is removed when its time is over.

import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAction } from '../../src/main.ts';
import { pawl } from '../cli/dev-process.ts';
import { tokenFor, useServer } from '../server/api-server.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'pawl');
const CHUNKS = 200;

const writer = defineAction({
  type: 'test.write',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.object({}),
  outputs: z.unknown(),
  async run(_params, { artifacts }) {
    async function* chunks() {
      for (let i = 0; i < CHUNKS; i++) yield CHUNK;
    }
    const large = await artifacts.put({ kind: 'custom', name: 'large "file".bin' }, chunks());
    const small = await artifacts.put({ kind: 'log-bundle', name: 'log.txt', contentType: 'text/plain' }, 'a line');
    let read = '';
    for await (const piece of await artifacts.open(small.uri)) read += Buffer.from(piece).toString();
    return { outputs: { artifactRefs: [large, small], read } };
  },
});

const folder = mkdtempSync(join(tmpdir(), 'pawl-artifacts-'));
afterAll(() => rmSync(folder, { recursive: true }));
const server = useServer({ actions: [writer], artifact: { folder } });

interface Listed {
  data: { artifactId: string; name: string; kind: string; sizeBytes: number; sha256: string; expiresAt?: string }[];
  nextCursor?: string;
}

async function run(): Promise<string> {
  const definition = {
    id: 'writes',
    displayName: 'Writes',
    startNode: 'a',
    nodes: [{ id: 'a', actionType: 'test.write' }],
  };
  await server.pawl.publish(definition, { tenantId: 'acme' });
  const { executionId } = await server.pawl.start('writes', { tenantId: 'acme' });
  const result = await server.pawl.result(executionId, { tenantId: 'acme' });
  expect(result).toMatchObject({ status: 'Succeeded', outputs: { read: 'a line' } });
  return executionId;
}

describe('the health of the artifact store', () => {
  it('the artifact store is reported as writable, and the check leaves no file behind', async () => {
    const before = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const { body } = await server.get('/engine/health/detailed');
    expect(body).toMatchObject({
      status: 'healthy',
      checks: { artifactStore: { writable: true, latencyMs: expect.any(Number) } },
    });
    const after = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(after).toEqual(before);
  });
});

describe('artifacts of an attempt', () => {
  it('artifacts are listed with size, digest and expiry, and download byte for byte', async () => {
    const executionId = await run();
    const { body } = await server.get(`/api/v1/executions/${executionId}/artifacts`);
    const [large, small] = (body as unknown as Listed).data;
    expect(large).toMatchObject({ name: 'large "file".bin', kind: 'custom', sizeBytes: CHUNK.length * CHUNKS });
    expect(small).toMatchObject({ name: 'log.txt', sizeBytes: 6, expiresAt: expect.any(String) });
    const answer = await fetch(`${server.url}/api/v1/artifacts/${large!.artifactId}`, {
      headers: { authorization: `Bearer ${await tokenFor()}` },
    });
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(large!.sha256);
    expect(answer.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''large%20%22file%22.bin");
  });

  it('artifacts are listed and printed by pawl artifacts', async () => {
    const executionId = await run();
    const there = async (...args: string[]) =>
      pawl({ PAWL_URL: server.url, PAWL_TOKEN: await tokenFor() }, 'artifacts', executionId, ...args);
    expect((await there()).stdout).toMatch(/ a +1 +log\.txt +6 +text\/plain$/m);
    const { stdout, ...ended } = await there('large "file".bin');
    expect(ended).toEqual({ code: 0, stderr: '' });
    expect(stdout === CHUNK.toString().repeat(CHUNKS)).toBe(true);
    expect(await there('other.txt')).toMatchObject({ code: 2 });
  });

  it('a list of artifacts is paged, and the pages together hold every artifact', async () => {
    const executionId = await run();
    const path = `/api/v1/executions/${executionId}/artifacts?limit=1`;
    const first = (await server.get(path)).body as unknown as Listed;
    const second = (await server.get(`${path}&cursor=${first.nextCursor}`)).body as unknown as Listed;
    expect([...first.data, ...second.data].map(({ name }) => name)).toEqual(['large "file".bin', 'log.txt']);
    expect(second.nextCursor).toBeUndefined();
  });

  it('artifacts of another tenant and unknown artifacts are not found', async () => {
    const executionId = await run();
    const { body } = await server.get(`/api/v1/executions/${executionId}/artifacts`);
    const { artifactId } = (body as unknown as Listed).data[0]!;
    expect(await server.pawl.store.artifactGet({ tenantId: 'other', artifactId })).toBeNull();
    const unknown = await server.get('/api/v1/artifacts/01a1ec47-0000-7000-8000-000000000000');
    expect(unknown).toMatchObject({ status: 404, body: { error: { code: 'ARTIFACT_NOT_FOUND' } } });
  });
});
