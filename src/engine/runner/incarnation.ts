// One life of a runner: from its registration to its stop or death. It holds the executions it owns in memory, and the parts
// that drive them. When the fence is dead, everything here is forgotten: a new incarnation starts from what the database
// says (I4, I5).

import type { RunAttempt } from '../../action/attempt.ts';
import { isWaitEnding, nextDue } from '../../core/decider/next-due.ts';
import { shareLeft } from '../../core/share/share.ts';
import type { OpenLeaseThread } from '../../store/lease-renewal.ts';
import type { InboxMessage, LoadedExecution, NewMessage } from '../../store/port.ts';
import type { RunnerRegistration } from '../../store/runner-port.ts';
import { AttemptDesk, type HeldPlaces, type PlaceWait } from '../attempt/attempt-desk.ts';
import { mostHeldBack, type WaitingWorkflow } from '../crowd.ts';
import { Pace } from '../pace.ts';
import { type Alarms, createAlarms } from '../turn/alarm.ts';
import { Committer } from '../turn/committer.ts';
import { type Burial, deadLetter } from '../turn/dead-letter.ts';
import type { TurnParts } from '../turn/decide-turn.ts';
import { isWritten } from '../turn/journal.ts';
import type { LoadingDeps } from '../turn/loading.ts';
import { queuedMail } from '../turn/mail.ts';
import { ParkingLot } from '../turn/parking.ts';
import { untilStoreAnswers } from '../turn/patience.ts';
import { RemoteAttempts, type TaskRouting } from '../turn/remote-attempts.ts';
import type { Resident } from '../turn/resident.ts';
import { Residents } from '../turn/residents.ts';
import { Turns } from '../turn/turn.ts';
import { depart } from './departure.ts';
import { keepLease, type Lease } from './lease.ts';

/** The dependencies of a runner, shared by all its incarnations. */
export interface RunningDeps extends Omit<TurnParts, 'clock' | 'options'>, Omit<LoadingDeps, 'store'> {
  readonly run: RunAttempt;
  /** How many attempts of one tenant and one action type may run here at once; absent: as the options say. */
  readonly perTenantAction?: (tenantId: string, actionType: string) => number;
  /** Renews the lease beside the event loop; absent: the loop does it alone. */
  readonly openLeaseThread?: OpenLeaseThread | undefined;
  /** Which attempts go to workers of their task queue; absent: none. */
  readonly routing?: TaskRouting | undefined;
  /** This runner gave back what others can take: tell them, so that they need not find it by polling. */
  readonly workReleased?: ((executions: readonly LoadedExecution[]) => void) | undefined;
}

export interface IncarnationDeps extends RunningDeps, Pick<TurnParts, 'clock' | 'options'> {
  /** Something may have become ready: look for work. */
  readonly workWanted: () => void;
  /** An execution left memory and is due then. */
  readonly parkedUntil: (dueAt: number) => void;
  /** Places may have become free, for work that is known to wait. */
  readonly placeFreed: () => void;
  /** This life is over: the fence is dead. */
  readonly died: () => void;
}

export class Incarnation {
  readonly registration: RunnerRegistration;
  readonly residents: Residents;
  readonly turns: Turns;
  private readonly deps: IncarnationDeps;
  private readonly lease: Lease;
  private readonly desk: AttemptDesk;
  private readonly committer: Committer;
  private readonly alarms: Alarms;
  private readonly parking: ParkingLot;
  /** Null: it is not used. */
  private slotZeroTail: Promise<unknown> | null = null;
  private leaseStopped: Promise<void> = Promise.resolve();
  private over = false;
  private readonly mailed = new Set<string>();
  private readingMailed = false;
  private draining = false;

