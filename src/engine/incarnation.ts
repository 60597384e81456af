// One life of a runner: from its registration to its stop or death. It holds the executions it owns in memory and drives
// each through the same pipeline: inputs → decide → commit → commands → results, timers, mail → inputs …
// Nothing runs before its cause is durable (I2). When the fence is dead, everything here is forgotten: a new incarnation
// starts from what the database says (I4, I5).

import { type Command, startCommand } from '../core/decider/command.ts';
import { nextDue } from '../core/decider/next-due.ts';
import type { NewExecution, RunnerRegistration, Store } from '../store/port.ts';
import { type Alarms, createAlarms } from './alarm.ts';
import { AttemptDesk } from './attempt-desk.ts';
import { attemptInput, attemptRequest, notRunAgain } from './attempt-input.ts';
import type { Clock } from './clock.ts';
import { Committer } from './committer.ts';
import { type Burial, deadLetter } from './dead-letter.ts';
import type { AttemptResult, EngineObserver, EngineOptions, PlanSource, RunAttempt, Timers } from './environment.ts';
import { isWritten } from './journal.ts';
import { keepLease, type Lease } from './lease.ts';
import { inputOf } from './mail.ts';
import { ParkingLot, parkItem } from './parking.ts';
import { untilStoreAnswers } from './patience.ts';
import type { QueuedInput, Resident } from './resident.ts';
import { prepareChildren } from './subworkflow.ts';
import { type Tracing, traceparentFor } from './tracing-port.ts';
import { type Turn, takeTurn } from './transition.ts';

export interface IncarnationDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly plans: PlanSource;
  readonly run: RunAttempt;
  readonly newId: () => string;
  readonly newSeed: () => number;
  readonly callbackUrl: (executionId: string, nodeId: string) => string;
  readonly perTenantAction?: (tenantId: string, actionType: string) => number;
  readonly tracing?: Tracing | undefined;
  /** Something may have become ready: look for work. */
  readonly workWanted: () => void;
  /** A place became free, for work that is known to wait. */
  readonly placeFreed: () => void;
  /** This life is over: the fence is dead. */
  readonly died: () => void;
}

type RunAction = Extract<Command, { type: 'runAction' }>;
type StartChild = Extract<Command, { type: 'startChild' }>;

export class Incarnation {
  readonly registration: RunnerRegistration;
  readonly residents = new Map<string, Resident>();
  private readonly deps: IncarnationDeps;
  private readonly lease: Lease;
  private readonly desk: AttemptDesk;
  private readonly committer: Committer;
  private readonly alarms: Alarms;
  private readonly parking: ParkingLot;
  private slotZeroTail: Promise<unknown> = Promise.resolve();
  private over = false;
  private draining = false;

  constructor(deps: IncarnationDeps, registration: RunnerRegistration, registeredAt: number) {
    this.deps = deps;
    this.registration = registration;
    const { store, timers, clock, observer, options } = deps;
    const { runnerId, slotIds } = registration;
    const died = () => this.die();
    const { leaseMs, leaseMarginMs: marginMs } = options;
    this.lease = keepLease({ store, runnerId, leaseMs, marginMs, registeredAt, timers, clock, observer, lost: died });
    this.desk = new AttemptDesk({
      limits: {
        total: options.maxParallelActions,
        perTenant: options.maxParallelPerTenant,
        perAction: options.maxParallelPerAction,
        perTenantAction: deps.perTenantAction,
      },
      run: deps.run,
      mayDispatch: () => !this.over && this.lease.mayDispatch(),
      timers,
      observer,
    });
    this.committer = new Committer({
      commit: (batch) => store.executionCommit(batch),
      isWritten: (event) => isWritten(store, event),
      slotIds: slotIds.slice(1),
      timers,
      observer,
      fenceLost: died,
    });
    this.alarms = createAlarms({
      timers,
      now: clock.now,
      residents: () => this.residents.values(),
      dueOf: (resident) => nextDue(resident.state),
      ring: (resident) => this.enqueue(resident, { input: { type: 'timerDue' } }),
    });
    this.parking = new ParkingLot({
      store,
      slotId: slotIds[0]!,
      timers,
      observer,
      runInSlotZero: (work) => this.runInSlotZero(work),
      isOver: () => this.over,
      left: (resident) => this.forget(resident),
      stays: (resident) => this.settle(resident),
      woken: deps.workWanted,
    });
  }

