// Walks every route of the OpenAPI document as an attacker: an administrator of another tenant who looks for foreign data (S1), a
// reader who looks for callback tokens, and a caller who asks for more than a page. A new route is walked without a new line
// here.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { JsonObject } from '../../src/core/json/json.ts';
import { defineAction } from '../../src/main.ts';
import { SCOPES } from '../../src/protocol/scope.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const CANARY = 'zxcanary';
const folder = mkdtempSync(join(tmpdir(), 'pawl-walk-'));
afterAll(() => rmSync(folder, { recursive: true }));
const writer = defineAction({
  ...{ type: 'test.write', version: '1.0.0', connector: 'test', category: 'Test' },
  params: z.object({}),
  outputs: z.unknown(),
  run: async (_params, { artifacts }) => ({
    outputs: { ref: await artifacts.put({ kind: 'custom', name: `${CANARY}.txt` }, CANARY) },
  }),
});
const server = useServer({ actions: [writer], artifact: { folder } });

interface Route {
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly scope: string;
  readonly role: string | null;
  readonly query: readonly string[];
}

/** Changes that an administrator makes to one tenant alone. Every other change with the scope `admin` needs the role System. */
const OF_ONE_TENANT = [
  'DELETE /api/v1/admin/dead-letters',
  'DELETE /api/v1/admin/dead-letters/{id}',
  'DELETE /api/v1/admin/keys/{keyId}',
  'DELETE /api/v1/deliveries/{ackGuid}',
  'POST /api/v1/admin/dead-letters/{id}/requeue',
  'POST /api/v1/admin/keys',
  'POST /api/v1/deliveries/{ackGuid}/requeue',
  // The handler asks for the role System, because a tenant needs no role to read its own quota.
  'PUT /api/v1/admin/tenants/{tenantId}/quota',
];

let routes: Route[];
let ids: Record<string, string>;

const made = async (method: string, path: string, body?: unknown): Promise<JsonObject> => {
  const answer = await server.ask(method, `/api/v1${path}`, body === undefined ? {} : { body });
  expect({ path, isMade: answer.status < 300, answer: answer.body }).toMatchObject({ isMade: true });
  return answer.body;
};

beforeAll(async () => {
  const { body } = await server.get('/api/v1/openapi.json', { token: null });
  routes = readRoutes(body);
  await server.pawl.publish(chain(CANARY, echo('a', { text: CANARY }), { id: 'b', actionType: 'test.write' }), {
    tenantId: 'acme',
  });
  const { executionId } = await made('POST', `/workflows/${CANARY}/execute`, { trigger: { text: CANARY } });
  await server.pawl.result(executionId as string, { tenantId: 'acme' });
  const failing = { id: 'a', actionType: 'core.fail', parameters: { code: 'X', message: CANARY } };
  await server.pawl.publish(chain(`${CANARY}-fails`, failing), { tenantId: 'acme' });
  await made('POST', `/workflows/${CANARY}-fails/execute`, {});
  const artifacts = await made('GET', `/executions/${executionId as string}/artifacts`);
  const trigger = await made('POST', '/triggers', { workflowId: CANARY, triggerType: 'Manual' });
  await made('PUT', `/templates/sets/${CANARY}`, { displayName: CANARY, team: CANARY });
  await made('POST', `/templates/${CANARY}/${CANARY}`, { displayName: CANARY, bodyTemplate: CANARY });
  const template = { id: CANARY, displayName: CANARY, description: CANARY, category: CANARY, configSchema: {} };
  await made('POST', '/templates/workflows', { ...template, definition: chain(CANARY, echo('a')) });
  await made('POST', '/lifecycles', { definition: LIFECYCLE });
  await made('POST', '/consumers', { code: CANARY, kind: 'pull', subscriptions: [{ env: 'prod' }] });
  await made('POST', `/lifecycles/prod/${CANARY}/trigger`, { externalRef: CANARY, event: 'go', requestId: 'r' });
  await made('POST', '/connections', { name: CANARY, connector: 'http', kind: 'token', token: CANARY });
  await made('PUT', `/secrets/${CANARY}`, { value: CANARY });
  const key = await made('POST', '/admin/keys', { name: CANARY, scopes: ['workflows:read'] });
  const bulk = await made('POST', '/bulk', { requestId: CANARY, action: 'pause', reason: CANARY, ids: [executionId] });
  const due = await made('GET', `/deliveries?consumer=${CANARY}&wait=30s`);
  ids = {
    ...{ env: 'prod', externalRef: CANARY, code: CANARY, templateSetId: CANARY, templateId: CANARY, name: CANARY },
    ...{ version: '1', workflowTemplateId: CANARY, tenantId: 'acme', workflowId: CANARY, stepId: 'a', nodeId: 'a' },
    ...{ runnerId: '999999999', id: '1', token: 'x.y.z', taskQueue: CANARY },
    executionId: executionId as string,
    runId: executionId as string,
    ackGuid: (due.data as JsonObject[])[0]!.ackGuid as string,
    triggerId: trigger.id as string,
    bulkId: bulk.bulkId as string,
    keyId: key.id as string,
    artifactId: (artifacts.data as JsonObject[])[0]!.artifactId as string,
  };
});

