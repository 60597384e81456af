// What every execution in memory goes through, again and again: inputs → decide → commit → commands → results, timers, mail
// → inputs … One transition of an execution is on its way at a time (I14, I17). A command is carried out when the turn that
// gave it is durable (I2), with one exception: the first turn of a fresh claim, whose cause is the claim (held-start.ts).

import { Stop } from '../../action/stop.ts';
import { type Command, startCommand } from '../../core/decider/command.ts';
import { nextDue } from '../../core/decider/next-due.ts';
import { weightOf } from '../../core/json/json.ts';
import type { NewExecution, Store } from '../../store/port.ts';
import type { AttemptDesk } from '../attempt/attempt-desk.ts';
import { attemptInput, attemptRequest, notRunAgain } from '../attempt/attempt-input.ts';
import type { Clock } from '../clock.ts';
import type { AttemptResult, EngineObserver, EngineOptions, Timers } from '../environment.ts';
import type { SlotMap } from '../runner/slot-map.ts';
import { isSuspect } from '../runner/suspects.ts';
import type { TriggerCheck } from '../start/trigger-check.ts';
import { type Tracing, traceparentFor } from '../tracing-port.ts';
import type { Alarms } from './alarm.ts';
import type { Committer } from './committer.ts';
import type { Burial } from './dead-letter.ts';
import { HeldStarts, isHeldStart, withHeldStart } from './held-start.ts';
import type { Pace } from './pace.ts';
import { type ParkingLot, parkItem } from './parking.ts';
import { untilStoreAnswers } from './patience.ts';
import type { QueuedInput, Resident } from './resident.ts';
import { prepareChildren } from './subworkflow.ts';
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
  readonly committer: Committer;
  readonly alarms: Alarms;
  readonly parking: ParkingLot;
  readonly pace: Pace;
  readonly isOver: () => boolean;
  /** Nothing new is started any more. */
  readonly isDraining: () => boolean;
  readonly bury: (burial: Burial) => Promise<void>;
  /** Mail was written for another execution: a hint. */
  readonly mailSent: (executionId: string) => void;
  readonly workWanted: () => void;
}

/** Of all attempts of one execution that run or wait for a place: more are started when some of these have ended. */
const MAX_HELD_BYTES = 16 * 1024 * 1024;

function mayHoldMore({ running }: Resident): boolean {
  let held = 0;
  for (const { bytes } of running.values()) held += bytes;
  return held < MAX_HELD_BYTES;
}

/**
 * An attempt that runs is told to stop when the stop is durable (I2). One that still waits for a place must not begin meanwhile: the
 * commit may have been applied although its reply has not come (I13).
 */
function withholdStopped({ running }: Resident, commands: readonly Command[]): void {
  for (const command of commands) {
    const attempt = command.type === 'abort' ? running.get(command.node) : undefined;
    if (attempt !== undefined) attempt.stop.withheld = true;
  }
}

/** How long an execution is away that there was no room for: see crowd.ts. */
const SET_ASIDE_MS = 1_000;

type RunAction = Extract<Command, { type: 'runAction' }>;
type StartChild = Extract<Command, { type: 'startChild' }>;

export class DecisionLoop {
  private readonly deps: DecisionLoopDeps;
  private readonly held: HeldStarts;

  constructor(deps: DecisionLoopDeps) {
    this.deps = deps;
    this.held = new HeldStarts(deps.timers, (resident) => this.writeHeldStart(resident));
  }

  /** An execution that was claimed and loaded. Attempts that a former owner left unfinished are run again (I7). */
  take(resident: Resident): void {
    const { state } = resident;
    const { residents } = this.deps;
    const twin = residents.get(resident.execution.executionId);
    if (twin !== undefined) this.abandonTwin(twin);
    residents.set(resident.execution.executionId, resident);
    if (state.seq === 0) return this.settle(resident);
    // Until everything is dispatched: an action that needs no time would be decided on in between.
    resident.busy = true;
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
    void this.startAgain(resident, children);
  }

  enqueue(resident: Resident, queued: QueuedInput): void {
    resident.queue.push(queued);
    this.advance(resident);
  }

  /** Nothing to decide now: wait in memory for what is near, leave it for what is far. */
  settle(resident: Resident): void {
    const { options, clock, alarms, parking } = this.deps;
    resident.busy = false;
    if (this.deps.isOver()) return;
    if (resident.isLeftOpen && mayHoldMore(resident)) resident.queue.unshift({ input: { type: 'goOn' } });
    if (resident.queue.length > 0) return this.advance(resident);
    const due = nextDue(resident.state);
    // What only waits does not keep the other suspects waiting.
    const near = resident.owesCrashReset && isSuspect(resident) ? 0 : options.parkAfterMs;
    const isNear = due !== null && due - clock.now() <= near;
    const stays = resident.running.size > 0 || (isNear && !resident.isSetAside) || this.deps.isDraining();
    if (stays) return alarms.set(resident, due);
    if (resident.heldStart !== null) return this.writeHeldStart(resident);
    resident.busy = true;
    parking.park(resident, parkItem(resident, resident.isSetAside ? clock.now() + SET_ASIDE_MS : due));
  }

