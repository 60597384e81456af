import { describe, expect, it } from 'vitest';
import { createClock } from '../../clock/clock.ts';
import { handTimers } from '../../clock/hand-timers.testing.ts';
import { recordingObserver } from '../recording-observer.testing.ts';
import { WakeClock } from './wake-clock.ts';

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function setup(found: { woken: number; nextDueAt: number | null }[] = []) {
  const timers = handTimers();
  const clock = createClock(timers);
  clock.observe(1_000_000);
  const looks: number[] = [];
  let woken = 0;
  const wakeClock = new WakeClock({
    timers,
    clock,
    observer: recordingObserver(),
    readyForMs: 0,
    woken: () => void woken++,
    store: {
      queueWake: async () => {
        looks.push(clock.now());
        return { hasReady: false, hasMail: false, ...(found.shift() ?? { woken: 0, nextDueAt: null }) };
      },
    },
  });
  const pass = async (ms: number) => {
    timers.advance(ms);
    await settled();
  };
  return { timers, wakeClock, looks, pass, woken: () => woken };
}

describe('the wake clock', () => {
  it('the wake clock looks when the next parked execution is due, and not before', async () => {
    const { wakeClock, looks, pass, woken } = setup([{ woken: 1, nextDueAt: null }]);
    wakeClock.expect(1_003_000);
    await pass(2_999);
    expect(looks).toEqual([]);
    await pass(1);
    expect(looks).toEqual([1_003_000]);
    expect(woken()).toBe(1);
  });

  it('each look tells the wake clock when the next execution is due', async () => {
    const { wakeClock, looks, pass } = setup([{ woken: 0, nextDueAt: 1_000_500 }]);
    await wakeClock.runOnce();
    await pass(500);
    expect(looks).toEqual([1_000_000, 1_000_500]);
  });

  it('executions due within a moment of each other are woken together', async () => {
    const due = Array.from({ length: 10 }, (_, n) => 1_000_100 + n);
    const { wakeClock, looks, pass } = setup([
      { woken: 1, nextDueAt: due[1]! },
      { woken: 9, nextDueAt: null },
    ]);
    for (const at of due) wakeClock.expect(at);
    for (let ms = 0; ms < 200; ms++) await pass(1);
    expect(looks).toEqual([1_000_100, 1_000_120]);
  });

  it('the wake clock looks again at once after a full statement', async () => {
    const { wakeClock, looks } = setup([{ woken: 5_000, nextDueAt: null }]);
    await wakeClock.runOnce();
    expect(looks).toHaveLength(2);
  });

  it('a stopped wake clock sets no timer', async () => {
    const { timers, wakeClock } = setup();
    wakeClock.expect(1_000_100);
    wakeClock.stop();
    wakeClock.expect(1_000_050);
    expect(timers.pending).toBe(0);
  });
});
