// The parts that a scenario gets, and the common shape of all scenarios.

import type { BenchDatabase, BenchServer } from './database.ts';
import type { Report } from './report.ts';

export interface Bench {
  readonly server: BenchServer;
  readonly database: BenchDatabase;
  readonly report: Report;
  /** `--quick`: fewer repetitions, within a minute in all. */
  readonly quick: boolean;
  /** `--row`: the selected rows; empty: all. */
  readonly rows: readonly string[];
  /** A size at the scale of this run, but never less than a few. */
  scaled(size: number): number;
}

const WARM_UP_MS = 6_000;
const QUICK_WARM_UP_MS = 2_000;

/** The same for us and for the peers, because the servers that people run have been up for minutes. */
export function warmUpMs({ quick, scaled }: Pick<Bench, 'quick' | 'scaled'>): number {
  return quick ? QUICK_WARM_UP_MS : scaled(WARM_UP_MS);
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(bench: Bench): Promise<void>;
}
