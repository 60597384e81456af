// What operators use: health, metrics, the catalog, dead letters, rate limits and the log; and the documents about the API.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { mistypedVariables } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/core/json/json.ts';
import { createPawl } from '../../src/main.ts';
import type { ConnectorJson } from '../../src/protocol/answer.ts';
import { testDatabase, withClient } from '../support/database.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const lines: string[] = [];
const server = useServer({
  logTarget: { write: (line: string) => lines.push(line) },
  delivery: { natsServers: ['127.0.0.1:9'], deliveredAfterMs: 50 },
});
const tenantId = 'acme';

const run = async (workflowId: string, headers: Record<string, string> = {}) => {
  const { body } = await server.post(`/api/v1/workflows/${workflowId}/execute`, {}, { headers });
  const executionId = body.executionId as string;
  await server.pawl.result(executionId, { tenantId });
  return executionId;
};

describe('health', () => {
  it('health endpoints say alive, ready and healthy', async () => {
    expect(await server.get('/health/live', { token: null })).toMatchObject({ status: 200, body: { status: 'ok' } });
    expect(await server.get('/health/ready', { token: null })).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { database: { ok: true }, queue: { ok: true }, actions: { ok: true } } },
    });
    expect(await server.get('/engine/health', { token: null })).toMatchObject({
      status: 200,
      body: { status: 'healthy' },
    });
    expect((await server.get('/engine/health/detailed')).body).toMatchObject({
      status: 'healthy',
      checks: {
        native: { liveRunners: 1, owned: 0, queueDepth: 0 },
        stateStore: { latencyMs: expect.any(Number), connections: expect.any(Number), writable: true },
        secretsProvider: { reachable: true, detail: expect.stringContaining('table') },
        artifactStore: { writable: false, detail: expect.stringContaining('none') },
        eventBus: { connected: true, backlogDepth: expect.any(Number) },
      },
    });
  });

  it('health is degraded without a runner, and unhealthy with a read-only or absent database', async () => {
    const database = { url: server.database.connectionString };
    const other = await testDatabase();
    const idle = await createPawl({ database: { url: other.connectionString }, runner: false, probe: { port: 0 } });
    const ask = async (path: string) => {
      const answer = await fetch(`${idle.probeUrl}${path}`);
      return { code: answer.status, body: (await answer.json()) as JsonObject };
    };
    expect(await ask('/engine/health')).toMatchObject({ code: 200, body: { status: 'degraded' } });
    await withClient(other.connectionString, (client) =>
      client.query(
        `alter database ${new URL(other.connectionString).pathname.slice(1)} set default_transaction_read_only = on`,
      ),
    );
    await withClient(database.url, (client) =>
      client.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [
        new URL(other.connectionString).pathname.slice(1),
      ]),
    );
    expect(await ask('/engine/health/detailed')).toMatchObject({
      code: 503,
      body: { status: 'unhealthy', checks: { stateStore: { writable: false }, eventBus: { connected: false } } },
    });
    await idle.store.close();
    expect(await ask('/engine/health/detailed')).toMatchObject({
      code: 503,
      body: { status: 'unhealthy', checks: { stateStore: { connections: 0 } } },
    });
    expect((await ask('/health/ready')).code).toBe(503);
    expect((await ask('/health/live')).code).toBe(200);
    await idle.close().catch(() => {});
    await other.drop();
  });
});

describe('metrics', () => {
  it('metrics have the names that dashboards use', async () => {
    await server.pawl.publish(chain('counted', echo('a')), { tenantId });
    const flaky = { id: 'f', actionType: 'core.sometimes-fails', parameters: { failTimes: 5 } };
    const policies = { retry: { maxAttempts: 2, baseDelayMs: 1, jitter: false } };
    await server.pawl.publish(chain('flaky', { ...flaky, policies }), { tenantId });
    await run('counted');
    await run('flaky');
    const text = String((await server.get('/metrics')).body);
    const expected = [
      'workflow_success_total{workflowId="counted"} 1',
      'workflow_failure_total{workflowId="flaky",reason="action_failed"} 1',
      'workflow_duration_seconds_count{workflowId="counted",status="Succeeded"} 1',
      'action_duration_seconds_count{actionType="core.echo"} 1',
      'action_retry_total{actionType="core.sometimes-fails"} 1',
      'action_failure_total{actionType="core.sometimes-fails",status="RetriableFailure"} 2',
      'engine_steps_executed_total{type="core.echo",status="Succeeded"} 1',
      'engine_queue_depth{adapter="native",taskQueue="default"} 0',
    ];
    for (const line of expected) expect(text).toContain(line);
    for (const name of [
      'queue_depth',
      'subworkflow_invocation_total',
      'template_render_duration_seconds',
      'condition_eval_duration_seconds',
    ])
      expect(text).toContain(`# TYPE ${name} `);
  });
});

