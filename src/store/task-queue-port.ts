// Attempts that wait for workers of their task queue, and the workers. Part of the storage port (port.ts).

import type { JsonText, Timestamp } from './port.ts';

export interface AttemptKey {
  executionId: string;
  nodeId: string;
  attempt: number;
}

export interface QueuedAttempt extends AttemptKey {
  tenantId: string;
  taskQueue: string;
  priority: number;
  workerPool: string | null;
  runtime: string | null;
  resourceClass: string | null;
  request: JsonText;
  timeoutMs: number | null;
  /** The claim of the execution that it belongs to (I5). */
  epoch: number;
}

/** An attempt that a worker has. */
export interface LeasedAttempt extends AttemptKey {
  leaseId: string;
  tenantId: string;
  taskQueue: string;
  request: JsonText;
  timeoutMs: number | null;
  /** How often a worker took it, this one included. */
  takes: number;
  leaseUntil: Timestamp;
  takenAt: Timestamp;
  /** It has waited for the limit of its tenant. */
  isAdmitted: boolean;
}

export interface WorkerOffer {
  taskQueues: readonly string[];
  worker: string;
  /** Null: a worker of the installation, which takes attempts of every tenant. */
  tenantId: string | null;
  slots: number;
  busy: number;
  workerPool?: string | undefined;
  runtime?: string | undefined;
  resourceClass?: string | undefined;
}

export interface TaskQueueInfo {
  taskQueue: string;
  /** Attempts that a worker could take now. */
  ready: number;
  running: number;
  oldestQueuedAt: Timestamp | null;
  /** Those seen within a minute. */
  workers: { worker: string; slots: number; busy: number; seenAt: Timestamp }[];
}

/** After losing this many workers an attempt is given up. */
export const MOST_TAKES = 5;

export interface TaskQueueStore {
  /** Existing rows stay. Skips claims that are over, and attempts whose result is already in the mailbox. */
  attemptQueueAdd(params: { attempts: readonly QueuedAttempt[] }): Promise<void>;
  /** Up to `limit` attempts, under a new lease each; tenants take turns. Notes that the worker was seen. */
  attemptQueueTake(params: WorkerOffer & { limit: number; leaseMs: number }): Promise<LeasedAttempt[]>;
  /** Renews leases. An unanswered lease is lost. `isStopped`: the worker must stop. */
  attemptQueueBeat(params: {
    leaseIds: readonly string[];
    tenantId: string | null;
    leaseMs: number;
  }): Promise<{ leaseId: string; isStopped: boolean; leaseUntil: Timestamp }[]>;
  attemptQueueHeld(params: { leaseId: string; tenantId: string | null }): Promise<LeasedAttempt | null>;
  /** Ends the attempt with this mail. Null: the lease is not held any more. */
  attemptQueueComplete(params: {
    leaseId: string;
    messageId: string;
    body: JsonText;
  }): Promise<{ executionId: string; live: boolean } | null>;
  /** Gives attempts back without a result. Returns their queues. */
  attemptQueueRelease(params: { leaseIds: readonly string[] }): Promise<string[]>;
  /** Gives the attempt back without a result: nobody takes it before the wait is over, and it counts as admitted then. */
  attemptQueueHold(params: { leaseId: string; waitMs: number }): Promise<void>;
  /** Returns the attempts without a worker and without a result: they count as stopped. */
  attemptQueueStop(params: { attempts: readonly AttemptKey[] }): Promise<AttemptKey[]>;
  /** The executions have ended. */
  attemptQueueDrop(params: { executionIds: readonly string[] }): Promise<void>;
  /** Attempts that took too long, or have lost MOST_TAKES workers. */
  attemptQueueOverdue(): Promise<LeasedAttempt[]>;
  attemptQueueTidy(): Promise<void>;
  workerLeave(params: { taskQueues: readonly string[]; worker: string; tenantId: string | null }): Promise<void>;
  taskQueueList(params: { tenantId: string | null }): Promise<TaskQueueInfo[]>;
}
