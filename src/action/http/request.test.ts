import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import { attemptContext, expectFailure, expectSuccess, runAction } from '../attempt.testing.ts';
import { createHttpClient } from './client.ts';
import { httpRequest } from './request.ts';
import { type ReceivedRequest, resolveNothing, testServers } from './server.testing.ts';

const servers = testServers();
const http = createHttpClient({ allowLoopback: true, resolve: resolveNothing });
afterAll(() => Promise.all([servers.close(), http.close()]));

const run = (parameters: Json, options: { timeoutMs?: number | null; signal?: AbortSignal } = {}) => {
  const { timeoutMs = null, signal } = options;
  return runAction(httpRequest, parameters, { timeoutMs, context: { http, ...(signal ? { signal } : {}) } });
};

/** Echoes the request. */
const echo = () =>
  servers.recording(({ method, path, headers, body }, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ method, path, headers, body }));
  });

const received = (result: Awaited<ReturnType<typeof run>>) =>
  (expectSuccess(result).outputs as unknown as { body: ReceivedRequest }).body;

describe('the request of http.request', () => {
  it('every request has the idempotency key and the correlation id of the attempt', async () => {
    const { url } = await echo();
    const { idempotencyKey, correlationId } = attemptContext();
    expect(received(await run({ url })).headers).toMatchObject({
      'idempotency-key': idempotencyKey,
      'x-correlation-id': correlationId,
    });
  });

  it('a request names the user it acts for, unless the workflow overrides it', async () => {
    const { url } = await echo();
    expect(received(await run({ url, headers: { 'X-Acting-User-Name': 'Team A' } })).headers).toMatchObject({
      'x-acting-user-id': 'U1',
      'x-acting-user-email': 'ada@example.com',
      'x-acting-user-name': 'Team A',
    });
  });

  it('ids that HTTP does not allow in a header are percent-encoded', async () => {
    const { url } = await echo();
    const context = { http, correlationId: 'söme\r\nx: y\ud800' };
    const result = await runAction(httpRequest, { url }, { context });
    expect(received(result).headers['x-correlation-id']).toBe('s%C3%B6me%0D%0Ax: y%EF%BF%BD');
  });

  it('a request is a GET by default, with its query', async () => {
    const { url } = await echo();
    const query = { q: 'a b&c', page: 2, tag: ['x', 'y'], none: null };
    expect(received(await run({ url: `${url}/find?fixed=1`, query }))).toMatchObject({
      method: 'GET',
      path: '/find?fixed=1&q=a+b%26c&page=2&tag=x&tag=y',
      body: '',
    });
  });

  it.each<[Json, string, string]>([
    [{ a: [1] }, '{"a":[1]}', 'application/json'],
    [null, 'null', 'application/json'],
    ['plain', 'plain', 'text/plain; charset=utf-8'],
  ])('the body %j is sent with its content type', async (body, text, type) => {
    const { url } = await echo();
    const request = received(await run({ url, method: 'POST', body }));
    expect(request).toMatchObject({ body: text, headers: { 'content-type': type } });
  });

  it('headers of the workflow override those of the action', async () => {
    const { url } = await echo();
    const headers = { 'Content-Type': 'application/vnd.api+json', 'Idempotency-Key': 'mine', 'X-Number': 5 };
    expect(received(await run({ url, method: 'PUT', body: {}, headers })).headers).toMatchObject({
      'content-type': 'application/vnd.api+json',
      'idempotency-key': 'mine',
      'x-number': '5',
    });
  });
});

describe('the response of http.request', () => {
  const reply = (type: string | null, body: string | Buffer) =>
    servers.http((_request, response) => {
      if (type !== null) response.setHeader('Content-Type', type);
      response.setHeader('X-Upper', 'Value').end(body);
    });
  const body = async (parameters: { [key: string]: Json }) =>
    (expectSuccess(await run(parameters)).outputs as { body: Json }).body;

  it('the outputs are status, headers in lower case, body and url', async () => {
    const url = await reply('application/json; charset=utf-8', '{"ok":true}');
    expect(expectSuccess(await run({ url })).outputs).toMatchObject({
      status: 200,
      headers: { 'x-upper': 'Value', 'content-type': 'application/json; charset=utf-8' },
      body: { ok: true },
      url: `${url}/`,
    });
  });

  it.each<[string, string | null, string | Buffer, Json]>([
    ['JSON by its type', 'application/problem+json', '[1]', [1]],
    ['text that looks like JSON but does not say so', 'text/plain', '{"a":1}', '{"a":1}'],
    ['text that says it is JSON and is not', 'application/json', '{oops', '{oops'],
    ['no type', null, 'raw', 'raw'],
    ['nothing', 'application/json', '', ''],
    ['Latin-1', 'text/plain; charset=ISO-8859-1', Buffer.from([0xe9]), 'é'],
    ['a charset that nobody knows', 'text/plain; charset=klingon', 'é', 'é'],
    ['bytes that are not UTF-8', 'text/plain', Buffer.from([0x61, 0xff]), 'a\ufffd'],
  ])('the response body is read by its type: %s', async (_name, type, sent, expected) => {
    expect(await body({ url: await reply(type, sent) })).toEqual(expected);
  });

  it('the body is read as responseType says', async () => {
    const url = await reply('text/plain', '{"a":1}');
    expect(await body({ url, responseType: 'json' })).toEqual({ a: 1 });
    expect(await body({ url: await reply('application/json', '{"a":1}'), responseType: 'text' })).toBe('{"a":1}');
    expect(await body({ url: await reply(null, Buffer.from([0, 255])), responseType: 'base64' })).toBe('AP8=');
    expect(await body({ url: await reply(null, ''), responseType: 'json' })).toBeNull();
  });

  it('a JSON body must be valid JSON', async () => {
    const url = await reply('text/html', '<p>login</p>');
    expect(expectFailure(await run({ url, responseType: 'json' }))).toMatchObject({
      retryable: false,
      error: { code: 'RESPONSE_INVALID' },
      outputs: { status: 200, body: '<p>login</p>' },
    });
  });

  it('a body over the limit is refused', async () => {
    const url = await reply(null, Buffer.alloc(1024 * 1024 + 1));
    expect(expectFailure(await run({ url }))).toMatchObject({
      retryable: false,
      error: { code: 'RESPONSE_TOO_LARGE' },
    });
  });
});

