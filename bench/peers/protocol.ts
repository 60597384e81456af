// How the program of a peer talks with the benchmark: it is a separate process that gets its sizes as an argument and sends its
// measurements.

export interface PeerSettings {
  /** A separate database on the shared server; Restate keeps its data itself. */
  readonly databaseUrl: string;
  /** A separate, empty folder. */
  readonly folder: string;
  readonly oneStep: number;
  readonly tenStep: number;
  readonly latency: number;
  readonly warmUpMs: number;
}

export type PeerReport =
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'row'; readonly scenario: string; readonly unit: string; readonly value: number }
  /** The seconds of each way to do the work; the better one counts. */
  | { readonly type: 'ways'; readonly scenario: string; readonly seconds: Record<string, number> };

export const STEPS = 10;

export function settings(): PeerSettings {
  return JSON.parse(process.argv[2] ?? '{}') as PeerSettings;
}

function tell(report: PeerReport): void {
  process.send?.(report);
}

export function tellProgress(text: string): void {
  tell({ type: 'progress', text });
}

/** The best of the ways in which the peer can do this work, as executions or steps per second. */
export function tellRate(scenario: string, unit: string, count: number, seconds: Record<string, number>): void {
  tell({ type: 'ways', scenario, seconds });
  tell({ type: 'row', scenario, unit, value: count / Math.min(...Object.values(seconds)) });
}

/** Calls whose callers wait for the result, 200 at once. */
export function tellAwaited(perSecond: number): void {
  tell({ type: 'row', scenario: 'awaited-200', unit: 'executions/s', value: perSecond });
}

export function tellLatency(milliseconds: number[]): void {
  const sorted = milliseconds.sort((a, b) => a - b);
  const value = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  tell({ type: 'row', scenario: 'ten-step-latency', unit: 'ms p50', value });
}

export async function seconds(work: () => PromiseLike<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** As long as our own warm-up: until the compiler has seen everything. */
export async function warmUpFor(milliseconds: number, work: () => Promise<unknown>): Promise<void> {
  tellProgress('warming up');
  const end = performance.now() + milliseconds;
  while (performance.now() < end) await work();
}

/** Calls `work` `count` times, with `atOnce` calls in flight at a time. */
export async function concurrently(count: number, atOnce: number, work: () => PromiseLike<unknown>): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, worker));
}

/** One after the other; returns the milliseconds of each. */
export async function oneByOne(count: number, work: () => PromiseLike<unknown>): Promise<number[]> {
  const measured: number[] = [];
  for (let run = 0; run < count; run++) measured.push((await seconds(work)) * 1000);
  return measured;
}

/** Resolves when the expected number of ticks was counted. */
export function countdown(): { expect(count: number): Promise<void>; tick(): void } {
  let left = 0;
  let done = Promise.withResolvers<void>();
  return {
    expect(count) {
      left = count;
      done = Promise.withResolvers<void>();
      return done.promise;
    },
    tick() {
      if (--left === 0) done.resolve();
    },
  };
}
