// What every address has in common: methods it does not take, bodies that are not what they say, parameters that nobody reads.

import { beforeAll, describe, expect, it } from 'vitest';
import { chain, echo, useServer } from './api-server.ts';

const server = useServer();
const WORKFLOWS = '/api/v1/workflows';

beforeAll(async () => {
  await server.pawl.publish(chain('here', echo('a')), { tenantId: 'acme' });
});

describe('methods', () => {
  it('that an address does not take are 405, with those it takes', async () => {
    const { status, body, headers } = await server.ask('PUT', '/api/v1/executions', { body: {} });
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD, OPTIONS' });
    expect(body).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED', correlationId: expect.any(String) } });
    const { headers: ofOne } = await server.ask('POST', `${WORKFLOWS}/here`, { body: {} });
    expect(ofOne.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PATCH, PUT');
  });

  it('are listed by OPTIONS, and nothing at all is 404', async () => {
    const { status, headers } = await server.ask('OPTIONS', WORKFLOWS);
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 204, allow: 'GET, HEAD, OPTIONS, POST' });
    expect(await server.ask('OPTIONS', '/nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
  });

  it('HEAD is GET without its body, and as well guarded', async () => {
    const { status, body, headers } = await server.ask('HEAD', `${WORKFLOWS}/here`);
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(Number(headers.get('content-length'))).toBeGreaterThan(100);
    expect((await server.ask('HEAD', `${WORKFLOWS}/here`, { token: null })).status).toBe(401);
    expect((await server.ask('HEAD', `${WORKFLOWS}/nobody`)).status).toBe(404);
  });

  it('HEAD of events does not wait for them', async () => {
    const { body } = await server.post(`${WORKFLOWS}/here/execute`, {});
    const path = `/api/v1/executions/${body.executionId}/events`;
    const { status, headers } = await server.ask('HEAD', path, { headers: { accept: 'text/event-stream' } });
    expect({ status, type: headers.get('content-type') }).toMatchObject({ status: 200, type: /event-stream/ });
  });
});

describe('an address', () => {
  it('may end with a slash', async () => {
    expect((await server.get(`${WORKFLOWS}/`)).body).toMatchObject({ data: [{ id: 'here' }] });
    expect((await server.get(`${WORKFLOWS}/here/`)).body).toMatchObject({ id: 'here' });
  });
});

describe('a parameter that nobody reads', () => {
  it.each([
    [`${WORKFLOWS}?statsu=Draft`, '/query/statsu', 'did you mean `status`?'],
    [`${WORKFLOWS}/here/publish?autoactivate=false`, '/query/autoactivate', 'did you mean `autoActivate`?'],
    ['/api/v1/triggers?colour=red', '/query/colour', expect.stringContaining('workflowId')],
  ])('%s is refused', async (path, pointer, suggestion) => {
    const { status, body } = await server.ask(path.includes('publish') ? 'POST' : 'GET', path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: [{ code: 'UNKNOWN_PARAMETER', path: pointer, suggestion }] } });
  });

  it('is not the tenant, which must be the own one everywhere', async () => {
    expect((await server.get(`${WORKFLOWS}/here?tenantId=acme`)).status).toBe(200);
    expect(await server.get(`${WORKFLOWS}/here?tenantId=globex`)).toMatchObject({
      status: 403,
      body: { error: { code: 'TENANT_MISMATCH' } },
    });
  });
});

describe('a parameter without a value', () => {
  it.each([
    `${WORKFLOWS}?tenantId=&status=&isEnabled=&search=`,
    '/api/v1/actions?connectorId=&category=&search=',
    '/api/v1/triggers?workflowId=&triggerType=&isEnabled=',
    '/api/v1/templates?team=&set=',
    '/api/v1/templates/workflows?category=&isOfficial=&search=',
    '/api/v1/executions?status=&cursor=',
  ])('%s is one that was left out', async (path) => {
    const { status, body } = await server.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data).toEqual((await server.get(path.split('?')[0]!)).body.data);
  });
});

describe('a body', () => {
  const send = (type: string, body: Uint8Array<ArrayBuffer> | string) =>
    server.ask('POST', `${WORKFLOWS}/here/execute`, {
      text: body as string,
      headers: { 'content-type': type },
    });

  it.each([
    ['application/json', 202],
    ['application/json; charset=utf-8', 202],
    ['Application/JSON; Charset="UTF-8"', 202],
    ['application/vnd.acme+json', 202],
    ['application/json; charset=latin1', 415],
    ['application/jsonp', 415],
    ['text/plain', 415],
    ['application/x-www-form-urlencoded', 415],
  ])('as %s is answered %i', async (type, status) => {
    expect((await send(type, '{}')).status).toBe(status);
  });

  it('that is not UTF-8 is refused rather than changed', async () => {
    const bytes = Uint8Array.from([...Buffer.from('{"trigger":"'), 0xff, ...Buffer.from('"}')]);
    expect(await send('application/json', bytes)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ code: 'NOT_UTF8' }] } },
    });
  });

  it('that is too large is told how large it may be', async () => {
    const { status, body } = await send('application/json', JSON.stringify({ trigger: 'x'.repeat(1_100_000) }));
    expect(status).toBe(413);
    expect(body).toMatchObject({
      error: {
        code: 'PAYLOAD_TOO_LARGE',
        message: expect.stringContaining('1048576 bytes'),
        details: { limitBytes: 1_048_576 },
        correlationId: expect.any(String),
      },
    });
  });

  it('may be a workflow of a thousand nodes, each with all that a node can have', async () => {
    const nodes = Array.from({ length: 1_000 }, (_, index) => ({
      ...echo(`n${index}`, { first: 1, second: 2, third: 3 }),
      policies: { retry: { maxAttempts: 2, baseDelayMs: 10, backoffFactor: 2, jitter: true }, timeoutMs: 1_000 },
    }));
    const { status, body } = await server.post(WORKFLOWS, chain('very-long', ...nodes));
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(201);
  });
});
