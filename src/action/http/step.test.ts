import { afterAll, describe, expect, it } from 'vitest';
import type { Json } from '../../core/json/json.ts';
import { attemptContext, expectFailure, expectSuccess, runAction } from '../attempt.testing.ts';
import { createHttpClient } from './client.ts';
import { resolveNothing, testServers } from './server.testing.ts';
import { httpStep } from './step.ts';

const servers = testServers();
const http = createHttpClient({ allowLoopback: true, resolve: resolveNothing });
afterAll(() => Promise.all([servers.close(), http.close()]));

const run = (parameters: Json) => runAction(httpStep, parameters, { context: { http } });
const reply = (body: string | Buffer, status = 200, headers: Record<string, string> = {}) =>
  servers.http((_request, response) => response.writeHead(status, headers).end(body));

const LIMIT = 262_144;
const DEEP = '['.repeat(100_000) + ']'.repeat(100_000);

describe('the request of an HTTP step', () => {
  it.each<[string, Json, string, string]>([
    ['an object as JSON', { order_id: 1 }, '{"order_id":1}', 'application/json'],
    ['text that is JSON as JSON', '{"order_id":1}', '{"order_id":1}', 'application/json'],
    ['other text as text', 'order 1', 'order 1', 'text/plain; charset=utf-8'],
  ])('a step sends %s, by POST', async (_name, body, text, type) => {
    const { url, received } = await servers.recording((_request, response) => response.end());
    expectSuccess(await run({ url, body }));
    expect(received).toMatchObject([
      {
        method: 'POST',
        body: text,
        headers: {
          'content-type': type,
          'idempotency-key': attemptContext().idempotencyKey,
          'x-correlation-id': 'correlation-1',
        },
      },
    ]);
  });

  it('the content type of the task is used if it has one', async () => {
    const { url, received } = await servers.recording((_request, response) => response.end());
    expectSuccess(await run({ url, body: '{"a":1}', headers: { 'CONTENT-TYPE': 'text/x-own' } }));
    expect(received[0]?.headers['content-type']).toBe('text/x-own');
  });

  it.each(['GET', 'HEAD'])('a step with the method %s sends no body', async (method) => {
    const { url, received } = await servers.recording((_request, response) => response.end());
    expectSuccess(await run({ url, method, body: { ignored: true } }));
    expect(received[0]).toMatchObject({ method, body: '' });
    expect(received[0]?.headers).not.toHaveProperty('content-type');
  });
});

it('an HTTP step has the timeout of its task, not that of the client', async () => {
  const hasty = createHttpClient({ allowLoopback: true, resolve: resolveNothing, timeoutMs: 1 });
  const url = await servers.http((_request, response) => setTimeout(() => response.end('late'), 50));
  const context = { http: hasty };
  expect(expectSuccess(await runAction(httpStep, { url }, { context })).outputs).toMatchObject({ body: 'late' });
  await hasty.close();
});

it.each<[string, Json, string]>([
  ['a header', { url: 'http://127.0.0.1', headers: { 'x-a': { b: 1 } } }, 'headers.x-a: the header must be text'],
  ['the URL', { url: null }, 'url: the URL must be text'],
])(
  'an HTTP step reports a template that renders %s to something other than text',
  async (_name, parameters, message) => {
    expect(expectFailure(await run(parameters)).error.message).toContain(message);
  },
);

it('errors of an HTTP step do not name options that pipelines do not have', async () => {
  const url = await reply('', 302, { location: '/x' });
  expect(expectFailure(await run({ url })).error.message).toMatch(/answered 302 \(redirects are not followed\)$/);
});

describe('the response of an HTTP step', () => {
  it.each<[string, string, Json]>([
    ['JSON, whatever its type says', '{"amount":12}', { amount: 12 }],
    ['text', 'OK', 'OK'],
    ['nothing', '', ''],
    ['JSON that is nested deeper than outputs may be as text', DEEP, DEEP],
  ])('a step reads %s', async (_name, sent, body) => {
    const url = await reply(sent, 201, { 'content-type': 'text/plain', 'X-Trace': 't' });
    expect(expectSuccess(await run({ url })).outputs).toEqual({
      status_code: 201,
      headers: expect.objectContaining({ 'x-trace': 't' }),
      body,
      duration_ms: expect.any(Number),
    });
  });

  it('a body of exactly 256 KB is kept unchanged', async () => {
    const url = await reply(`"${'x'.repeat(LIMIT - 2)}"`);
    const { outputs } = expectSuccess(await run({ url }));
    expect(outputs).toMatchObject({ body: 'x'.repeat(LIMIT - 2) });
    expect(outputs).not.toHaveProperty('is_truncated');
  });

  it('a body one byte larger is cut, kept as text and marked', async () => {
    const url = await reply(`"${'x'.repeat(LIMIT - 1)}"`);
    expect(expectSuccess(await run({ url })).outputs).toMatchObject({
      status_code: 200,
      is_truncated: true,
      body: `"${'x'.repeat(LIMIT - 1)}`,
    });
  });

  it('a body is not cut inside a character', async () => {
    const url = await reply(`x${'é'.repeat(LIMIT / 2)}`);
    expect(expectSuccess(await run({ url })).outputs).toMatchObject({ body: `x${'é'.repeat(LIMIT / 2 - 1)}` });
  });

  it('a JSON number that was cut is not read as a smaller number', async () => {
    const url = await reply('1'.repeat(LIMIT + 1));
    expect(expectSuccess(await run({ url })).outputs).toMatchObject({ is_truncated: true, body: '1'.repeat(LIMIT) });
  });
});

describe('failures of an HTTP step', () => {
  it.each([
    [500, true],
    [429, true],
    [404, false],
    [302, false],
  ])('a step fails on %i with the usual outputs (retried: %s)', async (status, retryable) => {
    const url = await reply('{"error":"no funds"}', status);
    expect(expectFailure(await run({ url }))).toMatchObject({
      retryable,
      error: { code: 'HTTP_STATUS' },
      outputs: { status_code: status, body: { error: 'no funds' }, duration_ms: expect.any(Number) },
    });
  });

  it('an invalid URL fails the step without a retry', async () => {
    expect(expectFailure(await run({ url: 'https://{{host}}/' }))).toMatchObject({
      retryable: false,
      error: { code: 'PARAMETERS_INVALID' },
    });
  });

  it('a refused connection fails the step with a retry', async () => {
    expect(expectFailure(await run({ url: await servers.refusing() }))).toMatchObject({
      retryable: true,
      error: { code: 'NETWORK_ERROR' },
    });
  });
});
