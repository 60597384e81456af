import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_DURATION_MS, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['0s', 0],
    ['13 d', 13 * 86_400_000],
    ['3650d', MAX_DURATION_MS],
  ])('parseDuration reads %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    '',
    'd',
    '5',
    '5 minutes',
    '-5s',
    '1.5h',
    '1h30m',
    '5S',
    ' 5s',
    '5s\n',
    'Infinitys',
    '3651d',
    `${'9'.repeat(400)}d`,
  ])('parseDuration refuses %j', (text) => {
    expect(parseDuration(text)).toBeNull();
  });

  it('a duration grows with the number and with the unit', () => {
    const units = ['ms', 's', 'm', 'h', 'd'];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_650 }), fc.integer({ min: 0, max: 3 }), (count, unit) => {
        const ms = parseDuration(`${count}${units[unit]}`)!;
        expect(parseDuration(`${count}${units[unit + 1]}`)!).toBeGreaterThan(ms);
        expect(ms % count).toBe(0);
      }),
    );
  });
});
