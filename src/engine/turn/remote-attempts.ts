// Attempts whose task queue this runner does not serve: they wait in the attempt queue for a worker, and their results come as
// mail. A row is written after its start is durable (I2), and again by each new owner of the execution, so a crash in between
// loses nothing. While its row is on the way, the attempt counts as running here; afterwards the execution only waits.

import type { AttemptRequest } from '../../action/attempt.ts';
import type { Timers } from '../../clock/timers.ts';
import { idOf, planNodeOf } from '../../core/decider/frame.ts';
import type { Plan, PlanNode } from '../../core/plan/plan.ts';
import { isolationQueue, taskQueueOf } from '../../core/plan/task-queue.ts';
import { bodyOf } from '../../core/plan/virtual-node.ts';
import { GroupWrite } from '../../store/group-write.ts';
import { StoreError } from '../../store/store-error.ts';
import type { AttemptKey, QueuedAttempt, TaskQueueStore } from '../../store/task-queue-port.ts';
import type { EngineObserver } from '../environment.ts';
import { untilStoreAnswers } from './patience.ts';
import type { Resident } from './resident.ts';

/** Decides which attempts go to workers, and hands them over. */
export interface TaskRouting {
  /** Whether the runner runs attempts of this queue itself. */
  readonly serves: (taskQueue: string) => boolean;
  /** Whether the attempts of this tenant run on workers of their own. */
  readonly isolates: (tenantId: string) => boolean;
  /** Whether it serves all inferred queues: then only plans that name a queue matter. */
  readonly servesInferred: boolean;
  /** A hint for workers that attempts were queued. Without it they find them by polling (I11). */
  readonly queued: (taskQueues: readonly string[]) => void;
}

export interface RemoteAttemptsDeps {
  readonly store: TaskQueueStore;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly routing: TaskRouting | undefined;
  readonly isOver: () => boolean;
}

/** Rows of one statement. */
const MOST_AT_ONCE = 200;
const MOST_BYTES_AT_ONCE = 4 * 1024 * 1024;

export class RemoteAttempts {
  private readonly deps: RemoteAttemptsDeps;
  private readonly adding: GroupWrite<QueuedAttempt, void>;
  private readonly plans = new WeakMap<Plan, boolean>();
  /** Rows on their way, which a stop must not overtake. */
  private readonly onTheirWay = new Map<string, Promise<void>>();

  constructor(deps: RemoteAttemptsDeps) {
    this.deps = deps;
    this.adding = new GroupWrite({
      timers: deps.timers,
      maxInFlight: 1,
      split: (waiting) => {
        let bytes = 0;
        const most = waiting.findIndex(({ item }, index) => {
          bytes += item.request.length;
          return index > 0 && (index === MOST_AT_ONCE || bytes > MOST_BYTES_AT_ONCE);
        });
        return most < 0 ? [waiting, []] : [waiting.slice(0, most), waiting.slice(most)];
      },
      write: async (batch) => {
        await deps.store.attemptQueueAdd({ attempts: batch.map(({ item }) => item) });
        deps.routing?.queued([...new Set(batch.map(({ item }) => item.taskQueue))]);
        for (const { resolve } of batch) resolve();
      },
    });
  }

  /** The queue whose worker runs this node; null: this runner runs it. */
  queueFor({ state, execution }: Resident, node: number): string | null {
    const { routing } = this.deps;
    if (routing === undefined || !this.mayLeave(state.plan, routing)) return null;
    const planNode = planNodeOf(state, node);
    if (planNode.step.kind !== 'action') return null;
    const { tenantId, environmentId } = execution;
    const isIsolated = planNode.dispatch?.taskQueue === undefined && routing.isolates(tenantId);
    const queue = isIsolated ? isolationQueue(tenantId, environmentId) : taskQueueOf(planNode, environmentId);
    return routing.serves(queue) ? null : queue;
  }

  /** Resolves when the row is durable. Rejects only when the database refuses it for its data. */
  async add(resident: Resident, node: number, request: AttemptRequest, taskQueue: string): Promise<void> {
    const { signal: _, mayHaveRun: _again, ...asked } = request;
    const { dispatch } = planNodeOf(resident.state, node);
    const { executionId, nodeId, attempt, tenantId, timeoutMs } = request;
    const row: QueuedAttempt = {
      executionId,
      nodeId,
      attempt,
      tenantId,
      taskQueue,
      priority: resident.execution.priority,
      workerPool: dispatch?.workerPool ?? null,
      runtime: dispatch?.runtime ?? null,
      resourceClass: dispatch?.resourceClass ?? null,
      request: JSON.stringify(asked),
      timeoutMs,
      epoch: resident.epoch,
    };
    const written = untilStoreAnswers(this.deps, () => this.adding.submit(row));
    const key = `${executionId}:${nodeId}`;
    this.onTheirWay.set(key, written);
    try {
      await written;
    } finally {
      if (this.onTheirWay.get(key) === written) this.onTheirWay.delete(key);
    }
  }

  /** Tells the worker to stop. true: no worker holds the attempt, and no result will come. */
  async stop(resident: Resident, node: number, attempt: number): Promise<boolean> {
    const { executionId } = resident.execution;
    const nodeId = idOf(resident.state, node);
    await this.onTheirWay.get(`${executionId}:${nodeId}`)?.catch(() => {});
    let isGone = false;
    await untilStoreAnswers(this.deps, async () => {
      const stopped: AttemptKey[] = await this.deps.store.attemptQueueStop({
        attempts: [{ executionId, nodeId, attempt }],
      });
      isGone = stopped.length > 0;
    });
    return isGone;
  }

  /** The execution has ended. The sweep also removes leftover rows, so this is not awaited. */
  ended({ state, execution }: Resident): void {
    const { routing, store } = this.deps;
    if (routing === undefined || !this.mayLeave(state.plan, routing)) return;
    void store.attemptQueueDrop({ executionIds: [execution.executionId] }).catch(() => {});
  }

  /** Few plans name a queue; the others cost one look-up. */
  private mayLeave(plan: Plan, { servesInferred }: TaskRouting): boolean {
    if (!servesInferred) return true;
    const known = this.plans.get(plan) ?? plan.nodes.some(namesQueue);
    this.plans.set(plan, known);
    return known;
  }
}

function namesQueue(node: PlanNode): boolean {
  return node.dispatch?.taskQueue !== undefined || (bodyOf(node)?.nodes.some(namesQueue) ?? false);
}

/** The failure of a node whose attempt cannot be stored. */
export function unqueueable(error: unknown) {
  const message = error instanceof StoreError || error instanceof Error ? error.message : String(error);
  return {
    ok: false as const,
    error: { code: 'TASK_UNSTORABLE', message: `the attempt could not be queued: ${message}` },
    retryable: false,
  };
}
