// Walks every declared route: without a token, with every scope but its own, with ids of another tenant, with malformed ids, and
// with bodies that must not be read (S1, S2, S8, S9). A new route is walked without a new line here.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { ROLES, SCOPES } from '../../src/protocol/scope.ts';
import { JSON_LIMITS } from '../../src/server/json-body.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

interface Route {
  readonly method: string;
  readonly path: string;
  readonly scope: string | null;
  /** Each of these scopes is enough. */
  readonly enough: readonly string[];
  /** The role that the route needs in addition. */
  readonly role: string | null;
  readonly hasBody: boolean;
  readonly parameters: readonly string[];
  readonly hasCursor: boolean;
}

/** A new public route must be added here as well. */
const PUBLIC = [
  'GET /api/v1/openapi.json',
  'GET /api/v1/webhooks/{triggerId}',
  'GET /docs',
  'GET /engine/health',
  'GET /health/live',
  'GET /health/ready',
  'GET /oauth/callback',
  'GET /schemas',
  'GET /schemas/{name}',
  'POST /api/v1/triggers/{triggerId}',
  'POST /api/v1/webhooks/{triggerId}',
  'POST /wh/{token}',
];

/** A valid token is enough, whatever its scopes. */
const FOR_ANYBODY_KNOWN = ['GET /api/v1/session'];

/** Called by programs that we did not write, with their own parameters: probes, scrapers, browsers, senders of webhooks. */
const TAKES_ANY_PARAMETER = [...PUBLIC, 'GET /engine/health/detailed', 'GET /metrics'];

const server = useServer();
let routes: Route[];
let ids: Record<string, string>;

beforeAll(async () => {
  routes = readRoutes((await server.get('/api/v1/openapi.json', { token: null })).body);
  await server.pawl.publish(chain('theirs', echo('a')), { tenantId: 'acme' });
  const { body } = await server.post('/api/v1/workflows/theirs/execute', {});
  await server.pawl.result(body.executionId as string, { tenantId: 'acme' });
  const executionId = body.executionId as string;
  const run = `run_${executionId.replaceAll('-', '')}`;
  const { body: trigger } = await server.post('/api/v1/triggers', { workflowId: 'theirs', triggerType: 'Manual' });
  await server.ask('PUT', '/api/v1/templates/sets/theirs', { body: { displayName: 'Theirs', team: 'x' } });
  await server.post('/api/v1/templates/theirs/theirs', DOCUMENT);
  await server.post('/api/v1/templates/workflows', { id: 'theirs', ...WORKFLOW_TEMPLATE });
  await server.post('/api/v1/lifecycles', { definition: LIFECYCLE });
  await server.post('/api/v1/consumers', { code: 'theirs', kind: 'pull', subscriptions: [{ env: 'prod' }] });
  await server.post('/api/v1/lifecycles/prod/theirs/trigger', TRIGGER);
  await server.post('/api/v1/connections', { name: 'theirs', connector: 'http', kind: 'token', token: 'x' });
  await server.ask('PUT', '/api/v1/secrets/theirs', { body: { value: 'x' } });
  const { body: key } = await server.post('/api/v1/admin/keys', { name: 'theirs', scopes: ['workflows:read'] });
  const pausing = { requestId: 'theirs', action: 'pause', reason: 'x', ids: [executionId] };
  const { body: bulk } = await server.post('/api/v1/bulk', pausing);
  const { body: due } = await server.get('/api/v1/deliveries?consumer=theirs&wait=30s');
  ids = {
    env: 'prod',
    externalRef: 'theirs',
    code: 'theirs',
    ackGuid: (due.data as JsonObject[])[0]!.ackGuid as string,
    templateSetId: 'theirs',
    templateId: 'theirs',
    version: '1',
    workflowTemplateId: 'theirs',
    triggerId: trigger.id as string,
    tenantId: 'acme',
    workflowId: 'theirs',
    executionId,
    runId: executionId,
    stepId: 'a',
    nodeId: 'a',
    bulkId: bulk.bulkId as string,
    artifactId: executionId,
    keyId: key.id as string,
    runnerId: '999999999',
    id: '1',
    token: 'x.y.z',
    name: 'theirs',
    run,
  };
});

