// Sees to it that every execution of an outside engine has a run over there: hands over what was accepted, and looks after what was handed
// over. Hints make it fast, the poll makes it correct: should a process die in between, another one finds the row due (I12). A run that
// has something to do is asked once a minute whether it knows.
//
// A run that has ended over there while the execution has not (terminated by hand, deleted by retention) closes the execution with the
// reason, or goes on as a new run at a new epoch: `lostRun`.

import { parseRef } from '../protocol/driver.ts';
import type { ExternalRun, ExternalStore, OutsideDriver } from '../store/external-port.ts';
import type { Store } from '../store/port.ts';
import { EngineRefusalError, EngineUnavailableError, type OutsideEngine } from './driver.ts';

export interface HandOverDeps {
  readonly driver: OutsideDriver;
  readonly engine: OutsideEngine;
  readonly store: ExternalStore & Pick<Store, 'inboxRead'>;
  readonly after: (delayMs: number, callback: () => void) => () => void;
  readonly monotonicMs: () => number;
  readonly warn: (event: string, details: Record<string, unknown>) => void;
  /** What becomes of new executions while the engine is away. Only `reject` must know at once whether it is. */
  readonly whenDown: 'queue' | 'reject';
  /** What becomes of an execution whose run is gone. */
  readonly lostRun: 'close' | 'again';
  /** Takes a turn for an execution that has no run over there which could. */
  readonly advance: (run: RunKey) => Promise<{ readonly ended?: true; readonly stopping?: true }>;
  /** The attempts that are open, and nothing is decided. */
  readonly look: (
    run: RunKey,
  ) => Promise<{ readonly attempts: readonly { readonly nodeId: string; readonly taskQueue: string }[] }>;
  /** Ends an execution as Failed, with this reason. */
  readonly close: (run: RunKey, error: { code: string; message: string }) => Promise<void>;
  readonly pollMs?: number;
}

interface RunKey {
  readonly executionId: string;
  readonly epoch: number;
}

const BATCH = 100;
/** Runs that are handed over or looked after at one time. */
const MOST_AT_ONCE = 200;
/** A hand-over that takes longer is tried again by somebody else; it is harmless twice. */
const HOLD_MS = 15_000;
/** How often somebody looks whether a run is still there. */
const LOOK_AFTER_MS = 60_000;
/** The same, of a run whose engine did not answer. */
const LOOK_AGAIN_MS = 10_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
/** A stopping execution that lost its run is looked at this often, until its last attempt has had its time. */
const STOPPING_MS = 1_000;
/** Mail that is older has not been heard of. */
const OLD_MAIL_MS = 2_000;
/** How often somebody looks for such mail. */
const MAIL_POLL_MS = 500;
/** How often an engine's health is checked. */
const PING_MS = 2_000;

export class HandOver {
  private readonly deps: HandOverDeps;
  private readonly pollMs: number;
  private cancelPoll: (() => void) | null = null;
  private busy: Promise<void> | null = null;
  private isWantedAgain = false;
  private pingedAt = Number.NEGATIVE_INFINITY;
  private mailLookAt = Number.NEGATIVE_INFINITY;
  private telling: Promise<void> | null = null;
  /** What is handed over or looked after now. */
  private readonly passing = new Set<Promise<void>>();
  private stopped = false;

  constructor(deps: HandOverDeps) {
    this.deps = deps;
    this.pollMs = deps.pollMs ?? 500;
  }

  start(): void {
    this.schedule(0);
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelPoll?.();
    await this.busy;
    await Promise.all([...this.passing, this.telling]);
  }

  /** Something was accepted, or has mail: look at once. */
  hint(): void {
    if (this.stopped) return;
    if (this.busy !== null) this.isWantedAgain = true;
    else this.schedule(0);
  }

  /** There is mail for this execution. A hint: the poll sends it again. */
  async mail(executionId: string): Promise<void> {
    try {
      const run = await this.deps.store.externalGet({ executionId });
      if (run !== null) await this.tellMail(run);
    } catch (error) {
      this.deps.warn('an engine could not be told of mail; it is told again', { executionId, error: String(error) });
    }
  }

