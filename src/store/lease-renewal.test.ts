import { describe, expect, it } from 'vitest';
import { handTimers, settled } from '../clock/hand-timers.testing.ts';
import { keepRenewing, type LeaseNews } from './lease-renewal.ts';

describe('renewing a lease', () => {
  it('lease renewal pauses while it is not wanted, continues when it is, and runs at once on request', async () => {
    const timers = handTimers();
    const news: LeaseNews[] = [];
    let isWanted = true;
    const renewing = keepRenewing({
      runnerId: '7',
      leaseMs: 3_000,
      store: { leaseRenew: async () => ({ renewed: true, at: 1 }) },
      monotonicMs: timers.monotonicMs,
      after: timers.after,
      isWanted: () => isWanted,
      heard: (said) => news.push(said),
    });
    const pass = async (seconds: number) => {
      for (let left = seconds; left > 0; left--) {
        timers.advance(1_000);
        await settled();
      }
    };
    await pass(2);
    isWanted = false;
    await pass(10);
    expect(news).toHaveLength(2);
    isWanted = true;
    await pass(1);
    expect(news.at(-1)).toEqual({ type: 'renewed', startedAt: 13_000, answeredAt: 13_000, at: 1 });
    renewing.hurry();
    await settled();
    expect(news).toHaveLength(4);
    renewing.stop();
    renewing.hurry();
    await pass(5);
    expect([news.length, timers.pending]).toEqual([4, 0]);
  });
});
