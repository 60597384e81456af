// The native runner as a background service: registers, claims, polls, sweeps, and starts over with a new incarnation
// when its fence is dead. All of its periodic work is one tick; an idle runner asks for due, ready and mailed executions in one query a second.

import { type Clock, createClock } from '../../clock/clock.ts';
import { HTTP_STEP } from '../../quota/usage-meter.ts';
import type { HintedLane } from '../../store/hint-port.ts';
import type { NewExecution, StartOutcome } from '../../store/port.ts';
import type { HeldPlaces, PlaceWait } from '../attempt/attempt-desk.ts';
import { DEFAULT_ENGINE_OPTIONS, type EngineOptions } from '../environment.ts';
import { lastChance } from '../turn/suspects.ts';
import { BEHAVIOUR, Claimer } from './claimer.ts';
import { Housekeeping } from './housekeeping.ts';
import { Incarnation, type RunningDeps } from './incarnation.ts';
import { WakeClock } from './wake-clock.ts';

export interface RunnerDeps extends RunningDeps {
  readonly options?: Partial<EngineOptions>;
  /** Which machine and which version of Pawl this is, for people. */
  readonly about?: { readonly host: string; readonly version: string };
}

const WAKE_LIMIT = 5_000;
/** Of the poll interval: what became ready within it is left to the runner that was told of it. */
const LEFT_TO_OTHERS = 0.4;
const RECONCILE_EVERY_MS = 60_000;
/** How long a runner that lost only the connection guarding its lease has to renew it over another. */
const SESSION_GRACE_MS = 750;
const WATCH_EVERY_MS = 900;
const REPORT_EVERY_MS = 5_000;

export class Runner {
  private readonly deps: RunnerDeps;
  private readonly options: EngineOptions;
  private readonly clock: Clock;
  private readonly housekeeping: Housekeeping;
  private readonly wakeClock: WakeClock;
  private life: { incarnation: Incarnation; claimer: Claimer } | null = null;
  private cancelTick: () => void = () => {};
  private ticks = 0;
  private ticking: Promise<void> = Promise.resolve();
  private nextReconcile: number;
  private nextMailAt = 0;
  private nextReport: number;
  private stopped = false;
  /** Somebody asked it to drain: it takes nothing more until the process is started again. */
  private drained = false;
  private takeoverHeldUntil = 0;

  constructor(deps: RunnerDeps) {
    this.deps = deps;
    this.options = { ...DEFAULT_ENGINE_OPTIONS, ...deps.options };
    this.clock = createClock(deps.timers);
    this.housekeeping = new Housekeeping({ ...deps, clock: this.clock, options: this.options });
    const readyForMs = Math.round(this.options.pollMs * LEFT_TO_OTHERS);
    const woken = () => this.life?.claimer.rescan();
    this.wakeClock = new WakeClock({ ...deps, clock: this.clock, readyForMs, woken });
    this.nextReconcile = deps.timers.monotonicMs() + RECONCILE_EVERY_MS;
    this.nextReport = deps.timers.monotonicMs();
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
    const { incarnation } = this.life ?? {};
    if (incarnation?.residents.has(executionId)) incarnation.lookForMail(executionId);
  }

  /** Starts these as this runner's own; null: it has no place for them now. */
  adopt(items: NewExecution[]): Promise<StartOutcome[]> | null {
    return this.stopped ? null : (this.life?.claimer.adopt(items) ?? null);
  }

  /** How many executions it would take now. */
  room(): number {
    return this.life?.incarnation.capacity() ?? 0;
  }

  /** Also of a full runner, for a tenant that holds little here. */
  hasRoom(lanes: readonly HintedLane[] = []): boolean {
    const { incarnation } = this.life ?? {};
    if (incarnation === undefined) return false;
    return incarnation.capacity() > 0 || lanes.some(({ tenantId }) => incarnation.keptFor(tenantId, 0) > 0);
  }

  /** Who holds the places of attempts in this process; null: it has no life at the moment. */
  places(): HeldPlaces | null {
    return this.life?.incarnation.places() ?? null;
  }

