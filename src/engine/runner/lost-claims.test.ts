import { expect, it } from 'vitest';
import { handTimers, settled } from '../../clock/hand-timers.testing.ts';
import { LostClaims, type LostClaimsDeps } from './lost-claims.ts';

function setup() {
  const timers = handTimers();
  let isStopped = false;
  let looks = 0;
  const lostClaims = new LostClaims({
    timers,
    observer: { warn: () => {} },
    options: { pollMs: 500 },
    store: {
      executionCommit: async () => void looks++,
      executionListOwned: async () => [],
    },
    incarnation: {
      registration: { runnerId: '1', slotIds: ['1'] },
      residents: new Map(),
      runInSlotZero: (work: () => Promise<void>) => work(),
    },
    arrivals: { has: () => false },
    isStopped: () => isStopped,
    returned: () => {},
  } as unknown as LostClaimsDeps);
  const stop = () => {
    isStopped = true;
    lostClaims.stop();
  };
  return { lostClaims, timers, looks: () => looks, stop };
}

it('a failed claim is looked for at once, and again when it must have arrived', async () => {
  const { lostClaims, timers, looks } = setup();
  await lostClaims.lost(new Error('no answer'));
  expect(looks()).toBe(1);
  for (const [afterMs, expected] of [
    [1_000, 2],
    [4_000, 3],
    [10_000, 4],
  ] as const) {
    timers.advance(afterMs);
    await settled();
    expect(looks()).toBe(expected);
  }
  expect(timers.pending).toBe(0);
});

it('a stopped runner has no timer of a failed claim left, so its process can end', async () => {
  const { lostClaims, timers, looks, stop } = setup();
  await lostClaims.lost(new Error('no answer'));
  expect(timers.pending).toBe(3);
  stop();
  expect(timers.pending).toBe(0);
  await lostClaims.lost(new Error('and one more, while it stops'));
  expect(timers.pending).toBe(0);
  expect(looks()).toBe(1);
});
