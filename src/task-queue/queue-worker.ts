// A worker of task queues in this process: takes attempts, runs them with the registered actions, renews their leases, and puts
// their results into the mailbox. It writes no execution state: the owner decides on the result (I4). A worker whose lease may
// have expired stops its attempts, because another worker may have begun them (I6). A stopping worker finishes what it can and
// gives the rest back without a result (I23).

import type { AttemptRequest, AttemptResult, RunAttempt } from '../action/attempt.ts';
import { Stop } from '../action/stop.ts';
import type { Timers } from '../clock/timers.ts';
import { isQueueAmong } from '../core/plan/task-queue.ts';
import type { EngineObserver } from '../engine/environment.ts';
import { mailBody } from '../engine/turn/mail.ts';
import type { LeasedAttempt, TaskQueueStore, WorkerOffer } from '../store/task-queue-port.ts';

export interface QueueWorkerDeps {
  readonly store: TaskQueueStore;
  readonly timers: Timers;
  readonly observer: EngineObserver;
  readonly run: RunAttempt;
  readonly newId: () => string;
  readonly offer: Pick<WorkerOffer, 'taskQueues' | 'worker' | 'workerPool' | 'runtime' | 'resourceClass'>;
  readonly slots: number;
  readonly leaseMs: number;
  readonly pollMs: number;
  readonly drainMs: number;
  /** A result is in the mailbox of its execution. */
  readonly mailSent: (executionId: string) => void;
  /** Attempts were given back: a hint for other workers. */
  readonly queued: (taskQueues: readonly string[]) => void;
}

interface Running {
  readonly leased: LeasedAttempt;
  readonly stop: Stop;
  /** On this process's clock: afterwards another worker may hold the lease. */
  until: number;
  /** The execution wants it stopped; its result still counts. */
  isStopped: boolean;
  /** Another worker may have it, so nothing is reported. */
  isLost: boolean;
  readonly ended: Promise<void>;
}

const REPORT_RETRY_MS = 200;

export class QueueWorker {
  private readonly deps: QueueWorkerDeps;
  private readonly running = new Map<string, Running>();
  private cancelPoll: () => void = () => {};
  private cancelBeat: () => void = () => {};
  private taking: Promise<void> | null = null;
  private isWanted = false;
  private stopped = false;

  constructor(deps: QueueWorkerDeps) {
    this.deps = deps;
  }

  start(): void {
    this.beatLater();
    this.hint(this.deps.offer.taskQueues);
  }

  /** These queues may have new attempts. */
  hint(taskQueues: readonly string[]): void {
    const { offer } = this.deps;
    if (!taskQueues.some((queue) => isQueueAmong(offer.taskQueues, queue))) return;
    this.isWanted = true;
    this.takeMore();
  }

  /** Takes nothing more, waits for running attempts, then gives back the rest. */
  async stop(): Promise<void> {
    const { store, timers, drainMs, offer } = this.deps;
    this.stopped = true;
    this.cancelPoll();
    await this.taking;
    const all = () => Promise.all([...this.running.values()].map(({ ended }) => ended));
    await Promise.race([all(), new Promise<void>((resolve) => timers.after(drainMs, resolve))]);
    for (const { stop } of this.running.values()) stop.abort();
    await all();
    this.cancelBeat();
    await store.workerLeave({ ...offer, tenantId: null }).catch(() => {});
  }

  private pollLater(): void {
    this.cancelPoll();
    if (this.stopped) return;
    this.cancelPoll = this.deps.timers.after(this.deps.pollMs, () => {
      this.isWanted = true;
      this.takeMore();
    });
  }

  private takeMore(): void {
    if (this.stopped || this.taking !== null || !this.isWanted) return;
    this.taking = this.take()
      .catch((error: unknown) => this.deps.observer.warn('no attempts could be taken', { error: String(error) }))
      .finally(() => {
        this.taking = null;
        if (this.isWanted) this.takeMore();
        else this.pollLater();
      });
  }

