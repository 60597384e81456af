// S6: a secret of every kind is used once, by honest and by leaky systems. Then the test searches for it in every row of every
// table, in every log line, in the metrics, in the spans and in the answers of the API: in plain text, in base64, in hex and
// URL-encoded.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl, defineAction, TerminalError } from '../../src/main.ts';
import { useRemoteApi } from '../connection/remote-api.ts';
import { chain, useServer } from '../server/api-server.ts';
import { withClient } from '../support/database.ts';
import { otlpCollector } from '../telemetry/otlp-collector.ts';

const key = (id: string) => `${id}=${randomBytes(32).toString('base64')}`;
const [older, newer] = [key('older'), key('newer')];
const lines: string[] = [];
/** Repeats its secret wherever it can: in an artifact, in pieces, in the log and in an error. */
const leaky = defineAction({
  type: 'test.leaky',
  version: '1.0.0',
  connector: 'test',
  category: 'Test',
  params: z.looseObject({ env: z.object({ PASSWORD: z.string() }) }),
  outputs: z.unknown(),
  async run({ env: { PASSWORD: given } }, { artifacts, log }) {
    received.push(given);
    async function* pieces() {
      for (const letter of `before ${given} ${Buffer.from(given).toString('base64')} after`) yield Buffer.from(letter);
    }
    await artifacts.put({ kind: 'log-bundle', name: 'log.txt', contentType: 'text/plain' }, pieces());
    await artifacts.put({ kind: 'custom', name: 'whole.txt', contentType: 'text/plain' }, `it is ${given}`);
    log.info(`the password is ${given}`, { given });
    throw new TerminalError('LEAKY', `refused ${given}`, { outputs: { given } });
  },
});
const received: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'pawl-canary-'));
const pluginFolder = mkdtempSync(join(tmpdir(), 'pawl-canary-plugin-'));
const collector = await otlpCollector();
afterAll(async () => {
  for (const one of [folder, pluginFolder]) rmSync(one, { recursive: true });
  await collector.standin.close();
});
/** A plugin that does the same: `MASK` fails with the secret in its message, `ECHO` returns the secret. */
const PLUGIN = `export const handlers = {
  ECHO: async ({ env }, { log, putArtifact }) => {
    await log('the password is ' + env.PASSWORD);
    await putArtifact('said.txt', 'the plugin has ' + env.PASSWORD);
    return { length: env.PASSWORD.length, given: env.PASSWORD, coded: Buffer.from(env.PASSWORD).toString('base64') };
  },
  MASK: ({ env }) => { throw new Error('refused ' + env.PASSWORD); },
};`;
const server = useServer({
  actions: [leaky],
  artifact: { folder },
  plugin: { folder: pluginFolder },
  trace: { endpoint: `${collector.url}/v1/traces`, exportIntervalMs: 10 },
  secret: { keys: [older] },
  trigger: { enableSchedules: false },
  server: { port: 0, checkAnswers: true, logLevel: 'debug' },
  logTarget: { write: (line: string) => lines.push(line) },
});
const remote = useRemoteApi();

const secret = (name: string) => `canary-${name}-${randomBytes(12).toString('hex')}`;
const webhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const canaries = {
  connection: secret('connection'),
  table: secret('table'),
  password: secret('password'),
  plan: secret('plan'),
  trigger: webhookSecret(),
  rotated: webhookSecret(),
  pipeline: webhookSecret(),
  consumer: webhookSecret(),
  consumerRotated: webhookSecret(),
};

/** Every row of every table, with bytes in hex. */
const everyRow = () =>
  withClient(server.database.connectionString, async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(
      `select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'`,
    );
    const found = new Map<string, string>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: string }>(`select to_json(t)::text as row from ${name} t`);
      found.set(name, rows.map(({ row }) => row).join('\n'));
    }
    return found;
  });

/** The forms in which a secret could leak. Base64 can begin at any of three offsets. */
function formsOf(text: string): string[] {
  const bytes = Buffer.from(text);
  const shifted = [0, 1, 2].map((offset) =>
    bytes
      .subarray((3 - offset) % 3)
      .toString('base64')
      .slice(0, 24),
  );
  return [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1), bytes.toString('hex'), ...shifted];
}

const leaksIn = (text: string): string[] =>
  Object.entries(canaries).flatMap(([name, value]) =>
    formsOf(value).some((form) => text.includes(form)) ? [name] : [],
  );

const executions: string[] = [];

