import { describe, expect, it } from 'vitest';
import { duration } from './node-view.ts';

describe('how long something takes', () => {
  it.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [999.7, '1.0 s'],
    [59_940, '59.9 s'],
    [59_960, '1 min 0 s'],
    [119_700, '2 min 0 s'],
    [3_599_700, '1.0 h'],
    [36 * 3_600_000, '36.0 h'],
    [3 * 86_400_000, '3.0 days'],
  ])('%d ms is %s', (milliseconds, text) => {
    expect(duration(milliseconds)).toBe(text);
  });
});
