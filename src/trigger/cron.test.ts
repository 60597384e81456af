// Slots of cron expressions, above all where clocks change: nothing skipped, nothing doubled (I9).

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSchedule, type Schedule, upcomingSlots } from './cron.ts';
import { zoneOf } from './zone-time.ts';

const HOUR = 3_600_000;

function schedule(cron: string, timezone?: string): Schedule {
  const read = readSchedule(cron, timezone);
  if (!read.ok) throw new Error(read.message);
  return read.schedule;
}

const times = (cron: string, timezone: string, from: string, count: number): string[] =>
  upcomingSlots(schedule(cron, timezone), Date.parse(from), count).map((slot) =>
    new Date(slot).toISOString().slice(5, 16),
  );

describe('a named hour when clocks are set forward', () => {
  // The local time of the middle slot does not exist that day.
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-03-27T12:00Z', ['03-28T01:30', '03-29T01:00', '03-30T00:30']],
    ['America/New_York', '30 2 * * *', '2026-03-07T00:00Z', ['03-07T07:30', '03-08T07:00', '03-09T06:30']],
    ['Australia/Lord_Howe', '15 2 * * *', '2026-10-02T00:00Z', ['10-02T15:45', '10-03T15:30', '10-04T15:15']],
    ['America/Santiago', '0 0 * * *', '2026-09-04T12:00Z', ['09-05T04:00', '09-06T04:00', '09-07T03:00']],
    ['Africa/Cairo', '15 0 * * *', '2026-04-22T12:00Z', ['04-22T22:15', '04-23T22:00', '04-24T21:15']],
  ])('%s %s fires once, when the clocks change', (zone, cron, from, expected) => {
    expect(times(cron, zone, from, 3)).toEqual(expected);
  });

  it('slots that fall together fire once', () => {
    expect(times('*/20 2 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 3)).toEqual([
      '03-29T01:00',
      '03-30T00:00',
      '03-30T00:20',
    ]);
    expect(times('0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00Z', 2)).toEqual(['03-29T01:00', '03-30T00:00']);
  });
});

describe('a named hour when clocks are set back', () => {
  // The local time of the middle slot comes twice that day.
  it.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-23T12:00Z', ['10-24T00:30', '10-25T00:30', '10-26T01:30']],
    ['America/New_York', '30 1 * * *', '2026-10-30T12:00Z', ['10-31T05:30', '11-01T05:30', '11-02T06:30']],
    ['Australia/Lord_Howe', '45 1 * * *', '2026-04-03T00:00Z', ['04-03T14:45', '04-04T14:45', '04-05T15:15']],
    ['America/Santiago', '30 23 * * *', '2026-04-03T12:00Z', ['04-04T02:30', '04-05T02:30', '04-06T03:30']],
  ])('%s %s fires once, the first time', (zone, cron, from, expected) => {
    expect(times(cron, zone, from, 3)).toEqual(expected);
  });

  it('several named hours, steps of hours and a start in the repeated hour fire each slot once', () => {
    expect(times('0 2,3 * * *', 'Europe/Berlin', '2026-10-24T12:00Z', 2)).toEqual(['10-25T00:00', '10-25T02:00']);
    expect(times('0 */2 * * *', 'Europe/Berlin', '2026-10-24T22:30Z', 3)).toEqual([
      '10-25T00:00',
      '10-25T03:00',
      '10-25T05:00',
    ]);
    expect(times('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', 1)).toEqual(['10-26T01:30']);
  });
});

describe('a schedule for every hour', () => {
  it.each([
    ['2026-03-28T23:00Z', 23],
    ['2026-10-24T22:00Z', 25],
    ['2026-06-10T22:00Z', 24],
  ])('the day in Berlin that begins at %s has %i slots, an hour apart', (start, hours) => {
    const from = Date.parse(start);
    const slots = upcomingSlots(schedule('0 * * * *', 'Europe/Berlin'), from - 1, hours + 1);
    expect(slots).toEqual(Array.from({ length: hours + 1 }, (_, hour) => from + hour * HOUR));
    expect(zoneOf('Europe/Berlin').localAt(slots[hours]!) % (24 * HOUR)).toBe(0);
  });
});