function readRoutes(openApi: JsonObject): Route[] {
  const paths = openApi.paths as Record<string, Record<string, JsonObject>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      scope: (operation['x-scope'] as string | undefined) ?? null,
      enough: ((operation.security ?? []) as { bearer?: string[] }[]).flatMap(({ bearer = [] }) => bearer),
      role: (operation['x-role'] as string | undefined) ?? null,
      hasBody: operation.requestBody !== undefined,
      hasCursor: ((operation.parameters ?? []) as { name: string }[]).some(({ name }) => name === 'cursor'),
      parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!),
    })),
  );
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const filled = ({ path }: Route, value: (name: string) => string): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(value(name)));
const guarded = () => routes.filter(({ scope }) => scope !== null);

const DOCUMENT = { displayName: 'Theirs', bodyTemplate: 'theirs' };
const WORKFLOW_TEMPLATE = {
  displayName: 'Theirs',
  description: 'Theirs',
  category: 'x',
  configSchema: {},
  definition: chain('theirs', echo('a')),
};

const LIFECYCLE = {
  env: 'prod',
  name: 'theirs',
  initial: 'a',
  states: { a: {}, b: { final: true } },
  events: { go: {} },
  transitions: [{ from: 'a', on: 'go', to: 'b' }],
};
const TRIGGER = { externalRef: 'theirs', event: 'go', requestId: 'r' };

