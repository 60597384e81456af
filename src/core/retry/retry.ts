// The delay before the next try: base × factor^(n−1), at most the cap, times [0.5, 1] when the policy asks for jitter.
// The random part is drawn from a seed that is passed in, so the same decision gives the same delay (I16).

import type { RetryPolicy } from '../plan/plan.ts';

/** No delay grows past a day, whatever the factor: a workflow that waits longer should say so with a sleep. */
const LONGEST_DELAY_MS = 24 * 3600 * 1000;

export function retryDelayMs(policy: RetryPolicy, failedTries: number, seed: number): number {
  const grown = policy.baseDelayMs * policy.backoffFactor ** (failedTries - 1);
  const capped = Math.min(grown, policy.maxDelayMs ?? LONGEST_DELAY_MS, LONGEST_DELAY_MS);
  return Math.round(policy.jitter ? capped * (0.5 + 0.5 * fraction(seed)) : capped);
}

/** A number in [0, 1) from a 32-bit seed. */
const fraction = (seed: number): number => randomBits(seed) / 4294967296;

/** 32 random bits from a 32-bit seed: one step of mulberry32. */
export function randomBits(seed: number): number {
  const state = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), state | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
}