  forget(resident: Resident): void {
    const { residents, alarms } = this.deps;
    alarms.clear(resident);
    resident.isGone = true;
    const { executionId } = resident.execution;
    if (residents.get(executionId) === resident) residents.delete(executionId);
  }

  stop(): void {
    this.held.stop();
  }

  private advance(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.busy || resident.queue.length === 0) return;
    resident.busy = true;
    this.deps.alarms.clear(resident);
    this.deps.pace.run(() => this.takeTurn(resident));
  }

  private takeTurn(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone) return;
    // Where the durable journal goes on, should this come to nothing.
    const seq = resident.heldStart?.written.events[0]?.seq ?? resident.state.seq;
    const turn = this.turnOf(resident, seq);
    if (turn === null) return;
    withholdStopped(resident, turn.commands);
    // What may have crashed its runner leaves a trace before it is tried again.
    if (isHeldStart(turn) && !resident.owesCrashReset) return this.dispatchAtOnce(resident, turn);
    const starts = turn.commands.filter((command) => command.type === 'startChild');
    if (starts.length === 0) return this.commit(resident, turn, [], []);
    this.untilStoreAnswers(async () => {
      const { children, refusals } = await this.prepareChildren(resident, starts);
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
    this.carryOut(resident, turn.commands, []);
    this.settle(resident);
  }

  /** The first attempt takes its time: its start need not wait for it in memory. */
  private writeHeldStart(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.busy) return;
    resident.busy = true;
    this.commit(resident, emptyTurn(resident), [], []);
  }

  private commit(resident: Resident, turn: Turn, children: NewExecution[], follow: QueuedInput[]): void {
    const { clock, committer, tracing } = this.deps;
    const { written, transitions } = withHeldStart(resident, turn);
    if (written.events.length === 0 && written.consumed.length === 0) return this.settle(resident);
    const seq = written.events[0]?.seq ?? resident.state.seq;
    committer.submit({
      rows: children.length === 0 ? written : { ...written, children },
      committed: (at) => {
        if (at > 0) clock.observe(at);
        tracing?.committed(resident, transitions);
        resident.queue.push(...follow);
        this.carryOut(resident, turn.commands, children);
        if (written.ended.length > 0) this.ended(resident, turn.ends);
        else this.settle(resident);
      },
      overtaken: () => this.forget(resident),
      refused: ({ message }) => this.bury(resident, message, seq),
    });
  }

  /** The turn has a durable cause: do what it commands. */
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
          this.deps.mailSent(command.childId);
          break;
        case 'abort':
          resident.running.get(command.node)?.stop.abort();
          break;
        case 'complete':
          break;
      }
    }
    if (children.length > 0) this.deps.workWanted();
  }

  private dispatch(resident: Resident, command: RunAction): void {
    const { node, attempt } = command;
    const stop = new Stop();
    const traceparent = traceparentFor(this.deps.tracing, resident, node);
    const request = attemptRequest(resident, command, { signal: stop, traceparent });
    if (this.deps.isDraining() || request === null) return;
    resident.running.set(node, { attempt, stop, bytes: weightOf(command.params, MAX_HELD_BYTES) });
    if (this.deps.desk.submit(request, (result) => this.attemptEnded(resident, node, attempt, result))) return;
    // Its start stands in the journal: whoever takes the execution up again runs it.
    resident.running.delete(node);
    resident.isSetAside = true;
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

  private ended(resident: Resident, isNews: boolean): void {
    const { observer, mailSent } = this.deps;
    const { execution, state } = resident;
    const { parentId } = execution;
    this.forget(resident);
    if (!isNews) return;
    observer.count('ended');
    observer.ended?.({ execution, status: state.status, state });
    if (parentId !== null) mailSent(parentId);
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

  private prepareChildren(resident: Resident, starts: readonly StartChild[]) {
    return prepareChildren(this.deps, resident, starts, this.deps.clock.now());
  }

  /** A node that does not wait for its child has done its work when the child is durable. */
  private childStarted(resident: Resident, { node, attempt, childId }: StartChild): void {
    const { step } = resident.state.plan.nodes[node]!;
    if (step.kind !== 'subworkflow' || step.waitForCompletion) return;
    const outputs = { executionId: childId, status: 'Pending' };
    const bytes = JSON.stringify(outputs).length;
    resident.queue.push({ input: { type: 'attemptSucceeded', node, attempt, outputs, bytes } });
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

  private untilStoreAnswers(work: () => Promise<void>): Promise<void> {
    return untilStoreAnswers(this.deps, work);
  }
}
