// Which slots of a schedule to fire now, and which were missed. Pure. A slot within the grace period was not missed, only polled
// for; all of these are fired. Older slots follow the catch-up policy (I9): `skip` fires none, `latest` the newest if nothing is
// on time, `all` each, oldest first, in portions.

import type { Schedule } from './cron.ts';

export const CATCH_UP = ['skip', 'latest', 'all'] as const;
export type CatchUp = (typeof CATCH_UP)[number];

export interface DueQuestion {
  readonly catchUp: CatchUp;
  /** All slots up to here are done. */
  readonly settledThrough: number;
  readonly now: number;
  readonly graceMs: number;
  /** With `all`: the maximum number of slots at once. */
  readonly portion: number;
}

export interface DueSlots {
  readonly fire: readonly number[];
  /** The first and last slot that will never be fired; null: none. */
  readonly missed: { readonly first: number; readonly last: number } | null;
  /** The same after these slots are fired. */
  readonly settledThrough: number;
  /** When to look again; null: never. */
  readonly nextAt: number | null;
}

export function dueSlots(schedule: Schedule, question: DueQuestion): DueSlots {
  const { catchUp, settledThrough, now } = question;
  const first = schedule.next(settledThrough);
  if (first === null || first > now) {
    return { fire: [], missed: null, settledThrough: Math.max(settledThrough, now), nextAt: first };
  }
  if (catchUp === 'all') return portionOf(schedule, first, question);
  const onTimeFrom = Math.max(settledThrough, now - question.graceMs);
  const onTime = slotsUpTo(schedule, schedule.next(onTimeFrom), now);
  const late = first <= onTimeFrom ? { first, last: lastSlot(schedule, first, onTimeFrom) } : null;
  const nextAt = schedule.next(now);
  if (late === null || catchUp === 'skip' || onTime.length > 0) {
    return { fire: onTime, missed: late, settledThrough: now, nextAt };
  }
  const missed = late.first === late.last ? null : { first, last: slotBefore(schedule, late) };
  return { fire: [late.last], missed, settledThrough: now, nextAt };
}

function portionOf(schedule: Schedule, first: number, { now, portion }: DueQuestion): DueSlots {
  const fire: number[] = [];
  let slot: number | null = first;
  for (; slot !== null && slot <= now && fire.length < portion; slot = schedule.next(slot)) fire.push(slot);
  const isAll = slot === null || slot > now;
  return { fire, missed: null, settledThrough: isAll ? now : fire.at(-1)!, nextAt: slot };
}

function slotsUpTo(schedule: Schedule, first: number | null, end: number): number[] {
  const slots: number[] = [];
  for (let slot = first; slot !== null && slot <= end; slot = schedule.next(slot)) slots.push(slot);
  return slots;
}

const SECOND_MS = 1000;

/** The newest slot up to `end`, found by bisection. There must be at least one. */
function lastSlot(schedule: Schedule, first: number, end: number): number {
  let known = first;
  // Slots are whole seconds.
  let beyond = Math.floor(end / SECOND_MS) * SECOND_MS;
  // Nearly always there are only a few.
  let middle = known + SECOND_MS;
  while (known < beyond) {
    const slot = schedule.next(middle - 1);
    if (slot !== null && slot <= end) known = slot;
    else beyond = middle - SECOND_MS;
    middle = known + Math.ceil((beyond - known) / 2 / SECOND_MS) * SECOND_MS;
  }
  return known;
}

const slotBefore = (schedule: Schedule, { first, last }: { first: number; last: number }): number =>
  lastSlot(schedule, first, last - 1);
