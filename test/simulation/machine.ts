// A machine that keeps a runner process going: boots it, and boots it again after a crash or a stop. The runner inside is the
// real one.

import type { RunAttempt } from '../../src/action/attempt.ts';
import type { Timers } from '../../src/clock/timers.ts';
import type { EngineMetric, EngineObserver, EngineOptions } from '../../src/engine/environment.ts';
import { Runner } from '../../src/engine/runner/runner.ts';
import type { Store } from '../../src/store/port.ts';
import type { PlanSource } from '../../src/workflow/plan-cache.ts';
import { PlanCache } from '../../src/workflow/plan-cache.ts';
import { type ActionDeps, createActions } from './action-script.ts';
import { compileText } from './definition.ts';
import type { ForeignEngine } from './foreign-engine.ts';
import { createOutsideWorker, type OutsideWorker, type OutsideWorkerDeps } from './outside-worker.ts';
import type { Random } from './random.ts';
import { Process } from './world.ts';

export interface MachineDeps extends ActionDeps {
  readonly connect: (process: Process) => Store;
  readonly options: Partial<EngineOptions>;
  readonly counts: Map<string, number>;
  readonly ids: Random;
  readonly changeRun: (run: RunAttempt) => RunAttempt;
  /** The outside engine; null: every execution is native. */
  readonly foreign: ForeignEngine | null;
  readonly lostHandOver: () => 'before' | 'after' | null;
  readonly changeTurns: (turns: OutsideWorker['turns']) => OutsideWorker['turns'];
}

const BOOT_AGAIN_MS = 150;

export class Machine {
  process: Process;
  runner: Runner | null = null;
  /** What this process does for the outside engine. */
  outside: OutsideWorker | null = null;
  /** Stops that have not finished. */
  stopping = 0;
  private readonly deps: MachineDeps;
  private readonly name: string;
  private boots = 0;

  constructor(deps: MachineDeps, name: string) {
    this.deps = deps;
    this.name = name;
    this.process = new Process(deps.world, `${name}.0`);
  }

  boot(): void {
    const { world, connect, ids, options } = this.deps;
    const process = new Process(world, `${this.name}.${this.boots++}`);
    this.process = process;
    const store = connect(process);
    const plans = planSource(store, process.timers);
    const observer = this.observer();
    const act = this.deps.changeRun(
      createActions(this.deps, process, () => this.crash(this.deps.random.between(100, 800))),
    );
    this.outside = this.bootOutside({ process, store, plans, observer, run: act });
    const runner = new Runner({
      store,
      timers: process.timers,
      observer,
      plans,
      run: act,
      newId: () => ids.uuid(),
      newSeed: () => ids.between(0, 0xffffffff),
      callbackUrl: (executionId, nodeId) => `https://callback/${executionId}/${nodeId}`,
      options: { ...options, name: process.name },
    });
    runner.start().then(
      () => {
        this.runner = runner;
      },
      // A process that cannot register exits, and its supervisor starts the next one.
      () => this.crash(BOOT_AGAIN_MS),
    );
  }

  /** Everything that the process had in memory is gone. */
  crash(downMs: number): void {
    if (this.process.isDead) return;
    this.process.isDead = true;
    this.runner = null;
    this.outside = null;
    this.stopping = 0;
    this.deps.world.schedule(downMs, null, () => this.boot());
  }

  pause(forMs: number): void {
    this.process.pausedUntil = Math.max(this.process.pausedUntil, this.deps.world.now + forMs);
  }

  cutOff(forMs: number): void {
    this.process.cutOffUntil = Math.max(this.process.cutOffUntil, this.deps.world.now + forMs);
  }

  /** A graceful stop; `downMs` null = for good. */
  stop(downMs: number | null): void {
    const { runner, process } = this;
    const { world, audit } = this.deps;
    if (runner === null || process.isDead) return;
    this.runner = null;
    void this.outside?.handOver.stop();
    this.outside = null;
    this.stopping++;
    const over = () => {
      this.stopping--;
      process.isDead = true;
      if (downMs !== null) world.schedule(downMs, null, () => this.boot());
    };
    // Scheduled in the process: a runner that crashes while it stops never finishes the stop.
    process.timers.soon(() => {
      void runner.stop().then(() => {
        audit.stopped(process);
        over();
      }, over);
    });
  }

  private bootOutside(
    parts: Pick<OutsideWorkerDeps, 'process' | 'store' | 'plans' | 'observer' | 'run'>,
  ): OutsideWorker | null {
    const { foreign, ids, options, lostHandOver, changeTurns } = this.deps;
    if (foreign === null) return null;
    const worker = createOutsideWorker({ ...parts, ids, options, foreign, lostHandOver });
    return { ...worker, turns: changeTurns(worker.turns) };
  }

  private observer(): EngineObserver {
    const { counts } = this.deps;
    return {
      warn(event) {
        counts.set(event, (counts.get(event) ?? 0) + 1);
      },
      count(metric: EngineMetric, by = 1) {
        counts.set(metric, (counts.get(metric) ?? 0) + by);
      },
    };
  }
}

/** The result of compiling is shared by all seeds, because it is the same every time. */
export function planSource(store: Pick<Store, 'definitionGet' | 'workflowArchived'>, timers: Timers): PlanSource {
  return new PlanCache(store, timers, (definition) => ({ plan: compileText(definition), isArchived: false }));
}
