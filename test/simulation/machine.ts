// A machine that keeps a runner process going: boots it, and boots it again after a crash or a stop. The runner in it is
// the real one.

import type {
  EngineMetric,
  EngineObserver,
  EngineOptions,
  PlanSource,
  RunAttempt,
  Timers,
} from '../../src/engine/environment.ts';
import { Runner } from '../../src/engine/runner/runner.ts';
import { PlanCache } from '../../src/engine/workflow/plan-cache.ts';
import type { Store } from '../../src/store/port.ts';
import { type ActionDeps, createActions } from './action-script.ts';
import { compileText } from './definition.ts';
import type { Random } from './random.ts';
import { Process } from './world.ts';

export interface MachineDeps extends ActionDeps {
  readonly connect: (process: Process) => Store;
  readonly options: Partial<EngineOptions>;
  readonly counts: Map<string, number>;
  readonly ids: Random;
  readonly changeRun: (run: RunAttempt) => RunAttempt;
}

const BOOT_AGAIN_MS = 150;

export class Machine {
  process: Process;
  runner: Runner | null = null;
  /** Stops that have not come to their end. */
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
    const runner = new Runner({
      store,
      timers: process.timers,
      observer: this.observer(),
      plans: planSource(store, process.timers),
      run: this.deps.changeRun(createActions(this.deps, process, () => this.crash(this.deps.random.between(100, 800)))),
      newId: () => ids.uuid(),
      newSeed: () => ids.between(0, 0xffffffff),
      callbackUrl: (executionId, nodeId) => `https://callback/${executionId}/${nodeId}`,
      options: { ...options, name: process.name },
    });
    runner.start().then(
      () => {
        this.runner = runner;
      },
      // A process that cannot register exits, and its supervisor starts the next.
      () => this.crash(BOOT_AGAIN_MS),
    );
  }

  /** Everything it had in memory is gone. */
  crash(downMs: number): void {
    if (this.process.isDead) return;
    this.process.isDead = true;
    this.runner = null;
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
    this.stopping++;
    const over = () => {
      this.stopping--;
      process.isDead = true;
      if (downMs !== null) world.schedule(downMs, null, () => this.boot());
    };
    // In the process: a runner that crashes while it stops never comes to the end of it.
    process.timers.soon(() => {
      void runner.stop().then(() => {
        audit.stopped(process);
        over();
      }, over);
    });
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

/** What compiling gives is shared by all seeds: it is the same every time. */
export function planSource(store: Pick<Store, 'definitionGet'>, timers: Timers): PlanSource {
  return new PlanCache(store, timers, (definition) => ({ plan: compileText(definition), isArchived: false }));
}
