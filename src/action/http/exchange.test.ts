import { describe, expect, it } from 'vitest';
import { isJsonType, retryDelay } from './exchange.ts';

describe('Retry-After', () => {
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
  ])('%j is %s', (header, delay) => {
    expect(retryDelay(header, now)).toBe(delay);
  });
});

describe('content types that are JSON', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json', 'text/json'])(
    '%s',
    (type) => {
      expect(isJsonType(type)).toBe(true);
    },
  );

  it.each([undefined, '', 'text/plain', 'application/jsonp', 'application/x-ndjson', 'application/json-seq'])(
    'not %s',
    (type) => {
      expect(isJsonType(type)).toBe(false);
    },
  );
});
