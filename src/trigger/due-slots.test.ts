// Which slots are due: on time, missed, and what the policies make of them (I9).

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSchedule, type Schedule, upcomingSlots } from './cron.ts';
import { type CatchUp, dueSlots } from './due-slots.ts';

const MINUTE = 60_000;
const NOON = Date.parse('2026-06-01T12:00:00Z');

function schedule(cron: string): Schedule {
  const read = readSchedule(cron);
  if (!read.ok) throw new Error(read.message);
  return read.schedule;
}

const due = (catchUp: CatchUp, settledThrough: number, now: number, cron = '*/10 * * * *', portion = 100) =>
  dueSlots(schedule(cron), { catchUp, settledThrough, now, graceMs: MINUTE, portion });

describe('a schedule with nothing due', () => {
  it('nothing is due until the next slot', () => {
    expect(due('all', NOON, NOON + MINUTE)).toEqual({
      fire: [],
      missed: null,
      settledThrough: NOON + MINUTE,
      nextAt: NOON + 10 * MINUTE,
    });
  });

  it('nothing is ever due when there is no slot', () => {
    expect(due('all', NOON, NOON + MINUTE, '0 0 30 2 *').nextAt).toBeNull();
  });
});

describe('a slot on time', () => {
  it.each(['skip', 'latest', 'all'] as const)('a slot on time is fired under every policy (%s)', (policy) => {
    expect(due(policy, NOON - 1, NOON + 5_000)).toEqual({
      fire: [NOON],
      missed: null,
      settledThrough: NOON + 5_000,
      nextAt: NOON + 10 * MINUTE,
    });
  });

  it.each(['skip', 'latest', 'all'] as const)('several slots within the grace period are all fired (%s)', (policy) => {
    expect(due(policy, NOON, NOON + 3_000, '* * * * * *').fire).toEqual([NOON + 1_000, NOON + 2_000, NOON + 3_000]);
  });
});

describe('catching up after an hour of downtime', () => {
  const now = NOON + 65 * MINUTE;
  const slots = [10, 20, 30, 40, 50, 60].map((minutes) => NOON + minutes * MINUTE);

  it('skip fires nothing, and reports the missed slots', () => {
    expect(due('skip', NOON, now)).toMatchObject({ fire: [], missed: { first: slots[0], last: slots[5] } });
  });

  it('latest fires the newest slot, and reports the missed slots before it', () => {
    expect(due('latest', NOON, now)).toMatchObject({ fire: [slots[5]], missed: { first: slots[0], last: slots[4] } });
  });

  it('latest with one missed slot fires that slot, and reports none as missed', () => {
    expect(due('latest', NOON + 55 * MINUTE, now)).toMatchObject({ fire: [slots[5]], missed: null });
  });

  it('latest fires only the slots on time, if there are any', () => {
    expect(due('latest', NOON, slots[5]! + 1_000)).toMatchObject({
      fire: [slots[5]],
      missed: { first: slots[0], last: slots[4] },
    });
  });

  it('all fires every slot, oldest first', () => {
    expect(due('all', NOON, now)).toMatchObject({ fire: slots, missed: null, settledThrough: now });
  });

  it('all in portions continues at once where it stopped', () => {
    const portion = due('all', NOON, now, '*/10 * * * *', 4);
    expect(portion).toEqual({ fire: slots.slice(0, 4), missed: null, settledThrough: slots[3], nextAt: slots[4] });
    expect(due('all', portion.settledThrough, now, '*/10 * * * *', 4).fire).toEqual(slots.slice(4));
  });
});

it('a year of slots every second is judged at once', () => {
  const year = 365 * 24 * 60 * MINUTE;
  expect(due('latest', NOON - year, NOON + 500, '* * * * * *').missed).toEqual({
    first: NOON - year + 1_000,
    last: NOON - MINUTE,
  });
});

it('`all` fires every slot once and in order, at any times of looking', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 30 }), fc.integer({ min: 1, max: 5 }), (waits, portion) => {
      let [settledThrough, now] = [NOON, NOON];
      const fired: number[] = [];
      for (const minutes of [...waits, ...Array.from({ length: 130 }, () => 0)]) {
        now += minutes * MINUTE;
        const found = due('all', settledThrough, now, '*/10 * * * *', portion);
        fired.push(...found.fire);
        settledThrough = found.settledThrough;
      }
      const expected = upcomingSlots(schedule('*/10 * * * *'), NOON, 200).filter((slot) => slot <= now);
      expect(fired).toEqual(expected);
    }),
    { numRuns: 20 },
  );
});

it('fired and missed slots add up, and no slot is fired twice, at any delay of a look', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(40), { maxLength: 30 }), fc.constantFrom('skip', 'latest'), (waits, policy) => {
      let [settledThrough, now] = [NOON, NOON];
      const seen: number[] = [];
      for (const minutes of waits) {
        now += minutes * MINUTE;
        const found = due(policy as CatchUp, settledThrough, now, '*/10 * * * *');
        const { missed } = found;
        const skipped = missed === null ? [] : upcomingSlots(schedule('*/10 * * * *'), missed.first - 1, 50);
        seen.push(...skipped.filter((slot) => slot <= missed!.last), ...found.fire);
        settledThrough = found.settledThrough;
      }
      const expected = upcomingSlots(schedule('*/10 * * * *'), NOON, 200).filter((slot) => slot <= now);
      expect(seen).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});
