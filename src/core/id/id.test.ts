import fc from 'fast-check';
import { expect, test } from 'vitest';
import { childExecutionId, isUuid, runIdOf, uuidV7 } from './id.ts';

const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });

test('a uuid of version 7 is well formed', () => {
  fc.assert(
    fc.property(time, bytes, (timeMs, random) => {
      const id = uuidV7(timeMs, random);
      expect(isUuid(id)).toBe(true);
      expect(id[14]).toBe('7');
      expect('89ab').toContain(id[19]);
    }),
  );
});

test('uuids sort by time', () => {
  fc.assert(
    fc.property(time, time, bytes, bytes, (one, other, random, more) => {
      if (one !== other) expect(uuidV7(one, random) < uuidV7(other, more)).toBe(one < other);
    }),
  );
});

test('a child id is the same on every decision, and differs by node and attempt', () => {
  const id = childExecutionId(1, 'parent', 'node', 1);
  expect(childExecutionId(1, 'parent', 'node', 1)).toBe(id);
  expect(childExecutionId(1, 'parent', 'node', 2)).not.toBe(id);
  expect(childExecutionId(1, 'parent', 'other', 1)).not.toBe(id);
});

test.each(['', 'abc', '0190a000-0000-7000-8000-00000000000', "0190a000-0000-7000-8000-000000000001'; --"])(
  '%j is not a uuid',
  (text) => expect(isUuid(text)).toBe(false),
);

test("a run has its caller's id in an execution plan, and the execution's own id otherwise", () => {
  const run = { executionId: 'e1', requestId: 'nightly-7' };
  expect(runIdOf({ ...run, format: 'plan' })).toBe('nightly-7');
  expect(runIdOf({ ...run, format: 'plan', requestId: null })).toBe('e1');
  expect(runIdOf({ ...run, format: 'graph' })).toBe('e1');
});
