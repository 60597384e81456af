// Histograms with fixed bounds: counts per bucket, and quantiles. Pure.

/** The buckets of the metric workflow_duration_seconds, in milliseconds. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  10, 50, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000,
];

/** Waits for a runner or a free place are short unless something is wrong. */
export const WAIT_BOUNDS_MS: readonly number[] = [1, 2, 5, 10, 20, 50, 100, 250, 500, 1_000, 5_000, 30_000, 300_000];

export const emptyHistogram = (): number[] => new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);

/** The bucket of a value; the last is for everything above the last bound. */
export function bucketOf(bounds: readonly number[], value: number): number {
  const found = bounds.findIndex((bound) => value <= bound);
  return found < 0 ? bounds.length : found;
}

export function addTo(total: number[], counts: readonly number[]): void {
  counts.forEach((count, bucket) => {
    total[bucket] = (total[bucket] ?? 0) + count;
  });
}

/** The value that a share of all values stays below, assuming an even spread within a bucket; undefined: no values. */
export function quantile(bounds: readonly number[], counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = bucket === 0 ? 0 : bounds[bucket - 1]!;
      // The last bucket has no upper bound.
      const to = bounds[bucket] ?? from;
      return Math.round((from + (to - from) * (left / count)) * 10) / 10;
    }
    left -= count;
  }
  return bounds.at(-1);
}
