import { describe, expect, it } from 'vitest';
import { LineMap, printable } from './line-map.ts';

const underlined = (text: string, start: number, end: number) => {
  const { text: line, offset, length } = new LineMap(text).excerpt({ start, end });
  return [line, ' '.repeat(offset) + '^'.repeat(length)];
};

describe('lines and columns', () => {
  it('lines and columns count from one', () => {
    const lines = new LineMap('ab\n\ncd');
    expect([0, 1, 2, 3, 4, 5, 6].map((offset) => lines.position(offset))).toEqual([
      { line: 1, column: 1 },
      { line: 1, column: 2 },
      { line: 1, column: 3 },
      { line: 2, column: 1 },
      { line: 3, column: 1 },
      { line: 3, column: 2 },
      { line: 3, column: 3 },
    ]);
  });
});

describe('an excerpt', () => {
  it('an excerpt is the line with the place underlined', () => {
    expect(underlined('one\ntwo three\r\nfour', 8, 13)).toEqual(['two three', '    ^^^^^']);
  });

  it('an excerpt of an empty place marks one character', () => {
    expect(underlined('', 0, 0)).toEqual(['', '^']);
    expect(underlined('abc', 3, 3)).toEqual(['abc', '   ^']);
  });

  it('an excerpt of several lines stays on the first line', () => {
    expect(underlined('a\nb', 0, 3)).toEqual(['a', '^']);
  });

  it('an excerpt of a very long line shows the part around the place', () => {
    const text = `${'x'.repeat(500)}HERE${'y'.repeat(500)}`;
    const [line, mark] = underlined(text, 500, 504);
    expect(line!.length).toBeLessThanOrEqual(122);
    expect(line!.slice(mark!.indexOf('^'), mark!.length)).toBe('HERE');
    expect(line!.startsWith('…x') && line!.endsWith('y…')).toBe(true);
  });

  it('an excerpt contains no control characters', () => {
    expect(underlined('\t"\u001b[31m"', 1, 8)[0]).toBe(' " [31m"');
    expect(printable('a\u001b]0;b\u0007\u202ec')).toBe('a ]0;b  c');
  });
});