  /** How many more executions it would take now: claims follow free places, so a busy runner does not hoard. */
  capacity(): number {
    if (this.over || this.draining || !this.lease.mayDispatch()) return 0;
    const room = this.desk.roomFor(this.committer.unsettled);
    return Math.max(0, Math.min(this.deps.options.maxResident - this.residents.size, room));
  }

  /** Whether this runner may declare others dead. */
  mayJudge(): boolean {
    return !this.over && this.lease.mayJudge();
  }

  /** An execution that was claimed and loaded. Attempts that a former owner left unfinished are run again (I7). */
  take(resident: Resident): void {
    const { state } = resident;
    const twin = this.residents.get(resident.execution.executionId);
    if (twin !== undefined) this.abandonTwin(twin);
    this.residents.set(resident.execution.executionId, resident);
    const children: StartChild[] = [];
    for (const [index, node] of state.nodes.entries()) {
      const isOpenChild = node.status === 'Waiting' && state.plan.nodes[index]!.step.kind === 'subworkflow';
      if (node.status !== 'Running' && !isOpenChild) continue;
      const command = startCommand(state, index, resident.given.get(index) ?? {});
      if (state.stopping !== null) resident.queue.push(notRunAgain(index, node.attempts));
      else if (command.type === 'runAction') this.dispatch(resident, command);
      else if (command.type === 'startChild') children.push(command);
    }
    if (children.length === 0) return this.settle(resident);
    resident.busy = true;
    void this.startAgain(resident, children);
  }

  /** After a crash it is not known whether a child was created; the same id and request make creating it again harmless. */
  private async startAgain(resident: Resident, starts: readonly StartChild[]): Promise<void> {
    const { store } = this.deps;
    const { tenantId } = resident.execution;
    await this.untilStoreAnswers(async () => {
      for (const command of starts) {
        const exists = (await store.executionGet({ tenantId, executionId: command.childId })) !== null;
        const { children, refusals } = await this.prepareChildren(resident, exists ? [] : [command]);
        if (children.length > 0) await store.executionStart({ items: children });
        if (refusals.length === 0) this.childStarted(resident, command);
        resident.queue.push(...refusals);
      }
    });
    this.settle(resident);
  }

  deliver(executionId: string, message: Parameters<typeof inputOf>[0]): void {
    const resident = this.residents.get(executionId);
    if (resident === undefined || resident.seenMail.has(message.id)) return;
    resident.seenMail.add(message.id);
    this.enqueue(resident, { input: inputOf(message), mailId: message.id });
  }

  async readMail(executionIds: string[]): Promise<void> {
    if (executionIds.length === 0 || this.over) return;
    for (const message of await this.deps.store.inboxRead({ executionIds })) this.deliver(message.executionId, message);
  }

  /** A hint that mail came. Should the look fail, the poll looks again. */
  private lookForMail(executionId: string): void {
    if (!this.residents.has(executionId)) return this.deps.workWanted();
    this.readMail([executionId]).catch((error: unknown) => {
      this.deps.observer.warn('mail could not be read', { executionId, error: String(error) });
    });
  }

  private untilStoreAnswers(work: () => Promise<void>): Promise<void> {
    return untilStoreAnswers({ ...this.deps, isOver: () => this.over }, work);
  }

  /** Claims and parks share slot 0, one at a time. */
  runInSlotZero<T>(work: () => Promise<T>): Promise<T> {
    const result = this.slotZeroTail.then(work);
    this.slotZeroTail = result.catch(() => undefined);
    return result;
  }

