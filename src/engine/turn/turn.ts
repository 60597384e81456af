// The life of an execution in memory, top to bottom: take → decide → hold or commit → carry out → settle, repeated until it ends
// or leaves. One turn of an execution at a time is on its way to the database (I14, I17). A command is carried out when its turn
// is durable (I2), with one exception: the first turn of a fresh claim, whose cause is the claim (held-start.ts).

import { type Command, startCommand } from '../../core/decider/command.ts';
import { allNodes, planNodeOf } from '../../core/decider/frame.ts';
import { nextDue } from '../../core/decider/next-due.ts';
import type { NewExecution, NewMessage } from '../../store/port.ts';
import type { Pace } from '../pace.ts';
import type { Alarms } from './alarm.ts';
import { isResultOf, notRunAgain } from './attempt-input.ts';
import type { Committer, TurnRows } from './committer.ts';
import { type Burial, failedUndo } from './dead-letter.ts';
import { decideTurn, emptyTurn, type Turn, type TurnParts } from './decide-turn.ts';
import { Dispatch, type DispatchDeps } from './dispatch.ts';
import { eventWaits, hasEventWaits } from './event-wait.ts';
import { HeldStarts, isHeldStart, withHeldStart } from './held-start.ts';
import { type ParkingLot, parkItem } from './parking.ts';
import { untilStoreAnswers } from './patience.ts';
import type { QueuedInput, Resident } from './resident.ts';
import type { Residents } from './residents.ts';
import { childStarted, prepareChildren, startAgain } from './subworkflow.ts';

export interface TurnsDeps extends TurnParts, DispatchDeps {
  readonly residents: Residents;
  readonly committer: Committer;
  readonly alarms: Alarms;
  readonly parking: ParkingLot;
  readonly pace: Pace;
  /** The fence for notes about an execution that are written beside its commits. */
  readonly slotId: string;
  readonly bury: (burial: Burial) => Promise<void>;
  /** A hint: another execution has mail; with the message if it is at hand. */
  readonly mailSent: (executionId: string, message?: NewMessage) => void;
  readonly workWanted: () => void;
}

/** How long an execution without room stays away: see crowd.ts. */
const SET_ASIDE_MS = 1_000;

const LARGE_RESULT = 4_096;

type StartChild = Extract<Command, { type: 'startChild' }>;

export class Turns {
  private readonly deps: TurnsDeps;
  private readonly dispatch: Dispatch;
  private readonly held: HeldStarts;

  constructor(deps: TurnsDeps) {
    this.deps = deps;
    this.dispatch = new Dispatch(deps, this);
    this.held = new HeldStarts(deps.timers, (resident) => this.writeHeldStart(resident));
  }

  // Take: an execution comes into memory, and inputs arrive for it.

  /** Takes a claimed and loaded execution. Attempts that a former owner left unfinished run again (I7). */
  take(resident: Resident): void {
    const { residents } = this.deps;
    const twin = residents.get(resident.execution.executionId);
    if (twin !== undefined) this.abandonTwin(twin);
    residents.add(resident);
    if (resident.state.seq > 0) return this.takeUp(resident);
    if (!residents.memory.waits(resident)) this.settle(resident);
  }

  enqueue(resident: Resident, queued: QueuedInput): void {
    resident.queue.push(queued);
    // A large result counts while it waits, because its execution may have to wait for its writes.
    if (queued.outputsText !== undefined && queued.outputsText.length > LARGE_RESULT)
      this.deps.residents.weigh(resident);
    this.advance(resident);
  }

  /** Continues where a former owner stopped. */
  private takeUp(resident: Resident): void {
    const { state } = resident;
    // Until everything is dispatched: otherwise an instant action would be decided on in between.
    resident.occupy();
    const children: StartChild[] = [];
    const given = resident.takeGiven();
    for (const [index, node] of allNodes(state)) {
      const isOpenChild = node.status === 'Waiting' && planNodeOf(state, index).step.kind === 'subworkflow';
      if (node.status !== 'Running' && !isOpenChild) continue;
      const command = startCommand(state, index, given.get(index) ?? {});
      const isRemote = node.status === 'Running' && this.dispatch.isRemote(resident, index);
      // Its result may already be in the mail.
      if (isRemote && resident.queue.some(({ input }) => isResultOf(input, index))) continue;
      if (state.stopping !== null && isRemote) this.dispatch.stop(resident, index);
      else if (state.stopping !== null) resident.queue.push(notRunAgain(index, node.attempts));
      else if (command.type === 'runAction') this.dispatch.run(resident, command, true);
      else if (command.type === 'startChild') children.push(command);
    }
    if (children.length === 0) return this.settle(resident);
    void this.startAgain(resident, children);
  }

