// Plugins from the plan to the process: pinned, checked against their schemas, limited. Each hostile plugin fails its own step,
// leaves no process behind and harms nobody.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createClient } from '../../src/sdk/client.ts';
import { pawl as command } from '../cli/dev-process.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

const folder = mkdtempSync(join(tmpdir(), 'pawl-plugins-'));
let database: TestDatabase;
let pawl: Pawl;
let port: number;
let wasReached = false;
const listener = createServer((socket) => {
  wasReached = true;
  socket.destroy();
});

beforeAll(async () => {
  database = await testDatabase();
  pawl = await createPawl({
    database: { url: database.connectionString },
    artifact: { folder: join(folder, 'artifacts') },
    plugin: { folder: join(folder, 'plugins') },
    definition: { retryMaxAttempts: 1 },
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  port = (listener.address() as { port: number }).port;
});
afterAll(async () => {
  await pawl?.close();
  await database?.drop();
  await new Promise((resolve) => listener.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function install(pluginId: string, version: string, code: string, manifest: JsonObject = {}): string {
  const place = join(folder, 'plugins', pluginId, version);
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'main.js'), code);
  writeFileSync(join(place, 'plugin.json'), JSON.stringify({ main: 'main.js', ...manifest }));
  return createHash('sha256').update(code).digest('hex');
}

let plans = 0;
async function run(plugin: JsonObject, inputs: JsonObject = {}) {
  const planId = `plugin-${++plans}`;
  const metadata = {
    planId,
    planVersion: '1',
    createdAt: '2026-02-22T10:00:00Z',
    createdBy: 'tests',
    schemaVersion: 'v1',
  };
  const scope = { tenantId: 'default', projectId: 'p', environmentId: 'test', repoSha: 'x' };
  const step = { stepId: 'a', type: 'MASK', inputs, timeout: '60s', ...plugin };
  await pawl.publish({ metadata, scope, steps: [step] });
  const { executionId } = await pawl.start(planId);
  const result = await pawl.result(executionId);
  const logs = await pawl.store.nodeLogs({ executionId, nodeId: 'a', limit: 50 });
  return { ...result, lines: logs.map(({ message }) => message) };
}

const hostile = (pluginId: string, code: string, manifest: JsonObject = {}) => {
  install(pluginId, '1.0.0', code, manifest);
  return run({ pluginId, pluginVersion: '1.0.0' });
};

/** Processes of plugins that are still running. */
const leftBehind = () =>
  readdirSync('/proc').filter((pid) => {
    try {
      if (!/^\d+$/.test(pid)) return false;
      const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
      const isChild = rest.split(' ')[1] === String(process.pid) && !rest.startsWith('Z');
      return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('plugin-program');
    } catch {
      return false;
    }
  });

describe('a plugin', { timeout: 120_000 }, () => {
  const MASK = `export const handlers = { MASK: async ({ text }, { log, putArtifact }) => {
    await log('masking ' + text.length); const ref = await putArtifact('masked.txt', '***'); return { masked: '***', ref } } }`;

  it('a plugin pinned by version or by digest runs its handler with the APIs that it may use', async () => {
    const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
    const manifest = { allowedAPIs: ['log', 'putArtifact'], inputSchema: schema };
    const digest = install('masking', '1.0.0', MASK, manifest);
    const outputs = { masked: '***', ref: { kind: 'custom', sizeBytes: 3 } };
    const byVersion = await run({ pluginId: 'masking', pluginVersion: '1.0.0' }, { text: 'abc' });
    expect(byVersion).toMatchObject({ status: 'Succeeded', outputs, lines: ['masking 3'] });
    const byDigest = await run({ pluginId: 'masking', pluginDigest: `sha256:${digest}` }, { text: 'abc' });
    expect(byDigest).toMatchObject({ status: 'Succeeded', outputs });
    const wrong = await run({ pluginId: 'masking', pluginVersion: '1.0.0' }, { text: 7 });
    expect(wrong).toMatchObject({ status: 'Failed', error: { code: 'PLUGIN_INPUT_INVALID' } });
  });

  it('a plugin that is missing or whose bytes are not the pinned ones does not run', async () => {
    const digest = install('changed', '1.0.0', MASK);
    install('changed', '1.0.0', `${MASK} // another`);
    const pluginDigest = digest;
    for (const [plugin, code] of [
      [{ pluginId: 'changed', pluginVersion: '1.0.0', pluginDigest }, 'PLUGIN_DIGEST_MISMATCH'],
      [{ pluginId: 'changed', pluginDigest }, 'PLUGIN_NOT_FOUND'],
      [{ pluginId: 'changed', pluginVersion: '9.9.9' }, 'PLUGIN_NOT_FOUND'],
      [{ pluginId: '../changed', pluginVersion: '1.0.0' }, 'PLUGIN_NOT_FOUND'],
    ] as const) {
      expect(await run(plugin)).toMatchObject({ status: 'Failed', error: { code } });
    }
  });

  it('a plugin whose output breaks its schema fails its step', async () => {
    const outputSchema = { type: 'object', required: ['rows'] };
    const result = await hostile('untrue', 'export default () => ({ other: 1 })', { outputSchema });
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'PLUGIN_OUTPUT_INVALID' } });
  });

  it.each([
    ['an endless loop', 'export default () => { for (;;); }', 'took longer'],
    [
      'memory without end',
      'export default () => { const all = []; for (;;) all.push(new Array(1e5).fill(1)); }',
      'ended|memory',
    ],
    [
      'buffers without end',
      'export default async () => { const all = []; for (;;) { all.push(Buffer.alloc(1e7, 1)); await new Promise(setImmediate); } }',
      'memory',
    ],
    ['an early exit', 'export default () => process.exit(0)', 'without an answer'],
    [
      'a flood in its pipe',
      `import { writeSync } from 'node:fs'; export default () => { for (;;) writeSync(3, 'x'.repeat(65536)); }`,
      'said more|JSON|ended|took longer',
    ],
    [
      'a call of an API that it may not use',
      'export default (_, api) => api.http({ url: "http://example.com" })',
      'not a function',
    ],
  ])('a plugin with %s fails its step and leaves no process', async (what, code, message) => {
    const limits = { timeoutMs: what === 'an endless loop' ? 1_500 : 20_000, memoryMb: 32 };
    const result = await hostile(`hostile-${plans}`, code, { limits });
    expect(result).toMatchObject({ status: 'Failed', error: { message: expect.stringMatching(message) } });
    expect(leftBehind()).toEqual([]);
  });

  it.each([
    [
      'starts a process',
      `import { execSync } from 'node:child_process'; export default () => ({ out: String(execSync('id')) })`,
    ],
    ['forks itself', `import { fork } from 'node:child_process'; export default () => { for (;;) fork('/dev/null'); }`],
    [
      'starts a thread',
      `import { Worker } from 'node:worker_threads'; export default () => { new Worker('0', { eval: true }); return {} }`,
    ],
    [
      'reads a file',
      `import { readFileSync } from 'node:fs'; export default () => ({ out: String(readFileSync('/etc/passwd')) })`,
    ],
    [
      'writes a file',
      `import { writeFileSync } from 'node:fs'; export default () => { writeFileSync('/tmp/pawl-plugin-was-here', 'x'); return {} }`,
    ],
  ])('a plugin that %s is denied by the restrictions of its process', async (_what, code) => {
    const result = await hostile(`hostile-${plans}`, code);
    expect(result).toMatchObject({
      status: 'Failed',
      error: { code: 'PLUGIN_FAILED', message: expect.stringMatching(/restricted|denied/i) },
    });
  });

  it('a plugin that opens a connection reaches nobody', async () => {
    const code = `import { connect } from 'node:net'; export default () => new Promise((resolve, reject) => {
      const socket = connect(${port}, '127.0.0.1', () => resolve({ reached: true })); socket.on('error', reject); })`;
    const result = await hostile('network', code);
    expect(result).toMatchObject({ status: 'Failed', error: { code: 'PLUGIN_FAILED' } });
    expect(wasReached).toBe(false);
  });

  it('a plugin with localhost-only reaches itself and nobody else', async () => {
    const code = `import { connect, createServer } from 'node:net';
      const reach = (port) => new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => { socket.destroy(); resolve('reached'); });
        socket.on('error', ({ code }) => resolve(code)); });
      export default async () => {
        const own = createServer().listen(0, '127.0.0.1');
        await new Promise((resolve) => own.once('listening', resolve));
        return { own: await reach(own.address().port), other: await reach(${port}) }; }`;
    const result = await hostile('loopback', code, { limits: { network: 'localhost-only' } });
    expect(result).toMatchObject({ status: 'Succeeded', outputs: { own: 'reached', other: 'ECONNREFUSED' } });
    expect(wasReached).toBe(false);
  });

  it('a plugin that prints endlessly harms nobody, and sees no environment variables', async () => {
    const code = `export default () => { for (let i = 0; i < 2e5; i++) console.log('x'.repeat(100)); return { env: Object.keys(process.env) } }`;
    expect(await hostile('loud', code)).toMatchObject({ status: 'Succeeded', outputs: { env: [] } });
  });

  it('a plugin that breaks too often goes into quarantine, and its previous version runs', async () => {
    install('risky', '1.0.0', 'export default () => ({ version: 1 })');
    install('risky', '1.1.0', 'export default () => process.exit(1)');
    for (let i = 0; i < 5; i++) {
      expect(await run({ pluginId: 'risky', pluginVersion: '1.1.0' })).toMatchObject({
        error: { code: 'PLUGIN_BROKEN' },
      });
    }
    const again = await run({ pluginId: 'risky', pluginVersion: '1.1.0' });
    expect(again).toMatchObject({ status: 'Succeeded', outputs: { version: 1 } });
    expect(again.lines).toEqual(['risky 1.1.0 is in quarantine: version 1.0.0 runs instead']);
  });

  it('the quarantine of a plugin holds for every process', async () => {
    const other = await createPawl({
      database: { url: database.connectionString },
      plugin: { folder: join(folder, 'plugins') },
      runner: false,
    });
    const [health] = await other.store.pluginHealth({ pluginId: 'risky' });
    await other.close();
    expect(health).toMatchObject({ version: '1.1.0', quarantinedUntil: expect.any(Number) });
    // As another process would do after a good call.
    await pawl.store.pluginHealthPut({ pluginId: 'risky', version: '1.1.0', calls: [true], quarantinedUntil: null });
    expect(await run({ pluginId: 'risky', pluginVersion: '1.1.0' })).toMatchObject({ outputs: { version: 1 } });
  });
});

