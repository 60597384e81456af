// Tests whether mail is read before the next timer counts. The decider's tests show when timers are due.

import { expect, test } from 'vitest';
import { isWaitEnding } from './next-due.ts';
import { startRun } from './test-run.testing.ts';

const sleep = (durationMs: number) => ({ id: 'nap', step: { kind: 'sleep', durationMs } as const });
const wait = (timeoutMs: number) => ({ id: 'paid', step: { kind: 'webhook', timeoutMs } as const });

test.each([
  ['nothing but the deadline', [{ id: 'a' }], false],
  ['the deadline, before a wait is over', [wait(500)], false],
  ['a wait, before a sleep', [wait(50), sleep(80)], true],
  ['a sleep, before a wait', [wait(80), sleep(50)], false],
])('the next event is %s', (_, nodes, expected) => {
  const { state } = startRun({ format: 'pipeline', nodes, timeoutMs: 100 });
  expect(isWaitEnding(state)).toBe(expected);
});