describe('the log', () => {
  it('log lines have the properties that log queries use, and no token', async () => {
    await server.pawl.publish(chain('logged', echo('a')), { tenantId });
    const executionId = await run('logged', { 'x-correlation-id': 'find-me' });
    const entries = lines.map((line) => JSON.parse(line) as JsonObject);
    const about = (message: string) =>
      entries.find((entry) => entry.message === message && entry.CorrelationId === 'find-me');
    const common = {
      WorkflowId: 'logged',
      WorkflowVersion: 1,
      ExecutionId: executionId,
      TenantId: tenantId,
      PrincipalUserId: 'ada',
    };
    expect(about('execution accepted')).toMatchObject(common);
    expect(about('execution ended')).toMatchObject({ ...common, Status: 'Succeeded' });
    expect(about('request')).toMatchObject({ Method: 'POST', Status: 202, TenantId: tenantId });
    expect(lines.join('')).not.toContain('eyJ');
  });
});

describe('the catalog', () => {
  it('the catalog lists connectors and actions, and can be searched', async () => {
    const connectors = (await server.get('/api/v1/connectors')).body.data as JsonObject[];
    expect(connectors.map(({ id }) => id)).toEqual(expect.arrayContaining(['core', 'http']));
    expect((await server.get('/api/v1/connectors/core')).body).toMatchObject({ id: 'core', isEnabled: true });
    const actions = (await server.get('/api/v1/connectors/core/actions')).body.data as JsonObject[];
    expect(actions.every(({ connectorId }) => connectorId === 'core')).toBe(true);
    const found = (await server.get('/api/v1/actions?connectorId=core&search=ECHO')).body.data as JsonObject[];
    expect(found.map(({ id }) => id)).toEqual(['core.echo']);
    expect((await server.get('/api/v1/actions/core.echo')).body).toMatchObject({ parameterSchema: { type: 'object' } });
    expect((await server.get('/api/v1/connectors/nope')).body).toMatchObject({
      error: { code: 'CONNECTOR_NOT_FOUND' },
    });
    expect((await server.get('/api/v1/connectors/nope/actions')).status).toBe(404);
    expect((await server.get('/api/v1/actions/nope')).body).toMatchObject({ error: { code: 'ACTION_NOT_FOUND' } });
  });

  it('each connector has documentation and a config schema with variables that exist', async () => {
    const connectors = (await server.get('/api/v1/connectors')).body.data as ConnectorJson[];
    for (const { id, iconUrl, documentationUrl, configSchema } of connectors.filter(({ id }) => id !== 'test')) {
      expect(iconUrl, id).toMatch(/^data:image\/svg\+xml,/);
      expect(documentationUrl, id).toMatch(/^(https:\/\/|\/docs$)/);
      const schema = configSchema as { properties: JsonObject };
      expect(() => new Ajv2020({ validateFormats: false }).compile(schema)).not.toThrow();
      const options = Object.keys(schema.properties).filter((name) => name.startsWith('PAWL_'));
      expect(mistypedVariables(Object.fromEntries(options.map((name) => [name, '']))), id).toEqual([]);
    }
    expect((await server.get('/api/v1/connectors/slack')).body).toMatchObject({
      configSchema: { required: ['CONNECTOR_SLACK_TOKEN'], additionalProperties: false },
    });
  });

  it('an admin can disable and deprecate an action or connector, and undo it', async () => {
    const patch = (body: JsonObject) => server.ask('PATCH', '/api/v1/actions/core.fail', { body });
    expect((await patch({ isEnabled: false, deprecationNotice: 'use another' })).body).toMatchObject({
      isEnabled: false,
      deprecationNotice: 'use another',
    });
    expect((await patch({ isEnabled: true })).body).toMatchObject({
      isEnabled: true,
      deprecationNotice: 'use another',
    });
    expect((await patch({ deprecationNotice: null })).body).not.toHaveProperty('deprecationNotice');
    expect((await patch({})).status).toBe(400);
    const connector = await server.ask('PATCH', '/api/v1/connectors/email', { body: { isEnabled: false } });
    expect(connector.body).toMatchObject({ isEnabled: false });
  });
});

describe('dead letters', () => {
  it('dead letters are listed in pages, requeued and purged, each tenant its own', async () => {
    await server.pawl.publish(chain('poisoned', echo('a')), { tenantId });
    const ids = [await run('poisoned'), await run('poisoned'), await run('poisoned')];
    await withClient(server.database.connectionString, async (client) => {
      for (const id of ids) {
        await client.query(
          `insert into dead_letters (tenant_id, execution_id, reason, payload) values ($1, $2, 'POISON', '{}')`,
          [tenantId, id],
        );
      }
    });
    const page = await server.get('/api/v1/admin/dead-letters?limit=2');
    const letters = page.body.data as JsonObject[];
    expect(letters.map(({ executionId }) => executionId)).toEqual(ids.slice(0, 2));
    const rest = await server.get(`/api/v1/admin/dead-letters?cursor=${page.body.nextCursor}`);
    expect((rest.body.data as JsonObject[]).map(({ executionId }) => executionId)).toEqual(ids.slice(2));
    const path = `/api/v1/admin/dead-letters/${letters[0]!.id}`;
    const token = await tokenFor({ tenant: 'globex' });
    expect((await server.get('/api/v1/admin/dead-letters', { token })).body.data).toEqual([]);
    const everywhere = await server.get('/api/v1/admin/dead-letters?tenants=all&limit=1', { token });
    expect(everywhere.body.data).toEqual([expect.objectContaining({ tenantId, executionId: ids[0] })]);
    const admin = await tokenFor({ tenant: 'globex', roles: ['Admin'] });
    expect((await server.get('/api/v1/admin/dead-letters?tenants=all', { token: admin })).status).toBe(403);
    expect((await server.ask('DELETE', path, { token })).status).toBe(404);
    expect((await server.post(`${path}/requeue`, undefined, { token })).status).toBe(404);
    expect(await server.post(`${path}/requeue`)).toMatchObject({ status: 202, body: { executionId: ids[0] } });
    expect((await server.post(`${path}/requeue`)).status).toBe(404);
    await server.pawl.result(ids[0]!, { tenantId });
    expect((await server.ask('DELETE', `/api/v1/admin/dead-letters/${letters[1]!.id}`)).status).toBe(204);
    expect((await server.get('/api/v1/admin/dead-letters')).body.data).toHaveLength(1);
    const purge = () => server.ask('DELETE', '/api/v1/admin/dead-letters');
    expect(await purge()).toMatchObject({ status: 200, body: { count: 1 } });
    expect(await purge()).toMatchObject({ status: 200, body: { count: 0 } });
  });
});