  /** The execution cannot go on, whatever is tried: it ends as Failed and its cause is kept (I20). */
  async bury(burial: Burial): Promise<void> {
    const { store, clock, observer, newId } = this.deps;
    const { executionId, parentId } = burial.execution;
    observer.warn('execution moved to the dead letters', { executionId, ...burial.error });
    const at = clock.now();
    const slotId = this.registration.slotIds[0]!;
    const add = (what: Burial) =>
      this.untilStoreAnswers(
        async () => void (await store.deadLetterAdd({ slotId, ...deadLetter(what, at, newId()) })),
      );
    // The journal may have been written after all: then the end stands in the outcome alone.
    await add(burial).catch(() => add({ ...burial, seq: null }));
    const resident = this.residents.get(executionId);
    if (resident !== undefined) this.forget(resident);
    observer.ended?.({ execution: burial.execution, status: 'Failed', state: null });
    if (parentId !== null) this.lookForMail(parentId);
  }

  /** Lets running attempts finish, commits what they did, gives everything back, the unfinished too (I23). */
  async drain(): Promise<void> {
    const { timers, options, store, observer } = this.deps;
    this.draining = true;
    this.desk.dropWaiting();
    const giveUpAt = timers.monotonicMs() + options.drainMs;
    while (this.isAtWork() && timers.monotonicMs() < giveUpAt && !this.over) {
      await new Promise<void>((resolve) => {
        timers.after(20, resolve);
      });
    }
    if (this.over) return;
    this.abandon();
    await store.runnerStop({ runnerId: this.registration.runnerId }).catch((error: unknown) => {
      observer.warn('could not sign off; the lease will end by itself', { error: String(error) });
    });
  }

  /** Attempts are running, or what they did is on its way to the database. */
  private isAtWork(): boolean {
    return this.desk.size() > 0 || [...this.residents.values()].some(({ busy }) => busy);
  }

  /** Forgets everything at once. What was running is told to stop; its results are not wanted any more. */
  abandon(): void {
    this.over = true;
    this.lease.stop();
    this.alarms.stop();
    this.desk.close();
    this.committer.abandon();
    for (const { running } of this.residents.values()) {
      for (const { controller } of running.values()) controller.abort();
    }
    this.residents.clear();
  }

  private die(): void {
    if (this.over) return;
    this.abandon();
    this.deps.died();
  }

  private enqueue(resident: Resident, queued: QueuedInput): void {
    resident.queue.push(queued);
    this.advance(resident);
  }

  private advance(resident: Resident): void {
    if (this.over || resident.isGone || resident.busy || resident.queue.length === 0) return;
    resident.busy = true;
    this.alarms.clear(resident);
    const turn = this.turnOf(resident);
    if (turn === null) return;
    const starts = turn.commands.filter((command) => command.type === 'startChild');
    if (starts.length === 0) return this.commit(resident, turn, [], []);
    const { execution, crashes } = resident;
    const seq = turn.written.events[0]?.seq ?? null;
    this.untilStoreAnswers(async () => {
      const { children, refusals } = await this.prepareChildren(resident, starts);
      this.commit(resident, turn, children, refusals);
    }).catch(({ message }: Error) => this.bury({ execution, error: { code: 'POISON', message }, crashes, seq }));
  }

  /** A decision that throws is a bug, and this execution met it: it goes to the dead letters, and nobody crashes for it. */
  private turnOf(resident: Resident): Turn | null {
    const { clock, newSeed, newId, options, observer } = this.deps;
    const { execution, crashes, state } = resident;
    const seq = state.seq;
    const { abortGraceMs } = options;
    try {
      const context = { now: clock.now(), seed: newSeed(), abortGraceMs, measure: observer.measure };
      return takeTurn(resident, context, newId);
    } catch (error) {
      const message = `deciding failed: ${error instanceof Error ? error.message : String(error)}`;
      void this.bury({ execution, error: { code: 'POISON', message }, crashes, seq });
      return null;
    }
  }

  private prepareChildren(resident: Resident, starts: readonly StartChild[]) {
    return prepareChildren(this.deps, resident, starts, this.deps.clock.now());
  }

