// Misbehaving servers and callers, from end to end: the run ends, and each task says what happened to it.

import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { testServers } from '../../src/action/http/server.testing.ts';
import type { Json, JsonObject } from '../../src/core/json/json.ts';
import { type Refusal, useApi } from '../workflow/api.ts';
import { create, ended, getRun, runOnce, runUntil, statuses, trigger } from './run.ts';
import { useShop } from './shop.ts';

const api = useApi();
/** As with `pawl serve`: no address of this machine may be called. */
const guarded = useApi({ http: { allowLoopback: false } });
const shop = useShop();
const servers = testServers();
afterAll(() => servers.close());

const KB = 1024;
const LIMIT = 256 * KB;
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';
const once = (url: string, rest: JsonObject = {}): JsonObject => ({ call: { url, retries: 0, ...rest } });

const nameOf = (kind: string, what: string): string => `${kind}-${what.toLowerCase().replaceAll(/\W+/g, '-')}`;

/** Writes the piece again and again until the other side closes the connection; `left` resolves then. */
function forever(first: string, piece: string, everyMs: number) {
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const serve = (socket: Socket) => {
    socket.resume().write(first);
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => {
      clearInterval(timer);
      resolve();
    });
  };
  return { serve, left };
}

describe('a response to a task', () => {
  it('a response of 10 MB is cut at 256 KB, and a template that reads it fails with the reason', async () => {
    const url = await servers.http((_request, response) => void response.end(`{"a":"${'x'.repeat(10 * KB * KB)}"}`));
    const run = await runOnce(api(), 'ten-megabytes', {
      call: { url },
      reads: { url: shop().url, needs: ['call'], body: { a: '{{tasks.call.body.a}}' } },
    });
    expect(run.status).toBe('completed');
    expect(run.tasks.call).toMatchObject({ status: 'success', status_code: 200, is_truncated: true });
    expect(run.tasks.reads).toMatchObject({
      status: 'template_error',
      error_message: "Cannot read 'body.a' because the response from 'call' exceeded the 256KB limit and was truncated",
    });
    const { tasks } = await getRun(api(), 'ten-megabytes', run.id, '?include=body');
    expect((tasks.call!.response_body as string).length).toBe(LIMIT);
  });

  it('a response of control characters, each six characters in JSON, is cut sooner', async () => {
    const url = await servers.http((_request, response) => void response.end('\u0001'.repeat(LIMIT)));
    const run = await runOnce(api(), 'control-characters', once(url));
    expect(run.tasks.call).toMatchObject({ status: 'success', status_code: 200, is_truncated: true });
    const { tasks } = await getRun(api(), 'control-characters', run.id, '?include=body');
    expect(tasks.call!.response_body).toBe(String.fromCharCode(1).repeat(LIMIT / 2));
  });

  it('a response beyond the limit for all bodies of a run still has its status', async () => {
    const url = await servers.http((_request, response) => void response.end('x'.repeat(LIMIT - 1)));
    const filling = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`fill-${index}`, { url }]));
    const run = await runOnce(api(), 'full', {
      ...filling,
      charge: { url, needs: Object.keys(filling) },
      ship: { url: shop().url, needs: ['charge'], if: 'tasks.charge.status_code == 200' },
      refund: { url: shop().url, needs: ['charge'], if: 'tasks.charge.status_code != 200' },
    });
    expect(run.tasks.charge).toMatchObject({ status: 'success', status_code: 200, is_truncated: true });
    expect([run.tasks.ship!.status, run.tasks.refund!.status]).toEqual(['success', 'skipped']);
  });

  it('a compressed response that expands to 200 MB is cut at the limit', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * KB * KB, ' '));
    const url = await servers.http((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const run = await runOnce(api(), 'bomb', once(url));
    expect(run.tasks.call).toMatchObject({ status: 'success', is_truncated: true });
    const { tasks } = await getRun(api(), 'bomb', run.id, '?include=body');
    expect((tasks.call!.response_body as string).length).toBe(LIMIT);
  });

  it('a response that never ends is cut, and the connection is closed', async () => {
    const flood = forever(`${OK}\r\n`, 'x'.repeat(64 * KB), 1);
    const run = await runOnce(api(), 'flood', once(await servers.tcp(flood.serve)));
    expect(run.tasks.call).toMatchObject({ status: 'success', is_truncated: true });
    await flood.left;
  });

  it.each([
    ['whose headers drip in', 'HTTP/1.1 200 OK\r\n', 'x-drop: 1\r\n'],
    ['whose body drips in', `${OK}content-length: 1000000\r\n\r\n`, 'x'],
    ['of which nothing comes', '', ''],
  ])('a response %s is given up after the timeout', async (what, first, piece) => {
    const name = nameOf('slow', what);
    const drip = forever(first, piece, 10);
    const run = await runOnce(api(), name, once(await servers.tcp(drip.serve), { timeout: 200 }));
    expect(run.status).toBe('completed');
    expect(run.tasks.call).toMatchObject({ status: 'timeout', status_code: null });
    expect(run.tasks.call!.error_message).toMatch(/200 ms/);
    await drip.left;
  });

  it.each<[string, string, RegExp]>([
    ['that is not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', /not HTTP/],
    ['that breaks off', `${OK}content-length: 1000\r\n\r\nabc`, /connection broke/],
    ['with a header of 1 MB', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(KB * KB)}\r\n\r\n`, /headers .* too large/],
    [
      'that claims to be gzip and is not',
      `${OK}content-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc`,
      /could not be decompressed/,
    ],
  ])('a response %s fails the task and not the run', async (what, answer, message) => {
    const name = nameOf('bad', what);
    const run = await runOnce(api(), name, {
      ...once(await servers.tcp((socket) => void socket.end(answer))),
      after: { url: shop().url, needs: ['call'], if: "tasks.call.status == 'failed'" },
    });
    expect([run.status, statuses(run)]).toEqual(['completed', { call: 'failed', after: 'success' }]);
    expect(run.tasks.call!.error_message).toMatch(message);
  });
});

describe('private addresses (S5)', () => {
  it('a redirect to a private address is not followed', async () => {
    let reached = 0;
    const inside = await servers.http((_request, response) => {
      reached++;
      response.end('secret');
    });
    for (const [index, location] of [
      'http://169.254.169.254/latest/meta-data/',
      inside,
      'file:///etc/passwd',
    ].entries()) {
      const url = await servers.http((_request, response) => void response.writeHead(302, { location }).end());
      const run = await runOnce(api(), `redirect-${index}`, once(url));
      expect(run.tasks.call).toMatchObject({ status: 'failed', status_code: 302, attempt: 1 });
      expect(run.tasks.call!.error_message).toContain('redirects are not followed');
    }
    expect(reached).toBe(0);
  });

  it('a private address is not called in any notation, and not retried', async () => {
    const { port } = new URL(shop().url);
    const before = shop().received.length;
    const hosts = ['127.0.0.1', 'localhost', '[::1]', '[::ffff:127.0.0.1]', '2130706433', '0.0.0.0', '10.0.0.1'];
    const tasks = Object.fromEntries(hosts.map((host, index) => [`t${index}`, { url: `http://${host}:${port}/` }]));
    const run = await runOnce(guarded(), 'inside', tasks);
    for (const [name, task] of Object.entries(run.tasks)) {
      expect([name, task]).toMatchObject([name, { status: 'failed', status_code: null, attempt: 1 }]);
      expect(task.error_message).toMatch(/not allowed/);
    }
    expect(shop().received).toHaveLength(before);
  });

  it('a private address from the trigger body is not called', async () => {
    const run = await runOnce(guarded(), 'told-inside', once('{{trigger.body.url}}'), { url: shop().url });
    expect(run.tasks.call).toMatchObject({ status: 'failed', attempt: 1 });
  });
});