  private async take(): Promise<void> {
    const { store, offer, slots, leaseMs, timers } = this.deps;
    const limit = slots - this.running.size;
    this.isWanted = false;
    if (limit <= 0) return;
    const askedAt = timers.monotonicMs();
    const who = { ...offer, tenantId: null, slots, busy: this.running.size };
    const taken = await store.attemptQueueTake({ ...who, limit, leaseMs });
    for (const leased of taken) this.begin(leased, askedAt + leaseMs);
    // There may be more.
    if (taken.length === limit) this.isWanted = true;
  }

  private begin(leased: LeasedAttempt, until: number): void {
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const own: Running = { leased, stop: new Stop(), until, isStopped: false, isLost: false, ended };
    this.running.set(leased.leaseId, own);
    void this.work(own).finally(() => {
      this.running.delete(leased.leaseId);
      resolve();
      this.isWanted = true;
      this.takeMore();
    });
  }

  private async work(own: Running): Promise<void> {
    const { leased, stop } = own;
    this.deps.observer.count('dispatched');
    const asked = JSON.parse(leased.request) as Omit<AttemptRequest, 'signal' | 'mayHaveRun'>;
    const mayHaveRun = leased.takes > 1 || leased.attempt > 1;
    const result = await this.deps.run({ ...asked, mayHaveRun, signal: stop });
    if (own.isLost) return;
    const isInterrupted = !result.ok && result.aborted === true && !own.isStopped;
    if (isInterrupted) await this.giveBack(own);
    else await this.report(own, result);
  }

  private async giveBack({ leased }: Running): Promise<void> {
    const { store, queued, observer } = this.deps;
    try {
      queued(await store.attemptQueueRelease({ leaseIds: [leased.leaseId] }));
    } catch (error) {
      observer.warn('an attempt could not be given back; it is free when its lease ends', { error: String(error) });
    }
  }

  /** Retries until the result is stored or the lease is lost. */
  private async report(own: Running, result: AttemptResult): Promise<void> {
    const { store, newId, mailSent, timers, observer } = this.deps;
    const { leaseId, nodeId, attempt } = own.leased;
    const body = mailBody({ kind: 'attemptResult', nodeId, attempt, result });
    const messageId = newId();
    while (!own.isLost) {
      try {
        const done = await store.attemptQueueComplete({ leaseId, messageId, body });
        if (done?.live) mailSent(done.executionId);
        return;
      } catch (error) {
        observer.warn('a result could not be reported; trying again', { error: String(error) });
        await new Promise<void>((resolve) => timers.after(REPORT_RETRY_MS, resolve));
      }
    }
  }

  private beatLater(): void {
    const { timers, leaseMs } = this.deps;
    this.cancelBeat = timers.after(leaseMs / 3, () => {
      void this.beat().finally(() => this.beatLater());
    });
  }

  private async beat(): Promise<void> {
    const { store, timers, leaseMs, observer } = this.deps;
    const beaten = [...this.running.values()];
    if (beaten.length > 0) {
      const askedAt = timers.monotonicMs();
      try {
        const leaseIds = beaten.map(({ leased }) => leased.leaseId);
        const held = await store.attemptQueueBeat({ leaseIds, tenantId: null, leaseMs });
        const answers = new Map(held.map((answer) => [answer.leaseId, answer]));
        for (const own of beaten) this.answered(own, answers.get(own.leased.leaseId), askedAt + leaseMs);
      } catch (error) {
        observer.warn('leases of attempts could not be renewed', { count: beaten.length, error: String(error) });
      }
    }
    const now = timers.monotonicMs();
    for (const own of beaten) if (own.until < now) this.lose(own);
  }

  private answered(own: Running, answer: { isStopped: boolean } | undefined, until: number): void {
    if (answer === undefined) return this.lose(own);
    own.until = until;
    if (!answer.isStopped || own.isStopped) return;
    own.isStopped = true;
    own.stop.abort();
  }

  private lose(own: Running): void {
    // An attempt that was just reported has no lease any more.
    if (!this.running.has(own.leased.leaseId)) return;
    own.isLost = true;
    own.stop.abort();
  }
}
