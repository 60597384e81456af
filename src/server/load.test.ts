import { connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createApp } from './app.ts';
import { type Auth, createAuth } from './auth/authenticator.ts';
import { EVENT_STREAM_HEADERS } from './event-stream.ts';
import { defineRoute } from './route.ts';

const common = { summary: 'Test', tag: 'Test', responses: { 200: null } } as const;
const page = defineRoute({
  ...common,
  method: 'GET',
  path: '/page',
  access: 'workflows:read',
  handle: async () => ({ status: 200, body: {} }),
});
const probe = defineRoute({
  ...common,
  method: 'GET',
  path: '/probe',
  access: 'public',
  unlimited: true,
  handle: async () => ({ status: 200, body: {} }),
});
const inbox = defineRoute({
  ...common,
  method: 'POST',
  path: '/inbox',
  access: 'public',
  bodyKind: 'any',
  handle: async () => ({ status: 200, body: {} }),
});
const events = defineRoute({
  ...common,
  method: 'GET',
  path: '/events',
  access: 'public',
  unlimited: true,
  handle: async ({ signal }) => ({ status: 200, headers: EVENT_STREAM_HEADERS, stream: untilGone(signal) }),
});

async function* untilGone(signal: AbortSignal): AsyncGenerator<string> {
  yield ': following\n\n';
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

/** Callers wait here until they are let in; `x-quick` does not. */
function slowDesk() {
  const loose = createAuth('loose', []);
  const waiting: (() => void)[] = [];
  const auth: Auth = {
    mode: 'loose',
    async authenticate(headers) {
      if (headers['x-quick'] === undefined) await new Promise<void>((resolve) => waiting.push(resolve));
      return loose.authenticate(headers);
    },
  };
  return { auth, waiting };
}

let app: ReturnType<typeof createApp>;
afterEach(() => app.close());

async function listen(maxInFlight: number) {
  const { auth, waiting } = slowDesk();
  app = createApp({ routes: [page, probe, inbox, events], auth, maxInFlight });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const ask = (path: string, signal?: AbortSignal) =>
    fetch(url + path, { headers: { 'x-quick': 'yes' }, ...(signal === undefined ? {} : { signal }) });
  const askSlowly = (signal?: AbortSignal) => fetch(`${url}/page`, signal === undefined ? {} : { signal });
  const statusOf = async (path: string) => (await ask(path)).status;
  const post = async (path: string) => (await fetch(url + path, { method: 'POST', body: '{}' })).status;
  return { ask, askSlowly, statusOf, post, waiting, port: Number(new URL(url).port) };
}

it('I21: a caller who waits for authentication takes a place, the next gets 503, and probes are answered', async () => {
  const { ask, askSlowly, statusOf, waiting } = await listen(2);
  const first = [askSlowly(), askSlowly()];
  await expect.poll(() => waiting.length).toBe(2);
  const refused = await ask('/page');
  expect({ status: refused.status, retryAfter: refused.headers.get('retry-after') }).toEqual({
    status: 503,
    retryAfter: '1',
  });
  expect(refused.headers.get('x-correlation-id')).not.toBeNull();
  expect(await refused.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
  expect(await statusOf('/nowhere')).toBe(404);
  expect(await statusOf('/probe')).toBe(200);
  for (const letIn of waiting) letIn();
  expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200]);
  await expect.poll(() => statusOf('/page')).toBe(200);
});

it('I21: an unfinished public body takes a public place until its sender leaves', async () => {
  const { statusOf, post, port } = await listen(1);
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('POST /inbox HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf');
  });
  await expect.poll(() => post('/inbox')).toBe(503);
  expect(await statusOf('/page')).toBe(200);
  socket.destroy();
  await expect.poll(() => post('/inbox')).toBe(200);
});

it('I21: the place of a caller who left is taken until the work for it ends', async () => {
  const { askSlowly, statusOf, waiting } = await listen(1);
  const leave = new AbortController();
  const answer = askSlowly(leave.signal);
  await expect.poll(() => waiting.length).toBe(1);
  leave.abort();
  await expect(answer).rejects.toThrow();
  expect(await statusOf('/page')).toBe(503);
  waiting[0]!();
  await expect.poll(() => statusOf('/page')).toBe(200);
});

it('I21: every place is given back once, for every kind of answer', async () => {
  const { ask, statusOf } = await listen(1);
  for (let times = 0; times < 3; times++) {
    for (const path of ['/page', '/nowhere', '/page?unknown=1', '/probe', '/inbox']) {
      await expect.poll(() => statusOf(path)).not.toBe(503);
    }
  }
  const leave = new AbortController();
  const streams = await Promise.all([ask('/events', leave.signal), ask('/events', leave.signal)]);
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  await expect.poll(() => statusOf('/page')).toBe(200);
  leave.abort();
  await expect.poll(() => statusOf('/page')).toBe(200);
});