async function run(id: string, ...nodes: JsonObject[]): Promise<void> {
  await server.pawl.publish(chain(id, ...nodes), { tenantId: 'acme' });
  const { executionId } = await server.pawl.start(id, { tenantId: 'acme' });
  await server.pawl.result(executionId, { tenantId: 'acme' });
  executions.push(executionId);
}

async function runPlan(planId: string, step: JsonObject): Promise<void> {
  const metadata = { planId, planVersion: '1', createdAt: '2026-02-22T10:00:00Z', createdBy: 'x', schemaVersion: 'v1' };
  const scope = { tenantId: 'acme', projectId: 'p', environmentId: 'prod', repoSha: 'x' };
  const { executionId } = await server.pawl
    .publish({ metadata, scope, steps: [step] }, { tenantId: 'acme' })
    .then(() => server.pawl.start(planId, { tenantId: 'acme' }));
  await server.pawl.result(executionId, { tenantId: 'acme' });
  executions.push(executionId);
}

let triggerId: string;

beforeAll(async () => {
  await server.ask('PUT', '/api/v1/secrets/crm', { body: { value: canaries.table } });
  const made = [
    { name: 'direct', kind: 'token', token: canaries.connection },
    { name: 'basic', kind: 'basic', username: 'pawl', password: canaries.password },
    { name: 'kept', kind: 'header', header: 'X-Key', value: { provider: 'table', key: 'crm' } },
  ];
  for (const one of made) await server.post('/api/v1/connections', { connector: 'http', ...one });
  // The remote server repeats everything that it was sent.
  remote().answer = ({ headers, path }) => ({
    status: path.startsWith('/fail') ? 400 : 200,
    headers: { 'x-said': String(headers.authorization ?? headers['x-key']) },
    body: { said: headers, coded: Buffer.from(String(headers.authorization ?? headers['x-key'])).toString('base64') },
  });
  for (const connection of ['direct', 'basic', 'kept']) {
    for (const path of ['ok', 'fail']) {
      const node = {
        id: 'ask',
        actionType: 'http.request',
        connection,
        parameters: { url: `${remote().url}/${path}` },
      };
      const policies = { retry: { maxAttempts: 1 } };
      const log = { id: 'log', actionType: 'core.echo', parameters: { text: '{{ context.data.ask }}' } };
      await run(`${connection}-${path}`, { ...node, policies }, log);
    }
  }
  await server.ask('PUT', '/api/v1/secrets/warehouse', { body: { value: canaries.plan } });
  mkdirSync(join(pluginFolder, 'leaky/1.0.0'), { recursive: true });
  writeFileSync(join(pluginFolder, 'leaky/1.0.0/main.js'), PLUGIN);
  const manifest = { main: 'main.js', allowedAPIs: ['log', 'putArtifact'] };
  writeFileSync(join(pluginFolder, 'leaky/1.0.0/plugin.json'), JSON.stringify(manifest));
  for (const [planId, type] of [
    ['plan-echo', 'core.echo'],
    ['plan-leaky', 'test.leaky'],
  ] as const) {
    const secretRefs = [{ provider: 'table', key: 'warehouse', as: 'env.PASSWORD' }];
    const step = { stepId: 'ask', type, inputs: { said: 'x' }, timeout: '10s', secretRefs };
    await runPlan(planId, step);
  }
  for (const type of ['ECHO', 'MASK']) {
    const secretRefs = [{ provider: 'table', key: 'warehouse', as: 'env.PASSWORD' }];
    const pinned = { pluginId: 'leaky', pluginVersion: '1.0.0', timeout: '60s' };
    await runPlan(`plugin-${type}`, { stepId: 'ask', type, inputs: {}, secretRefs, ...pinned });
  }
  const config = { secret: canaries.trigger };
  const { body } = await server.post('/api/v1/triggers', { workflowId: 'direct-ok', triggerType: 'Webhook', config });
  triggerId = body.id as string;
  await server.post(`/api/v1/triggers/${triggerId}/rotate-secret`, { secret: canaries.rotated });
  const tasks = { call: { url: remote().url } };
  const webhook = { secret: canaries.pipeline };
  await server.post('/api/v1/workflows', { name: 'hooked', trigger: 'webhook', webhook, tasks });
  const consumer = { code: 'crm', kind: 'webhook', url: `${remote().url}/events`, subscriptions: [{ env: '*' }] };
  await server.post('/api/v1/consumers', { ...consumer, secret: canaries.consumer });
  await server.post('/api/v1/consumers/crm/rotate-secret', { secret: canaries.consumerRotated });
});

