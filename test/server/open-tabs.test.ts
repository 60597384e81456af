// What open pages of the dashboard cost the database: all pages share the same queries. The test counts the statements between
// the server and its database; other processes do the work that the pages show.

import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { countQueries, type QueryCounter } from '../../bench/query-counter.ts';
import { createPawl, type Pawl } from '../../src/main.ts';
import { createClient, type PawlClient } from '../../src/sdk/client.ts';
import { chain, echo, sleep, tokenFor, useServer } from './api-server.ts';

const TABS = 50;
const server = useServer({ engine: { parkAfterMs: 0 } });
let counter: QueryCounter;
let watched: Pawl;
let client: PawlClient;

beforeAll(async () => {
  counter = await countQueries(server.database.connectionString);
  const { auth, rateLimit, http } = server.pawl.config;
  watched = await createPawl({
    serve: true,
    runner: false,
    database: { url: counter.url },
    server: { port: 0 },
    auth,
    rateLimit,
    http,
  });
  client = createClient({ url: watched.url!, token: await tokenFor() });
  await server.pawl.publish(chain('works', echo('only')), { tenantId: 'acme' });
  await server.pawl.publish(chain('sleeps', sleep('nap', 3_600_000)), { tenantId: 'acme' });
});
afterAll(async () => {
  await watched?.close();
  await counter?.close();
});

/** All statements of streams and of page requests. The server's own work (triggers, deliveries) uses other statement names. */
const OF_PAGES = [
  'live_now',
  'execution_',
  'attempt_waits',
  'attempt_count_of',
  'store_health',
  'runner_list',
  'queue_depth',
];

function askedByPages(): number {
  const names = [...counter.byName].filter(([name]) => OF_PAGES.some((start) => name.startsWith(start)));
  return names.reduce((sum, [, count]) => sum + count, 0);
}

const startSleeping = async () => (await server.pawl.start('sleeps', { tenantId: 'acme' })).executionId;

describe('fifty open pages of the dashboard', () => {
  it('fifty open pages together cost at most two statements a second, and all see changes', async () => {
    const ended = (await server.pawl.start('works', { tenantId: 'acme' })).executionId;
    await server.pawl.result(ended, { tenantId: 'acme' });
    const live = await startSleeping();
    const stop = new AbortController();
    const { signal } = stop;
    const newest: (string | undefined)[] = Array.from({ length: TABS });
    const facts: number[] = Array(TABS).fill(0);
    // As a page does: for an ended execution it watches the row, for a live one it follows the journal.
    const hear = async (tab: number, watched: readonly string[]) => {
      for await (const { event, data } of client.system.watch(watched, { signal }))
        if (event === 'newest') newest[tab] = data.executionId;
    };
    const follow = async (tab: number) => {
      for await (const { facts: more } of client.executions.transitions(live, { signal })) facts[tab]! += more.length;
    };
    const tabs = facts.flatMap((_, tab) => (tab % 2 === 0 ? [hear(tab, [ended])] : [hear(tab, []), follow(tab)]));
    const areOpen = () => newest.every((id) => id === live) && facts.every((count, tab) => tab % 2 === 0 || count > 0);
    await vi.waitUntil(areOpen, { timeout: 60_000 });
    expect(askedByPages()).toBeGreaterThan(TABS / 2);
    const [before, startedAt] = [askedByPages(), performance.now()];
    for (let round = 0; round < 5; round++) {
      const started = await startSleeping();
      await vi.waitUntil(() => newest.every((id) => id === started), { timeout: 60_000 });
    }
    const seconds = (performance.now() - startedAt) / 1_000;
    expect((askedByPages() - before) / seconds).toBeLessThanOrEqual(2);
    stop.abort();
    await Promise.allSettled(tabs);
  }, 120_000);
});
