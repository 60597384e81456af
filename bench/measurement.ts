// One number with its unit, and how to get a steady one.

export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** The smallest of several runs: the cost of the code when nothing else interferes. */
export function bestOf(runs: number, measure: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, measure());
  return best;
}

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) throw new Error('there are no values to take a percentile of');
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

export function round(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toPrecision(2);
}
