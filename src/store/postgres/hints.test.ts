// Hints when the network between the listener and PostgreSQL stops, without a word: sockets stay open, and nothing comes.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/support/database.ts';
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

it('a connection that answers no note is given up, and another one delivers', async () => {
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

it('a connection that only listens is found out as well', async () => {
  const hints = await open({ beatMs: 20 });
  network.freeze();
  await toDeliver(hints).toBe(false);
});

it('one note is on its way at a time, and what comes meanwhile travels with the next', async () => {
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

it('opening and closing do not wait for ever', async () => {
  network.freeze();
  const hints = await open();
  expect(hints.delivering).toBe(false);
  network.thaw();
  await toDeliver(hints).toBe(true);
  network.freeze();
  await hints.close();
});

interface Network {
  readonly connectionString: string;
  /** From now on what is sent stays where it is, until it thaws; connections are accepted all the same. */
  freeze(): void;
  thaw(): void;
  notesHeld(): number;
  close(): void;
}

async function openNetwork(target: URL): Promise<Network> {
  const sockets = new Set<Socket>();
  let isFrozen = false;
  let held: { to: Socket; bytes: Buffer }[] = [];
  const relay = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on('error', () => {});
    from.on('data', (bytes) => {
      if (isFrozen) held.push({ to, bytes });
      else to.write(bytes);
    });
    from.on('end', () => isFrozen || to.end());
  };
  // Half open: one end that leaves is answered by the other end, not by the network.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({ port: Number(target.port), host: target.hostname, allowHalfOpen: true });
    relay(client, upstream);
    relay(upstream, client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as { port: number }).port);
  return {
    connectionString: url.href,
    freeze: () => {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
      for (const { to, bytes } of held) to.write(bytes);
      held = [];
    },
    notesHeld: () => held.filter(({ bytes }) => bytes.includes('select pg_notify')).length,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
