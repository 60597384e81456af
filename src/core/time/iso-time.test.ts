import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatTime, isZone, parseIso, toIso } from './iso-time.ts';

it('times are formatted and parsed as in JavaScript', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (ms) => {
      const text = new Date(ms).toISOString();
      expect(toIso(ms)).toBe(text);
      expect(parseIso(text)).toBe(ms);
    }),
  );
});

it('a zone is applied, and a date alone is midnight in UTC', () => {
  expect(parseIso('2026-02-10T12:00:00+02:00')).toBe(Date.UTC(2026, 1, 10, 10));
  expect(parseIso('2026-02-10T12:00-0130')).toBe(Date.UTC(2026, 1, 10, 13, 30));
  expect(parseIso('2026-02-10')).toBe(Date.UTC(2026, 1, 10));
  expect(formatTime(Date.UTC(2026, 1, 10, 22), 'dd.MM.yyyy HH:mm', '+02:00')).toBe('11.02.2026 00:00');
  expect(formatTime(0, 'HH', 'UTC')).toBe('00');
});

it.each([
  '',
  'today',
  '2026-13-01',
  '2026-02-30',
  '2026-02-10T12:00:00',
  '2026-02-10T25:00Z',
  '2026-02-10T12:61Z',
  '2026-02-10T12:00:61Z',
])('%j is not a time', (text) => {
  expect(parseIso(text)).toBeNaN();
});

it('a time that cannot be formatted is null', () => {
  expect(toIso(Number.NaN)).toBeNull();
  expect(toIso(1e18)).toBeNull();
  expect(toIso(-1e15)).toBeNull();
  expect(formatTime(1e18, 'HH', 'Z')).toBeNull();
  expect(formatTime(0, 'HH', 'Europe/Berlin')).toBeNull();
});

it('a zone is a fixed offset, not a name', () => {
  expect(['Z', 'UTC', '+02:00', '-0130'].map(isZone)).toEqual([true, true, true, true]);
  expect(['Europe/Berlin', 'CET', '+2', ''].map(isZone)).toEqual([false, false, false, false]);
});