  private commit(resident: Resident, turn: Turn, children: NewExecution[], follow: QueuedInput[]): void {
    const { written } = turn;
    if (written.events.length === 0 && written.consumed.length === 0) return this.settle(resident);
    const { execution, crashes } = resident;
    const seq = written.events[0]?.seq ?? resident.state.seq;
    this.committer.submit({
      ...written,
      children,
      committed: (at) => {
        if (at > 0) this.deps.clock.observe(at);
        this.deps.tracing?.committed(resident, turn.transitions);
        resident.queue.push(...follow);
        this.carryOut(resident, turn.commands, children);
        if (written.ended.length > 0) this.ended(resident);
        else this.settle(resident);
      },
      overtaken: () => this.forget(resident),
      refused: ({ message }) => void this.bury({ execution, error: { code: 'POISON', message }, crashes, seq }),
    });
  }

  /** The turn is durable: do what it commands. */
  private carryOut(resident: Resident, commands: readonly Command[], children: readonly NewExecution[]): void {
    for (const command of commands) {
      switch (command.type) {
        case 'runAction':
          this.dispatch(resident, command);
          break;
        case 'startChild':
          if (children.some(({ executionId }) => executionId === command.childId)) this.childStarted(resident, command);
          break;
        case 'cancelChild':
          this.lookForMail(command.childId);
          break;
        case 'abort':
          resident.running.get(command.node)?.controller.abort();
          break;
        case 'complete':
          break;
      }
    }
    if (children.length > 0) this.deps.workWanted();
  }

  /** A node that does not wait for its child has done its work when the child is durable. */
  private childStarted(resident: Resident, { node, attempt, childId }: StartChild): void {
    const { step } = resident.state.plan.nodes[node]!;
    if (step.kind !== 'subworkflow' || step.waitForCompletion) return;
    const outputs = { executionId: childId, status: 'Pending' };
    const bytes = JSON.stringify(outputs).length;
    resident.queue.push({ input: { type: 'attemptSucceeded', node, attempt, outputs, bytes } });
  }

  private dispatch(resident: Resident, command: RunAction): void {
    const { node, attempt } = command;
    const controller = new AbortController();
    const { signal } = controller;
    const traceparent = traceparentFor(this.deps.tracing, resident, node);
    const request = attemptRequest(resident, command, { signal, traceparent });
    if (this.draining || request === null) return;
    resident.running.set(node, { attempt, controller });
    this.desk.submit(request, (result) => this.attemptEnded(resident, node, attempt, result));
  }

  private attemptEnded(resident: Resident, node: number, attempt: number, result: AttemptResult): void {
    if (this.over) return;
    if (resident.running.get(node)?.attempt === attempt) resident.running.delete(node);
    this.enqueue(resident, attemptInput(node, attempt, result));
    this.deps.placeFreed();
  }

  /** Nothing to decide now: wait in memory for what is near, leave it for what is far. */
  private settle(resident: Resident): void {
    resident.busy = false;
    if (this.over) return;
    if (resident.queue.length > 0) return this.advance(resident);
    const due = nextDue(resident.state);
    const isNear = due !== null && due - this.deps.clock.now() <= this.deps.options.parkAfterMs;
    if (resident.running.size > 0 || isNear || this.draining) return this.alarms.set(resident, due);
    resident.busy = true;
    this.parking.park(resident, parkItem(resident, due));
  }

  private ended(resident: Resident): void {
    const { execution, state } = resident;
    const { parentId } = execution;
    this.forget(resident);
    this.deps.observer.count('ended');
    this.deps.observer.ended?.({ execution, status: state.status, state });
    if (parentId !== null) this.lookForMail(parentId);
    this.deps.placeFreed();
  }

  private forget(resident: Resident): void {
    this.alarms.clear(resident);
    resident.isGone = true;
    const { executionId } = resident.execution;
    if (this.residents.get(executionId) === resident) this.residents.delete(executionId);
  }

  /** It lost its execution without hearing of it, and this runner has claimed it once more: the newer claim counts (I5). */
  private abandonTwin(twin: Resident): void {
    this.deps.observer.warn('claimed again what was in memory', { executionId: twin.execution.executionId });
    for (const { controller } of twin.running.values()) controller.abort();
    this.forget(twin);
  }
}