describe('S6: a secret', () => {
  it('a secret is in no row of any table', async () => {
    const rows = await everyRow();
    expect(rows.size).toBeGreaterThan(40);
    for (const [table, text] of rows) expect({ table, leaks: leaksIn(text) }).toEqual({ table, leaks: [] });
  });

  it('a secret is in no log line, metric or answer of the API', async () => {
    const paths = [
      ...executions.flatMap((id) =>
        ['?include=actions', '/journal', '/events', '/graph', '/nodes/ask'].map(
          (rest) => `/api/v1/executions/${id}${rest}`,
        ),
      ),
      ...['/metrics', '/api/v1/connections', '/api/v1/secrets', '/api/v1/consumers', '/api/v1/triggers'],
      ...['/api/v1/admin/audit', '/api/v1/notices', `/api/v1/triggers/${triggerId}`, '/api/v1/workflows/hooked'],
    ];
    const answers = await Promise.all(paths.map(async (path) => [path, await server.get(path)] as const));
    for (const [path, { status, body }] of answers) {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      expect({ path, status, leaks: leaksIn(text) }).toEqual({ path, status: 200, leaks: [] });
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(leaksIn(lines.join('\n'))).toEqual([]);
  });

  it('a secret is in no span', async () => {
    const traced = () => new Set(collector.spans.map(({ attributes }) => attributes.runId));
    await expect.poll(() => executions.filter((id) => !traced().has(id))).toEqual([]);
    expect(collector.text()).toContain('LEAKY');
    expect(leaksIn(collector.text())).toEqual([]);
  });

  it('a secret of a plan reaches the action, and is in no file of the artifact store', () => {
    expect(received).toEqual([canaries.plan]);
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const texts = files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
    expect(texts.map((text) => text.replaceAll('[redacted]', '*')).toSorted()).toEqual([
      'before * * after',
      'it is *',
      'the plugin has *',
    ]);
  });

  it('a secret of a plan reaches a plugin, and is redacted from its outputs, log and error', async () => {
    const [echoed, failed] = await Promise.all(
      executions.slice(-2).map(async (id) => (await server.get(`/api/v1/executions/${id}?include=actions`)).body),
    );
    const outputs = { length: canaries.plan.length, given: '[redacted]', coded: '[redacted]' };
    expect(echoed).toMatchObject({ status: 'Succeeded', actions: [{ outputs }] });
    expect(failed).toMatchObject({ status: 'Failed', error: { code: 'PLUGIN_FAILED', message: 'refused [redacted]' } });
  });

  it('a webhook secret stored in the clear is sealed by the next process, then with the new key', async () => {
    const { connectionString: url } = server.database;
    const stored = () =>
      withClient(url, async (client) => {
        const { rows } = await client.query<{ secret: string }>(
          `select unnest(secrets) as secret from workflow_triggers union all select unnest(secrets) from consumers
           union all select convert_from(value, 'latin1') from engine_secrets where name = 'callback'`,
        );
        return rows.map(({ secret }) => secret.split(':').slice(0, 2).join(':'));
      });
    expect(new Set(await stored())).toEqual(new Set(['sealed:older']));
    const before = await server.pawl.store.secretGet({ name: 'callback' });
    await withClient(url, (client) =>
      client.query('update workflow_triggers set secrets = array[$1] where id = $2', [canaries.trigger, triggerId]),
    );
    const other = await createPawl({ database: { url }, secret: { keys: [newer, older] }, runner: false });
    try {
      await expect.poll(async () => new Set(await stored())).toEqual(new Set(['sealed:newer']));
      const found = await other.store.webhookGet({ triggerId });
      expect(found!.secrets).toEqual([canaries.trigger]);
      const [consumer] = await other.store.consumerList({ tenantId: 'acme' });
      expect(consumer!.secrets).toEqual([canaries.consumerRotated, canaries.consumer]);
      expect(await other.store.secretGet({ name: 'callback' })).toEqual(before);
    } finally {
      await other.close();
    }
    // The first server does not have the new key: it says so instead of verifying with a secret that it cannot read.
    const answer = await server.post(`/api/v1/triggers/${triggerId}`, {}, { token: null });
    expect([answer.status, answer.body]).toMatchObject([
      503,
      { error: { message: expect.stringContaining('"newer"') } },
    ]);
  });

  it('a server without the key of a stored secret does not start, and names the key', async () => {
    const { connectionString: url } = server.database;
    await expect(createPawl({ database: { url } })).rejects.toThrow(/"newer".*PAWL_SECRET_KEYS/s);
    // A command that neither serves nor runs needs no key.
    await (await createPawl({ database: { url }, runner: false, isWatched: false })).close();
  });
});
