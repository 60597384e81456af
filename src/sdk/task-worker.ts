// A worker of a task queue: takes attempts, runs a handler for each, renews their leases, and reports the outcome. Every try of a
// node carries the same idempotencyKey: an attempt runs at least once (I7).

import type { HeartbeatJson, HeartbeatRequest, PollRequest, TaskJson, TaskResult } from '../protocol/task-queue.ts';
import { Backoff, isPassing } from './backoff.ts';

export interface TaskContext {
  /** Aborted when the execution stops, the lease is lost, or the worker stops. */
  readonly signal: AbortSignal;
  log(level: 'debug' | 'info' | 'warn' | 'error', message: string): void;
}

/** Returns the outputs. A thrown error fails the attempt, and its `code`, `retryable` and `retryAfterMs` are reported. */
export type TaskHandler = (task: TaskJson, context: TaskContext) => unknown;

export interface TaskWorkOptions extends Omit<PollRequest, 'waitMs' | 'limit' | 'worker'> {
  readonly signal: AbortSignal;
  readonly worker?: string;
  /** Attempts at the same time; 1 by default. */
  readonly concurrency?: number;
}

type Line = NonNullable<TaskResult['logs']>[number];

interface Held {
  readonly task: TaskJson;
  readonly stop: AbortController;
  isLost: boolean;
}

/** The part of the API that a worker needs. */
interface TaskDoor {
  poll(taskQueue: string, request: PollRequest, signal?: AbortSignal): Promise<{ tasks: TaskJson[] }>;
  heartbeat(taskQueue: string, request: HeartbeatRequest): Promise<HeartbeatJson>;
  complete(taskQueue: string, result: TaskResult): Promise<{ executionId: string }>;
}

const DEFAULT_LEASE_MS = 30_000;
const WAIT_MS = 30_000;

export class TaskWorker {
  private readonly door: TaskDoor;
  private readonly taskQueue: string;
  private readonly handlers: Readonly<Record<string, TaskHandler>>;
  private readonly options: TaskWorkOptions;
  private readonly held = new Map<string, Held>();
  private readonly working = new Set<Promise<void>>();

  constructor(
    door: TaskDoor,
    taskQueue: string,
    handlers: Readonly<Record<string, TaskHandler>>,
    options: TaskWorkOptions,
  ) {
    this.door = door;
    this.taskQueue = taskQueue;
    this.handlers = handlers;
    this.options = options;
  }

  async run(): Promise<void> {
    const { signal, leaseMs = DEFAULT_LEASE_MS } = this.options;
    const beat = setInterval(() => void this.beat(), leaseMs / 3);
    const stopAll = () => {
      for (const { stop } of this.held.values()) stop.abort();
    };
    signal.addEventListener('abort', stopAll, { once: true });
    try {
      await this.pollUntilStopped();
    } finally {
      await Promise.all(this.working);
      clearInterval(beat);
      signal.removeEventListener('abort', stopAll);
    }
  }

  private async pollUntilStopped(): Promise<void> {
    const { signal, concurrency = 1, worker = 'worker', ...offer } = this.options;
    const backoff = new Backoff();
    while (!signal.aborted) {
      const limit = concurrency - this.held.size;
      if (limit <= 0) {
        await Promise.race(this.working);
        continue;
      }
      try {
        const { tasks } = await this.door.poll(this.taskQueue, { ...offer, worker, limit, waitMs: WAIT_MS }, signal);
        backoff.reset();
        for (const task of tasks) this.begin(task);
      } catch (error) {
        if (signal.aborted) return;
        if (!isPassing(error)) throw error;
        await backoff.rest(signal);
      }
    }
  }

  private begin(task: TaskJson): void {
    const held: Held = { task, stop: new AbortController(), isLost: false };
    this.held.set(task.leaseId, held);
    const work: Promise<void> = this.work(held).finally(() => {
      this.held.delete(task.leaseId);
      this.working.delete(work);
    });
    this.working.add(work);
  }

  private async work(held: Held): Promise<void> {
    const { task, stop } = held;
    const logs: Line[] = [];
    const log: TaskContext['log'] = (level, message) => logs.push({ at: new Date().toISOString(), level, message });
    const result = await this.resultOf(task, { signal: stop.signal, log });
    if (!held.isLost) await this.report({ leaseId: task.leaseId, ...result, logs: logs.slice(-1_000) });
  }

  private async resultOf(task: TaskJson, context: TaskContext): Promise<Omit<TaskResult, 'leaseId'>> {
    const handler = this.handlers[task.actionType] ?? this.handlers['*'];
    if (handler === undefined) {
      const message = `this worker has no handler for \`${task.actionType}\``;
      return { error: { code: 'ACTION_NOT_FOUND', message, retryable: false } };
    }
    try {
      return { outputs: ((await handler(task, context)) ?? {}) as TaskResult['outputs'] };
    } catch (thrown) {
      const { code, message, retryable, retryAfterMs } = thrown as Partial<Record<string, unknown>>;
      const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code);
      return {
        error: {
          code: isCode ? code : 'ACTION_FAILED',
          message: String(message ?? thrown).slice(0, 10_000),
          retryable: typeof retryable === 'boolean' ? retryable : true,
        },
        ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
      };
    }
  }

  /** Retries until the server answers. After a lost lease another worker owns the attempt, so nothing is reported. */
  private async report(result: TaskResult): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      try {
        await this.door.complete(this.taskQueue, result);
        return;
      } catch (error) {
        if (!isPassing(error) || this.held.get(result.leaseId)?.isLost === true) return;
        await backoff.rest(new AbortController().signal);
      }
    }
  }

  private async beat(): Promise<void> {
    const leaseIds = [...this.held.keys()];
    if (leaseIds.length === 0) return;
    const { leaseMs = DEFAULT_LEASE_MS } = this.options;
    const answer = await this.door.heartbeat(this.taskQueue, { leaseIds, leaseMs }).catch(() => ({ leases: [] }));
    for (const { leaseId, state } of answer.leases) {
      const held = this.held.get(leaseId);
      if (held === undefined || state === 'held') continue;
      held.isLost = state === 'lost';
      held.stop.abort();
    }
  }
}
