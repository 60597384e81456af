// What a process does for executions that an outside engine runs: the real turn service, and the real hand-over to that engine.

import type { RunAttempt } from '../../src/action/attempt.ts';
import { EngineUnavailableError, type OutsideEngine } from '../../src/driver/driver.ts';
import { HandOver } from '../../src/driver/hand-over.ts';
import { createStartLatency } from '../../src/driver/start-latency.ts';
import { DEFAULT_ENGINE_OPTIONS, type EngineObserver, type EngineOptions } from '../../src/engine/environment.ts';
import { OutsideTurns } from '../../src/engine/turn/outside-turn.ts';
import type { Store } from '../../src/store/port.ts';
import type { PlanSource } from '../../src/workflow/plan-cache.ts';
import type { ForeignEngine, Worker } from './foreign-engine.ts';
import type { Random } from './random.ts';
import type { Process } from './world.ts';

export const OUTSIDE_DRIVER = 'temporal';

export interface OutsideWorkerDeps {
  readonly process: Process;
  readonly store: Store;
  readonly plans: PlanSource;
  readonly run: RunAttempt;
  readonly observer: EngineObserver;
  readonly ids: Random;
  readonly options: Partial<EngineOptions>;
  readonly foreign: ForeignEngine;
  /** Whether a hand-over fails before it happened, after it happened, or not at all. */
  readonly lostHandOver: () => 'before' | 'after' | null;
}

export interface OutsideWorker extends Worker {
  readonly handOver: HandOver;
}

export function createOutsideWorker(deps: OutsideWorkerDeps): OutsideWorker {
  const { process, store, plans, run, observer, ids, options } = deps;
  const turns = new OutsideTurns({
    store,
    timers: process.timers,
    observer,
    plans,
    run,
    options: { ...DEFAULT_ENGINE_OPTIONS, ...options },
    newId: () => ids.uuid(),
    newSeed: () => ids.between(0, 0xffffffff),
    callbackUrl: (executionId, nodeId) => `https://callback/${executionId}/${nodeId}`,
    mailSent: (executionId) => void handOver.mail(executionId),
  });
  const handOver = new HandOver({
    driver: OUTSIDE_DRIVER,
    engine: engineOf(deps),
    store,
    ...process.timers,
    warn: observer.warn,
    lostRun: 'again',
    whenDown: 'queue',
    advance: (one) => turns.advance(one),
    look: (one) => turns.look(one),
    close: (one, error) => turns.close(one, error),
  });
  handOver.start();
  return { process, turns, handOver };
}

function engineOf({ foreign, process, ids, lostHandOver }: OutsideWorkerDeps): OutsideEngine {
  const refOf = (workflowId: string) => ({ provider: OUTSIDE_DRIVER, namespace: 'n', workflowId }) as const;
  const notUsed = () => {
    throw new Error('nobody asks for this here');
  };
  const starts = createStartLatency(process.timers.monotonicMs);
  return {
    provider: OUTSIDE_DRIVER,
    startsAt: () => starts,
    validate: () => [],
    async startRun(_plan, { runId, epoch }) {
      const lost = lostHandOver();
      await process.sleep(ids.between(1, 20));
      if (lost === 'before') throw new EngineUnavailableError('lost before');
      const key = foreign.start(runId, epoch);
      await process.sleep(ids.between(1, 20));
      if (lost === 'after') throw new EngineUnavailableError('lost after');
      return refOf(key);
    },
    async getRunStatus({ workflowId }) {
      await process.sleep(1);
      return foreign.statusOf(workflowId);
    },
    async mail({ workflowId }) {
      await process.sleep(1);
      foreign.mail(workflowId);
    },
    cancelRun: notUsed,
    signal: notUsed,
    health: notUsed,
    ping: notUsed,
    close: async () => {},
  };
}
