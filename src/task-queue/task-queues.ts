// Task queues for HTTP workers in any language: poll, heartbeat, complete; and the state of every queue. A worker's token gives
// access to the attempts of its own tenant only (S1). Results are checked like those of actions: size, shape, codes.

import type { AttemptResult, RanAttempt } from '../action/attempt.ts';
import { LARGE_OUTPUT, spill } from '../action/spill.ts';
import { stepResult } from '../action/step-result.ts';
import type { Artifacts } from '../artifact/artifacts.ts';
import type { Timers } from '../clock/timers.ts';
import { PawlError } from '../core/error/pawl-error.ts';
import type { Json } from '../core/json/json.ts';
import { mailBody } from '../engine/turn/mail.ts';
import type { Admission } from '../quota/heavy-steps.ts';
import {
  type LeasedAttempt,
  MOST_TAKES,
  type TaskQueueInfo,
  type TaskQueueStore,
  type WorkerOffer,
} from '../store/task-queue-port.ts';

export interface TaskQueuesDeps {
  readonly store: TaskQueueStore;
  readonly timers: Timers;
  readonly newId: () => string;
  readonly outputLimitBytes: number;
  readonly artifacts: Pick<Artifacts, 'put' | 'isThere'>;
  /** Whether a heavy step of a tenant may begin. */
  readonly admit: (step: RanAttempt) => Promise<Admission>;
  /** The attempt was reported by a worker that has no telemetry of ours. */
  readonly ended: (request: RanAttempt, result: AttemptResult, startedAt: number) => void;
  readonly mailSent: (executionId: string) => void;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
}

export interface Poll extends Omit<WorkerOffer, 'taskQueues' | 'tenantId' | 'slots' | 'busy'> {
  readonly tenantId: string;
  readonly taskQueue: string;
  readonly limit: number;
  readonly leaseMs: number;
  /** How long to wait for an attempt when there is none. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

/** A worker's report: outputs or an error. */
export interface Completion {
  readonly outputs?: Json | undefined;
  readonly error?:
    | { readonly code: string; readonly message: string; readonly retryable?: boolean | undefined }
    | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly logs?: readonly { readonly at?: number; readonly level: string; readonly message: string }[] | undefined;
}

/** How long a poll waits without a hint before it looks again. */
const LOOK_AGAIN_MS = 1_000;
const SWEEP_EVERY_MS = 5_000;
const TIDY_EVERY_SWEEPS = 60;

export class TaskQueues {
  private readonly deps: TaskQueuesDeps;
  /** Waiting polls by queue. */
  private readonly waiting = new Map<string, Set<() => void>>();
  private cancelSweep: () => void = () => {};
  private sweeping: Promise<void> = Promise.resolve();
  private sweeps = 0;

  constructor(deps: TaskQueuesDeps) {
    this.deps = deps;
  }

  list(tenantId: string | null): Promise<TaskQueueInfo[]> {
    return this.deps.store.taskQueueList({ tenantId });
  }

  hint(taskQueues: readonly string[]): void {
    for (const queue of taskQueues) for (const wake of this.waiting.get(queue) ?? []) wake();
  }

  /** Resolves as soon as there is an attempt; empty when the time is over. */
  async poll({ taskQueue, waitMs, signal, limit, ...offer }: Poll): Promise<LeasedAttempt[]> {
    const { store, timers } = this.deps;
    const until = timers.monotonicMs() + waitMs;
    for (;;) {
      const wanted = { ...offer, taskQueues: [taskQueue], slots: limit, busy: 0, limit };
      const taken = await this.admitted(await store.attemptQueueTake(wanted));
      const left = until - timers.monotonicMs();
      if (taken.length > 0 || left <= 0 || signal.aborted) return taken;
      await this.somethingCame(taskQueue, Math.min(left, LOOK_AGAIN_MS), signal);
    }
  }

  heartbeat(tenantId: string, leaseIds: readonly string[], leaseMs: number) {
    return this.deps.store.attemptQueueBeat({ leaseIds, tenantId, leaseMs });
  }

  async complete(tenantId: string, leaseId: string, completion: Completion): Promise<{ executionId: string }> {
    const leased = await this.deps.store.attemptQueueHeld({ leaseId, tenantId });
    const done = leased === null ? null : await this.completeHeld(leased, completion);
    if (done === null) {
      const message = `lease ${leaseId} is over: the attempt was reported, stopped, or given to another worker`;
      throw new PawlError('TASK_LEASE_LOST', message);
    }
    return done;
  }

  /** The outputs of a step are held to the contract of its plan, whoever ran it. */
  private async completeHeld(leased: LeasedAttempt, completion: Completion) {
    const request = requestOf(leased);
    const { contract } = request;
    const result = await this.resultOf(leased, completion);
    const held = contract === undefined ? result : stepResult(result, contract);
    const done = await this.report(leased, held);
    if (done !== null) this.deps.ended(request, held, leased.takenAt);
    return done;
  }

