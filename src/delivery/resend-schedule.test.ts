import { describe, expect, it } from 'vitest';
import { busDelays, delayAfter, jittered, remindDelays, resendDelays } from './resend-schedule.ts';

const options = { deliveredAfterMs: 30_000, processedAfterMs: 300_000, resendCapMs: 300_000 };

describe('resending', () => {
  it('a message is sent again every 30 s for ten times, then less often, at least every 5 min', () => {
    const seconds = resendDelays(options).map((delayMs) => delayMs / 1_000);
    expect(seconds).toEqual([...Array.from({ length: 10 }, () => 30), 60, 120, 240, 300]);
  });

  it('a bus is asked exponentially less often, never before an attempt is over, with jitter', () => {
    const delays = busDelays({ timeoutMs: 15_000, resendCapMs: 300_000 });
    expect(delays.map((delayMs) => delayMs / 1_000)).toEqual([15, 30, 60, 120, 240, 300]);
    expect(jittered([100, 200], () => 0)).toEqual([100, 200]);
    expect(jittered([100, 200], () => 1)).toEqual([150, 300]);
  });

  it('a message is never sent again faster than at first, even with a lower cap', () => {
    expect(new Set(resendDelays({ ...options, resendCapMs: 10 }))).toEqual(new Set([30_000]));
  });

  it('the last delay applies to all later attempts', () => {
    expect([1, 2, 3, 100].map((attempts) => delayAfter([10, 20], attempts))).toEqual([10, 20, 20, 20]);
  });
});

it('reminders come less and less often', () => {
  expect(remindDelays(options)).toEqual([300_000, 600_000, 1_200_000, 2_400_000]);
});