const ZONES = ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Kolkata', 'UTC'];
/** About a day before a change of clocks in most of these zones. */
const DAYS = ['2026-03-07', '2026-03-28', '2026-04-04', '2026-09-05', '2026-10-03', '2026-10-24', '2026-10-31'];

describe('slots compared with a clock that is read every minute', () => {
  const moment = fc.tuple(fc.constantFrom(...ZONES), fc.constantFrom(...DAYS), fc.nat(2 * 24 * 60));

  it('the slots are the minutes at which the wall clock matches', () => {
    const minute = fc.constantFrom('0', '15', '59', '*/15', '*/20', '7,37', '*');
    fc.assert(
      fc.property(moment, minute, ([zone, day, offset], minutes) => {
        const wall = zoneOf(zone);
        const from = Date.parse(day) + offset * 60_000;
        const wanted = minuteSet(minutes);
        const expected = minutesAfter(from, 180).filter((at) => wanted.has((wall.localAt(at) / 60_000) % 60));
        const found = upcomingSlots(schedule(`${minutes} * * * *`, zone), from, expected.length);
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('every day of the wall clock has each slot of its named hours exactly once', () => {
    const hours = fc.uniqueArray(fc.nat(23), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(moment, hours, fc.nat(59), ([zone, day, offset], named, minute) => {
        const wall = zoneOf(zone);
        const from = Date.parse(day) + offset * 60_000;
        const until = from + 60 * HOUR;
        const found = upcomingSlots(schedule(`${minute} ${named.join(',')} * * *`, zone), from, 20);
        // An independent reference: which local times exist, and when each is shown first. A skipped time counts at the change.
        const expected = wallClockSlots(wall, from, until, named, minute);
        expect(found.filter((slot) => slot <= until)).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });
});

function minuteSet(field: string): Set<number> {
  const all = Array.from({ length: 60 }, (_, minute) => minute);
  if (field === '*') return new Set(all);
  const step = /^\*\/(\d+)$/.exec(field)?.[1];
  return new Set(
    step === undefined ? field.split(',').map(Number) : all.filter((minute) => minute % Number(step) === 0),
  );
}

const minutesAfter = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (Math.floor(from / 60_000) + 1 + index) * 60_000);

function wallClockSlots(
  wall: ReturnType<typeof zoneOf>,
  from: number,
  until: number,
  hours: readonly number[],
  minute: number,
): number[] {
  const slots: number[] = [];
  let shown = wall.localAt(from - 24 * HOUR);
  for (let at = from - 24 * HOUR + 60_000; at <= until; at += 60_000) {
    const local = wall.localAt(at);
    // Local minutes that the wall clock reached for the first time since the minute before: usually one.
    for (let passed = shown + 60_000; passed <= local; passed += 60_000) {
      const [hour, past] = [Math.floor((passed / HOUR) % 24), (passed / 60_000) % 60];
      if (at > from && hours.includes(hour) && past === minute && slots.at(-1) !== at) slots.push(at);
    }
    shown = Math.max(shown, local);
  }
  return slots;
}

describe('cron expressions', () => {
  it.each(['0 9 * * MON-FRI', '*/5 * * * *', '30 0 9 1 * *', '@daily', '0 0 L * *', ' 0 0 1 1 * '])(
    'the cron expression %s is accepted',
    (cron) => {
      expect(readSchedule(cron).ok).toBe(true);
    },
  );

  it.each([
    '',
    'bad',
    '61 * * * *',
    '* * * *',
    '* * * * * * *',
    '0 0 0 1 1 * 2020',
    '*/0 * * * *',
    '2030-01-01T00:00:00',
    '@reboot',
    '@never',
    `${'1,'.repeat(100)}1 * * * *`,
  ])('the cron expression "%s" is refused', (cron) => {
    expect(readSchedule(cron)).toMatchObject({ ok: false, field: 'cron' });
  });

  it('an unknown time zone is refused', () => {
    expect(readSchedule('* * * * *', 'Mars/Olympus')).toMatchObject({
      ok: false,
      field: 'timezone',
      message: '"Mars/Olympus" is not a time zone',
    });
  });

  it('an expression that never fires has no next time', () => {
    expect(schedule('0 0 30 2 *').next(0)).toBeNull();
  });
});
