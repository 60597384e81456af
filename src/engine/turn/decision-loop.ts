// What every execution in memory goes through, again and again: inputs → decide → commit → commands → results, timers, mail
// → inputs … One transition of an execution is on its way at a time (I14, I17). A command is carried out when the turn that
// gave it is durable (I2), with one exception: the first turn of a fresh claim, whose cause is the claim (held-start.ts).

import type { AttemptRequest, AttemptResult } from '../../action/attempt.ts';
import { Stop } from '../../action/stop.ts';
import type { Clock } from '../../clock/clock.ts';
import type { Timers } from '../../clock/timers.ts';
import { type Command, startCommand } from '../../core/decider/command.ts';
import { allNodes, nodeAt, planNodeOf } from '../../core/decider/frame.ts';
import { nextDue } from '../../core/decider/next-due.ts';
import { weightOf } from '../../core/json/json.ts';
import type { NewExecution, NewMessage, Store } from '../../store/port.ts';
import type { TriggerCheck } from '../../workflow/trigger-check.ts';
import type { AttemptDesk } from '../attempt/attempt-desk.ts';
import type { EngineObserver, EngineOptions } from '../environment.ts';
import type { Pace } from '../pace.ts';
import type { SlotMap } from '../slot-map.ts';
import type { Alarms } from './alarm.ts';
import { attemptInput, attemptRequest, isResultOf, notRunAgain } from './attempt-input.ts';
import type { Committer, TurnRows } from './committer.ts';
import { type Burial, failedUndo, type LetterNote } from './dead-letter.ts';
import { eventWaits, hasEventWaits } from './event-wait.ts';
import { HeldStarts, isHeldStart, withHeldStart } from './held-start.ts';
import { IdleResidents } from './idle-residents.ts';
import { type ParkingLot, parkItem } from './parking.ts';
import { untilStoreAnswers } from './patience.ts';
import { type RemoteAttempts, unqueueable } from './remote-attempts.ts';
import {
  MAX_HELD_BYTES,
  mayHoldMore,
  type QueuedInput,
  type Resident,
  weightOfResident,
  withholdStopped,
} from './resident.ts';
import { childStarted, prepareChildren } from './subworkflow.ts';
import { type Tracing, traceparentFor } from './tracing-port.ts';
import { emptyTurn, type Turn, takeTurn } from './transition.ts';

export interface DecisionLoopDeps {
  readonly store: Store;
  readonly timers: Timers;
  readonly clock: Clock;
  readonly observer: EngineObserver;
  readonly options: EngineOptions;
  readonly newId: () => string;
  readonly newSeed: () => number;
  readonly tracing?: Tracing | undefined;
  readonly checkTrigger?: TriggerCheck['check'] | undefined;
  readonly residents: SlotMap<Resident>;
  readonly desk: AttemptDesk;
  readonly remote: RemoteAttempts;
  readonly committer: Committer;
  readonly alarms: Alarms;
  readonly parking: ParkingLot;
  readonly pace: Pace;
  readonly isOver: () => boolean;
  /** Nothing new is started any more. */
  readonly isDraining: () => boolean;
  readonly bury: (burial: Burial) => Promise<void>;
  /** What should undo a step has failed: the execution goes on, and somebody has to look. */
  readonly noteDeadLetter: (letter: LetterNote) => Promise<void>;
  readonly noteUndo: (executionId: string) => Promise<void>;
  /** Mail was written for another execution: a hint, with the message where it is at hand. */
  readonly mailSent: (executionId: string, message?: NewMessage) => void;
  readonly workWanted: () => void;
}

/** How long an execution is away that there was no room for: see crowd.ts. */
const SET_ASIDE_MS = 1_000;

type RunAction = Extract<Command, { type: 'runAction' }>;
type StartChild = Extract<Command, { type: 'startChild' }>;

export class DecisionLoop {
  private readonly deps: DecisionLoopDeps;
  private readonly held: HeldStarts;
  private readonly idle: IdleResidents;
  private residentBytes = 0;
  private readonly waitingForMemory: Resident[] = [];

  constructor(deps: DecisionLoopDeps) {
    this.deps = deps;
    this.held = new HeldStarts(deps.timers, (resident) => this.writeHeldStart(resident));
    this.idle = new IdleResidents(deps);
  }

