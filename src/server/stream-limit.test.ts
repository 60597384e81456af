import { afterEach, expect, it } from 'vitest';
import { createApp } from './app.ts';
import { createAuth } from './auth/authenticator.ts';
import { EVENT_STREAM_HEADERS } from './event-stream.ts';
import { defineRoute } from './route.ts';

async function* forever(signal: AbortSignal): AsyncGenerator<string> {
  yield ': following\n\n';
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const events = defineRoute({
  method: 'GET',
  path: '/events',
  access: 'public',
  unlimited: true,
  summary: 'Events',
  tag: 'Test',
  responses: { 200: null },
  handle: async ({ headers, signal }) =>
    headers.accept === 'text/event-stream'
      ? { status: 200, headers: EVENT_STREAM_HEADERS, stream: forever(signal) }
      : { status: 200, body: { data: [] } },
});

const app = createApp({ routes: [events], auth: createAuth('loose', []), maxStreams: 2 });
afterEach(() => app.close());

it('I21: only so many streams are open at once; pages are answered all the same', async () => {
  const url = `${await app.listen({ port: 0, host: '127.0.0.1' })}/events`;
  const leave = new AbortController();
  const follow = (signal?: AbortSignal) =>
    fetch(url, { headers: { accept: 'text/event-stream' }, ...(signal === undefined ? {} : { signal }) });
  const open = await Promise.all([follow(leave.signal), follow(leave.signal)]);
  expect(open.map(({ status }) => status)).toEqual([200, 200]);
  const refused = await follow();
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
  expect((await fetch(url)).status).toBe(200);
  leave.abort();
  const last = new AbortController();
  await expect.poll(async () => (await follow(last.signal)).status).toBe(200);
  last.abort();
});
