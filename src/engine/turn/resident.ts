// One execution in this runner's memory: its folded state, the inputs that wait for the next decision, and the attempts that run for
// it. One turn is on its way to the database at a time. Inputs that arrive meanwhile wait here, so parallel results cannot miss each
// other (I14) and the journal's sequence has a single writer (I4). Only this file writes the fields of a resident; the methods say when.

import type { AttemptLink, AttemptLogLine } from '../../action/attempt.ts';
import type { Stop } from '../../action/stop.ts';
import type { Command } from '../../core/decider/command.ts';
import type { Decision } from '../../core/decider/decide.ts';
import { nodeAt } from '../../core/decider/frame.ts';
import type { Input } from '../../core/decider/input.ts';
import { isLeftOpen } from '../../core/decider/routing.ts';
import type { State } from '../../core/decider/state.ts';
import { type Json, weightOf } from '../../core/json/json.ts';
import type { JsonText, LoadedExecution } from '../../store/port.ts';
import type { Turn } from './decide-turn.ts';

export interface QueuedInput {
  readonly input: Input;
  /** The inbox message it came from, consumed by the commit of the turn that decides on it (I10). */
  readonly mailId?: string;
  /** The text that its outputs were parsed from: written as it is, because making a large one again would keep the loop (S4). */
  readonly outputsText?: JsonText;
  /** Of a finished attempt: how long it waited for a free place, where that was a millisecond or more. */
  readonly waitedMs?: number;
  /** The links and log lines of a finished attempt, written in the commit of its result. */
  readonly extras?: { readonly links: readonly AttemptLink[]; readonly logs: readonly AttemptLogLine[] };
}

export interface RunningAttempt {
  readonly attempt: number;
  readonly stop: Stop;
  /** About the size of its parameters. */
  readonly bytes: number;
}

interface Alarm {
  readonly at: number;
  readonly cancel: () => void;
}

export interface NewResident {
  readonly execution: LoadedExecution;
  readonly state: State;
  readonly claim: { readonly crashes: number; readonly epoch: number };
  /** Parameters of the attempts that a former owner left running, by node. */
  readonly given: ReadonlyMap<number, Json>;
  /** Inputs that are there already. */
  readonly waiting: QueuedInput[];
}

/** The parameters of all attempts of one execution that run or wait for a place: more are started when some of these have ended. */
export const MAX_HELD_BYTES = 16 * 1024 * 1024;

export class Resident {
  readonly execution: LoadedExecution;
  readonly state: State;
  readonly crashes: number;
  /** The claim by which this runner has the execution (I5). */
  readonly epoch: number;
  readonly queue: QueuedInput[];
  readonly running = new Map<number, RunningAttempt>();
  private busy = false;
  private gone = false;
  private leftOpen: boolean;
  private aside = false;
  private held: Turn | null = null;
  private owesReset: boolean;
  private facts: number;
  private counted = 0;
  private begun = false;
  private givenBefore: ReadonlyMap<number, Json>;
  /** Bytes of the large parameters that its state keeps, by node: of those at work, and of those that are tried again later. */
  private kept: Map<number, number> | null = null;
  private lingersUntil: number | null = null;
  private nextAlarm: Alarm | null = null;
  /** Null: no mail came. */
  private seenMail: Set<string> | null;

  constructor({ execution, state, claim, waiting, given }: NewResident) {
    // The state holds what these texts say: a large execution would be in memory twice.
    this.execution = isFolded(execution) ? { ...execution, ...FOLDED } : execution;
    this.state = state;
    this.crashes = claim.crashes;
    this.epoch = claim.epoch;
    this.givenBefore = given;
    for (const node of given.keys()) this.keeps(node, weightOf(nodeAt(state, node)?.params ?? null, MAX_HELD_BYTES));
    this.queue = waiting;
    this.leftOpen = isLeftOpen(state);
    this.owesReset = claim.crashes > 0;
    this.facts = state.seq - (execution.checkpoint?.seq ?? 0);
    this.seenMail = execution.inbox.length === 0 ? null : new Set(waiting.flatMap(({ mailId }) => mailId ?? []));
  }

  /** A turn is being committed, or the execution is leaving memory: nothing is decided meanwhile. */
  get isBusy(): boolean {
    return this.busy;
  }

  occupy(): void {
    this.busy = true;
  }

  release(): void {
    this.busy = false;
  }

  /** Forgotten: whatever still arrives for it is not wanted any more. */
  get isGone(): boolean {
    return this.gone;
  }

  /**
   * The execution has made its first decision, so its bytes count against its tenant. This is a field because a Set of residents
   * promotes them to the old generation (docs/decisions/0020).
   */
  get hasBegun(): boolean {
    return this.begun;
  }

  /** True: it had not begun before. */
  begin(): boolean {
    const isFirst = !this.begun;
    this.begun = true;
    return isFirst;
  }

  /** The bytes it was last counted with. */
  get bytes(): number {
    return this.counted;
  }

  /** Returns the bytes that it was last counted with. */
  leave(): number {
    this.gone = true;
    const bytes = this.counted;
    this.counted = 0;
    return bytes;
  }

