// One execution in this runner's memory: its folded state, the inputs that wait for the next decision, and the attempts
// that are running for it. One transition is on its way to the database at a time; what arrives meanwhile waits here, so
// parallel results cannot miss each other (I14) and the journal's sequence has a single writer (I4).

import type { Stop } from '../../action/stop.ts';
import type { Command } from '../../core/decider/command.ts';
import type { Input } from '../../core/decider/input.ts';
import { isLeftOpen } from '../../core/decider/routing.ts';
import type { State } from '../../core/decider/state.ts';
import type { Json } from '../../core/json/json.ts';
import type { JsonText, LoadedExecution } from '../../store/port.ts';
import type { Turn } from './transition.ts';

export interface QueuedInput {
  readonly input: Input;
  /** The inbox message it came from, consumed by the commit of the transition it causes (I10). */
  readonly mailId?: string;
  /** The text that its outputs were parsed from: written as it is, because making a large one again would keep the loop (S4). */
  readonly outputsText?: JsonText;
  readonly extras?: AttemptExtras;
}

/** What a finished attempt leaves besides its result; written in the same commit. */
export interface AttemptExtras {
  readonly links: readonly {
    system: string;
    resourceType: string;
    resourceId: string;
    url?: string | undefined;
  }[];
  readonly logs: readonly { at: number; level: string; message: string; data: string | null }[];
}

export interface RunningAttempt {
  readonly attempt: number;
  readonly stop: Stop;
  /** About the size of its parameters. */
  readonly bytes: number;
}

export interface Resident {
  readonly execution: LoadedExecution;
  readonly state: State;
  readonly crashes: number;
  /** The claim by which this runner has it (I5). */
  readonly epoch: number;
  /** Parameters of the attempts that a former owner left running, by node. */
  readonly given: ReadonlyMap<number, Json>;
  readonly queue: QueuedInput[];
  /** A transition is being committed, or the execution is leaving memory: nothing is decided meanwhile. */
  busy: boolean;
  /** Forgotten: whatever still arrives for it is not wanted any more. */
  isGone: boolean;
  readonly running: Map<number, RunningAttempt>;
  /** A decision was cut short, and there is more to route. */
  isLeftOpen: boolean;
  /** Null: none came. */
  seenMail: Set<string> | null;
  /** The start, while it waits to be written with what comes next: see held-start.ts. */
  heldStart: Turn | null;
  /** It has an attempt to run that there was no room for: it comes back for it when nothing else of it runs. */
  isSetAside: boolean;
  /** What it was last counted with among those in memory. */
  bytes: number;
  /** Crashes to forget when an attempt ends. */
  owesCrashReset: boolean;
  /** Facts since the last checkpoint: parking writes a new one when folding them again would cost something. */
  factsSinceCheckpoint: number;
  /** It waits for a child and stays in memory until then, in case the child is quick; null: it does not. */
  lingersUntil: number | null;
  /** The engine's timer for this execution, and when it rings; null = not set. */
  alarm: { readonly at: number; readonly cancel: () => void } | null;
}

export function createResident({ execution, state, claim, waiting, given }: NewResident): Resident {
  return {
    execution,
    state,
    crashes: claim.crashes,
    epoch: claim.epoch,
    given,
    queue: waiting,
    busy: false,
    isGone: false,
    running: new Map(),
    isLeftOpen: isLeftOpen(state),
    seenMail: execution.inbox.length === 0 ? null : new Set(waiting.flatMap(({ mailId }) => mailId ?? [])),
    heldStart: null,
    isSetAside: false,
    bytes: 0,
    owesCrashReset: claim.crashes > 0,
    factsSinceCheckpoint: state.seq - (execution.checkpoint?.seq ?? 0),
    lingersUntil: null,
    alarm: null,
  };
}

interface NewResident extends Pick<Resident, 'execution' | 'state' | 'given'> {
  readonly claim: Pick<Resident, 'crashes' | 'epoch'>;
  /** Inputs that are there already. */
  readonly waiting: QueuedInput[];
}

/** About what an execution in memory holds: what started it, what its nodes gave, and the parameters of those at work. */
export function weightOfResident({ execution, state, running }: Resident): number {
  let bytes = execution.trigger.length + state.contextBytes;
  for (const attempt of running.values()) bytes += attempt.bytes;
  return bytes;
}

/** Of all attempts of one execution that run or wait for a place: more are started when some of these have ended. */
export const MAX_HELD_BYTES = 16 * 1024 * 1024;

export function mayHoldMore({ running }: Resident): boolean {
  let held = 0;
  for (const { bytes } of running.values()) held += bytes;
  return held < MAX_HELD_BYTES;
}

/**
 * An attempt that runs is told to stop when the stop is durable (I2). One that still waits for a place must not begin meanwhile: the
 * commit may have been applied although its reply has not come (I13).
 */
export function withholdStopped({ running }: Resident, commands: readonly Command[]): void {
  for (const command of commands) {
    const attempt = command.type === 'abort' ? running.get(command.node) : undefined;
    if (attempt !== undefined) attempt.stop.withheld = true;
  }
}
