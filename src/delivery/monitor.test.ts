import { describe, expect, it } from 'vitest';
import { type HandTimers, handTimers, settled } from '../clock/hand-timers.testing.ts';
import type { MonitorLook } from '../store/delivery-port.ts';
import { ConsumerBook } from './consumer-book.ts';
import { Monitor, type MonitorDeps } from './monitor.ts';

const QUIET: MonitorLook = {
  at: 1_000_000,
  generation: '1',
  dueConsumerIds: [],
  nextDeliveryAt: null,
  nextTimeoutAt: null,
  hasReactions: false,
  hasOutbox: false,
};

async function setup(changes: Partial<MonitorDeps> = {}) {
  const timers: HandTimers = handTimers();
  const did: string[] = [];
  const now = { look: QUIET, looks: 0, generation: '1' };
  const book = new ConsumerBook({
    store: {
      consumerList: async () => [],
      consumerPut: () => Promise.reject(new Error('not here')),
      lifecycleGeneration: async () => now.generation,
    },
    concurrency: 1,
  });
  await book.refresh();
  const monitor = new Monitor({
    store: {
      async monitorLook() {
        now.looks++;
        return now.look;
      },
      async messagePurge({ before }) {
        did.push(`purged before ${before}`);
        return 0;
      },
    },
    timers,
    observer: { warn: (event) => void did.push(event) },
    book,
    dispatcher: { reachable: () => ['1'], wake: (ids) => void did.push(...[...ids].map((id) => `woke ${id}`)) },
    pulls: { waitedFor: () => ['2'] },
    publisher: {
      async runOnce() {
        did.push('published');
        return { published: 1, more: false };
      },
      stop: async () => {},
    },
    async fireTimeouts() {
      did.push('fired');
      return 1;
    },
    async react() {
      did.push('reacted');
      return 0;
    },
    options: { intervalMs: 1_000, retentionMs: 0 },
    ...changes,
  });
  return { monitor, timers, did, now, book };
}

describe('one look of the monitor', () => {
  it('a look with nothing due does nothing, and the next comes after one interval, or two if nothing is open', async () => {
    const { monitor, did, now } = await setup();
    expect(await monitor.runOnce()).toEqual({ waitMs: 2_000 });
    now.look = { ...QUIET, nextTimeoutAt: QUIET.at + 60_000 };
    expect(await monitor.runOnce()).toEqual({ waitMs: 1_000 });
    expect(did).toEqual([]);
  });

  it('a look handles everything that is due, and the next comes at once while there is more', async () => {
    const { monitor, did, now } = await setup();
    const due = { dueConsumerIds: ['1'], nextTimeoutAt: QUIET.at, hasReactions: true, hasOutbox: true };
    now.look = { ...QUIET, ...due };
    expect(await monitor.runOnce()).toEqual({ waitMs: 0 });
    expect(did).toEqual(['woke 1', 'fired', 'reacted', 'published']);
  });

  it('a look fires nothing early (I8), and the next comes when something is due', async () => {
    const { monitor, did, now } = await setup();
    now.look = { ...QUIET, nextTimeoutAt: QUIET.at + 300, nextDeliveryAt: QUIET.at + 700 };
    expect(await monitor.runOnce()).toEqual({ waitMs: 300 });
    now.look = { ...QUIET, nextDeliveryAt: QUIET.at + 1 };
    expect(await monitor.runOnce()).toEqual({ waitMs: 20 });
    expect(did).toEqual([]);
  });

  it('a look reads the consumers again when they changed', async () => {
    const { monitor, now, book } = await setup();
    now.generation = '2';
    now.look = { ...QUIET, generation: '2' };
    await monitor.runOnce();
    expect(book.generation).toBe('2');
  });

  it('a look does the other kinds of work when one of them fails', async () => {
    const { monitor, did, now } = await setup({ fireTimeouts: () => Promise.reject(new Error('no')) });
    now.look = { ...QUIET, nextTimeoutAt: QUIET.at, hasReactions: true };
    await monitor.runOnce();
    expect(did.sort()).toEqual(['reacted', 'timeouts could not be fired']);
  });

  it('old messages are purged from time to time', async () => {
    const { monitor, did, timers } = await setup({ options: { intervalMs: 1_000, retentionMs: 1_000 } });
    timers.advance(600_000);
    await monitor.runOnce();
    await monitor.runOnce();
    expect(did).toEqual(['purged before 999000']);
    timers.advance(600_000);
    await monitor.runOnce();
    expect(did).toHaveLength(2);
  });

  it('other old data is purged even when messages are kept forever', async () => {
    const { monitor, did, timers } = await setup();
    timers.advance(600_000);
    await monitor.runOnce();
    expect(did).toEqual(['purged before 0']);
  });
});

describe('the monitor', () => {
  it('the monitor looks once per interval, sooner when woken, and never after a stop', async () => {
    const { monitor, timers, now } = await setup();
    monitor.start();
    timers.advance(0);
    await settled();
    timers.advance(2_000);
    await settled();
    expect(now.looks).toBe(2);
    monitor.wake();
    timers.advance(0);
    await settled();
    expect(now.looks).toBe(3);
    await monitor.stop();
    monitor.wake();
    timers.advance(60_000);
    await settled();
    expect(now.looks).toBe(3);
  });

  it('the monitor goes on after the database was away', async () => {
    let isAway = true;
    const { monitor, timers, did } = await setup({
      store: {
        monitorLook: async () => (isAway ? Promise.reject(new Error('away')) : { ...QUIET, dueConsumerIds: ['1'] }),
        messagePurge: async () => 0,
      },
    });
    monitor.start();
    timers.advance(0);
    await settled();
    isAway = false;
    timers.advance(1_000);
    await settled();
    expect(did).toEqual(['the monitor could not look', 'woke 1']);
    await monitor.stop();
  });
});
