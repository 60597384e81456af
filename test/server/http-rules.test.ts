// Rules for every path: unsupported methods, bodies that do not match their type, unknown parameters.

import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/core/json/json.ts';
import type { Problem } from '../../src/core/problem/problem.ts';
import { chain, echo, tokenFor, useServer } from './api-server.ts';

const server = useServer();
const WORKFLOWS = '/api/v1/workflows';

beforeAll(async () => {
  await server.pawl.publish(chain('here', echo('a')), { tenantId: 'acme' });
  await server.post('/api/v1/consumers', { code: 'one', kind: 'pull', subscriptions: [{ env: 'prod' }] });
  await server.post('/api/v1/consumers', { code: 'two', kind: 'pull', subscriptions: [{ env: 'prod' }] });
});

describe('methods of a path', () => {
  it('a method that a path does not support gets 405 with the supported methods', async () => {
    const { status, body, headers } = await server.ask('PUT', '/api/v1/executions', { body: {} });
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 405, allow: 'GET, HEAD, OPTIONS' });
    expect(body).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED', correlationId: expect.any(String) } });
    const { headers: ofOne } = await server.ask('POST', `${WORKFLOWS}/here`, { body: {} });
    expect(ofOne.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PATCH, PUT');
  });

  it('OPTIONS lists the methods of a path, and an unknown path gets 404', async () => {
    const { status, headers } = await server.ask('OPTIONS', WORKFLOWS);
    expect({ status, allow: headers.get('allow') }).toEqual({ status: 204, allow: 'GET, HEAD, OPTIONS, POST' });
    expect(await server.ask('OPTIONS', '/nowhere')).toMatchObject({
      status: 404,
      body: { error: { code: 'NOT_FOUND' } },
    });
  });

  it('HEAD answers as GET without a body, and needs the same token', async () => {
    const { status, body, headers } = await server.ask('HEAD', `${WORKFLOWS}/here`);
    expect({ status, body }).toEqual({ status: 200, body: '' });
    expect(Number(headers.get('content-length'))).toBeGreaterThan(100);
    expect((await server.ask('HEAD', `${WORKFLOWS}/here`, { token: null })).status).toBe(401);
    expect((await server.ask('HEAD', `${WORKFLOWS}/nobody`)).status).toBe(404);
  });

  it('HEAD of an event stream answers at once', async () => {
    const { body } = await server.post(`${WORKFLOWS}/here/execute`, {});
    const path = `/api/v1/executions/${body.executionId}/events`;
    const { status, headers } = await server.ask('HEAD', path, { headers: { accept: 'text/event-stream' } });
    expect({ status, type: headers.get('content-type') }).toMatchObject({ status: 200, type: /event-stream/ });
  });
});