  constructor(deps: IncarnationDeps, registration: RunnerRegistration, registeredAt: number) {
    this.deps = deps;
    this.registration = registration;
    const { store, timers, clock, observer, options } = deps;
    const { runnerId, slotIds } = registration;
    const died = () => this.die();
    const pace = new Pace(timers);
    this.residents = new Residents(deps);
    this.lease = keepLease({ ...deps, runnerId, registeredAt, lost: died });
    this.desk = new AttemptDesk({
      limits: {
        total: options.maxParallelActions,
        perTenant: options.maxParallelPerTenant === 0 ? Number.POSITIVE_INFINITY : options.maxParallelPerTenant,
        perAction: options.maxParallelPerAction,
        perTenantAction: deps.perTenantAction,
        heldBack: mostHeldBack(options.maxResident),
      },
      run: deps.run,
      mayDispatch: () => !this.over && this.lease.mayDispatch(),
      timers,
      pace,
      observer,
    });
    this.committer = new Committer({
      commit: (batch) => store.executionCommit(batch),
      isWritten: (event) => isWritten(store, event),
      slotIds: slotIds.slice(1),
      timers,
      observer,
      fenceLost: died,
      settled: deps.placeFreed,
    });
    this.alarms = createAlarms({
      timers,
      now: clock.now,
      residents: () => this.residents.values(),
      dueOf: (resident) => nextDue(resident.state),
      ring: (resident) => this.ring(resident),
    });
    this.parking = new ParkingLot({
      store,
      slotId: slotIds[0]!,
      timers,
      observer,
      runInSlotZero: (work) => this.runInSlotZero(work),
      isOver: () => this.over,
      left: (resident) => this.turns.forget(resident),
      parkedUntil: deps.parkedUntil,
      settled: deps.placeFreed,
      stays: (resident) => this.turns.settle(resident),
      woken: deps.workWanted,
    });
    const { residents, desk, committer, alarms, parking } = this;
    const isOver = () => this.over;
    this.turns = new Turns({
      ...deps,
      remote: new RemoteAttempts({ store, timers, observer, routing: deps.routing, isOver }),
      residents,
      desk,
      committer,
      alarms,
      parking,
      pace,
      isOver,
      isDraining: () => this.draining,
      slotId: slotIds[0]!,
      bury: (burial) => this.bury(burial),
      mailSent: (executionId, message) => this.mailSent(executionId, message),
    });
  }

  /** How many more executions it would take now: claims follow free places, so a busy runner does not hoard. */
  capacity(): number {
    if (!this.isOpen() || this.residents.heldBytes >= this.deps.options.maxResidentBytes) return 0;
    const room = this.desk.roomFor(this.committer.unsettled);
    return Math.max(0, Math.min(this.deps.options.maxResident - this.activeCount, room));
  }

  /** Those in memory that do more than wait. */
  get activeCount(): number {
    return this.residents.activeCount;
  }

  /**
   * How many more executions of a tenant have a place here although the runner is full: from the places in memory and among the
   * attempts that are kept for tenants that hold few of them (I22). `arriving`: those of the tenant that are on their way.
   */
  keptFor(tenantId: string, arriving: number): number {
    const places = this.isOpen() && this.residents.memory.hasRoomFor(tenantId) ? this.desk.keptFor(tenantId) : 0;
    if (places === 0) return 0;
    let held = arriving;
    for (const { execution } of this.residents.values()) if (execution.tenantId === tenantId) held++;
    const { maxResident } = this.deps.options;
    // Starts and claims at the same moment may bring more than that. Newcomers do not pay for it: the places of attempts bound them too.
    const inMemory = shareLeft(held, Math.min(this.activeCount, maxResident), maxResident);
    return Math.max(0, Math.min(inMemory, places - held));
  }

  placeWait(tenantId: string, executionId: string): PlaceWait | null {
    return this.desk.waitOf(tenantId, executionId);
  }

  places(): HeldPlaces {
    return this.desk.places();
  }

  /** It takes executions, if there is room for them. */
  isOpen(): boolean {
    return !this.over && !this.draining && this.lease.mayDispatch();
  }

  /** What fills memory and only waits for places of its own kind. */
  heldBack(): WaitingWorkflow[] {
    return this.desk.heldBack();
  }

  /** Whether this runner may declare others dead. */
  mayJudge(): boolean {
    return !this.over && this.lease.mayJudge();
  }

  deliver(executionId: string, message: InboxMessage): void {
    const resident = this.residents.get(executionId);
    if (resident?.isNewMail(message.id)) this.turns.enqueue(resident, queuedMail(message, resident.state.plan));
  }

  async readMail(executionIds: string[]): Promise<void> {
    if (executionIds.length === 0 || this.over) return;
    for (const message of await this.deps.store.inboxRead({ executionIds })) this.deliver(message.executionId, message);
  }

