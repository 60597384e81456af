import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryDelayMs } from './retry.ts';

const policy = { maxAttempts: 9, baseDelayMs: 200, backoffFactor: 2, maxDelayMs: null, jitter: false };

test('the delay doubles with every failed attempt', () => {
  expect([1, 2, 3, 4].map((tries) => retryDelayMs(policy, tries, 0))).toEqual([200, 400, 800, 1600]);
});

test('the delay is capped by its limit, and by one day without a limit', () => {
  expect(retryDelayMs({ ...policy, maxDelayMs: 500 }, 3, 0)).toBe(500);
  expect(retryDelayMs({ ...policy, backoffFactor: 1000 }, 9, 0)).toBe(24 * 3600 * 1000);
});

test('a delay with jitter is between half and all of it, and the same for the same seed', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 6 }), (seed, tries) => {
      const full = 200 * 2 ** (tries - 1);
      const delay = retryDelayMs({ ...policy, jitter: true }, tries, seed);
      expect(delay).toBeGreaterThanOrEqual(full / 2);
      expect(delay).toBeLessThanOrEqual(full);
      expect(retryDelayMs({ ...policy, jitter: true }, tries, seed)).toBe(delay);
    }),
  );
});

test('jitter spreads over its range', () => {
  const delays = Array.from({ length: 1000 }, (_, seed) => retryDelayMs({ ...policy, jitter: true }, 1, seed));
  const average = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
  expect(average).toBeGreaterThan(145);
  expect(average).toBeLessThan(155);
});
