import { describe, expect, it } from 'vitest';
import { retryDelay, safeHeaderValue } from './header-value.ts';

describe('the Retry-After header', () => {
  const now = Date.UTC(2025, 0, 1, 12, 0, 0);

  it.each<[string | undefined, number | null]>([
    [undefined, null],
    ['0', null],
    ['30', 30_000],
    [' 30 ', 30_000],
    ['99999', 3_600_000],
    ['9'.repeat(400), 3_600_000],
    ['-5', null],
    ['1.5', null],
    ['soon', null],
    ['Wed, 01 Jan 2025 12:00:10 GMT', 10_000],
    ['Wed, 01 Jan 2025 11:00:00 GMT', null],
    ['Fri, 01 Jan 2100 00:00:00 GMT', 3_600_000],
  ])('Retry-After %j is a delay of %s ms', (header, delay) => {
    expect(retryDelay(header, now)).toBe(delay);
  });
});

describe('our values in a header', () => {
  it.each([
    ['execution-1:node', 'execution-1:node'],
    ['Zoë 山田', 'Zo%C3%AB %E5%B1%B1%E7%94%B0'],
    ['a\r\nX-Evil: 1', 'a%0D%0AX-Evil: 1'],
    ['lone \ud800', 'lone %EF%BF%BD'],
  ])('the header value %j becomes %j', (value, written) => {
    expect(safeHeaderValue(value)).toBe(written);
  });
});
