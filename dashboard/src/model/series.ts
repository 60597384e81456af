// Points over time, summed over their keys and laid out without gaps: what a bar chart draws.

export interface SeriesPoint {
  readonly at: number;
  readonly started: number;
  readonly ended: number;
  readonly failed: number;
  readonly p95Ms: number | undefined;
  readonly waitP95Ms: number | undefined;
}

interface Point {
  readonly at: string;
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly timedOut: number;
  readonly cancelled: number;
  readonly p95Ms?: number | undefined;
  readonly waitP95Ms?: number | undefined;
}

export const BUCKET_MS = { minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;

/** `count` buckets up to now; what is not there is nothing. The slowest key stands for a bucket's p95. */
export function seriesOf(points: readonly Point[], bucketMs: number, count: number, now: number): SeriesPoint[] {
  const last = Math.floor(now / bucketMs) * bucketMs;
  const byTime = Map.groupBy(points, ({ at }) => Math.floor(Date.parse(at) / bucketMs) * bucketMs);
  return Array.from({ length: count }, (_, index) => {
    const at = last - (count - 1 - index) * bucketMs;
    const here = byTime.get(at) ?? [];
    const sum = (pick: (point: Point) => number) => here.reduce((total, point) => total + pick(point), 0);
    return {
      at,
      started: sum(({ started }) => started),
      ended: sum((point) => point.succeeded + point.failed + point.timedOut + point.cancelled),
      failed: sum((point) => point.failed + point.timedOut),
      p95Ms: highest(here.map(({ p95Ms }) => p95Ms)),
      waitP95Ms: highest(here.map(({ waitP95Ms }) => waitP95Ms)),
    };
  });
}

function highest(values: readonly (number | undefined)[]): number | undefined {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}