  private schedule(delayMs: number): void {
    this.cancelPoll?.();
    if (this.stopped) return;
    this.cancelPoll = this.deps.after(delayMs, () => {
      this.cancelPoll = null;
      this.busy = this.look().finally(() => {
        this.busy = null;
        const isSoon = this.isWantedAgain;
        this.isWantedAgain = false;
        this.schedule(isSoon ? 0 : this.pollMs);
      });
    });
  }

  private async look(): Promise<void> {
    const { warn, driver } = this.deps;
    void this.ping();
    try {
      const isMoreDue = await this.runOnce();
      if (isMoreDue) this.isWantedAgain = true;
    } catch (error) {
      warn('executions could not be handed over; trying again', { driver, error: String(error) });
    }
  }

  /** Other processes may be those who hand over: this one knows of an engine that is away only by asking. */
  private async ping(): Promise<void> {
    const { engine, whenDown, monotonicMs } = this.deps;
    if (whenDown !== 'reject' || monotonicMs() - this.pingedAt < PING_MS) return;
    this.pingedAt = monotonicMs();
    await engine.ping();
  }

  /**
   * Whether more may be due. Nobody waits here until the engine has answered: whatever is accepted meanwhile would wait too. What was
   * taken is held for this process, so that the next look does not find it.
   */
  async runOnce(): Promise<boolean> {
    const { store, driver, monotonicMs } = this.deps;
    if (this.passing.size >= MOST_AT_ONCE) await Promise.race(this.passing);
    const limit = Math.min(BATCH, MOST_AT_ONCE - this.passing.size);
    const due = await store.externalDue({ driver, limit, holdMs: HOLD_MS });
    for (const run of due) this.pass(run.ref === null ? this.handOver(run) : this.lookAfter(run), run);
    if (this.telling === null && monotonicMs() - this.mailLookAt >= MAIL_POLL_MS) {
      this.mailLookAt = monotonicMs();
      this.telling = this.tellOldMail().finally(() => {
        this.telling = null;
      });
    }
    return due.length === limit;
  }

  private async tellOldMail(): Promise<void> {
    const { store, driver, warn } = this.deps;
    try {
      const unread = await store.externalMail({ driver, olderThanMs: OLD_MAIL_MS, limit: BATCH });
      await Promise.all(unread.map((run) => this.tellMail(run)));
    } catch (error) {
      warn('nobody knows which runs have mail; trying again', { driver, error: String(error) });
    }
  }

  private pass(work: Promise<void>, { executionId }: ExternalRun): void {
    const { warn, driver } = this.deps;
    const passing = work
      .catch((error: unknown) => {
        // It is due again when nobody holds it any more.
        warn('an execution could not be handed over; trying again', { driver, executionId, error: String(error) });
      })
      .finally(() => this.passing.delete(passing));
    this.passing.add(passing);
  }

