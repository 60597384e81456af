import { expect, it } from 'vitest';
import { withoutRepeats } from './repeats.ts';

it('a repeated failure is logged once, then once a minute with the number of repeats', () => {
  let now = 0;
  const told = withoutRepeats(() => now);
  const tick = () => told('tick failed', { error: 'connect ECONNREFUSED' });
  expect(tick()).toEqual({ error: 'connect ECONNREFUSED' });
  expect([tick(), tick(), tick()]).toEqual([null, null, null]);
  now = 60_000;
  expect(tick()).toEqual({ error: 'connect ECONNREFUSED', repeated: 3 });
  expect(tick()).toBe(null);
});

it('another error, service or execution, and a warning without an error, are logged each time', () => {
  const told = withoutRepeats(() => 0);
  expect(told('tick failed', { error: 'one' })).not.toBe(null);
  expect(told('tick failed', { error: 'two' })).not.toBe(null);
  expect(told('claim failed', { error: 'one' })).not.toBe(null);
  expect(told('not loaded', { executionId: 'a', error: 'one' })).not.toBe(null);
  expect(told('not loaded', { executionId: 'b', error: 'one' })).not.toBe(null);
  expect([told('took over', { runnerId: '1' }), told('took over', { runnerId: '1' })]).not.toContain(null);
});

it('only the last 500 failures are remembered', () => {
  const told = withoutRepeats(() => 0);
  for (let id = 0; id < 500; id++) told('not loaded', { executionId: id, error: 'x' });
  expect(told('not loaded', { executionId: 0, error: 'x' })).toBe(null);
  told('not loaded', { executionId: 'one more', error: 'x' });
  expect(told('not loaded', { executionId: 0, error: 'x' })).not.toBe(null);
});