  /** An execution that was claimed and loaded. Attempts that a former owner left unfinished are run again (I7). */
  take(resident: Resident): void {
    const { state } = resident;
    const { residents } = this.deps;
    const twin = residents.get(resident.execution.executionId);
    if (twin !== undefined) this.abandonTwin(twin);
    residents.set(resident.execution.executionId, resident);
    this.weigh(resident);
    if (state.seq === 0) return this.begin(resident);
    // Until everything is dispatched: an action that needs no time would be decided on in between.
    resident.busy = true;
    const children: StartChild[] = [];
    for (const [index, node] of allNodes(state)) {
      const isOpenChild = node.status === 'Waiting' && planNodeOf(state, index).step.kind === 'subworkflow';
      if (node.status !== 'Running' && !isOpenChild) continue;
      const command = startCommand(state, index, resident.given.get(index) ?? {});
      const isRemote = node.status === 'Running' && this.deps.remote.queueFor(resident, index) !== null;
      // Its result may be among the mail already.
      if (isRemote && resident.queue.some(({ input }) => isResultOf(input, index))) continue;
      if (state.stopping !== null && isRemote) this.stopRemote(resident, index, node.attempts);
      else if (state.stopping !== null) resident.queue.push(notRunAgain(index, node.attempts));
      else if (command.type === 'runAction') this.dispatch(resident, command, true);
      else if (command.type === 'startChild') children.push(command);
    }
    if (children.length === 0) return this.settle(resident);
    void this.startAgain(resident, children);
  }

  enqueue(resident: Resident, queued: QueuedInput): void {
    resident.queue.push(queued);
    this.advance(resident);
  }

  /** Nothing to decide now: wait in memory for what is near, leave it for what is far. */
  settle(resident: Resident): void {
    const { clock, alarms, parking } = this.deps;
    resident.busy = false;
    if (this.deps.isOver()) return;
    if (resident.isLeftOpen && mayHoldMore(resident)) resident.queue.unshift({ input: { type: 'goOn' } });
    if (resident.queue.length > 0) return this.advance(resident);
    const due = nextDue(resident.state);
    if (resident.running.size > 0 || this.deps.isDraining()) return alarms.set(resident, due);
    const until = resident.isSetAside ? null : this.idle.staysUntil(resident, due);
    if (until !== null) {
      this.idle.add(resident);
      return alarms.set(resident, until);
    }
    if (resident.heldStart !== null) return this.writeHeldStart(resident);
    resident.busy = true;
    parking.park(resident, parkItem(resident, resident.isSetAside ? clock.now() + SET_ASIDE_MS : due));
  }

  /** How many are in memory and only wait: they keep nobody else out. */
  get idleCount(): number {
    return this.idle.size;
  }

  forget(resident: Resident): void {
    const { residents, alarms } = this.deps;
    alarms.clear(resident);
    this.idle.delete(resident);
    resident.isGone = true;
    const { executionId } = resident.execution;
    if (residents.get(executionId) === resident) residents.delete(executionId);
    this.residentBytes -= resident.bytes;
    resident.bytes = 0;
    this.beginWaiting();
  }

  /** What the executions in memory hold, about: payloads, parameters and outputs. */
  get heldBytes(): number {
    return this.residentBytes;
  }

  /** One that has not begun holds little. While the others hold too much it waits for them, and does not grow beside them (I21). */
  private begin(resident: Resident): void {
    if (this.residentBytes < this.deps.options.maxResidentBytes) return this.settle(resident);
    this.waitingForMemory.push(resident);
  }

  private beginWaiting(): void {
    const { maxResidentBytes } = this.deps.options;
    while (this.waitingForMemory.length > 0 && this.residentBytes < maxResidentBytes) {
      const next = this.waitingForMemory.shift()!;
      // Mail may have begun it meanwhile.
      if (!next.isGone && !next.busy && next.state.seq === 0) this.settle(next);
    }
  }

  private weigh(resident: Resident): void {
    const bytes = weightOfResident(resident);
    this.residentBytes += bytes - resident.bytes;
    resident.bytes = bytes;
  }

  stop(): void {
    this.held.stop();
  }