const LIFECYCLE = {
  ...{ env: 'prod', name: CANARY, initial: 'a', states: { a: {}, b: { final: true } } },
  ...{ events: { go: {} }, transitions: [{ from: 'a', on: 'go', to: 'b' }] },
};

function readRoutes(openApi: JsonObject): Route[] {
  const paths = openApi.paths as Record<string, Record<string, JsonObject>>;
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path,
      scope: String(operation['x-scope'] ?? ''),
      role: (operation['x-role'] as string | undefined) ?? null,
      query: ((operation.parameters ?? []) as { name: string; in: string }[])
        .filter((parameter) => parameter.in === 'query')
        .map(({ name }) => name),
    })),
  );
}

const filled = ({ path }: Route): string => path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'x');
const reads = () => routes.filter(({ method, scope }) => method === 'GET' && scope !== '');

describe('every route', () => {
  it('S1: no route shows anything to the administrator of another tenant', async () => {
    const eve = await tokenFor({ tenant: 'globex', subject: 'eve', roles: ['Operator', 'Engineer', 'Admin'] });
    let shown = 0;
    for (const route of reads()) {
      const needed = ['consumer', 'q', 'text'].filter((name) => route.query.includes(name));
      const path = `${filled(route)}?${needed.map((name) => `${name}=${CANARY}`).join('&')}`;
      const theirs = await server.get(path, { token: eve });
      const said = JSON.stringify(theirs.body).replaceAll(path, '').replaceAll(`"${CANARY}"`, '');
      // A refusal may repeat the names in the request. A successful answer must not know them.
      if (theirs.status < 300)
        expect({ route: route.name, leaks: said.includes(CANARY) }).toMatchObject({ leaks: false });
      else
        expect({ route: route.name, status: theirs.status }).toMatchObject({
          status: expect.toSatisfy((code: number) => code < 500),
        });
      if (JSON.stringify((await server.get(path)).body).includes(CANARY)) shown++;
    }
    // The walk finds something: most routes show the canary to its owner.
    expect(shown).toBeGreaterThan(25);
  });

  it('a change with the scope admin needs the role System, or concerns one tenant alone', () => {
    const changes = routes.filter(({ method, scope }) => method !== 'GET' && scope === 'admin');
    const tenantsOwn = changes.filter(({ role }) => role === null).map(({ name }) => name);
    expect(tenantsOwn.sort()).toEqual(OF_ONE_TENANT);
  });

  it('every list has a largest page', async () => {
    const lists = reads().filter(({ query }) => query.includes('limit'));
    expect(lists.length).toBeGreaterThan(20);
    for (const route of lists) {
      const consumer = route.query.includes('consumer') ? `&consumer=${CANARY}` : '';
      const { status } = await server.get(`${filled(route)}?limit=100000${consumer}`);
      expect({ route: route.name, status }).toEqual({ route: route.name, status: 400 });
    }
  });

  it('no route shows a callback token to a caller that may not call back', async () => {
    await made('POST', '/workflows', {
      name: 'approval',
      tasks: {
        note: { url: 'http://127.0.0.1:1/', method: 'POST', body: { link: '{{wait.answer.url}}' }, retries: 0 },
        answer: { needs: ['note'], wait_for_webhook: {} },
      },
    });
    const { executionId } = await made('POST', '/workflows/approval/execute', {});
    const of = { ...ids, workflowId: 'approval', executionId: executionId as string, runId: executionId as string };
    const walk = async (token?: string) => {
      const texts: string[] = [];
      for (const route of reads()) {
        const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
          name === 'nodeId' || name === 'stepId' ? 'note' : ((of as Record<string, string>)[name] ?? 'x'),
        );
        const include = route.query.includes('include') ? '?include=actions,events' : '';
        texts.push(JSON.stringify((await server.get(`${path}${include}`, token === undefined ? {} : { token })).body));
      }
      return texts.join('\n');
    };
    const TOKEN = /[0-9a-f]{32}\.[\w-]+\.[\w-]{24}/;
    await expect.poll(() => walk(), { timeout: 20_000 }).toMatch(TOKEN);
    const reader = await tokenFor({ scope: SCOPES.filter((scope) => scope !== 'executions:signal'), roles: [] });
    expect(await walk(reader)).not.toMatch(TOKEN);
  });
});
