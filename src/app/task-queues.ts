// Task queues of an installation: the attempts that its runner leaves to workers, the workers of this process, and the routes for
// HTTP workers.

import { hostname } from 'node:os';
import type { RunAttempt } from '../action/attempt.ts';
import { INFERRED_QUEUES, isQueueAmong } from '../core/plan/task-queue.ts';
import type { TaskRouting } from '../engine/turn/remote-attempts.ts';
import { admitHeavyStep } from '../quota/heavy-steps.ts';
import { QueueWorker } from '../task-queue/queue-worker.ts';
import { TaskQueues } from '../task-queue/task-queues.ts';
import type { Foundation } from './foundation.ts';
import type { Switchboard } from './switchboard.ts';

/** `taskQueues`: the queues of this process; empty: it is not a worker. */
export function createWorking(
  foundation: Foundation,
  board: Switchboard,
  run: RunAttempt,
  taskQueues: readonly string[],
) {
  const door = createTaskQueues(foundation, board);
  const worker = createQueueWorker(foundation, board, run, taskQueues);
  return {
    door,
    routing: createRouting(foundation, board),
    /** `sweeps`: this process ends attempts of workers that took too long. */
    start(sweeps: boolean): void {
      worker?.start();
      if (sweeps) door.start();
    },
    async stop(before: () => Promise<void> | undefined): Promise<void> {
      await worker?.stop();
      await before();
      await door.stop();
    },
  };
}

function createRouting({ config }: Foundation, { tell }: Switchboard): TaskRouting {
  const { serve, isolatedTenants } = config.taskQueue;
  const isolated = new Set(isolatedTenants);
  return {
    serves: (taskQueue) => isQueueAmong(serve, taskQueue),
    isolates: (tenantId) => isolated.has(tenantId),
    servesInferred:
      isolated.size === 0 && (serve.includes('*') || INFERRED_QUEUES.every((queue) => serve.includes(queue))),
    queued: (taskQueues) => tell({ kind: 'attempts', taskQueues }),
  };
}

function createTaskQueues({ config, telemetry, shared, artifacts, store }: Foundation, board: Switchboard): TaskQueues {
  const { timers } = shared;
  const taskQueues = new TaskQueues({
    ...shared,
    outputLimitBytes: config.action.outputLimitBytes,
    artifacts,
    admit: (step) => admitHeavyStep({ store, timers, rate: config.rateLimit }, step),
    ended: (...attempt) => telemetry.attemptEnded(...attempt),
    mailSent: (executionId) => board.tell({ kind: 'mail', executionId }),
    warn: telemetry.warn,
  });
  board.workers.push(taskQueues);
  return taskQueues;
}

/** null: this process does not work on task queues. */
function createQueueWorker(
  { config, telemetry, shared }: Foundation,
  board: Switchboard,
  run: RunAttempt,
  taskQueues: readonly string[],
): QueueWorker | null {
  if (taskQueues.length === 0) return null;
  const { leaseMs, pollMs, workerPool, runtime, resourceClass } = config.taskQueue;
  const worker = new QueueWorker({
    ...shared,
    observer: telemetry,
    run,
    offer: {
      taskQueues,
      worker: `${config.engine.name}@${hostname()}:${process.pid}`,
      workerPool,
      runtime,
      resourceClass,
    },
    slots: config.engine.maxParallelActions,
    leaseMs,
    pollMs,
    drainMs: config.engine.drainMs,
    mailSent: (executionId) => board.tell({ kind: 'mail', executionId }),
    queued: (queues) => board.tell({ kind: 'attempts', taskQueues: queues }),
  });
  board.workers.push(worker);
  return worker;
}
