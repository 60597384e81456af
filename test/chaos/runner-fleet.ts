// The runner processes: started, killed, paused beyond their lease, stopped in a good way, and always started again. A process
// that ends without being told to is a finding of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TOLD_TO_STOP } from '../../src/engine/runner/departure.ts';
import { COULD_NOT_START, type RunnerReport, type RunnerSettings } from './runner-process.ts';
import type { Violation } from './violation.ts';

export interface FleetOptions {
  readonly size: number;
  readonly settings: Omit<RunnerSettings, 'name'>;
  /** The process is gone, and its executions wait for other runners. */
  readonly killed: (runnerName: string, atMs: number) => void;
}

interface Runner {
  readonly name: string;
  readonly process: ChildProcess;
  readonly ready: Promise<boolean>;
  metrics: Record<string, number>;
  words: string;
  /** The harness ended the process, or is about to. */
  told: boolean;
  paused: boolean;
  up: boolean;
}

const ENTRY = fileURLToPath(new URL('./runner-process.ts', import.meta.url));
const RESTART_AFTER_MS = 300;
const LAST_WORDS = 4_000;

export class RunnerFleet {
  readonly violations: Violation[] = [];
  readonly counts = { kills: 0, gracefulStops: 0, pauses: 0, failedStarts: 0 };
  readonly warnings = new Map<string, { count: number; example: unknown }>();
  /** `runner execution:node:attempt`, as the runners reported when they stopped. */
  readonly toldToStop = new Set<string>();
  private readonly options: FleetOptions;
  private readonly places: Runner[] = [];
  private readonly past: Record<string, number>[] = [];
  private lives = 0;
  private closing = false;

  constructor(options: FleetOptions) {
    this.options = options;
    for (let place = 0; place < options.size; place++) this.launch(place);
  }

  /** The places whose runners are up, and neither paused nor about to end. */
  standing(): number[] {
    return [...this.places.keys()].filter((place) => isStanding(this.places[place]!));
  }

  /** kill -9, and another runner in its place after a moment. */
  async kill(place: number, restartAfterMs: number): Promise<void> {
    const runner = this.places[place]!;
    if (!isStanding(runner)) return;
    runner.told = true;
    this.counts.kills++;
    const atMs = Date.now();
    await end(runner, 'SIGKILL');
    this.options.killed(runner.name, atMs);
    await delay(restartAfterMs);
    this.launch(place);
  }

  async stopGracefully(place: number): Promise<void> {
    const runner = this.places[place]!;
    if (!isStanding(runner)) return;
    runner.told = true;
    this.counts.gracefulStops++;
    await end(runner, 'SIGTERM');
    this.launch(place);
  }

  /** A process that sleeps beyond its lease wakes up as a zombie: it does not know that it was declared dead. */
  async pause(place: number, forMs: number): Promise<void> {
    const runner = this.places[place]!;
    if (!isStanding(runner)) return;
    runner.paused = true;
    this.counts.pauses++;
    runner.process.kill('SIGSTOP');
    await delay(forMs);
    runner.process.kill('SIGCONT');
    runner.paused = false;
  }

  /** Resolves when every place has a runner that is up. */
  async allReady(): Promise<void> {
    for (let place = 0; place < this.options.size; ) {
      const runner = this.places[place]!;
      if ((await runner.ready) && runner === this.places[place]) place++;
      else await delay(50);
    }
  }

  async close(): Promise<void> {
    this.closing = true;
    await Promise.all(
      this.places.map((runner) => {
        runner.told = true;
        runner.process.kill('SIGCONT');
        return end(runner, 'SIGTERM');
      }),
    );
  }

  /** Sums over all lives of all runners. A killed runner lacks the last quarter of a second. */
  metrics(): Record<string, number> {
    const sums: Record<string, number> = {};
    for (const metrics of [...this.past, ...this.places.map((runner) => runner.metrics)]) {
      for (const [name, value] of Object.entries(metrics)) sums[name] = (sums[name] ?? 0) + value;
    }
    return sums;
  }

  private launch(place: number): void {
    const before = this.places[place];
    if (before !== undefined) this.past.push(before.metrics);
    const name = `runner-${place}-${++this.lives}`;
    const settings: RunnerSettings = { ...this.options.settings, name };
    const child = spawn(process.execPath, ['--no-warnings', ENTRY, JSON.stringify(settings)], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    const { promise: ready, resolve } = Promise.withResolvers<boolean>();
    const runner: Runner = {
      name,
      process: child,
      ready,
      metrics: {},
      words: '',
      told: false,
      paused: false,
      up: false,
    };
    this.places[place] = runner;
    child.stderr!.on('data', (chunk: Buffer) => {
      runner.words = (runner.words + chunk).slice(-LAST_WORDS);
    });
    child.on('message', (report: RunnerReport) => this.heard(runner, report, resolve));
    child.once('exit', (code, signal) => {
      resolve(false);
      this.exited(place, runner, code, signal);
    });
  }

  private heard(runner: Runner, report: RunnerReport, ready: (up: boolean) => void): void {
    if (report.type === 'ready') {
      runner.up = true;
      ready(true);
    }
    if (report.type === 'metrics') runner.metrics = report.metrics;
    if (report.type === 'warning') {
      if (report.event === TOLD_TO_STOP) {
        for (const attempt of report.details.attempts as string[]) this.toldToStop.add(`${runner.name} ${attempt}`);
      }
      const known = this.warnings.get(report.event) ?? { count: 0, example: report.details };
      this.warnings.set(report.event, { ...known, count: known.count + 1 });
    }
  }

  private exited(place: number, runner: Runner, code: number | null, signal: string | null): void {
    if (runner.told || this.closing) return;
    if (code === COULD_NOT_START) this.counts.failedStarts++;
    else {
      const what = `runner process ${runner.name} ended by itself (code ${code}, signal ${signal})`;
      this.violations.push({ invariant: 'I20', executionId: null, what, evidence: runner.words });
    }
    runner.told = true;
    setTimeout(() => this.launch(place), RESTART_AFTER_MS);
  }
}

const isStanding = ({ told, paused, up }: Runner): boolean => up && !told && !paused;

async function end({ process: child }: Runner, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}
