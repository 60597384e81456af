// One number with its unit, and how to get a steady one.

export interface Measurement {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** The smallest of several runs: what the code costs when nothing else gets in the way. */
export function bestOf(runs: number, measure: () => number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) best = Math.min(best, measure());
  return best;
}

export function printMeasurements(title: string, measurements: readonly Measurement[]): void {
  const width = Math.max(...measurements.map(({ name }) => name.length));
  console.log(`\n${title}`);
  for (const { name, value, unit } of measurements) {
    console.log(`  ${name.padEnd(width)}  ${round(value)} ${unit}`);
  }
}

export function round(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en');
  return value >= 10 ? value.toFixed(1) : value.toPrecision(2);
}
