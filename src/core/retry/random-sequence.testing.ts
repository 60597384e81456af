// Random numbers that follow from a seed, for tests that must be repeatable: mulberry32, as the jitter of retries uses it.

import { randomBits } from './retry.ts';

/** Each call gives the next 32 random bits. */
export function randomSequence(seed: number): () => number {
  let state = seed;
  return () => {
    const bits = randomBits(state);
    state = (state + 0x6d2b79f5) | 0;
    return bits;
  };
}