describe('a registered plugin', () => {
  it('a registered plugin needs no folder, and its version never changes', async () => {
    const server = await createPawl({
      ...{ database: { url: database.connectionString }, runner: false, serve: true, server: { port: 0 } },
      auth: { allowLooseAuth: true },
    });
    const client = createClient({ url: server.url! });
    const place = join(folder, 'mine', 'shout', '2.0.0');
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, 'plugin.json'), JSON.stringify({ main: 'main.js', inputSchema: { required: ['text'] } }));
    writeFileSync(join(place, 'main.js'), 'export default ({ text }) => ({ text: text.toUpperCase() })');
    try {
      const { code, stdout, stderr } = await command({ PAWL_URL: server.url! }, 'plugins', 'register', place, '--json');
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const { digest } = JSON.parse(stdout) as { digest: string };
      const pinned = { pluginId: 'shout', pluginDigest: `sha256:${digest}` };
      expect(await run(pinned, { text: 'hey' })).toMatchObject({ outputs: { text: 'HEY' } });
      expect(await run({ pluginId: 'shout', pluginVersion: '2.0.0' })).toMatchObject({
        error: { code: 'PLUGIN_INPUT_INVALID' },
      });
      const same = { pluginId: 'shout', version: '2.0.0', manifest: { main: 'main.js' } };
      await expect(client.catalog.registerPlugin({ ...same, code: 'export default () => 1' })).rejects.toMatchObject({
        code: 'PLUGIN_EXISTS',
      });
      const bad = { ...same, version: '3.0.0', manifest: {}, code: 'x' };
      await expect(client.catalog.registerPlugin(bad)).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
      const { data } = await client.catalog.plugins();
      expect(data.map(({ pluginId, version }) => [pluginId, version])).toEqual([['shout', '2.0.0']]);
      const other = { pluginId: 'shout', pluginVersion: '2.0.0', pluginDigest: 'f'.repeat(64) };
      expect(await run(other, { text: 'x' })).toMatchObject({ error: { code: 'PLUGIN_DIGEST_MISMATCH' } });
    } finally {
      await server.close();
    }
  });
});