  private async handOver(run: ExternalRun): Promise<void> {
    const { engine, store, warn, driver } = this.deps;
    const { executionId, epoch, tenantId, projectId, environmentId, workflowId, version, failures } = run;
    try {
      const context = { runId: executionId, epoch, tenantId, projectId, environmentId };
      const ref = await engine.startRun({ planId: workflowId, planVersion: String(version) }, context);
      await store.externalNote({ executionId, epoch, ref: JSON.stringify(ref), lookAfterMs: LOOK_AFTER_MS });
    } catch (error) {
      const isDown = error instanceof EngineUnavailableError;
      if (isDown) engine.startsAt(environmentId).failed();
      const lookAfterMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures, 10), LONGEST_RETRY_MS);
      const message = error instanceof Error ? error.message : String(error);
      if (error instanceof EngineRefusalError) {
        warn('an engine refuses an execution', { driver, executionId, error: message });
        return this.deps.close({ executionId, epoch }, { code: 'RUN_REFUSED', message });
      }
      if (failures === 0)
        warn('an execution could not be handed over; it waits', { driver, executionId, error: message });
      await store.externalNote({ executionId, epoch, error: message, lookAfterMs });
    }
  }

  private async lookAfter(run: ExternalRun): Promise<void> {
    const { engine, store, lostRun, close, warn, driver } = this.deps;
    const { executionId, epoch } = run;
    const ref = parseRef(run.ref!);
    const status = await engine.getRunStatus(ref).catch((error: Error) => error);
    if (status instanceof Error) {
      warn('an engine did not say how a run is', { driver, executionId, error: status.message });
      await store.externalNote({ executionId, epoch, error: status.message, lookAfterMs: LOOK_AGAIN_MS });
      return;
    }
    const { state, providerStatus, reason, heldUp } = status;
    if (state === 'running') {
      // An answer to the engine may have been lost together with the mail that it was about: asking again costs a turn.
      if (run.isBusy) await this.tellMail(run);
      const missing = run.isBusy && heldUp === undefined ? await this.missingWorker(run).catch(() => null) : null;
      const waitsFor = heldUp ?? missing;
      if (waitsFor !== null && waitsFor !== run.lastError)
        warn(heldUp === undefined ? 'an execution waits for a worker' : 'a run does not go on', {
          driver,
          executionId,
          error: waitsFor,
        });
      const noted = waitsFor === null ? { ref: run.ref! } : { error: waitsFor };
      await store.externalNote({ executionId, epoch, ...noted, lookAfterMs: LOOK_AFTER_MS });
      return;
    }
    // It may have ended because the execution has, a moment ago.
    const now = await store.externalGet({ executionId });
    if (now === null || now.epoch !== epoch) return;
    // What was accepted before the run was lost still counts: a cancel that the run has not read makes the execution Cancelled.
    const { ended, stopping } = state === 'foreign' ? {} : await this.deps.advance({ executionId, epoch });
    if (ended === true) return;
    if (stopping === true) {
      await store.externalNote({ executionId, epoch, ref: run.ref!, lookAfterMs: STOPPING_MS });
      return;
    }
    const what = reason === undefined ? providerStatus : `${providerStatus} (${reason})`;
    warn('a run is gone over there while its execution is not over', { driver, executionId, state, providerStatus });
    if (state !== 'foreign' && lostRun === 'again') {
      await store.externalAgain({ executionId, epoch });
      this.hint();
      return;
    }
    await close({ executionId, epoch }, LOST[state](driver, what));
  }

  /** Null: every open attempt has a worker that could take it, as far as the engine can tell. */
  private async missingWorker({ executionId, epoch, driver, ref }: ExternalRun): Promise<string | null> {
    const { engine, look } = this.deps;
    if (engine.isServed === undefined) return null;
    const { attempts } = await look({ executionId, epoch });
    const nodeOf = new Map(attempts.map(({ taskQueue, nodeId }) => [taskQueue, nodeId]));
    for (const [taskQueue, nodeId] of nodeOf) {
      if (await engine.isServed(parseRef(ref!), taskQueue)) continue;
      return `node "${nodeId}" waits for a worker of task queue "${taskQueue}", and none is there. Start one: pawl runner --driver ${driver} --task-queue ${taskQueue}`;
    }
    return null;
  }

  private async tellMail(run: ExternalRun): Promise<void> {
    const { executionId, epoch, driver } = run;
    try {
      if (run.ref !== null) await this.deps.engine.mail(parseRef(run.ref));
      else if (await this.isCancelled(executionId)) await this.deps.advance({ executionId, epoch });
    } catch (error) {
      this.deps.warn('an engine could not be told of mail; it is told again', {
        driver,
        executionId,
        error: String(error),
      });
    }
  }

  /** An execution that was never handed over ends without the engine. */
  private async isCancelled(executionId: string): Promise<boolean> {
    const mail = await this.deps.store.inboxRead({ executionIds: [executionId] });
    return mail.some(({ kind }) => kind === 'cancel');
  }
}

const LOST = {
  ended: (driver: string, what: string) => ({
    code: 'RUN_LOST',
    message: `the run ended in ${driver} before the execution did: ${what}. RETRY_STEP takes the execution up again`,
  }),
  absent: (driver: string) => ({
    code: 'RUN_LOST',
    message: `${driver} does not know the run any more (deleted, or its retention is over). RETRY_STEP takes the execution up again`,
  }),
  foreign: (driver: string, what: string) => ({
    code: 'RUN_NAME_TAKEN',
    message: `the run's name belongs to something else in ${driver}: ${what}. Use a namespace that only Pawl uses`,
  }),
} as const;
