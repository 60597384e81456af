import { describe, expect, it } from 'vitest';
import { clockText, durationText, exactText, isZone, relativeText, shortDuration, timeOf } from './time.ts';

const AT = Date.UTC(2026, 10, 18, 2, 30, 0, 123);

describe('durations', () => {
  it.each([
    [0, '0 ms'],
    [398.4, '398 ms'],
    [1_190, '1.19 s'],
    [12_000, '12 s'],
    [12_340, '12.3 s'],
    [60_000, '1 min'],
    [252_000, '4 min 12 s'],
    [7_200_000, '2 h'],
    [93_600_000, '1 d 2 h'],
    [-5, '0 ms'],
    [Number.NaN, '–'],
  ])('%s ms are %s', (ms, text) => expect(durationText(ms)).toBe(text));

  it('are told in one unit where there is little room', () => {
    expect([
      shortDuration(-1),
      shortDuration(900),
      shortDuration(61_000),
      shortDuration(90_000_000),
      shortDuration(345_600_000),
    ]).toEqual(['0 ms', '900 ms', '1 min', '25 h', '4 d']);
  });
});

describe('times', () => {
  it('are told as a distance from now', () => {
    expect([relativeText(AT, AT), relativeText(AT, AT + 4_000), relativeText(AT + 120_000, AT)]).toEqual([
      'now',
      '4 s ago',
      'in 2 min',
    ]);
  });

  it('are exact in the zone that was chosen', () => {
    expect(exactText(AT, 'UTC')).toBe('2026-11-18 02:30:00.123 UTC');
    expect(exactText(AT, 'Europe/Berlin')).toContain('03:30:00');
    expect(exactText(AT, 'local')).toContain(Intl.DateTimeFormat().resolvedOptions().timeZone);
  });

  it('show the day when it is not today', () => {
    expect(clockText(AT, AT, 'UTC')).toBe('02:30:00');
    expect(clockText(AT - 86_400_000, AT, 'UTC')).toBe('11-17 02:30');
  });

  it('know a zone by its name', () => {
    expect(['local', 'UTC', 'Europe/Berlin', 'Mars/Phobos'].map(isZone)).toEqual([true, true, true, false]);
    expect([timeOf(undefined), timeOf('1970-01-01T00:00:01Z')]).toEqual([undefined, 1_000]);
  });
});
