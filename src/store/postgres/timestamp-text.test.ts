import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimestamp } from './timestamp-text.ts';

/** As the server writes it, without trailing zeros of the fraction. */
function written(milliseconds: number, micros = 0): string {
  const [date, time] = new Date(milliseconds).toISOString().replace('Z', '').split('T') as [string, string];
  const fraction = `${time.slice(9)}${String(micros).padStart(3, '0')}`.replace(/0+$/, '');
  return `${date.replace(/^\+0*/, '')} ${time.slice(0, 8)}${fraction === '' ? '' : `.${fraction}`}+00`;
}

describe('a time in text', () => {
  it('a time is the millisecond that was written, and finer digits are cut off', () => {
    const range = { min: Date.UTC(100, 0, 1), max: Date.UTC(12_000, 0, 1) };
    fc.assert(
      fc.property(fc.integer(range), fc.nat(999), (at, micros) => {
        expect(parseTimestamp(written(at, micros))).toBe(at);
      }),
    );
  });

  it.each([
    ['2026-01-31 10:20:30+00', Date.UTC(2026, 0, 31, 10, 20, 30)],
    ['2026-01-31 10:20:30.1+00', Date.UTC(2026, 0, 31, 10, 20, 30, 100)],
    ['2026-01-31 10:20:30.12+00', Date.UTC(2026, 0, 31, 10, 20, 30, 120)],
    ['2026-01-31 10:20:30.123999+00', Date.UTC(2026, 0, 31, 10, 20, 30, 123)],
    ['2026-01-31 12:20:30.123+02', Date.UTC(2026, 0, 31, 10, 20, 30, 123)],
    ['2026-01-31 15:50:30+05:30', Date.UTC(2026, 0, 31, 10, 20, 30)],
    ['2026-01-31 06:50:30.5-03:30', Date.UTC(2026, 0, 31, 10, 20, 30, 500)],
    ['0050-01-31 10:20:30.5+00', Date.parse('0050-01-31T10:20:30.500Z')],
    ['12026-01-31 10:20:30.5+00', Date.parse('+012026-01-31T10:20:30.500Z')],
  ])('the time %s is parsed to its millisecond', (text, at) => {
    expect(parseTimestamp(text)).toBe(at);
  });
});
