// I22: a tenant that holds all the streams, long polls or requests that it may hold keeps no other tenant out.

import { afterEach, expect, it } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../src/server/app.ts';
import { createAuth } from '../../src/server/auth/authenticator.ts';
import { EVENT_STREAM_HEADERS } from '../../src/server/event-stream.ts';
import { defineRoute } from '../../src/server/route.ts';

const MOST = 4;
const common = {
  method: 'GET',
  access: 'workflows:read',
  summary: 'Test',
  tag: 'Test',
  responses: { 200: null },
} as const;
const untilGone = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve());
  });
async function* following(signal: AbortSignal): AsyncGenerator<string> {
  yield ': following\n\n';
  await untilGone(signal);
}

let begun = 0;
const held = defineRoute({
  ...common,
  path: '/held',
  query: z.object({ wait: z.string().optional(), quick: z.string().optional() }),
  async handle({ query, headers, signal }) {
    if (query.quick !== undefined) return { status: 200, body: {} };
    begun++;
    if (headers.accept === 'text/event-stream') {
      return { status: 200, headers: EVENT_STREAM_HEADERS, stream: following(signal) };
    }
    await untilGone(signal);
    return { status: 200, body: {} };
  },
});

let app: ReturnType<typeof createApp>;
afterEach(() => app.close());

const KINDS = [
  { kind: 'streams', path: '/held', accept: 'text/event-stream' },
  { kind: 'long polls', path: '/held?wait=60s', accept: '*/*' },
  { kind: 'requests', path: '/held', accept: '*/*' },
];

it.each(KINDS)(
  '$kind: a tenant that holds its full share is refused, and another tenant gets in',
  async ({ path, accept }) => {
    const limits = { maxStreams: MOST, maxWaits: MOST, maxInFlight: MOST };
    app = createApp({ routes: [held], auth: createAuth('loose', []), ...limits });
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const leave = new AbortController();
    const ask = (tenant: string, asked = path) =>
      fetch(url + asked, { headers: { accept, 'x-tenant-id': tenant }, signal: leave.signal });
    begun = 0;
    const open = Array.from({ length: MOST }, () => ask('greedy').catch(() => null));
    await expect.poll(() => begun).toBe(MOST);
    const refused = await ask('greedy');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[15]$/)]);
    const other = ask('victim').catch(() => null);
    await expect.poll(() => begun).toBe(MOST + 1);
    expect((await ask('another', '/held?quick=yes')).status).toBe(200);
    leave.abort();
    await Promise.all([...open, other]);
  },
);
