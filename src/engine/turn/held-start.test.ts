import { describe, expect, it } from 'vitest';
import { handTimers } from '../../clock/hand-timers.testing.ts';
import { emptyTurn, type Turn } from './decide-turn.ts';
import { HeldStarts, withHeldStart } from './held-start.ts';
import { testResident } from './resident.testing.ts';
import type { Resident } from './resident.ts';

const START = { executionId: 'e', seq: 0, at: 7, facts: '[{"type":"ExecutionStarted"}]', inputs: '{"a":{}}' };
const END = { executionId: 'e', seq: 1, at: 7, facts: '[{"type":"ExecutionFailed"}]', inputs: null };

function turnWith(events: (typeof START | typeof END)[], rest: Partial<Turn> = {}): Turn {
  const turn = emptyTurn(testResident('e'));
  return { ...turn, written: { ...turn.written, events }, ...rest };
}

function written(turn: Turn) {
  const resident = testResident('e');
  resident.holdStart(turnWith([START]));
  const { events } = withHeldStart(resident, turn).written;
  expect(resident.heldStart).toBeNull();
  return events;
}

describe('a held start', () => {
  it('a held start and an end of the same moment become one row', () => {
    expect(written(turnWith([END], { ends: true }))).toEqual([
      { ...START, facts: '[{"type":"ExecutionStarted"},{"type":"ExecutionFailed"}]' },
    ]);
  });

  it('a held start stays a row of its own before any other event', () => {
    const later = { ...END, at: 8 };
    const starting = { ...END, inputs: '{"b":{}}' };
    expect(written(turnWith([later], { ends: true }))).toEqual([START, later]);
    expect(written(turnWith([END]))).toEqual([START, END]);
    expect(written(turnWith([starting], { ends: true }))).toEqual([START, starting]);
    expect(written(turnWith([END, later], { ends: true }))).toEqual([START, END, later]);
    expect(written(turnWith([]))).toEqual([START]);
  });
});

describe('a held start whose first result is slow', () => {
  function holding(count: number) {
    const timers = handTimers();
    const written: Resident[] = [];
    const held = new HeldStarts(timers, (resident) => written.push(resident));
    const residents = Array.from({ length: count }, () => testResident('e'));
    for (const resident of residents) held.hold(resident, turnWith([START]));
    return { held, timers, written, residents };
  }

  it('a held start is written soon when few are held', () => {
    const { timers, written, residents } = holding(63);
    timers.advance(19);
    expect(written).toEqual([]);
    timers.advance(1);
    expect(written).toEqual(residents);
  });

  it('a held start waits longer when many are held, but not forever', () => {
    const { timers, written, residents } = holding(64);
    timers.advance(199);
    expect(written).toEqual([]);
    timers.advance(1);
    expect(written).toEqual(residents);
  });

  it('a held start does not wait longer when most of the held starts have had their result', () => {
    const { timers, written, residents } = holding(64);
    const [first, ...rest] = residents;
    first!.takeHeldStart();
    timers.advance(20);
    expect(written).toEqual(rest);
  });

  it('a held start is written once, and the next one is written as soon', () => {
    const { held, timers, written, residents } = holding(1);
    timers.advance(20);
    residents[0]!.takeHeldStart();
    const next = testResident('e');
    held.hold(next, turnWith([START]));
    timers.advance(20);
    expect(written).toEqual([residents[0], next]);
  });

  it('a held start is not written by a runner that stops', () => {
    const { held, timers, written } = holding(64);
    timers.advance(20);
    held.stop();
    timers.advance(1_000);
    expect(written).toEqual([]);
  });
});
