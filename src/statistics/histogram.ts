// Histograms with fixed bounds: how many values fell into each bucket, and which value so many of them stay below. Pure.

/** The buckets of the metric workflow_duration_seconds, in milliseconds. */
export const DURATION_BOUNDS_MS: readonly number[] = [
  10, 50, 100, 500, 1_000, 5_000, 15_000, 60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000,
];

/** Waits for a runner or for a free place are short, or something is wrong. */
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

/** The value that a share of all stay below, as if values were spread evenly within a bucket; undefined: there are none. */
export function quantile(bounds: readonly number[], counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return undefined;
  let left = share * total;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && left <= count) {
      const from = bucket === 0 ? 0 : bounds[bucket - 1]!;
      // Above the last bound nothing more is known.
      const to = bounds[bucket] ?? from;
      return Math.round((from + (to - from) * (left / count)) * 10) / 10;
    }
    left -= count;
  }
  return bounds.at(-1);
}
