// The start of a fresh execution is not written by itself. Its first attempts are dispatched right after the claim, and the facts
// of the start join the next commit, which for a quick action contains its result. That saves one commit per execution, and one
// wait for the disk before its first action.
//
// Nothing runs before its cause is durable (I2): the cause is the claim, which is. The decision follows from immutable rows only
// (the execution, its version), so a new owner after a crash renders the same parameters and calls with the same key (I7). Only a
// turn that is nothing but the start is held: no mail consumed, no child inserted, no crash to forget, and nothing but attempts
// waiting (docs/decisions/0006).

import type { Timers } from '../../clock/timers.ts';
import type { TurnRows } from './committer.ts';
import type { Turn } from './decide-turn.ts';
import type { Resident } from './resident.ts';

/**
 * How long a start may wait for the first result. With few of them, starts are written soon: somebody whom the action calls
 * should see the execution running, and these commits cost nothing.
 */
const FEW_HELD_AT_MOST_MS = 20;
/**
 * Many at once wait for about as long as a quick call takes when all places are busy. With 1,000 pipelines of five calls at
 * once, one transition in six was a lone start at 60 ms, none at 200.
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
 * An execution that ends in the moment it began has one journal row: its start and end have one time and one commit. Only
 * then, because later facts may point to the transition of the start (`startedSeq`). null: two rows.
 */
function inOneRow({ written: held }: Turn, { written, ends }: Turn): TurnRows['events'] | null {
  const [start] = held.events;
  const [end] = written.events;
  if (!ends || start === undefined || end === undefined || written.events.length > 1) return null;
  if (start.at !== end.at || end.inputs !== null) return null;
  return [{ ...start, facts: `${start.facts.slice(0, -1)},${end.facts.slice(1)}` }];
}