describe('malformed HTTP requests', () => {
  const HOST = 'Host: localhost\r\n';
  /** The answer over a bare connection. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const socket = connect(Number(port), hostname, () => socket.write(text));
      let answer = '';
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });

  it.each([
    ['headers that are too large', `GET /health/live HTTP/1.1\r\n${HOST}x: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
    ['two lengths', `POST /x HTTP/1.1\r\n${HOST}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 400],
    [
      'a length and chunks',
      `POST /x HTTP/1.1\r\n${HOST}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['no host', 'GET /health/live HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ])('a malformed request with %s gets the usual error envelope', async (_, text, status) => {
    const answer = await raw(text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const body = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
    expect(body).toMatchObject({ error: { code: 'REQUEST_INVALID', correlationId: expect.any(String) } });
  });
});

describe('a request path', () => {
  it('a trailing slash in a path is ignored', async () => {
    expect((await server.get(`${WORKFLOWS}/`)).body).toMatchObject({ data: [{ id: 'here' }] });
    expect((await server.get(`${WORKFLOWS}/here/`)).body).toMatchObject({ id: 'here' });
  });
});

describe('a parameter that nobody reads', () => {
  it.each([
    [`${WORKFLOWS}?statsu=Draft`, '/query/statsu', 'did you mean `status`?'],
    [`${WORKFLOWS}/here/publish?autoactivate=false`, '/query/autoactivate', 'did you mean `autoActivate`?'],
    ['/api/v1/triggers?colour=red', '/query/colour', expect.stringContaining('workflowId')],
    ['/api/v1/notices?kind=x', '/query/kind', expect.stringContaining('after')],
    ['/api/v1/lifecycles/prod/x?verison=1', '/query/verison', 'did you mean `version`?'],
    [`${WORKFLOWS}/here/archive?force=true`, '/query/force', expect.any(String)],
    [`${WORKFLOWS}/here/trigger?x=1`, '/query/x', expect.any(String)],
  ])('an unknown query parameter is refused: %s', async (path, pointer, suggestion) => {
    const { status, body } = await server.ask(/publish|archive|trigger\?/.test(path) ? 'POST' : 'GET', path);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: [{ code: 'UNKNOWN_PARAMETER', path: pointer, suggestion }] } });
    expect((body.error as JsonObject).details).toHaveLength(1);
  });

  it('the query parameter tenantId is allowed everywhere and must be the own tenant', async () => {
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
    '/api/v1/executions?status=&error=',
  ])('an empty query parameter counts as left out: %s', async (path) => {
    const { status, body } = await server.get(path);
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.data).toEqual((await server.get(path.split('?')[0]!)).body.data);
  });

  it.each(['limit', 'cursor'])('an empty %s is refused, because a page is not a filter', async (name) => {
    const { status, body } = await server.get(`/api/v1/executions?${name}=`);
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ details: [{ path: `/query/${name}` }] });
  });
});

describe('a request body', () => {
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
  ])('a body of the content type %s is answered with %i', async (type, status) => {
    expect((await send(type, '{}')).status).toBe(status);
  });

  it('a body that is not UTF-8 is refused and not changed', async () => {
    const bytes = Uint8Array.from([...Buffer.from('{"trigger":"'), 0xff, ...Buffer.from('"}')]);
    expect(await send('application/json', bytes)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ code: 'NOT_UTF8' }] } },
    });
  });

  it.each([
    ['gzip', gzipSync('{"trigger":{}}')],
    ['deflate', '{"trigger":{}}'],
  ])('a body with the content encoding %s is refused, for webhooks too', async (encoding, body) => {
    const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
    for (const path of [`${WORKFLOWS}/here/execute`, '/wh/x.y.z', '/api/v1/triggers/x']) {
      expect(await server.ask('POST', path, { text: body as string, headers })).toMatchObject({
        status: 415,
        body: { error: { code: 'UNSUPPORTED_MEDIA_TYPE', message: expect.stringContaining(encoding) } },
      });
    }
    const plain = { ...headers, 'content-encoding': 'identity' };
    expect((await server.ask('POST', `${WORKFLOWS}/here/execute`, { text: '{}', headers: plain })).status).toBe(202);
  });

  it.each([
    ['{"trigger":{"a":[1e400]}}', '/trigger/a/0'],
    ['{"trigger":-1e400}', '/trigger'],
  ])('a body with a number out of range is refused: %s', async (text, path) => {
    expect(await send('application/json', text)).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ code: 'NUMBER_OUT_OF_RANGE', path }] } },
    });
  });

  it('a body of null is refused, and an empty body is accepted', async () => {
    expect(await send('application/json', 'null')).toMatchObject({ status: 400 });
    expect(await send('application/json', '')).toMatchObject({ status: 202 });
  });

  it.each([
    ['PATCH', '/api/v1/actions/core.echo', { deprecationNotice: 'a\u0000b' }],
    ['POST', '/api/v1/consumers', { code: 'a\u0000b', kind: 'pull', subscriptions: [{ env: 'prod' }] }],
  ])('a body with a character that cannot be stored is refused by %s %s', async (method, path, body) => {
    expect(await server.ask(method, path, { body })).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID' } },
    });
  });

  it('a body may give null for a field that it leaves out, where null is not a value', async () => {
    const principal = { userId: 'ada', displayName: null, email: null };
    const nothing = { requestId: null, priority: null, spec: null, tenantId: null };
    const { status, body } = await server.post(`${WORKFLOWS}/here/execute`, {
      ...nothing,
      principal,
      trigger: { a: null },
    });
    expect(status, JSON.stringify(body)).toBe(202);
    const { body: execution } = await server.get(`/api/v1/executions/${body.executionId}`);
    expect(execution).toMatchObject({
      trigger: { a: null },
      priority: 5,
      principal: { displayName: 'ada', email: null },
    });
    expect((await server.post('/api/v1/events', { type: 'x', id: null, data: null })).status).toBe(202);
    const trigger = {
      workflowId: 'here',
      triggerType: 'Manual',
      config: null,
      activationCondition: null,
      isEnabled: null,
    };
    expect(await server.post('/api/v1/triggers', trigger)).toMatchObject({ status: 201, body: { isEnabled: true } });
    expect(await server.post('/api/v1/triggers', { ...trigger, workflowId: null })).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: '/workflowId', message: 'is required' }] } },
    });
  });

  it.each([
    ['/api/v1/workflows/here/publish', { foo: 1 }, '/foo'],
    ['/api/v1/workflows/here/draft', { foo: 1 }, '/foo'],
    ['/api/v1/workflows/here/archive', { foo: 1 }, '/foo'],
    ['/api/v1/workflows/here/reactivate', { foo: 1 }, '/foo'],
    ['/api/v1/executions/00000000-0000-4000-8000-000000000000/retry', { foo: 1 }, '/foo'],
    ['/api/v1/workflows/here/runs/run_00000000000040008000000000000000/cancel', { foo: 1 }, '/foo'],
    ['/api/v1/workflows/here/execute', { principal: { userId: 'u', mail: 1 } }, '/principal/mail'],
  ])('a body with an unknown field is refused: POST %s', async (path, body, field) => {
    const reply = await server.post(path, body);
    expect(reply).toMatchObject({
      status: 400,
      body: { error: { code: 'REQUEST_INVALID', details: [{ path: field, suggestion: expect.any(String) }] } },
    });
  });

  it('an empty body is accepted where no field is required', async () => {
    await server.pawl.publish(chain('moves', echo('a')), { tenantId: 'acme' });
    expect((await server.post(`${WORKFLOWS}/moves/archive`, {})).status).toBe(200);
    expect((await server.post(`${WORKFLOWS}/moves/reactivate`)).status).toBe(200);
    expect((await server.post(`${WORKFLOWS}/moves/draft`, { tenantId: 'acme' })).status).toBe(201);
  });

  const many = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`key${index}`, 1]));
  const pull = { code: 'x', kind: 'pull', subscriptions: [{ env: 'prod' }] };
  it.each([
    ['an execution', '/api/v1/workflows/here/execute', many],
    ['an event', '/api/v1/events', many],
    ["a trigger's configuration", '/api/v1/triggers', { workflowId: 'here', triggerType: 'Manual', config: many }],
    ["a consumer's options", '/api/v1/consumers', { ...pull, options: many }],
  ])('S4: a body of many unknown fields gets a short answer: %s', async (_, path, body) => {
    const reply = await server.post(path, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: 'REQUEST_INVALID' } } });
    const { details } = reply.body.error as unknown as { details: Problem[] };
    expect(details).toHaveLength(101);
    expect(details.at(-1)).toMatchObject({
      code: 'MORE_PROBLEMS',
      message: expect.stringMatching(/^and 599\d\d more/),
    });
    expect(JSON.stringify(reply.body).length).toBeLessThan(50_000);
  });

  it('a body that is too large is refused with the limit', async () => {
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

  /** Sends pieces of a megabyte, as many as the server accepts. Returns the status and the number of pieces. */
  const sendPieces = async (most: number, token: string | null) => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const outcome = { status: 0, sent: 0 };
    socket.on('data', (answer) => {
      outcome.status ||= Number(String(answer).split(' ')[1]);
    });
    socket.on('error', () => {});
    const gone = new Promise((resolve) => socket.once('close', resolve));
    const authorization = token === null ? '' : `authorization: Bearer ${token}\r\n`;
    const about = `host: ${hostname}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n${authorization}`;
    socket.write(`POST ${WORKFLOWS}/here/execute HTTP/1.1\r\n${about}connection: close\r\n\r\n`);
    const piece = `f4240\r\n${' '.repeat(1_000_000)}\r\n`;
    for (; outcome.sent < most && !socket.destroyed; outcome.sent++) {
      if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => {}), gone]);
    }
    socket.end('0\r\n\r\n');
    await gone;
    return outcome;
  };

  it('a body that is far too large gets 413 and is not cut off while it is sent', async () => {
    const whole = JSON.stringify({ trigger: 'x'.repeat(20_000_000) });
    for (let time = 0; time < 5; time++) {
      expect((await send('application/json', whole)).status).toBe(413);
      expect(await sendPieces(20, await tokenFor())).toEqual({ status: 413, sent: 20 });
    }
  });

  it.each([
    ['by anybody', 413],
    ['by nobody', 401],
  ])('an endless body, sent %s, is refused and cut off', async (by, status) => {
    const outcome = await sendPieces(10_000, by === 'by nobody' ? null : await tokenFor());
    expect(outcome.status).toBe(status);
    expect(outcome.sent).toBeLessThan(1_000);
  });

  it('a workflow of a thousand full nodes is accepted', async () => {
    const nodes = Array.from({ length: 1_000 }, (_, index) => ({
      ...echo(`n${index}`, { first: 1, second: 2, third: 3 }),
      policies: { retry: { maxAttempts: 2, baseDelayMs: 10, backoffFactor: 2, jitter: true }, timeoutMs: 1_000 },
    }));
    const { status, body } = await server.post(WORKFLOWS, chain('very-long', ...nodes));
    expect(status, JSON.stringify(body).slice(0, 300)).toBe(201);
  });
});

