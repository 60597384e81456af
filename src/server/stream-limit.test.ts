import { afterEach, expect, it } from 'vitest';
import { createApp } from './app.ts';
import { createAuth } from './auth/authenticator.ts';
import { EVENT_STREAM_HEADERS } from './event-stream.ts';
import { defineRoute, type RouteSpec } from './route.ts';

async function* forever(signal: AbortSignal): AsyncGenerator<string> {
  yield ': following\n\n';
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
}

const common = {
  method: 'GET',
  access: 'public',
  unlimited: true,
  summary: 'Events',
  tag: 'Test',
  responses: { 200: null },
} as const;

const events = defineRoute({
  ...common,
  path: '/events',
  handle: async ({ headers, signal }) =>
    headers.accept === 'text/event-stream'
      ? { status: 200, headers: EVENT_STREAM_HEADERS, stream: forever(signal) }
      : { status: 200, body: { data: [] } },
});

/** Has its answer when nobody wants it any more. */
const late = (came: () => void): RouteSpec =>
  defineRoute({
    ...common,
    path: '/late',
    async handle({ signal }) {
      const isGone = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      came();
      await isGone;
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream: forever(signal) };
    },
  });

let app: ReturnType<typeof createApp>;
afterEach(() => app.close());

async function listen(...routes: RouteSpec[]) {
  app = createApp({ routes, auth: createAuth('loose', []), maxStreams: 2 });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  return (path: string, signal?: AbortSignal, accept = 'text/event-stream') =>
    fetch(url + path, { headers: { accept }, ...(signal === undefined ? {} : { signal }) });
}

it('I21: the number of open streams is limited, and pages are still answered', async () => {
  const follow = await listen(events);
  const leave = new AbortController();
  const open = await Promise.all([follow('/events', leave.signal), follow('/events', leave.signal)]);
  expect(open.map(({ status }) => status)).toEqual([200, 200]);
  const refused = await follow('/events');
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ error: { code: 'UNAVAILABLE' } });
  expect((await follow('/events', undefined, '*/*')).status).toBe(200);
  leave.abort();
  const last = new AbortController();
  await expect.poll(async () => (await follow('/events', last.signal)).status).toBe(200);
  last.abort();
});

it('a stream whose client left before it began does not count as open', async () => {
  let came = Promise.withResolvers<void>();
  const follow = await listen(
    events,
    late(() => came.resolve()),
  );
  for (let times = 0; times < 2; times++) {
    const leave = new AbortController();
    const answer = follow('/late', leave.signal);
    await came.promise;
    came = Promise.withResolvers<void>();
    leave.abort();
    await expect(answer).rejects.toThrow();
  }
  const last = new AbortController();
  await expect.poll(async () => (await follow('/events', last.signal)).status).toBe(200);
  last.abort();
});