  /** Null: it does not wait for a place, or is not in this process. */
  placeWait(tenantId: string, executionId: string): PlaceWait | null {
    return this.life?.incarnation.placeWait(tenantId, executionId) ?? null;
  }

  holds(executionId: string): boolean {
    return this.life?.incarnation.residents.has(executionId) ?? false;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    this.cancelTick();
    this.wakeClock.stop();
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
    const said = { name, behaviour: BEHAVIOUR, ...this.deps.about };
    const registration = await store.runnerRegister({ ...said, slots: commitSlots + 1, leaseMs });
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
        workWanted: () => (this.stopped ? this.deps.workReleased?.([]) : this.hint()),
        parkedUntil: (dueAt) => this.wakeClock.expect(dueAt),
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
      if (this.drained) return;
      if (this.life === null) await this.beginLife();
      await this.report();
      if (this.ticks % 2 === 0) await this.wake();
      await this.pollInbox();
      await this.sweep();
      await this.housekeeping.runOnce();
    });
  }

  /** Reports the load, and learns whether to drain. A drain request does not carry over to the next incarnation. */
  private async report(): Promise<void> {
    const { life } = this;
    const now = this.deps.timers.monotonicMs();
    if (life === null || now < this.nextReport) return;
    this.nextReport = now + REPORT_EVERY_MS;
    const { total, used } = life.incarnation.places();
    const { runnerId } = life.incarnation.registration;
    const places = { total, busy: used };
    const { isDraining } = await this.deps.store.runnerReport({ runnerId, places });
    if (!isDraining || this.life !== life) return;
    this.drained = true;
    this.deps.observer.warn('this runner was asked to drain: it finishes its attempts and takes nothing more', {
      runnerId,
    });
    life.claimer.stop();
    await life.incarnation.drain();
    this.life = null;
  }

  private async wake(): Promise<void> {
    const { hasReady, hasMail } = await this.wakeClock.runOnce();
    if (hasReady) this.life?.claimer.rescan();
    if (hasMail) await this.wakeByMail();
  }

  private async wakeByMail(): Promise<void> {
    if ((await this.deps.store.queueWakeMail({ limit: WAKE_LIMIT })) > 0) this.hint();
  }

  private async pollInbox(): Promise<void> {
    const { incarnation } = this.life ?? {};
    const now = this.deps.timers.monotonicMs();
    if (incarnation === undefined || now < this.nextMailAt) return;
    this.nextMailAt = now + this.options.inboxPollMs;
    await incarnation.readMail([...incarnation.residents.ids()]);
  }

  /** Runners whose lease ended are declared dead, and what they owned becomes ready (I4). */
  private async sweep(): Promise<void> {
    const { store, timers, observer } = this.deps;
    const { poisonDelayMs: suspectDelayMs, maxPoisonRetries } = this.options;
    const suspicion = { suspectDelayMs, lastChance: lastChance(maxPoisonRetries) };
    const now = timers.monotonicMs();
    if (now >= this.takeoverHeldUntil && this.life?.incarnation.mayJudge()) {
      const { leaseMs } = this.options;
      const own = this.life.incarnation.registration.runnerId;
      const judge = { runnerId: own, sessionGraceMs: Math.min(SESSION_GRACE_MS, leaseMs / 4), settledMs: leaseMs };
      const live = await store.runnerListLive({ expiredForMs: 0, judge });
      const others = live.filter(({ runnerId }) => runnerId !== own);
      const expired = others.filter(({ isExpired }) => isExpired);
      // A runner alone has nobody to watch.
      this.takeoverHeldUntil = now + (others.length === 0 ? leaseMs / 2 : Math.min(leaseMs / 5, WATCH_EVERY_MS));
      const known = expired.length === 0 ? [] : await store.runnerList();
      for (const { runnerId } of expired) {
        const { declared, released } = await store.runnerDeclareDead({ runnerId, expiredForMs: 0, ...suspicion });
        if (!declared) continue;
        observer.count('takeovers');
        const name = known.find((runner) => runner.runnerId === runnerId)?.name;
        observer.warn('took over from a runner whose lease ended', { runnerId, name, released });
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