describe('the catalog', () => {
  it('all actions that create documents have the category Document', async () => {
    const { data } = (await server.get('/api/v1/actions?category=Document')).body as { data: JsonObject[] };
    expect(data.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['confluence.create-page', 'core.template.render']),
    );
  });
});

describe('lists without pages by default', () => {
  it.each([
    ['/api/v1/actions', 'id'],
    ['/api/v1/connectors', 'id'],
    ['/api/v1/connectors/core/actions', 'id'],
    ['/api/v1/consumers', 'code'],
    ['/api/v1/admin/runners', 'runnerId'],
  ])('the list %s comes in pages on request', async (path, key) => {
    const { data: whole } = (await server.get(path)).body as { data: JsonObject[] };
    expect(whole.length).toBeGreaterThan(0);
    const seen: unknown[] = [];
    for (let cursor = ''; ; ) {
      const { status, body } = await server.get(`${path}?limit=1${cursor}`);
      expect([status, (body.data as unknown[]).length]).toEqual([200, 1]);
      seen.push(...(body.data as JsonObject[]).map((item) => item[key]));
      if (body.nextCursor === undefined) break;
      cursor = `&cursor=${body.nextCursor as string}`;
    }
    expect(seen).toEqual(whole.map((item) => item[key]));
    expect(await server.get(`${path}?cursor=nothing-of-this-list`)).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: '/query/cursor' }] } },
    });
  });
});
