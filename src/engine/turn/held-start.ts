// The start of a fresh execution is not written by itself: its first attempts are dispatched straight after the claim, and
// the facts of the start go into the commit of whatever comes next, which for a quick action is its result. That is one
// commit less for every execution, and one wait less for the disk before its first action.
//
// Nothing runs before its cause is durable (I2): the cause is the claim, which is. What was decided follows from rows that
// never change (the execution, its version) and from nothing else: who claims it after a crash renders the same parameters
// and calls with the same key (I7). Only a turn that is nothing but that start is held: no mail was consumed, no child
// inserted, no crash is to be forgotten, and nothing waits but attempts (docs/decisions/0006).

import type { Timers } from '../../clock/timers.ts';
import type { TurnRows } from './committer.ts';
import type { Turn } from './decide-turn.ts';
import type { Resident } from './resident.ts';

/**
 * How long the start may wait for the first result. A few are written soon: whoever is called by the action and asks for the execution
 * should see it running, and their commits cost nothing that anybody misses.
 */
const FEW_HELD_AT_MOST_MS = 20;
/**
 * Many at once wait for about as long as a quick call takes when all places are busy. Of the transitions of 1,000 pipelines of five calls
 * at once, one in six was such a start alone at 60 ms, none at 200.
 */
const MANY_HELD_AT_MOST_MS = 200;
const MANY = 64;

export class HeldStarts {
  private readonly timers: Timers;
  private readonly write: (resident: Resident) => void;
  private holding: Resident[] = [];
  private cancel: (() => void) | null = null;

  constructor(timers: Timers, write: (resident: Resident) => void) {
    this.timers = timers;
    this.write = write;
  }

  hold(resident: Resident, turn: Turn): void {
    resident.holdStart(turn);
    this.holding.push(resident);
    this.cancel ??= this.timers.after(FEW_HELD_AT_MOST_MS, () => this.writeFew());
  }

  stop(): void {
    this.cancel?.();
    this.holding = [];
  }

  private writeFew(): void {
    this.holding = this.holding.filter(({ heldStart }) => heldStart !== null);
    if (this.holding.length < MANY) return this.writeAll();
    this.cancel = this.timers.after(MANY_HELD_AT_MOST_MS - FEW_HELD_AT_MOST_MS, () => this.writeAll());
  }

  private writeAll(): void {
    this.cancel = null;
    const overdue = this.holding;
    this.holding = [];
    for (const resident of overdue) if (resident.heldStart !== null) this.write(resident);
  }
}

export function isHeldStart({ written, commands }: Turn): boolean {
  if (written.events[0]?.seq !== 0 || written.events.length > 1 || written.crashResets !== undefined) return false;
  // An attempt that could not be rendered has ended in this very turn.
  if (written.consumed.length + written.sent.length + written.attempts.length > 0) return false;
  return commands.length > 0 && commands.every(({ type }) => type === 'runAction');
}

/** Releases the held facts, which go first. Their commands were already carried out. */
export function withHeldStart(resident: Resident, turn: Turn): Turn {
  const heldStart = resident.takeHeldStart();
  if (heldStart === null) return turn;
  const events = inOneRow(heldStart, turn) ?? [...heldStart.written.events, ...turn.written.events];
  const bytes = heldStart.written.bytes + turn.written.bytes;
  const transitions = [...heldStart.transitions, ...turn.transitions];
  return { ...turn, written: { ...turn.written, events, bytes }, transitions };
}

/**
 * An execution that ended in the moment in which it began has one journal row: its start and its end are of one time, and in one
 * commit. Only then: what is still to come may point to the transition in which it was started (`startedSeq`). Null: two rows.
 */
function inOneRow({ written: held }: Turn, { written, ends }: Turn): TurnRows['events'] | null {
  const [start] = held.events;
  const [end] = written.events;
  if (!ends || start === undefined || end === undefined || written.events.length > 1) return null;
  if (start.at !== end.at || end.inputs !== null) return null;
  return [{ ...start, facts: `${start.facts.slice(0, -1)},${end.facts.slice(1)}` }];
}