  /** The last decision was cut short, and there is more to route. */
  get isLeftOpen(): boolean {
    return this.leftOpen;
  }

  decided({ transition, isCutShort }: Decision, { input }: QueuedInput): void {
    if (input.type === 'goOn' || isCutShort) this.leftOpen = isCutShort;
    if (transition.facts.length === 0) return;
    for (const fact of transition.facts) {
      if (fact.type === 'NodeStarted' && fact.bytes !== undefined) this.keeps(fact.node, fact.bytes);
    }
    this.facts += transition.facts.length;
    this.lingersUntil = null;
  }

  /** Facts that others wrote were folded into its state. */
  caughtUp(): void {
    this.leftOpen = isLeftOpen(this.state);
  }

  /** Facts since the last checkpoint: parking writes a new one when folding them again would cost something. */
  get factsSinceCheckpoint(): number {
    return this.facts;
  }

  /** It has an attempt to run that there was no room for: it comes back for it when nothing else of it runs. */
  get isSetAside(): boolean {
    return this.aside;
  }

  setAside(): void {
    this.aside = true;
  }

  /** The start, while it waits to be written with what comes next: see held-start.ts. */
  get heldStart(): Turn | null {
    return this.held;
  }

  holdStart(turn: Turn): void {
    this.held = turn;
  }

  takeHeldStart(): Turn | null {
    const turn = this.held;
    this.held = null;
    return turn;
  }

  /** Its crashes are to be forgotten when an attempt ends. */
  get owesCrashReset(): boolean {
    return this.owesReset;
  }

  crashesForgotten(): void {
    this.owesReset = false;
  }

  /** It waits for a child or a worker that may be quick. Until when it stays in memory for that: the first answer counts, until it moves. */
  lingerUntil(at: number): number {
    this.lingersUntil ??= at;
    return this.lingersUntil;
  }

  /** The engine's timer for this execution; null: none is set. */
  get alarm(): Alarm | null {
    return this.nextAlarm;
  }

  /** Cancels the one before. */
  setAlarm(alarm: Alarm | null): void {
    this.nextAlarm?.cancel();
    this.nextAlarm = alarm;
  }

  /** False: it was here before. */
  isNewMail(mailId: string): boolean {
    this.seenMail ??= new Set();
    if (this.seenMail.has(mailId)) return false;
    this.seenMail.add(mailId);
    return true;
  }

  /**
   * By how many bytes it has grown since this was last asked. Counts about what it holds in memory: what started it, what its nodes
   * gave, and the parameters of those at work and of those that are tried again later.
   */
  growth(): number {
    const bytes =
      this.execution.trigger.length +
      this.state.contextBytes +
      this.runningBytes() +
      this.keptBytes() +
      this.queuedBytes();
    const by = bytes - this.counted;
    this.counted = bytes;
    return by;
  }

  mayHoldMore(): boolean {
    return this.runningBytes() < MAX_HELD_BYTES;
  }

  /** Parameters of attempts that a former owner left running, by node. They are handed over once. */
  takeGiven(): ReadonlyMap<number, Json> {
    const given = this.givenBefore;
    this.givenBefore = NOTHING_GIVEN;
    return given;
  }

  private keeps(node: number, bytes: number): void {
    this.kept ??= new Map();
    this.kept.set(node, bytes);
  }

  /** The parameters of an attempt that runs are counted with it. */
  private keptBytes(): number {
    let sum = 0;
    if (this.kept === null) return sum;
    for (const [node, bytes] of this.kept) {
      if (nodeAt(this.state, node)?.params === undefined) this.kept.delete(node);
      else if (!this.running.has(node)) sum += bytes;
    }
    return sum;
  }

  /** Of results that wait to be decided on: the text, and the value that was read from it. */
  private queuedBytes(): number {
    let bytes = 0;
    for (const { outputsText } of this.queue) bytes += 2 * (outputsText?.length ?? 0);
    return bytes;
  }

  private runningBytes(): number {
    let bytes = 0;
    for (const attempt of this.running.values()) bytes += attempt.bytes;
    return bytes;
  }

  /**
   * An attempt that runs is told to stop when the stop is durable (I2). One that still waits for a place must not begin meanwhile: the
   * commit may have been applied although its reply has not come (I13).
   */
  withholdStopped(commands: readonly Command[]): void {
    for (const command of commands) {
      const attempt = command.type === 'abort' ? this.running.get(command.node) : undefined;
      if (attempt !== undefined) attempt.stop.withheld = true;
    }
  }
}

const NOTHING_GIVEN: ReadonlyMap<number, Json> = new Map();
const FOLDED: Pick<LoadedExecution, 'checkpoint' | 'journal' | 'attempts' | 'inbox'> = {
  checkpoint: null,
  journal: [],
  attempts: [],
  inbox: [],
};

const isFolded = ({ checkpoint, journal, attempts, inbox }: LoadedExecution): boolean =>
  checkpoint !== null || journal.length + attempts.length + inbox.length > 0;
