import { describe, expect, it } from 'vitest';
import { handTimers } from '../../clock/hand-timers.testing.ts';
import { createAlarms } from './alarm.ts';
import { testResident } from './resident.testing.ts';
import type { Resident } from './resident.ts';

function setup({ clockBehindMs = 0 } = {}) {
  const timers = handTimers();
  const residents: Resident[] = [];
  const due = new Map<Resident, number | null>();
  const rung: [string, number][] = [];
  const now = () => timers.monotonicMs() - clockBehindMs;
  const alarms = createAlarms({
    timers,
    now,
    residents: () => residents,
    dueOf: (resident) => due.get(resident) ?? null,
    ring: (resident) => {
      rung.push([resident.execution.executionId, now()]);
      // A decision follows, after which this time is no longer the next.
      due.set(resident, null);
    },
  });
  const resident = (executionId: string, dueAt: number | null): Resident => {
    const made = testResident(executionId);
    residents.push(made);
    due.set(made, dueAt);
    alarms.set(made, dueAt);
    return made;
  };
  return { timers, alarms, rung, resident };
}

describe('an alarm', () => {
  it('an alarm rings once, when due', () => {
    const { timers, rung, resident } = setup();
    resident('a', 300);
    timers.advance(299);
    expect(rung).toEqual([]);
    timers.advance(10_000);
    expect(rung).toEqual([['a', 300]]);
  });

  it('an alarm never rings early, even if the clock of the engine is behind the timer', () => {
    const { timers, rung, resident } = setup({ clockBehindMs: 50 });
    resident('a', 300);
    timers.advance(1_000);
    expect(rung).toHaveLength(1);
    expect(rung[0]![1]).toBeGreaterThanOrEqual(300);
  });

  it('an alarm in the past rings at once', () => {
    const { timers, rung, resident } = setup();
    timers.advance(1_000);
    resident('a', 10);
    timers.advance(0);
    expect(rung).toEqual([['a', 1_000]]);
  });

  it('an alarm far in the future has no timer until it is near', () => {
    const { timers, rung, resident } = setup();
    const before = timers.pending;
    resident('a', 3_600_000);
    expect(timers.pending).toBe(before);
    timers.advance(3_600_000);
    expect(rung).toEqual([['a', 3_600_000]]);
  });

  it('an alarm can be moved and cleared', () => {
    const { timers, alarms, rung, resident } = setup();
    const a = resident('a', 300);
    alarms.set(a, 700);
    const b = resident('b', 300);
    alarms.clear(b);
    const c = resident('c', 300);
    alarms.set(c, null);
    timers.advance(1_000);
    expect(rung).toEqual([['a', 700]]);
  });

  it('no alarm rings after the stop', () => {
    const { timers, alarms, rung, resident } = setup();
    resident('a', 300);
    alarms.stop();
    timers.advance(10_000);
    expect(rung).toEqual([]);
    expect(timers.pending).toBe(0);
  });
});
