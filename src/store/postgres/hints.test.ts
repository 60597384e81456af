// Hints when the network between the listener and PostgreSQL stops silently: sockets stay open, and nothing arrives.

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type TestDatabase, testDatabase, withClient } from '../../../test/support/database.ts';
import { type Network, openNetwork } from '../../../test/support/network.ts';
import type { Hint, Hints } from '../hint-port.ts';
import { openHints } from './hints.ts';

let database: TestDatabase;
let network: Network;
let heard: Hint[] = [];
let opened: Hints[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  network = await openNetwork(new URL(database.connectionString));
  heard = [];
});
afterEach(async () => {
  for (const hints of opened) await hints.close();
  opened = [];
  network.close();
});

const never = 600_000;
async function open(given: { queryTimeoutMs?: number; beatMs?: number } = {}): Promise<Hints> {
  const { connectionString } = network;
  const receive = (hint: Hint) => heard.push(hint);
  const hints = await openHints({ connectionString, receive, warn: () => {}, queryTimeoutMs: 200, ...given });
  opened.push(hints);
  return hints;
}
const tell = (hints: Hints, executionId: string) => hints.send({ kind: 'mail', executionId });
const toDeliver = (hints: Hints) => expect.poll(() => hints.delivering, { timeout: 10_000 });

it('a connection that does not acknowledge a note is replaced, and the new one delivers', async () => {
  const hints = await open();
  expect(hints.delivering).toBe(true);
  network.freeze();
  tell(hints, 'lost');
  await toDeliver(hints).toBe(false);
  network.thaw();
  await toDeliver(hints).toBe(true);
  tell(hints, 'found');
  await expect.poll(() => heard).toContainEqual({ kind: 'mail', executionId: 'found' });
});

it('a dead connection that only listens is detected as well', async () => {
  const hints = await open({ beatMs: 20 });
  network.freeze();
  await toDeliver(hints).toBe(false);
});

it('one note is sent at a time, and later hints go with the next note', async () => {
  const hints = await open({ queryTimeoutMs: never });
  network.freeze();
  tell(hints, 'first');
  await expect.poll(() => network.notesHeld()).toBe(1);
  const ids = Array.from({ length: 400 }, (_, index) => `id-${index}`);
  for (const id of ids) {
    tell(hints, id);
    if (id.endsWith('0')) await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(network.notesHeld()).toBe(1);
  network.thaw();
  await expect.poll(() => heard.length).toBe(1 + ids.length);
});

it('opening and closing hints do not wait forever on a silent network', async () => {
  network.freeze();
  const hints = await open();
  expect(hints.delivering).toBe(false);
  network.thaw();
  await toDeliver(hints).toBe(true);
  network.freeze();
  await hints.close();
});

it('work is announced to as many runners with room as needed, and to all when none announced room', async () => {
  const { connectionString } = database;
  const told: string[] = [];
  const listen = async (name: string, room?: () => number) => {
    const receive = (hint: Hint) => hint.kind === 'work' && told.push(name);
    opened.push(await openHints({ connectionString, receive, warn: () => {}, room }));
  };
  const sender = await openHints({ connectionString, receive: () => {}, warn: () => {} });
  opened.push(sender);
  const work = (count: number) => sender.send({ kind: 'work', lanes: [{ tenantId: 'acme', priority: 5, count }] });
  const seen = async () => {
    // Notes arrive in order: after this one all earlier ones are here.
    const mark = `mark-${Math.random()}`;
    heard = [];
    const last = await openHints({ connectionString, receive: (hint) => heard.push(hint), warn: () => {} });
    sender.send({ kind: 'mail', executionId: mark });
    await expect.poll(() => heard).toContainEqual({ kind: 'mail', executionId: mark });
    await last.close();
    return told.splice(0).sort();
  };
  const toldOfOne = async () => {
    work(1);
    return (await seen()).length;
  };
  await listen('observer');
  work(1);
  expect(await seen()).toEqual(['observer']);
  let room = 100;
  for (const name of ['one', 'two', 'three', 'four']) await listen(name, () => room);
  await expect.poll(toldOfOne).toBe(1);
  work(350);
  expect(await seen()).toHaveLength(4);
  work(100_000);
  expect(await seen()).toHaveLength(4);
  room = 0;
  await expect.poll(toldOfOne).toBe(5);
});

it('a runner of an older version is announced work on the common channel', async () => {
  const { connectionString } = database;
  const notes: { to?: string[]; work?: true }[] = [];
  const sender = await openHints({ connectionString, receive: () => {}, warn: () => {} });
  opened.push(sender);
  await withClient(connectionString, async (client) => {
    client.on('notification', ({ payload }) => notes.push(JSON.parse(payload ?? '{}')));
    await client.query('listen pawl_hint');
    await client.query('select pg_notify($1, $2)', ['pawl_hint', JSON.stringify({ room: { of: 'old', has: true } })]);
    await expect
      .poll(() => {
        sender.send({ kind: 'work', lanes: [{ tenantId: 'acme', priority: 5, count: 1 }] });
        return notes.filter(({ work }) => work === true).at(-1)?.to;
      })
      .toEqual(['old']);
  });
});
