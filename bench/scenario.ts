// What a scenario gets to work with, and the one shape that all of them have.

import type { BenchDatabase, BenchServer } from './database.ts';
import type { Report } from './report.ts';

export interface Bench {
  readonly server: BenchServer;
  readonly database: BenchDatabase;
  readonly report: Report;
  /** `--quick`: fewer repetitions, within a minute in all. */
  readonly quick: boolean;
  /** A size at this run's scale, but never less than a few. */
  scaled(size: number): number;
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(bench: Bench): Promise<void>;
}