/** Bodies that match the schema, so that the body is not the reason for a refusal. */
const BODIES: Record<string, JsonObject> = {
  'POST /api/v1/triggers/{triggerId}/backfill': { from: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' },
  'POST /api/v1/executions/{executionId}/signals': {
    signalId: '2c1f3d1e-5b6a-4c7d-8e9f-0a1b2c3d4e5f',
    type: 'PAUSE',
    payload: {},
  },
  'POST /api/v1/engine/runs/{runId}/signals': {
    signalId: '2c1f3d1e-5b6a-4c7d-8e9f-0a1b2c3d4e5f',
    type: 'PAUSE',
    payload: {},
  },
  'PATCH /api/v1/workflows/{workflowId}': { isEnabled: false },
  'PUT /api/v1/workflows/{workflowId}': { name: 'theirs', tasks: [] },
  'POST /api/v1/templates/{templateSetId}/{templateId}': DOCUMENT,
  'PATCH /api/v1/templates/{templateSetId}/{templateId}/versions/{version}': { isEnabled: false },
  'PUT /api/v1/templates/workflows/{workflowTemplateId}': WORKFLOW_TEMPLATE,
  'POST /api/v1/templates/workflows/{workflowTemplateId}/instantiate': { displayName: 'Theirs' },
  'PUT /api/v1/admin/tenants/{tenantId}/quota': { preset: null },
  'POST /api/v1/lifecycles/{env}/{name}/instances': { externalRef: 'x' },
  'POST /api/v1/lifecycles/{env}/{name}/trigger': TRIGGER,
  'POST /api/v1/lifecycles/{env}/{name}/instances/{externalRef}/activities': { activity: 'call', status: 'done' },
  'POST /api/v1/consumers/{code}/replay': { from: '2020-01-01T00:00:00Z' },
  'POST /api/v1/deliveries/{ackGuid}/ack': { consumer: 'theirs', stage: 'Processed' },
};

/** Each tenant has its own names here: a request for an unknown name creates it. */
const MAKES_ITS_OWN = new Set([
  // A worker gets the queues of its own tenant, whatever their names.
  'POST /api/v1/task-queues/{taskQueue}/poll',
  'POST /api/v1/task-queues/{taskQueue}/heartbeat',
  'POST /api/v1/task-queues/{taskQueue}/complete',
  'PUT /api/v1/templates/sets/{templateSetId}',
  'PUT /api/v1/secrets/{name}',
]);

/** All roles within a tenant; System stands above them. */
const TENANT_ROLES = ROLES.filter((role) => role !== 'System');

describe('every route', () => {
  it('a route is public only if the list says so', () => {
    const open = routes.filter(({ scope }) => scope === null).map(nameOf);
    expect(open.sort()).toEqual(PUBLIC);
    expect(guarded().length).toBeGreaterThan(30);
    for (const { scope } of guarded()) expect([...SCOPES, 'authenticated']).toContain(scope);
    const forAnybody = guarded().filter(({ scope }) => scope === 'authenticated');
    expect(forAnybody.map(nameOf)).toEqual(FOR_ANYBODY_KNOWN);
  });

  it('a route without a token answers 401 and nothing else', async () => {
    for (const route of guarded()) {
      const path = filled(route, (name) => ids[name] ?? 'x');
      const { status, body, headers } = await server.ask(route.method, path, { token: null });
      expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 401 });
      expect(body).toMatchObject({
        error: { code: 'UNAUTHENTICATED', correlationId: headers.get('x-correlation-id') },
      });
    }
  });

  it('a route with every scope but its own answers 403', async () => {
    for (const route of guarded().filter((one) => !FOR_ANYBODY_KNOWN.includes(nameOf(one)))) {
      const token = await tokenFor({ scope: SCOPES.filter((scope) => !route.enough.includes(scope)) });
      const path = filled(route, (name) => ids[name] ?? 'x');
      const { status, body } = await server.ask(route.method, path, { token });
      expect({ route: nameOf(route), status, body }).toMatchObject({
        route: nameOf(route),
        status: 403,
        body: { error: { code: 'FORBIDDEN' } },
      });
    }
  });

  it('S1: a route that changes the catalog for everyone answers 403 without the role System', async () => {
    const token = await tokenFor({ roles: TENANT_ROLES });
    const ofEveryone = guarded().filter(({ role }) => role !== null);
    expect(ofEveryone.map(nameOf)).toEqual(
      expect.arrayContaining(['PATCH /api/v1/actions/{id}', 'PATCH /api/v1/connectors/{id}']),
    );
    for (const route of ofEveryone) {
      const path = filled(route, (name) => ids[name] ?? 'x');
      const { status } = await server.ask(route.method, path, { token, body: {} });
      expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 403 });
    }
  });

  it('no route finds the ids of another tenant', async () => {
    const token = await tokenFor({ tenant: 'globex', subject: 'eve', roles: TENANT_ROLES });
    const ofTenants = guarded().filter(
      ({ path, parameters, role }) =>
        parameters.length > 0 && role === null && !/connectors|actions|admin\/tenants/.test(path),
    );
    expect(ofTenants.length).toBeGreaterThan(15);
    for (const route of ofTenants.filter((route) => !MAKES_ITS_OWN.has(nameOf(route)))) {
      const body = BODIES[nameOf(route)] ?? {};
      const path = filled(route, (name) => ids[name] ?? 'x');
      const options = route.hasBody ? { token, body } : { token };
      const { status } = await server.ask(route.method, path, options);
      expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 404 });
    }
  });

  it('a route answers 404 or 400 to malformed ids, and never fails', async () => {
    const [ofTenant, ofSystem] = [await tokenFor({ roles: TENANT_ROLES }), await tokenFor()];
    const strange = [
      "'; drop table workflows --",
      '../../etc/passwd',
      '\u0000',
      '__proto__',
      '☃',
      'a'.repeat(600),
      '%',
      ' ',
      '0',
    ];
    for (const route of routes.filter(({ parameters }) => parameters.length > 0)) {
      const token = route.role === null ? ofTenant : ofSystem;
      for (const id of strange) {
        const body = BODIES[nameOf(route)] ?? {};
        const { status, body: answer } = await server.ask(
          route.method,
          filled(route, () => id),
          route.hasBody ? { token, body } : { token },
        );
        expect({ route: nameOf(route), id, ok: status === 404 || status === 400 }).toEqual({
          route: nameOf(route),
          id,
          ok: true,
        });
        expect(answer).toHaveProperty('error.code');
      }
    }
  });

  it('a route refuses unknown query parameters, unless the list says otherwise', async () => {
    const lenient: string[] = [];
    for (const route of routes) {
      const path = `${filled(route, (name) => ids[name] ?? 'x')}?nonsense=1`;
      const { body } = await server.ask(route.method, path, route.hasBody ? { body: 17 } : {});
      const details = (body?.error as { details?: { path: string }[] } | undefined)?.details ?? [];
      if (!details.some(({ path }) => path === '/query/nonsense')) lenient.push(nameOf(route));
    }
    expect(lenient.sort()).toEqual(TAKES_ANY_PARAMETER.toSorted());
  });

  it('a list refuses a cursor that it did not give out', async () => {
    const lists = routes.filter(({ hasCursor }) => hasCursor);
    expect(lists.length).toBeGreaterThan(15);
    const known = { ...ids, id: 'core' } as Record<string, string>;
    for (const route of lists) {
      const path = filled(route, (name) => known[name] ?? 'x');
      for (const cursor of ['garbage', 'AAAA', 'after.garbage', 'after.AAAA']) {
        const { status, body } = await server.ask(route.method, `${path}?cursor=${cursor}`);
        expect({ route: nameOf(route), cursor, status, body }).toMatchObject({
          route: nameOf(route),
          status: 400,
          body: { error: { details: [{ path: '/query/cursor' }] } },
        });
      }
    }
  });

  it('no route reads a body that is too large, too deep or sets a prototype', async () => {
    const deep = `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`;
    const keys = Array.from({ length: JSON_LIMITS.keys + 1 }, (_, index) => `"${index.toString(36)}":1`);
    const crowded = `{${keys.join(',')}}`;
    const bodies: [text: string, status: number][] = [
      [`{"trigger":"${'x'.repeat(1024 * 1024)}"}`, 413],
      [deep, 400],
      [crowded, 400],
      ['{"__proto__":{"admin":true}}', 400],
      ['{"a":1,"a":2}', 400],
      ['{"a":', 400],
    ];
    const withBody = guarded().filter(({ hasBody }) => hasBody);
    expect(withBody.length).toBeGreaterThan(8);
    for (const route of withBody) {
      for (const [text, expected] of bodies) {
        const path = filled(route, (name) => ids[name] ?? 'x');
        const { status, body } = await server.ask(route.method, path, { text });
        expect({ route: nameOf(route), text: text.slice(0, 30), status }).toEqual({
          route: nameOf(route),
          text: text.slice(0, 30),
          status: expected,
        });
        expect(body).toHaveProperty('error.code');
      }
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('S8: a field called constructor is an ordinary field', async () => {
    const text = '{"constructor":{"prototype":{"admin":true}}}';
    for (const route of guarded().filter(({ hasBody }) => hasBody)) {
      const path = filled(route, (name) => ids[name] ?? 'x');
      const { status, body } = await server.ask(route.method, path, { text });
      expect({ route: nameOf(route), isServed: status < 500 }).toEqual({ route: nameOf(route), isServed: true });
      expect(JSON.stringify(body)).not.toContain('FORBIDDEN_KEY');
    }
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  it('a route with a body accepts nothing but JSON', async () => {
    for (const route of guarded().filter(({ hasBody }) => hasBody)) {
      const path = filled(route, (name) => ids[name] ?? 'x');
      const { status, body } = await server.ask(route.method, path, {
        text: 'a=1',
        headers: { 'content-type': 'text/plain' },
      });
      expect({ route: nameOf(route), status }).toEqual({ route: nameOf(route), status: 415 });
      expect(body).toMatchObject({ error: { code: 'UNSUPPORTED_MEDIA_TYPE' } });
    }
  });
});