  /** Mail that was accepted before a wait ran out counts, even if its hint arrived after the timer (I10). */
  private ring(resident: Resident): void {
    const ring = () => this.turns.enqueue(resident, { input: { type: 'timerDue' } });
    if (!isWaitEnding(resident.state)) return ring();
    const { executionId } = resident.execution;
    this.untilStoreAnswers(() => this.readMail([executionId])).then(ring, ring);
  }

  /** A message whose row is durable and at hand need not be read. */
  private mailSent(executionId: string, message: NewMessage | undefined): void {
    if (message === undefined || !this.residents.has(executionId)) return this.lookForMail(executionId);
    this.deliver(executionId, message);
  }

  /** A hint that mail came. Should the look fail, the poll looks again. */
  lookForMail(executionId: string): void {
    if (!this.residents.has(executionId)) return this.parking.mailCame(executionId);
    this.mailed.add(executionId);
    if (!this.readingMailed) void this.readMailed();
  }

  /** While one look is under way, the hints for the next one collect. */
  private async readMailed(): Promise<void> {
    this.readingMailed = true;
    while (this.mailed.size > 0 && !this.over) {
      const executionIds = [...this.mailed];
      this.mailed.clear();
      await this.readMail(executionIds).catch((error: unknown) => {
        this.deps.observer.warn('mail could not be read', { count: executionIds.length, error: String(error) });
      });
    }
    this.readingMailed = false;
  }

  private untilStoreAnswers(work: () => Promise<void>): Promise<void> {
    return untilStoreAnswers({ ...this.deps, isOver: () => this.over }, work);
  }

  /** Claims, parks and starts share slot 0, one at a time. */
  runInSlotZero<T>(work: () => Promise<T>): Promise<T> {
    const result = this.slotZeroTail === null ? work() : this.slotZeroTail.then(work);
    const done: Promise<unknown> = result
      .catch(() => {})
      .then(() => {
        if (this.slotZeroTail === done) this.slotZeroTail = null;
      });
    this.slotZeroTail = done;
    return result;
  }

  isSlotZeroFree(): boolean {
    return this.slotZeroTail === null;
  }

  /** The execution cannot go on, whatever is tried: it ends as Failed and its cause is kept (I20). */
  async bury(burial: Burial): Promise<void> {
    const { store, clock, observer, newId, options } = this.deps;
    const { executionId, parentId } = burial.execution;
    const { deadLetters: keepLetter } = options;
    observer.warn(keepLetter ? 'execution moved to the dead letters' : 'gave up on an execution', {
      executionId,
      ...burial.error,
    });
    const at = clock.now();
    const slotId = this.registration.slotIds[0]!;
    const add = (what: Burial) =>
      this.untilStoreAnswers(
        async () => void (await store.deadLetterAdd({ slotId, keepLetter, ...deadLetter(what, at, newId()) })),
      );
    // The journal may have been written after all: then the end stands in the outcome alone.
    await add(burial).catch(() => add({ ...burial, seq: null }));
    const resident = this.residents.get(executionId);
    if (resident !== undefined) this.turns.forget(resident);
    observer.ended?.({ execution: burial.execution, status: 'Failed', state: null, outcome: null });
    if (parentId !== null) this.lookForMail(parentId);
  }

  /** Lets running attempts finish, commits what they did, gives everything back (I23). */
  async drain(): Promise<void> {
    this.draining = true;
    this.desk.dropWaiting();
    await depart({
      ...this.deps,
      registration: this.registration,
      residents: this.residents,
      isOver: () => this.over,
      forget: (resident) => this.turns.forget(resident),
      released: (executions) => this.deps.workReleased?.(executions),
      abandon: () => this.abandon(),
      runInSlotZero: (work) => this.runInSlotZero(work),
    });
    await this.leaseStopped;
  }

  /** Drops all executions at once. Running attempts are told to stop, and their results are ignored. */
  abandon(): void {
    this.over = true;
    this.leaseStopped = this.lease.stop();
    this.alarms.stop();
    this.turns.stop();
    this.desk.close();
    this.committer.abandon();
    for (const { running } of this.residents.values()) {
      for (const { stop } of running.values()) stop.abort();
    }
    this.residents.clear();
  }

  private die(): void {
    if (this.over) return;
    this.abandon();
    this.deps.died();
  }
}
