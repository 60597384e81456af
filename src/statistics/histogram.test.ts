import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addTo, bucketOf, DURATION_BOUNDS_MS, emptyHistogram, quantile, WAIT_BOUNDS_MS } from './histogram.ts';

const counted = (values: readonly number[]): number[] => {
  const counts = emptyHistogram();
  for (const value of values) {
    const bucket = bucketOf(DURATION_BOUNDS_MS, value);
    counts[bucket] = counts[bucket]! + 1;
  }
  return counts;
};

describe('a histogram', () => {
  test('a histogram has as many buckets for waits as for durations, in order', () => {
    expect(WAIT_BOUNDS_MS).toHaveLength(DURATION_BOUNDS_MS.length);
    for (const bounds of [WAIT_BOUNDS_MS, DURATION_BOUNDS_MS]) {
      expect(bounds).toEqual([...bounds].sort((one, other) => one - other));
    }
  });

  test('an empty histogram has no quantile', () => {
    expect(quantile(DURATION_BOUNDS_MS, emptyHistogram(), 0.5)).toBeUndefined();
  });

  test('a quantile is in the bucket of its exact value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(86_400_000), { minLength: 1, maxLength: 50 }),
        fc.constantFrom(0.5, 0.95),
        (values, share) => {
          const exact = [...values].sort((one, other) => one - other)[Math.ceil(share * values.length) - 1]!;
          const bucket = bucketOf(DURATION_BOUNDS_MS, exact);
          const found = quantile(DURATION_BOUNDS_MS, counted(values), share)!;
          expect(found).toBeLessThanOrEqual(DURATION_BOUNDS_MS[bucket]!);
          expect(found).toBeGreaterThanOrEqual(bucket === 0 ? 0 : DURATION_BOUNDS_MS[bucket - 1]!);
        },
      ),
    );
  });

  test('the sum of two histograms is the histogram of all values', () => {
    const [one, other] = [counted([5, 700, 90]), counted([12, 700])];
    const total = emptyHistogram();
    addTo(total, one);
    addTo(total, other);
    expect(total).toEqual(counted([5, 700, 90, 12, 700]));
  });

  test('the quantile of values beyond the last bound is the last bound', () => {
    expect(quantile(DURATION_BOUNDS_MS, counted([1e12]), 0.5)).toBe(86_400_000);
  });
});
