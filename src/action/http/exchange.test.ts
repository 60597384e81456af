import { describe, expect, it } from 'vitest';
import { isJsonType } from './exchange.ts';

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
