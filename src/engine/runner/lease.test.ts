import { describe, expect, it } from 'vitest';
import { createClock } from '../../clock/clock.ts';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import type { LeaseNews, OpenLeaseThread } from '../../store/lease-renewal.ts';
import type { RunnerStore } from '../../store/runner-port.ts';
import { recordingObserver } from '../recording-observer.testing.ts';
import { keepLease } from './lease.ts';

const OPTIONS = { leaseMs: 9_000, leaseMarginMs: 2_000 };
const NOW = 1_000_000;

/** A thread that answers as the test says. */
function setup({
  withThread = true,
  answers = true,
  options = OPTIONS as { leaseMs: number; leaseMarginMs?: number },
} = {}) {
  const timers = handTimers();
  const asked: number[] = [];
  const said = { answers, renewed: true };
  const beats: number[] = [];
  let say: (news: LeaseNews) => void = () => {};
  const lives = { lost: 0, threadStopped: false };
  const store = {
    async leaseRenew() {
      asked.push(timers.monotonicMs());
      if (!said.answers) throw new Error('no answer');
      return { renewed: said.renewed, at: NOW + timers.monotonicMs() };
    },
  } satisfies Pick<RunnerStore, 'leaseRenew'> as unknown as RunnerStore;
  const openLeaseThread: OpenLeaseThread = (_terms, heard) => {
    say = heard;
    return {
      beat: () => void beats.push(timers.monotonicMs()),
      async stop() {
        lives.threadStopped = true;
      },
    };
  };
  const clock = createClock(timers);
  const lease = keepLease({
    runnerId: '7',
    options,
    store,
    ...(withThread ? { openLeaseThread } : {}),
    timers,
    clock,
    observer: recordingObserver(),
    registeredAt: 0,
    lost: () => lives.lost++,
  });
  /** The thread renewed the lease at that time, and its answer came at once. */
  const threadRenewed = (startedAt: number) =>
    say({ type: 'renewed', startedAt, answeredAt: startedAt, at: NOW + startedAt });
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      timers.advance(500);
      await settled();
    }
  };
  return { lease, timers, clock, asked, said, beats, lives, threadRenewed, say: (news: LeaseNews) => say(news), pass };
}

describe('a lease', () => {
  it.each([{ type: 'unguarded' } as const, { type: 'failed', error: 'the connection ended' } as const])(
    'a lease whose thread is $type allows no dispatch until it is renewed (I6)',
    async (news) => {
      const { lease, timers, threadRenewed, say } = setup();
      timers.advance(1_000);
      threadRenewed(1_000);
      timers.advance(1_000);
      say(news);
      expect(lease.mayDispatch()).toBe(false);
      // It was on its way before the session ended.
      threadRenewed(1_900);
      expect(lease.mayDispatch()).toBe(false);
      timers.advance(1);
      threadRenewed(2_001);
      expect(lease.mayDispatch()).toBe(true);
    },
  );

  it.each([
    { leaseMs: 500, until: 400 },
    { leaseMs: 10_000, until: 8_000 },
    { leaseMs: 60_000, until: 58_000 },
  ])('a lease of $leaseMs ms has a suitable default margin', ({ leaseMs, until }) => {
    const { lease, timers } = setup({ options: { leaseMs }, answers: false });
    timers.advance(until - 1);
    expect(lease.mayDispatch()).toBe(true);
    timers.advance(1);
    expect(lease.mayDispatch()).toBe(false);
  });

  it('the loop renews a lease without a thread, and dispatch is allowed until the margin before its end', async () => {
    const { lease, asked, said, pass } = setup();
    await pass(6_000);
    expect(asked).toEqual([3_000, 6_000]);
    said.answers = false;
    await pass(6_500);
    expect(lease.mayDispatch()).toBe(true);
    await pass(500);
    expect(lease.mayDispatch()).toBe(false);
    expect(lease.mayJudge()).toBe(true);
    await pass(2_000);
    expect(lease.mayJudge()).toBe(false);
  });

  it('the loop leaves renewals to the thread, and takes over when the thread stops renewing', async () => {
    const { asked, beats, threadRenewed, pass, lease } = setup();
    await pass(2_500);
    for (const at of [2_500, 5_500, 8_500]) {
      threadRenewed(at);
      await pass(3_000);
    }
    expect(asked).toEqual([]);
    expect(beats).toEqual([3_000, 6_000, 9_000]);
    await pass(3_500);
    expect(asked).toEqual([15_000]);
    expect(lease.mayDispatch()).toBe(true);
  });

  it('a lease counts from the start of its last known renewal, even if the news came late', async () => {
    const { lease, clock, timers, threadRenewed } = setup();
    timers.advance(20_000);
    expect(lease.mayDispatch()).toBe(false);
    threadRenewed(13_500);
    expect(lease.mayDispatch()).toBe(true);
    expect(clock.now()).toBe(NOW + 20_000);
    timers.advance(500);
    expect(lease.mayDispatch()).toBe(false);
    // An older renewal, heard of later, changes nothing.
    threadRenewed(10_000);
    expect(lease.mayDispatch()).toBe(false);
  });

  it('a runner does not judge others for a whole lease after a late renewal', async () => {
    const { lease, timers, threadRenewed } = setup();
    timers.advance(9_500);
    threadRenewed(9_500);
    expect(lease.mayJudge()).toBe(false);
    timers.advance(4_500);
    threadRenewed(14_000);
    timers.advance(5_000);
    expect(lease.mayJudge()).toBe(true);
  });

  it('a lease is lost when the thread or the loop learns so, and both stop with it', async () => {
    const { lives, say, lease, asked, pass, said } = setup();
    say({ type: 'lost' });
    expect(lives.lost).toBe(1);
    said.renewed = false;
    await pass(3_000);
    expect(lives.lost).toBe(2);
    await lease.stop();
    say({ type: 'lost' });
    await pass(9_000);
    expect([lives.lost, lives.threadStopped, asked.length]).toEqual([2, true, 1]);
  });

  it('the loop alone renews the lease when there is no thread', async () => {
    const { asked, pass } = setup({ withThread: false });
    await pass(9_000);
    expect(asked).toEqual([3_000, 6_000, 9_000]);
  });
});