it('a condition that cannot be evaluated skips its task with the reason', async () => {
  const tasks = { a: { sleep: 0 }, b: { needs: ['a'], if: "'x'.repeat(1e9).length > 0", sleep: 0 } };
  expect((await create(api(), 'costly-condition', tasks)).status).toBe(201);
  const run = await ended(api(), 'costly-condition', await trigger(api(), 'costly-condition'));
  expect(run.tasks.b).toMatchObject({ status: 'skipped', skip_reason: expect.stringContaining('maxBytes') });
});

describe('a request of 10 MB', () => {
  it.each(['/workflows', '/workflows/small/trigger', '/workflows/small'])(
    'a request of 10 MB to %s is refused',
    async (path) => {
      await create(api(), 'small', once(shop().url));
      const method = path.endsWith('small') ? 'PUT' : 'POST';
      const { status, body } = await api().send<Refusal>(method, path, { filler: 'x'.repeat(10 * KB * KB) });
      expect([status, body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
      expect((await api().get<{ data: unknown[] }>('/workflows/small/runs')).body.data).toEqual([]);
    },
  );
});

describe('callbacks', () => {
  async function waiting(name: string, wait: JsonObject = {}): Promise<{ runId: string; path: string }> {
    await create(api(), name, {
      open: { url: `${shop().url}/${name}`, body: { to: '{{wait.paid.url}}' } },
      paid: { needs: ['open'], wait_for_webhook: wait },
      ship: { url: `${shop().url}/ship-${name}`, needs: ['paid'], body: { is: '{{tasks.paid.body}}' } },
    });
    const runId = await trigger(api(), name);
    await runUntil(api(), name, runId, ({ tasks }) => tasks.paid?.status === 'waiting');
    const [{ to }] = shop().bodies(`/${name}`) as [{ to: string }];
    return { runId, path: new URL(to).pathname };
  }

  const isStillWaiting = async (name: string, runId: string) =>
    expect((await getRun(api(), name, runId)).tasks.paid!.status).toBe('waiting');

  it('a callback sent a hundred times at once is answered every time and counts once', async () => {
    const { runId, path } = await waiting('hundred');
    const replies = await Promise.all(Array.from({ length: 100 }, () => api().post(path, { payment_id: 'p' })));
    expect(replies.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(statuses(await ended(api(), 'hundred', runId))).toMatchObject({ paid: 'success', ship: 'success' });
    expect(shop().bodies('/ship-hundred')).toEqual([{ is: { payment_id: 'p' } }]);
  });

  it.each<[string, string, number, string]>([
    ['too-large', `{"a":"${'x'.repeat(10 * KB * KB)}"}`, 413, 'PAYLOAD_TOO_LARGE'],
    ['too-deep', `${'['.repeat(500)}${']'.repeat(500)}`, 400, 'REQUEST_INVALID'],
    ['prototype', '{"__proto__":{"admin":true}}', 400, 'REQUEST_INVALID'],
  ])('callbacks that are %s are refused, and the wait goes on', async (name, body, status, code) => {
    const { runId, path } = await waiting(name);
    const headers = { 'content-type': 'application/json' };
    const reply = await fetch(`${api().url}${path}`, { method: 'POST', headers, body });
    expect([reply.status, ((await reply.json()) as Refusal).error.code]).toEqual([status, code]);
    await isStillWaiting(name, runId);
    expect((await api().post(path, { fine: true })).status).toBe(200);
    expect((await ended(api(), name, runId)).tasks.paid).toMatchObject({ status: 'success' });
  });

  it.each<[string, JsonObject, boolean]>([
    ['after-timeout', { timeout: 1 }, false],
    ['after-cancel', {}, true],
  ])('callbacks %s get 410, even a hundred at once', async (name, wait, cancels) => {
    const { runId, path } = await waiting(name, wait);
    if (cancels) await api().post(`/workflows/${name}/runs/${runId}/cancel`);
    const run = await ended(api(), name, runId);
    expect(run.tasks.paid!.status).toBe(cancels ? 'cancelled' : 'timeout');
    const late = () => api().post<Refusal>(path, { late: true } as Json);
    const replies = await Promise.all(Array.from({ length: 100 }, late));
    expect(new Set(replies.map(({ status, body }) => `${status} ${body.error.code}`))).toEqual(
      new Set(['410 CALLBACK_GONE']),
    );
  });
});