  /** Without the heavy steps that have to wait, or that their tenant may not begin now. */
  private async admitted(taken: readonly LeasedAttempt[]): Promise<LeasedAttempt[]> {
    const { store, admit } = this.deps;
    const begun: LeasedAttempt[] = [];
    for (const leased of taken) {
      const admission = leased.isAdmitted ? { waitMs: 0 } : await admit(requestOf(leased));
      if ('refused' in admission) await this.report(leased, admission.refused);
      else if (admission.waitMs > 0) {
        await store.attemptQueueHold({ leaseId: leased.leaseId, waitMs: admission.waitMs });
      } else begun.push(leased);
    }
    return begun;
  }

  start(): void {
    this.cancelSweep = this.deps.timers.after(SWEEP_EVERY_MS, () => {
      this.sweeping = this.runOnce()
        .catch((error: unknown) => this.deps.warn('task queues could not be swept', { error: String(error) }))
        .finally(() => this.start());
    });
  }

  async stop(): Promise<void> {
    await this.sweeping;
    this.cancelSweep();
    for (const queue of this.waiting.keys()) this.hint([queue]);
  }

  /** Ends attempts whose workers took too long or died too often. */
  async runOnce(): Promise<void> {
    const { store } = this.deps;
    for (const overdue of await store.attemptQueueOverdue()) await this.report(overdue, givenUp(overdue));
    if (this.sweeps++ % TIDY_EVERY_SWEEPS === 0) await store.attemptQueueTidy();
  }

  private async report({ leaseId, nodeId, attempt }: LeasedAttempt, result: AttemptResult) {
    const { store, newId, mailSent } = this.deps;
    const body = mailBody({ kind: 'attemptResult', nodeId, attempt, result });
    const done = await store.attemptQueueComplete({ leaseId, messageId: newId(), body });
    if (done?.live) mailSent(done.executionId);
    return done;
  }

  private async resultOf(leased: LeasedAttempt, { outputs, error, retryAfterMs, logs = [] }: Completion) {
    const lines = logs.map(({ at = Date.now(), level, message }) => ({ at, level, message, data: null }));
    const inline = await this.inline(leased, outputs ?? {});
    if (inline === null) {
      const limit = this.deps.outputLimitBytes;
      const message = `the outputs are larger than ${limit} bytes (action.outputLimitBytes), and there is no artifact store`;
      return failure({ code: 'OUTPUT_TOO_LARGE', message }, { retryable: false, logs: lines });
    }
    const outputsText = JSON.stringify(inline);
    if (error === undefined) return { ok: true as const, outputsText, logs: lines };
    const { code, message, retryable = false } = error;
    const later = retryAfterMs === undefined ? {} : { retryAfterMs };
    const kept = outputs === undefined ? {} : { outputsText };
    return failure({ code, message }, { retryable, ...later, ...kept, logs: lines });
  }

  /** Large members of the outputs become artifacts. Null: there is no store for them. */
  private async inline(leased: LeasedAttempt, outputs: Json): Promise<Json | null> {
    const { artifacts, outputLimitBytes } = this.deps;
    if (Buffer.byteLength(JSON.stringify(outputs)) <= outputLimitBytes) return outputs;
    if (!artifacts.isThere) return null;
    return spill(outputs, outputLimitBytes, (text) => artifacts.put(leased, LARGE_OUTPUT, text));
  }

  private somethingCame(taskQueue: string, mostMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.waiting.get(taskQueue) ?? new Set();
      this.waiting.set(taskQueue, waiting);
      const wake = () => {
        cancel();
        signal.removeEventListener('abort', wake);
        waiting.delete(wake);
        if (waiting.size === 0) this.waiting.delete(taskQueue);
        resolve();
      };
      const cancel = this.deps.timers.after(mostMs, wake);
      signal.addEventListener('abort', wake);
      waiting.add(wake);
    });
  }
}

const requestOf = ({ request }: LeasedAttempt) => JSON.parse(request) as RanAttempt;

type Failure = Extract<AttemptResult, { ok: false }>;

const failure = (error: Failure['error'], more: Omit<Failure, 'ok' | 'error'>): Failure => ({
  ok: false,
  error,
  ...more,
});

function givenUp({ takes, timeoutMs, taskQueue }: LeasedAttempt): AttemptResult {
  if (takes >= MOST_TAKES) {
    const message = `${takes} workers of queue "${taskQueue}" took the attempt and were not heard of again`;
    return { ok: false, error: { code: 'WORKER_LOST', message }, retryable: true };
  }
  const message = `No worker reported the attempt within its timeout of ${timeoutMs} ms`;
  return { ok: false, error: { code: 'ATTEMPT_TIMEOUT', message }, retryable: true, timedOut: true };
}
