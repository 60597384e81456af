// S1: only the role System changes what concerns every tenant, and every tenant sees the change.

import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import { chain, echo, tokenFor, useServer } from '../server/api-server.ts';

const server = useServer();
/** The administrator of one tenant, with every scope and every role within a tenant. */
let eve: string;
beforeAll(async () => {
  eve = await tokenFor({ tenant: 'globex', subject: 'eve', roles: ['Operator', 'Engineer', 'Admin'] });
});

const statusOf = async (method: string, path: string, body: JsonObject, token?: string) =>
  (await server.ask(method, path, { body, ...(token === undefined ? {} : { token }) })).status;

describe('the administrator of one tenant', () => {
  it('an administrator of one tenant cannot switch off an action or a connector', async () => {
    const noRole = await tokenFor({ tenant: 'globex', scope: ['admin'], roles: [] });
    for (const token of [eve, noRole]) {
      expect(await statusOf('PATCH', '/api/v1/actions/core.echo', { isEnabled: false }, token)).toBe(403);
      expect(await statusOf('PATCH', '/api/v1/connectors/core', { isEnabled: false }, token)).toBe(403);
    }
    const { body } = await server.get('/api/v1/actions/core.echo');
    expect(body.isEnabled).toBe(true);
  });

  it('an administrator of one tenant cannot create, change or disable shared documents', async () => {
    const set = { displayName: 'Letters', team: 'x', isGlobal: true };
    const letter = { displayName: 'Letter', bodyTemplate: 'IBAN DE00' };
    expect(await statusOf('PUT', '/api/v1/templates/sets/letters', set)).toBe(201);
    expect(await statusOf('POST', '/api/v1/templates/letters/letter', letter)).toBe(201);
    const forged = { ...letter, bodyTemplate: 'IBAN DE66' };
    expect(await statusOf('PUT', '/api/v1/templates/sets/letters', { ...set, isEnabled: false }, eve)).toBe(403);
    expect(await statusOf('POST', '/api/v1/templates/letters/letter', forged, eve)).toBe(403);
    const version = '/api/v1/templates/letters/letter/versions/1';
    expect(await statusOf('PATCH', version, { isEnabled: false }, eve)).toBe(403);
    const third = await tokenFor({ tenant: 'initech' });
    const { body } = await server.post('/api/v1/templates/letters/letter/render', { answers: {} }, { token: third });
    expect(body.renderedBody).toBe('IBAN DE00');
  });

  it('an administrator of one tenant sees no other tenants or their workflows in the metrics', async () => {
    await server.pawl.publish(chain('secret-project', echo('a')), { tenantId: 'acme' });
    const { body } = await server.post('/api/v1/workflows/secret-project/execute', {});
    await server.pawl.result(body.executionId as string, { tenantId: 'acme' });
    const { status, body: text } = await server.get('/metrics', { token: eve });
    expect(status).toBe(200);
    expect(text).toContain('workflow_success_total');
    expect(text).not.toMatch(/acme|secret-project/);
    expect((await server.get('/metrics')).body).toContain('secret-project');
    expect((await server.get('/metrics', { token: null })).status).toBe(401);
  });
});

it('a change by the role System for everyone is in the audit log of every tenant', async () => {
  expect(await statusOf('PATCH', '/api/v1/actions/core.fail', { isEnabled: false })).toBe(200);
  expect(await statusOf('PATCH', '/api/v1/actions/core.fail', { isEnabled: true })).toBe(200);
  await server.ask('PUT', '/api/v1/templates/sets/shared', { body: { displayName: 'S', team: 'x', isGlobal: true } });
  const { body } = await server.get('/api/v1/admin/audit', { token: eve });
  const deeds = (body.data as JsonObject[]).map(({ action, target, actor }) => ({ action, target, actor }));
  expect(deeds).toContainEqual({ action: 'action.update', target: 'action/core.fail', actor: 'ada' });
  expect(deeds).toContainEqual({ action: 'template.set', target: 'template/shared', actor: 'ada' });
});
