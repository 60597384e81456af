import { describe, expect, it } from 'vitest';
import { isJsonType } from './exchange.ts';

describe('JSON content types', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.api+json', 'text/json'])(
    '%s is JSON',
    (type) => {
      expect(isJsonType(type)).toBe(true);
    },
  );

  it.each([undefined, '', 'text/plain', 'application/jsonp', 'application/x-ndjson', 'application/json-seq'])(
    '%s is not JSON',
    (type) => {
      expect(isJsonType(type)).toBe(false);
    },
  );
});
