// The native runner as a background service: registers, claims, polls, sweeps, and starts over with a new incarnation
// when its fence is dead. All of its periodic work is one tick; an idle runner asks the database three times a second.

import type { HintedLane } from '../../store/hint-port.ts';
import type { NewExecution, StartOutcome } from '../../store/port.ts';
import { type Clock, createClock } from '../clock.ts';
import { DEFAULT_ENGINE_OPTIONS, type EngineOptions } from '../environment.ts';
import { HTTP_STEP } from '../quota/usage-meter.ts';
import { Claimer } from './claimer.ts';
import { Housekeeping } from './housekeeping.ts';
import { Incarnation, type RunningDeps } from './incarnation.ts';

export interface RunnerDeps extends RunningDeps {
  readonly options?: Partial<EngineOptions>;
}

const WAKE_LIMIT = 5_000;
const RECONCILE_EVERY_MS = 60_000;

export class Runner {
  private readonly deps: RunnerDeps;
  private readonly options: EngineOptions;
  private readonly clock: Clock;
  private readonly housekeeping: Housekeeping;
  private life: { incarnation: Incarnation; claimer: Claimer } | null = null;
  private cancelTick: () => void = () => {};
  private ticks = 0;
  private ticking: Promise<void> = Promise.resolve();
  private nextReconcile: number;
  private nextMailAt = 0;
  private stopped = false;
  private takeoverHeldUntil = 0;

  constructor(deps: RunnerDeps) {
    this.deps = deps;
    this.options = { ...DEFAULT_ENGINE_OPTIONS, ...deps.options };
    this.clock = createClock(deps.timers);
    this.housekeeping = new Housekeeping({ ...deps, clock: this.clock, options: this.options });
    this.nextReconcile = deps.timers.monotonicMs() + RECONCILE_EVERY_MS;
  }

  async start(): Promise<void> {
    await this.beginLife();
    this.scheduleTick();
  }

  /** Work became ready somewhere: do not wait for the poll. */
  hint(lanes?: readonly HintedLane[]): void {
    this.life?.claimer.hint(lanes);
  }

  /** Mail came for an execution that may be in memory here. */
  mailHint(executionId: string): void {
    const { incarnation, claimer } = this.life ?? {};
    if (incarnation?.residents.has(executionId)) void this.quietly('mail', () => incarnation.readMail([executionId]));
    else claimer?.hint();
  }

  /** Starts these as this runner's own; null: it has no place for them now. */
  adopt(items: NewExecution[]): Promise<StartOutcome[]> | null {
    return this.stopped ? null : (this.life?.claimer.adopt(items) ?? null);
  }

  hasRoom(): boolean {
    return (this.life?.incarnation.capacity() ?? 0) > 0;
  }

  holds(executionId: string): boolean {
    return this.life?.incarnation.residents.has(executionId) ?? false;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTick();
    await this.ticking;
    this.life?.claimer.stop();
    await this.life?.incarnation.drain();
    await this.housekeeping.settled();
    this.life = null;
  }

  private async beginLife(): Promise<void> {
    const { store, timers } = this.deps;
    const { name, leaseMs, commitSlots } = this.options;
    const registeredAt = timers.monotonicMs();
    const registration = await store.runnerRegister({ name, slots: commitSlots + 1, leaseMs });
    if (this.stopped) {
      await store.runnerStop({ runnerId: registration.runnerId });
      return;
    }
    this.clock.observe(registration.at);
    this.takeoverHeldUntil = timers.monotonicMs() + leaseMs / 2;
    const { clock, options } = this;
    const incarnation = new Incarnation(
      {
        ...this.deps,
        clock,
        options,
        workWanted: () => this.hint(),
        placeFreed: () => this.life?.claimer.placeFreed(),
        died: () => this.diedOnce(incarnation),
      },
      registration,
      registeredAt,
    );
    const { perTenantAction } = this.deps;
    const stepsAtOnce = (tenantId: string) => perTenantAction?.(tenantId, HTTP_STEP) ?? Number.POSITIVE_INFINITY;
    const claimer = new Claimer({ ...this.deps, clock, options, incarnation, stepsAtOnce });
    this.life = { incarnation, claimer };
    claimer.hint();
  }

  private diedOnce(incarnation: Incarnation): void {
    if (this.life?.incarnation !== incarnation) return;
    this.deps.observer.warn('this runner was declared dead; starting over', {
      runnerId: incarnation.registration.runnerId,
    });
    this.life.claimer.stop();
    this.life = null;
  }

  private scheduleTick(): void {
    if (this.stopped) return;
    this.cancelTick = this.deps.timers.after(this.options.pollMs, () => {
      this.ticking = this.runOnce().finally(() => this.scheduleTick());
    });
  }

  /** One round of everything that is done by polling. */
  async runOnce(): Promise<void> {
    this.ticks++;
    await this.quietly('tick', async () => {
      if (this.life === null) await this.beginLife();
      if (this.ticks % 2 === 0) await this.wake();
      else await this.wakeByMail();
      await this.pollInbox();
      await this.sweep();
      await this.housekeeping.runOnce();
    });
  }

  private async wake(): Promise<void> {
    for (let woken = WAKE_LIMIT; woken === WAKE_LIMIT && !this.stopped; ) {
      woken = await this.deps.store.queueWake({ limit: WAKE_LIMIT });
      this.life?.claimer.rescan();
    }
  }

  private async wakeByMail(): Promise<void> {
    if ((await this.deps.store.queueWakeMail({ limit: WAKE_LIMIT })) > 0) this.hint();
  }

  private async pollInbox(): Promise<void> {
    const { incarnation } = this.life ?? {};
    const now = this.deps.timers.monotonicMs();
    if (incarnation === undefined || now < this.nextMailAt) return;
    this.nextMailAt = now + this.options.inboxPollMs;
    await incarnation.readMail([...incarnation.residents.keys()]);
  }

  /** Runners whose lease ended are declared dead, and what they owned becomes ready (I4). */
  private async sweep(): Promise<void> {
    const { store, timers, observer } = this.deps;
    const { poisonDelayMs: suspectDelayMs } = this.options;
    const now = timers.monotonicMs();
    if (now >= this.takeoverHeldUntil && this.life?.incarnation.mayJudge()) {
      this.takeoverHeldUntil = now + this.options.leaseMs / 5;
      for (const runnerId of await store.runnerListExpired({ graceMs: 0 })) {
        if (runnerId === this.life?.incarnation.registration.runnerId) continue;
        const { declared, released } = await store.runnerDeclareDead({ runnerId, expiredForMs: 0, suspectDelayMs });
        if (!declared) continue;
        observer.count('takeovers');
        observer.warn('took over from a runner whose lease ended', { runnerId, released });
        this.hint();
      }
    }
    if (now >= this.nextReconcile) {
      this.nextReconcile = now + RECONCILE_EVERY_MS;
      await this.life?.claimer.reconcile();
    }
  }

  private async quietly(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.deps.observer.warn(`${what} failed`, { error: String(error) });
    }
  }
}