describe('the outcome of http.request', () => {
  const answering = (status: number, headers: Record<string, string> = {}) =>
    servers.http((_request, response) => response.writeHead(status, headers).end('why'));

  it.each([200, 201, 204, 299])('status %i is a success', async (status) => {
    expect((await run({ url: await answering(status) })).ok).toBe(true);
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('status %i is retried', async (status) => {
    const url = await answering(status);
    expect(await run({ url })).toMatchObject({
      ok: false,
      retryable: true,
      error: { code: 'HTTP_STATUS', message: `GET ${url}/ answered ${status}` },
      outputs: { status, body: 'why' },
    });
  });

  it.each([400, 401, 403, 404, 409, 410, 422])('status %i is final', async (status) => {
    expect(await run({ url: await answering(status) })).toMatchObject({
      ok: false,
      retryable: false,
      error: { code: 'HTTP_STATUS' },
      outputs: { status },
    });
  });

  it('the error for a redirect that is not followed says what to do', async () => {
    const url = await answering(302, { location: '/x' });
    expect(expectFailure(await run({ url })).error.message).toContain('unless maxRedirects is set');
  });

  it('expectStatus decides which statuses are a success', async () => {
    expect((await run({ url: await answering(404), expectStatus: 404 })).ok).toBe(true);
    expect((await run({ url: await answering(409), expectStatus: [200, 409] })).ok).toBe(true);
    expect((await run({ url: await answering(200), expectStatus: 201 })).ok).toBe(false);
  });

  it('Retry-After sets the delay of the retry', async () => {
    expect(await run({ url: await answering(503, { 'retry-after': '7' }) })).toMatchObject({ retryAfterMs: 7000 });
    expect(await run({ url: await answering(404, { 'retry-after': '7' }) })).not.toHaveProperty('retryAfterMs');
  });

  it('redirects are followed when requested', async () => {
    const url = await servers.http((request, response) => {
      if (request.url === '/') response.writeHead(301, { location: '/moved' }).end();
      else response.end('here');
    });
    expect(expectSuccess(await run({ url, maxRedirects: 2 })).outputs).toMatchObject({
      body: 'here',
      url: `${url}/moved`,
    });
  });

  it('a server that cannot be reached is retried', async () => {
    expect(await run({ url: await servers.refusing() })).toMatchObject({
      retryable: true,
      error: { code: 'NETWORK_ERROR' },
    });
  });

  it('a request that exceeds its own timeout is retried', async () => {
    const url = await servers.http(() => {});
    expect(await run({ url, timeoutMs: 30 })).toMatchObject({ retryable: true, error: { code: 'HTTP_TIMEOUT' } });
  });

  it('a request that exceeds the attempt timeout is a timeout of the attempt', async () => {
    const url = await servers.http(() => {});
    expect(await run({ url }, { timeoutMs: 30 })).toMatchObject({ timedOut: true, error: { code: 'ATTEMPT_TIMEOUT' } });
  });

  it('a request that the engine stops counts as aborted', async () => {
    const controller = new AbortController();
    const url = await servers.http(() => controller.abort(new Error('cancelled')));
    expect(await run({ url }, { signal: controller.signal })).toMatchObject({ aborted: true, retryable: false });
  });

  it('an address that is not allowed is final', async () => {
    expect(await run({ url: 'http://169.254.169.254/latest' })).toMatchObject({
      retryable: false,
      error: { code: 'SSRF_BLOCKED' },
    });
  });

  it.each<[Json, string]>([
    [{ url: 'nope' }, 'is not an absolute URL'],
    [{}, 'parameters.url'],
    [{ url: 'http://127.0.0.1/', method: 'TRACE' }, 'parameters.method'],
    [{ url: 'http://127.0.0.1/', body: { a: 1 } }, 'a GET request has no body'],
    [{ url: 'http://127.0.0.1/', header: {} }, 'header'],
    [{ url: 'http://127.0.0.1/', headers: { 'bad name': 'x' } }, 'has a name that HTTP does not allow'],
    [{ url: 'http://127.0.0.1/', maxRedirects: 21 }, 'parameters.maxRedirects'],
  ])('the parameters %j are refused for good', async (parameters, message) => {
    expect(expectFailure(await run(parameters))).toMatchObject({
      retryable: false,
      error: { code: 'PARAMETERS_INVALID', message: expect.stringContaining(message) },
    });
  });
});
