import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pointerKeys, pointerOf } from './pointer.ts';

describe('JSON pointers', () => {
  it('a JSON pointer escapes its keys as in RFC 6901', () => {
    expect(pointerOf(['a/b', 'm~n', 0, '', ' '])).toBe('/a~1b/m~0n/0// ');
    expect(pointerOf([])).toBe('');
    expect(pointerOf(['b'], '/a')).toBe('/a/b');
  });

  it('a JSON pointer gives its keys back', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('~', '/', '~1', '~01'))), (keys) => {
        expect(pointerKeys(pointerOf(keys))).toEqual(keys);
      }),
    );
  });
});
