import { expect, it } from 'vitest';
import { handTimers } from '../../clock/hand-timers.testing.ts';
import type { PawlError } from '../../core/error/pawl-error.ts';
import { StartGate } from './start-gate.ts';

function setup() {
  const timers = handTimers();
  const gate = new StartGate(timers);
  const start = (durationMs: number) =>
    gate.pass(async () => {
      timers.advance(durationMs);
      return 'started';
    });
  return { timers, gate, start };
}

it('the gate lets all starts in while most are fast', async () => {
  const { gate, start } = setup();
  expect(gate.p95Ms()).toBeNull();
  for (let n = 0; n < 100; n++) await start(n % 25 === 0 ? 8_000 : 10);
  expect(await start(10)).toBe('started');
  expect(gate.p95Ms()).toBe(10);
});

it('the gate refuses when one start in twenty takes over five seconds, with a doubling wait', async () => {
  const { timers, gate, start } = setup();
  for (let n = 0; n < 20; n++) await start(n < 2 ? 6_000 : 1_000);
  expect(gate.p95Ms()).toBeGreaterThan(5_000);
  const waits: number[] = [];
  for (let round = 0; round < 4; round++) {
    // One is let in to measure again, and is not back yet.
    void gate.pass(() => new Promise(() => {}));
    const refusal: PawlError = await gate.pass(async () => 'in').catch((error) => error);
    expect(refusal).toMatchObject({ code: 'UNAVAILABLE' });
    const { retryAfterSeconds } = refusal.details as { retryAfterSeconds: number };
    waits.push(retryAfterSeconds);
    timers.advance(retryAfterSeconds * 1_000);
  }
  expect(waits).toEqual([1, 2, 4, 8]);
});

it('the gate opens again after a fast start, or after a while without starts', async () => {
  const { timers, start } = setup();
  for (let n = 0; n < 20; n++) await start(6_000);
  await start(10);
  for (let n = 0; n < 5; n++) expect(await start(10)).toBe('started');
  for (let n = 0; n < 20; n++) await start(6_000).catch(() => timers.advance(6_000));
  timers.advance(61_000);
  expect(await start(10)).toBe('started');
  expect(await start(10)).toBe('started');
});