describe('runners', () => {
  it('the live runners are listed', async () => {
    expect((await server.get('/api/v1/admin/runners')).body.data).toMatchObject([{ state: 'live', name: 'runner' }]);
  });
});

describe('documents about the API', () => {
  it('the OpenAPI 3.1 document describes the API with schemas that compile', async () => {
    const { body } = await server.get('/api/v1/openapi.json', { token: null });
    expect(body).toMatchObject({ openapi: '3.1.0', info: { title: 'Pawl' } });
    const operations = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>);
    const names = operations.flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    expect(new Set(names).size).toBe(names.length);
    const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false });
    ajv.addSchema({ $id: 'openapi', ...body });
    const { schemas } = body.components as { schemas: JsonObject };
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Execution', 'ErrorEnvelope', 'Hierarchy']));
    for (const name of Object.keys(schemas)) {
      expect(ajv.compile({ $ref: `openapi#/components/schemas/${name}` })).toBeTypeOf('function');
    }
    const execution = ajv.compile({ $ref: 'openapi#/components/schemas/Execution' });
    expect(execution({ executionId: 5 })).toBe(false);
  });

  it.each([
    ['/metrics', ['text/plain']],
    ['/docs', ['text/html']],
    ['/schemas/{name}', ['application/schema+json']],
    ['/api/v1/lifecycles/{env}/{name}/diagram.svg', ['image/svg+xml']],
    ['/api/v1/executions/{executionId}/events', ['application/json', 'text/event-stream']],
    ['/api/v1/workflows', ['application/json']],
  ])('the OpenAPI document names the content types of %s', async (path, types) => {
    const { body } = await server.get('/api/v1/openapi.json', { token: null });
    const paths = body.paths as Record<string, { get: { responses: { 200: { content: JsonObject } } } }>;
    expect(Object.keys(paths[path]!.get.responses[200].content)).toEqual(types);
  });

  it('the reference page and the JSON schemas are served', async () => {
    const page = await server.get('/docs', { token: null });
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("script-src 'sha256-");
    expect(String(page.body)).not.toMatch(/(?:src|href)="https?:/);
    expect((await server.get('/schemas/graph.schema.json', { token: null })).body).toMatchObject({
      title: 'Pawl graph workflow',
    });
    expect((await server.get('/schemas/nothing', { token: null })).status).toBe(404);
  });
});

describe('an unknown path', () => {
  it('an unknown path gets the same error envelope as every other refusal', async () => {
    for (const [method, path] of [
      ['GET', '/nowhere'],
      ['GET', '/api/v1/%zz'],
    ] as const) {
      const { status, body } = await server.ask(method, path);
      expect({ path, status, body }).toMatchObject({
        path,
        status: 404,
        body: { error: { code: 'NOT_FOUND', timestamp: expect.any(String) } },
      });
    }
  });
});

describe('an event bus that is unreachable', () => {
  it('an unreachable event bus is reported as degraded, and nothing else stops', async () => {
    const bus = { code: 'bus', kind: 'nats', url: 'nats://127.0.0.1:9', subscriptions: [{ types: ['RunCompleted'] }] };
    expect((await server.post('/api/v1/consumers', bus)).status).toBe(201);
    await server.pawl.publish(chain('heard', echo('a')), { tenantId });
    await run('heard');
    const health = async () => (await server.get('/engine/health/detailed')).body;
    await expect.poll(health).toMatchObject({
      status: 'degraded',
      // At least this one: events of earlier executions may still be pending.
      checks: { eventBus: { connected: false, backlogDepth: expect.toSatisfy((depth: number) => depth >= 1) } },
    });
    await run('heard');
    expect((await server.ask('DELETE', '/api/v1/consumers/bus')).status).toBe(204);
    await expect.poll(health).toMatchObject({ status: 'healthy', checks: { eventBus: { connected: true } } });
  });
});