  private async startAgain(resident: Resident, starts: readonly StartChild[]): Promise<void> {
    const { clock } = this.deps;
    await untilStoreAnswers(this.deps, async () => {
      await startAgain(this.deps, resident, starts, { now: clock.now() });
    });
    this.settle(resident);
  }

  private advance(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.isBusy || resident.queue.length === 0) return;
    resident.occupy();
    this.deps.residents.stir(resident);
    this.deps.alarms.clear(resident);
    this.deps.pace.run(() => this.decide(resident));
  }

  // Decide: everything in the queue, by the pure decider.

  private decide(resident: Resident): void {
    const { memory } = this.deps.residents;
    if (this.deps.isOver() || resident.isGone || memory.waitsForWrites(resident)) return;
    // Many may have found room before the first of them was weighed.
    if (memory.mayWait(resident) && memory.waits(resident)) return resident.release();
    // The next number of the durable journal, in case this fails.
    const seq = resident.heldStart?.written.events[0]?.seq ?? resident.state.seq;
    const turn = this.decided(resident, seq);
    if (turn === null) return;
    this.deps.residents.weigh(resident);
    resident.withholdStopped(turn.commands);
    // An execution that may have crashed its runner leaves a trace before it is tried again.
    if (isHeldStart(turn) && !resident.owesCrashReset) this.hold(resident, turn);
    else if (isPlain(turn)) this.commit(resident, turn, [], []);
    else this.prepare(resident, turn).catch(({ message }: Error) => this.bury(resident, message, seq));
  }

  /** A decision that throws is a bug. The execution becomes a dead letter, and the runner goes on. */
  private decided(resident: Resident, seq: number): Turn | null {
    try {
      return decideTurn(this.deps, resident);
    } catch (error) {
      this.bury(resident, `deciding failed: ${error instanceof Error ? error.message : String(error)}`, seq);
      return null;
    }
  }

  // Hold or commit.

  /** The first attempts begin at once; the start is written with the next turn. */
  private hold(resident: Resident, turn: Turn): void {
    this.held.hold(resident, turn);
    this.carryOut(resident, turn, []);
    this.settle(resident);
  }

  /** The first attempt takes long, so the start is written without it. */
  private writeHeldStart(resident: Resident): void {
    if (this.deps.isOver() || resident.isGone || resident.isBusy) return;
    resident.occupy();
    this.commit(resident, emptyTurn(resident), [], []);
  }

  /**
   * Writes that the commit refers to but does not contain. A dead letter or an event wait written twice is the same one, so
   * both come first, and a crash in between loses none. An event that comes before its wait is durable waits in the mailbox
   * (I10).
   */
  private prepare(resident: Resident, turn: Turn): Promise<void> {
    const { store, clock, options, slotId } = this.deps;
    const { executionId } = resident.execution;
    const starts = turn.commands.filter((command) => command.type === 'startChild');
    return untilStoreAnswers(this.deps, async () => {
      const waits = turn.commands.flatMap((command) =>
        command.type === 'subscribe' ? eventWaits(resident, command) : [],
      );
      if (waits.length > 0) await store.eventWaitAdd({ waits });
      if (turn.commands.some(({ type }) => type === 'noteUndo')) await store.executionUndoing({ slotId, executionId });
      for (const command of turn.commands) {
        if (command.type !== 'deadLetter' || !options.deadLetters) continue;
        await store.deadLetterNote({ slotId, ...failedUndo(resident, command) });
      }
      const { children, refusals } = await prepareChildren(this.deps, resident, starts, clock.now());
      this.commit(resident, turn, children, refusals);
    });
  }

  private commit(resident: Resident, turn: Turn, children: NewExecution[], follow: QueuedInput[]): void {
    const { clock, committer, tracing, observer } = this.deps;
    const { written, transitions } = withHeldStart(resident, turn);
    if (written.events.length === 0 && written.consumed.length === 0) return this.settle(resident);
    const seq = written.events[0]?.seq ?? resident.state.seq;
    this.writes(resident, written.bytes);
    committer.submit({
      rows: children.length === 0 ? written : { ...written, children },
      committed: (at) => {
        this.writes(resident, -written.bytes);
        if (at > 0) clock.observe(at);
        tracing?.committed(resident, transitions);
        if (written.events.length > 0) observer.moved?.(resident.execution.executionId, resident.state.seq - 1);
        resident.queue.push(...follow);
        this.carryOut(resident, turn, children);
        if (written.ended.length > 0) this.ended(resident, turn.ends, written);
        else this.settle(resident);
      },
      overtaken: () => {
        this.writes(resident, -written.bytes);
        this.forget(resident);
      },
      refused: ({ message }) => {
        this.writes(resident, -written.bytes);
        this.bury(resident, message, seq);
      },
    });
  }

  private writes(resident: Resident, bytes: number): void {
    const { residents, pace } = this.deps;
    for (const next of residents.memory.writes(resident, bytes)) pace.run(() => this.decide(next));
  }

  // Carry out: the turn has a durable cause, so its commands run.

  private carryOut(resident: Resident, turn: Turn, children: readonly NewExecution[]): void {
    // A former owner may have dispatched the start and died before writing it (held-start.ts).
    const isStartedAgain = resident.epoch > 1 && turn.written.events[0]?.seq === 0;
    const inserted = children.length === 0 ? NO_IDS : new Set(children.map(({ executionId }) => executionId));
    for (const command of turn.commands) {
      switch (command.type) {
        case 'runAction':
          this.dispatch.run(resident, command, isStartedAgain);
          break;
        case 'startChild':
          if (inserted.has(command.childId)) childStarted(resident, command);
          break;
        case 'cancelChild':
          this.deps.mailSent(command.childId);
          break;
        case 'abort':
          this.dispatch.stop(resident, command.node);
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

  // Settle: nothing to decide now. Wait in memory for near events, leave for far ones.

  settle(resident: Resident): void {
    const { clock, alarms, parking, residents } = this.deps;
    resident.release();
    if (this.deps.isOver()) return;
    const isTooMuch = residents.memory.isTooMuch(resident);
    const goesOn = resident.isLeftOpen && (resident.running.size > 0 || !isTooMuch);
    if (goesOn && residents.memory.mayGoOn(resident)) resident.queue.unshift({ input: { type: 'goOn' } });
    if (resident.queue.length > 0) return this.advance(resident);
    const due = nextDue(resident.state);
    if (resident.running.size > 0 || this.deps.isDraining()) return alarms.set(resident, due);
    const until = resident.isSetAside || isTooMuch ? null : residents.staysUntil(resident, due);
    if (until !== null) {
      residents.rest(resident);
      return alarms.set(resident, until);
    }
    if (resident.heldStart !== null) return this.writeHeldStart(resident);
    resident.occupy();
    const comesBack = resident.isSetAside || resident.isLeftOpen;
    parking.park(resident, parkItem(resident, comesBack ? clock.now() + SET_ASIDE_MS : due));
  }

  // Leaves memory: it ended, was parked or given back, or another runner owns it.

  private ended(resident: Resident, isNews: boolean, written: TurnRows): void {
    const { observer, mailSent, store } = this.deps;
    const { execution, state } = resident;
    const { executionId, parentId } = execution;
    this.forget(resident);
    this.dispatch.executionEnded(resident);
    // Leftover rows do no harm, so this is not awaited, and a crash need not repeat it.
    if (hasEventWaits(state)) void store.eventWaitDrop({ executionIds: [executionId] }).catch(() => {});
    if (!isNews) return;
    observer.count('ended');
    observer.ended?.({ execution, status: state.status, state, outcome: written.outcomes[0] ?? null });
    if (parentId === null) return;
    mailSent(
      parentId,
      written.sent.find((message) => message.executionId === parentId),
    );
  }

  forget(resident: Resident): void {
    const { residents, alarms } = this.deps;
    alarms.clear(resident);
    residents.remove(resident);
    for (const next of residents.memory.ready()) this.settle(next);
  }

  /** The runner lost its execution without noticing, and has claimed it again: the newer claim counts (I5). */
  private abandonTwin(twin: Resident): void {
    this.deps.observer.warn('claimed again what was in memory', { executionId: twin.execution.executionId });
    for (const { stop } of twin.running.values()) stop.abort();
    this.forget(twin);
  }

  private bury({ execution, crashes }: Resident, message: string, seq: number): void {
    void this.deps.bury({ execution, error: { code: 'POISON', message }, crashes, seq });
  }

  stop(): void {
    this.held.stop();
  }
}

const NO_IDS: ReadonlySet<string> = new Set();

const PREPARED: ReadonlySet<Command['type']> = new Set(['startChild', 'deadLetter', 'subscribe', 'noteUndo']);

/** Whether it can be committed as it is: see `prepare`. */
const isPlain = ({ commands }: Turn): boolean => !commands.some(({ type }) => PREPARED.has(type));
