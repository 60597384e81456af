import { describe, expect, it } from 'vitest';
import { createClock } from './clock.ts';
import { handTimers } from './hand-timers.testing.ts';

function setup() {
  const timers = handTimers();
  const clock = createClock(timers);
  return { clock, timers };
}

describe('the time of the engine', () => {
  it('the time of the engine continues from the time that the database gave', () => {
    const { clock, timers } = setup();
    clock.observe(1_000_000);
    timers.advance(250);
    expect(clock.now()).toBe(1_000_250);
  });

  it('a slow answer does not set the time back, which would end a new sleep early', () => {
    const { clock, timers } = setup();
    clock.observe(1_000_000);
    timers.advance(100);
    // The database read its clock 60 ms ago, and then waited for the disk.
    clock.observe(1_000_040);
    const due = clock.now() + 1_000;
    expect(due).toBe(1_001_100);
    timers.advance(950);
    clock.observe(1_001_050);
    expect(clock.now()).toBeLessThan(due);
    timers.advance(50);
    expect(clock.now()).toBe(due);
  });

  it('the time follows an answer that was faster than those before', () => {
    const { clock, timers } = setup();
    clock.observe(1_000_000);
    timers.advance(100);
    clock.observe(1_000_107);
    expect(clock.now()).toBe(1_000_107);
  });

  it('the time follows a database clock that was set back, after a while', () => {
    const { clock, timers } = setup();
    clock.observe(1_000_000);
    for (let second = 1; second <= 21; second++) {
      timers.advance(1_000);
      clock.observe(500_000 + second * 1_000);
    }
    expect(clock.now()).toBe(521_000);
  });

  it('the time ignores observations from long ago', () => {
    const { clock, timers } = setup();
    clock.observe(1_000_000);
    timers.advance(60_000);
    clock.observe(500_000);
    expect(clock.now()).toBe(500_000);
  });
});
