// One execution in this runner's memory: its folded state, the inputs of the next decision, and its running attempts. One turn at
// a time is on its way to the database. Inputs that arrive meanwhile wait here, so parallel results cannot miss each other (I14),
// and the journal's sequence has a single writer (I4). Only this file writes the fields of a resident; the methods say when.

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
  /** The inbox message behind it, consumed by the commit of the turn that decides on it (I10). */
  readonly mailId?: string;
  /**
   * The text that its outputs were parsed from: written as it is, because making a large text again would block the loop
   * (S4).
   */
  readonly outputsText?: JsonText;
  /** For a finished attempt: its wait for a free place, if a millisecond or more. */
  readonly waitedMs?: number;
  /** The links and log lines of a finished attempt, written in the commit of its result. */
  readonly extras?: { readonly links: readonly AttemptLink[]; readonly logs: readonly AttemptLogLine[] };
}

export interface RunningAttempt {
  readonly attempt: number;
  readonly stop: Stop;
  /** The approximate size of its parameters. */
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
  /** Parameters of attempts that a former owner left running, by node. */
  readonly given: ReadonlyMap<number, Json>;
  /** Inputs that are there already. */
  readonly waiting: QueuedInput[];
}

/**
 * Limit for the parameters of all running or waiting attempts of one execution. More are started when some of these have
 * ended.
 */
export const MAX_HELD_BYTES = 16 * 1024 * 1024;

export class Resident {
  readonly execution: LoadedExecution;
  readonly state: State;
  readonly crashes: number;
  /** The claim under which this runner owns the execution (I5). */
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
  /** Bytes of large parameters in its state, by node: of running attempts, and of those to be retried. */
  private kept: Map<number, number> | null = null;
  private lingersUntil: number | null = null;
  private nextAlarm: Alarm | null = null;
  /** null: no mail came. */
  private seenMail: Set<string> | null;

  constructor({ execution, state, claim, waiting, given }: NewResident) {
    // The state contains these texts: otherwise a large execution would be in memory twice.
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

  /** Forgotten: anything that still arrives for it is dropped. */
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

  /** true: it had not begun before. */
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

  /** The last decision was interrupted, and there is more to route. */
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

  /** Facts of other processes were folded into its state. */
  caughtUp(): void {
    this.leftOpen = isLeftOpen(this.state);
  }

  /** Facts since the last checkpoint. Parking writes a new one when folding them again would be expensive. */
  get factsSinceCheckpoint(): number {
    return this.facts;
  }

  /** It has an attempt that found no room: it comes back for it when nothing else of it runs. */
  get isSetAside(): boolean {
    return this.aside;
  }

  setAside(): void {
    this.aside = true;
  }

  /** The start, while it waits to be written with the next turn: see held-start.ts. */
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

  /** Its crashes are forgotten when an attempt ends. */
  get owesCrashReset(): boolean {
    return this.owesReset;
  }

  crashesForgotten(): void {
    this.owesReset = false;
  }

  /**
   * It waits for a child or a worker that may be quick. Returns until when it stays in memory: the first answer counts until
   * it moves.
   */
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

  /** false: already seen. */
  isNewMail(mailId: string): boolean {
    this.seenMail ??= new Set();
    if (this.seenMail.has(mailId)) return false;
    this.seenMail.add(mailId);
    return true;
  }

  /**
   * By how many bytes it has grown since the last call. Estimates its memory: its trigger, the outputs of its nodes, and the
   * parameters of running and retrying attempts.
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

  /** Parameters of attempts that a former owner left running, by node. Handed over once. */
  takeGiven(): ReadonlyMap<number, Json> {
    const given = this.givenBefore;
    this.givenBefore = NOTHING_GIVEN;
    return given;
  }

  private keeps(node: number, bytes: number): void {
    this.kept ??= new Map();
    this.kept.set(node, bytes);
  }

  /** The parameters of a running attempt are counted with the attempt. */
  private keptBytes(): number {
    let sum = 0;
    if (this.kept === null) return sum;
    for (const [node, bytes] of this.kept) {
      if (nodeAt(this.state, node)?.params === undefined) this.kept.delete(node);
      else if (!this.running.has(node)) sum += bytes;
    }
    return sum;
  }

  /** Of results that wait for a decision: the text and the parsed value. */
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
   * A running attempt is aborted when the stop is durable (I2). One that still waits for a place must not begin meanwhile:
   * the commit may have been applied although its reply has not come (I13).
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