  private advance(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.busy || resident.queue.length === 0) return;
    resident.busy = true;
    this.idle.delete(resident);
    this.deps.alarms.clear(resident);
    this.deps.pace.run(() => this.takeTurn(resident));
  }

  private takeTurn(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone) return;
    // Where the durable journal goes on, should this come to nothing.
    const seq = resident.heldStart?.written.events[0]?.seq ?? resident.state.seq;
    const turn = this.turnOf(resident, seq);
    if (turn === null) return;
    this.weigh(resident);
    withholdStopped(resident, turn.commands);
    // What may have crashed its runner leaves a trace before it is tried again.
    if (isHeldStart(turn) && !resident.owesCrashReset) return this.dispatchAtOnce(resident, turn);
    const starts = turn.commands.filter((command) => command.type === 'startChild');
    const letters = turn.commands.filter((command) => command.type === 'deadLetter');
    const waits = turn.commands.flatMap((command) =>
      command.type === 'subscribe' ? eventWaits(resident, command) : [],
    );
    const undoes = turn.commands.some(({ type }) => type === 'noteUndo');
    if (starts.length + letters.length + waits.length === 0 && !undoes) return this.commit(resident, turn, [], []);
    untilStoreAnswers(this.deps, async () => {
      // Before the commit that tells of it: written twice it is the same letter, and a crash in between loses none.
      // So is a wait for events: what comes for it before it is durable waits in the mailbox (I10).
      if (waits.length > 0) await this.deps.store.eventWaitAdd({ waits });
      if (undoes) await this.deps.noteUndo(resident.execution.executionId);
      for (const letter of letters) await this.deps.noteDeadLetter(failedUndo(resident, letter));
      const { children, refusals } = await prepareChildren(this.deps, resident, starts, this.deps.clock.now());
      this.commit(resident, turn, children, refusals);
    }).catch(({ message }: Error) => this.bury(resident, message, seq));
  }

  /** A decision that throws is a bug, and this execution met it: it goes to the dead letters, and nobody crashes for it. */
  private turnOf(resident: Resident, seq: number): Turn | null {
    const { clock, newSeed, newId, options, observer } = this.deps;
    const { abortGraceMs, expressionLimits: limits, templateStyle } = options;
    const { measure } = observer;
    const context = { now: clock.now(), seed: newSeed(), abortGraceMs, limits, templateStyle, measure };
    try {
      return takeTurn(resident, context, newId);
    } catch (error) {
      this.bury(resident, `deciding failed: ${error instanceof Error ? error.message : String(error)}`, seq);
      return null;
    }
  }

  private dispatchAtOnce(resident: Resident, turn: Turn): void {
    this.held.hold(resident, turn);
    this.carryOut(resident, turn, []);
    this.settle(resident);
  }

  /** The first attempt takes its time: its start need not wait for it in memory. */
  private writeHeldStart(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.busy) return;
    resident.busy = true;
    this.commit(resident, emptyTurn(resident), [], []);
  }

  private commit(resident: Resident, turn: Turn, children: NewExecution[], follow: QueuedInput[]): void {
    const { clock, committer, tracing, observer } = this.deps;
    const { written, transitions } = withHeldStart(resident, turn);
    if (written.events.length === 0 && written.consumed.length === 0) return this.settle(resident);
    const seq = written.events[0]?.seq ?? resident.state.seq;
    committer.submit({
      rows: children.length === 0 ? written : { ...written, children },
      committed: (at) => {
        if (at > 0) clock.observe(at);
        tracing?.committed(resident, transitions);
        if (written.events.length > 0) observer.moved?.(resident.execution.executionId, resident.state.seq - 1);
        resident.queue.push(...follow);
        this.carryOut(resident, turn, children);
        if (written.ended.length > 0) this.ended(resident, turn.ends, written);
        else this.settle(resident);
      },
      overtaken: () => this.forget(resident),
      refused: ({ message }) => this.bury(resident, message, seq),
    });
  }

  /** The turn has a durable cause: do what it commands. */
  private carryOut(resident: Resident, turn: Turn, children: readonly NewExecution[]): void {
    // A former owner may have dispatched the start and died before it was written (held-start.ts).
    const isStartedAgain = resident.epoch > 1 && turn.written.events[0]?.seq === 0;
    for (const command of turn.commands) {
      switch (command.type) {
        case 'runAction':
          this.dispatch(resident, command, isStartedAgain);
          break;
        case 'startChild':
          if (children.some(({ executionId }) => executionId === command.childId)) childStarted(resident, command);
          break;
        case 'cancelChild':
          this.deps.mailSent(command.childId);
          break;
        case 'abort':
          if (this.deps.remote.queueFor(resident, command.node) !== null) {
            this.stopRemote(resident, command.node, nodeAt(resident.state, command.node)?.attempts ?? 0);
          } else resident.running.get(command.node)?.stop.abort();
          break;
        case 'subscribe':
        case 'noteUndo':
        case 'deadLetter':
        case 'complete':
          break;
      }
    }
    if (children.length > 0) this.deps.workWanted();
  }

  /** `isAgain`: its start stood in the journal when this runner took the execution, so a former owner may have run it. */
  private dispatch(resident: Resident, command: RunAction, isAgain: boolean): void {
    const { node, attempt } = command;
    const mayHaveRun = isAgain || attempt > 1;
    const stop = new Stop();
    const traceparent = traceparentFor(this.deps.tracing, resident, node);
    const request = attemptRequest(resident, command, { signal: stop, traceparent, mayHaveRun });
    if (this.deps.isDraining() || request === null) return;
    resident.running.set(node, { attempt, stop, bytes: weightOf(command.params, MAX_HELD_BYTES) });
    const queue = this.deps.remote.queueFor(resident, node);
    if (queue !== null) return this.dispatchRemotely(resident, node, request, queue);
    if (this.deps.desk.submit(request, (result) => this.attemptEnded(resident, node, attempt, result))) return;
    // Its start stands in the journal: whoever takes the execution up again runs it.
    resident.running.delete(node);
    resident.isSetAside = true;
  }

  /** A worker of its queue runs it. When its row is durable, the execution only waits for mail. */
  private dispatchRemotely(resident: Resident, node: number, request: AttemptRequest, queue: string): void {
    const { attempt } = request;
    this.deps.remote.add(resident, node, request, queue).then(
      () => {
        if (resident.running.get(node)?.attempt === attempt) resident.running.delete(node);
        if (!resident.busy && !resident.isGone && !this.deps.isOver()) this.settle(resident);
      },
      (error: unknown) => this.attemptEnded(resident, node, attempt, unqueueable(error)),
    );
  }

  /** A worker that has the attempt reports what became of it. What nobody has never ran. */
  private stopRemote(resident: Resident, node: number, attempt: number): void {
    void this.deps.remote.stop(resident, node, attempt).then((isGone) => {
      if (isGone && !resident.isGone && !this.deps.isOver()) this.enqueue(resident, notRunAgain(node, attempt));
    });
  }

  private attemptEnded(resident: Resident, node: number, attempt: number, result: AttemptResult): void {
    if (this.deps.isOver() || this.isForTheNextOwner(resident, node, result)) return;
    if (resident.running.get(node)?.attempt === attempt) resident.running.delete(node);
    this.enqueue(resident, attemptInput(node, attempt, result));
  }

  /** It ended because this runner stops, which is no outcome: the next owner runs it again. */
  private isForTheNextOwner({ state, running }: Resident, node: number, result: AttemptResult): boolean {
    if (!this.deps.isDraining() || result.ok || !result.aborted || state.stopping !== null) return false;
    if (!result.abandoned) running.delete(node);
    return true;
  }

  private ended(resident: Resident, isNews: boolean, written: TurnRows): void {
    const { observer, mailSent } = this.deps;
    const { execution, state } = resident;
    const { parentId } = execution;
    this.forget(resident);
    // Left over they do no harm, so nobody waits for this and a crash need not repeat it.
    this.deps.remote.ended(resident);
    if (hasEventWaits(state))
      void this.deps.store.eventWaitDrop({ executionIds: [execution.executionId] }).catch(() => {});
    if (!isNews) return;
    observer.count('ended');
    observer.ended?.({ execution, status: state.status, state, outcome: written.outcomes[0] ?? null });
    if (parentId === null) return;
    mailSent(
      parentId,
      written.sent.find(({ executionId }) => executionId === parentId),
    );
  }

  /** After a crash it is not known whether a child was created; the same id and request make creating it again harmless. */
  private async startAgain(resident: Resident, starts: readonly StartChild[]): Promise<void> {
    const { store } = this.deps;
    await untilStoreAnswers(this.deps, async () => {
      const known = new Set(await store.executionKnown({ executionIds: starts.map(({ childId }) => childId) }));
      const missing = starts.filter(({ childId }) => !known.has(childId));
      const { children, refusals } = await prepareChildren(this.deps, resident, missing, this.deps.clock.now());
      if (children.length > 0) await store.executionStart({ items: children });
      const started = new Set([...known, ...children.map(({ executionId }) => executionId)]);
      for (const command of starts) if (started.has(command.childId)) childStarted(resident, command);
      resident.queue.push(...refusals);
    });
    this.settle(resident);
  }

  /** It lost its execution without hearing of it, and this runner has claimed it once more: the newer claim counts (I5). */
  private abandonTwin(twin: Resident): void {
    this.deps.observer.warn('claimed again what was in memory', { executionId: twin.execution.executionId });
    for (const { stop } of twin.running.values()) stop.abort();
    this.forget(twin);
  }

  private bury({ execution, crashes }: Resident, message: string, seq: number): void {
    void this.deps.bury({ execution, error: { code: 'POISON', message }, crashes, seq });
  }
}
