// The workers of this process: one per namespace and task queue. On a control queue a worker runs the interpreter, turns and
// attempts; on any other queue only attempts. A worker that fails is started again.

import type { Worker } from '@temporalio/worker';
import { controlQueue, dataQueue } from '../../core/plan/task-queue.ts';
import type { RunPlace } from '../driver.ts';
import { interpreterBundle } from './bundle.ts';
import { namespaceOf } from './namespace.ts';
import { loadWorkerSdk } from './sdk.ts';
import type { TemporalActivities } from './temporal-activities.ts';
import type { TemporalConnections } from './temporal-connection.ts';
import type { TemporalOptions } from './temporal-options.ts';
import { temporalProblem } from './temporal-problem.ts';

export interface TemporalWorkersDeps {
  readonly options: TemporalOptions;
  readonly connections: TemporalConnections;
  readonly activities: TemporalActivities;
  /** Only these task queues; empty: the control and data queues of every environment, and queues named by plans. */
  readonly taskQueues: readonly string[];
  readonly maxParallelActions: number;
  readonly drainMs: number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** Creates a missing namespace. */
  readonly setUp: (namespace: string, environmentId: string) => Promise<unknown>;
}

const RESTART_MS = 2_000;
/** A cancellation reaches an attempt through its heartbeat. */
const HEARTBEAT_EVERY_MS = 1_000;

export class TemporalWorkers {
  private readonly deps: TemporalWorkersDeps;
  private readonly running = new Map<string, Promise<void>>();
  private readonly workers = new Set<Worker>();
  private readonly ready = new Map<string, Promise<void>>();
  private stopped = false;

  constructor(deps: TemporalWorkersDeps) {
    this.deps = deps;
  }

  /** Resolves when every queue of these places has a worker. */
  async workAt(places: readonly RunPlace[], named: readonly string[] = []): Promise<void> {
    const { options, taskQueues } = this.deps;
    const starts: Promise<void>[] = [];
    for (const place of places) {
      const { environmentId } = place;
      const namespace = namespaceOf(options.namespaceTemplate, place);
      const own = [controlQueue(environmentId), dataQueue(environmentId), ...named];
      for (const queue of taskQueues.length === 0 ? own : taskQueues) {
        starts.push(this.workOn(namespace, queue, environmentId));
      }
    }
    await Promise.all(starts);
  }

  /** Stops polling, lets attempts finish, and gives the rest back. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const worker of this.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    await Promise.all(this.running.values());
  }

  private workOn(namespace: string, taskQueue: string, environmentId: string): Promise<void> {
    const key = `${namespace}\n${taskQueue}`;
    const known = this.ready.get(key);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready.set(key, promise);
    this.running.set(key, this.keepWorking({ namespace, taskQueue, environmentId }, resolve));
    return promise;
  }

  private async keepWorking(place: WorkerPlace, isReady: () => void): Promise<void> {
    const { warn, options } = this.deps;
    while (!this.stopped) {
      try {
        const worker = await this.create(place);
        this.workers.add(worker);
        if (this.stopped) break;
        const run = worker.run();
        isReady();
        await run;
        this.workers.delete(worker);
      } catch (error) {
        const problem = temporalProblem(error, { ...options, namespace: place.namespace });
        warn('a worker of Temporal ended; it is started again', { ...place, error: problem.message });
        await this.repair(place);
        await new Promise((resolve) => setTimeout(resolve, RESTART_MS));
      }
    }
    isReady();
  }

  private async repair({ namespace, environmentId }: WorkerPlace): Promise<void> {
    if (this.stopped || !this.deps.options.autoSetup) return;
    await this.deps.setUp(namespace, environmentId).catch(() => undefined);
  }

  private async create({ namespace, taskQueue, environmentId }: WorkerPlace): Promise<Worker> {
    const { connections, activities, maxParallelActions, drainMs, options } = this.deps;
    const sdk = await loadWorkerSdk();
    if (options.autoSetup) await this.deps.setUp(namespace, environmentId);
    const isControl = taskQueue === controlQueue(environmentId);
    return sdk.Worker.create({
      connection: await connections.forWorkers(),
      namespace,
      taskQueue,
      activities: { ...activities },
      maxConcurrentActivityTaskExecutions: maxParallelActions,
      shutdownGraceTime: drainMs,
      shutdownForceTime: drainMs + 10_000,
      maxHeartbeatThrottleInterval: HEARTBEAT_EVERY_MS,
      defaultHeartbeatThrottleInterval: HEARTBEAT_EVERY_MS,
      ...(isControl
        ? { workflowBundle: await interpreterBundle(), maxCachedWorkflows: options.maxCachedWorkflows }
        : {}),
    });
  }
}

interface WorkerPlace {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly environmentId: string;
}
