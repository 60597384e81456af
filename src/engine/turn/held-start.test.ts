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

describe('a start that was held', () => {
  it('is one row with an end of the same moment', () => {
    expect(written(turnWith([END], { ends: true }))).toEqual([
      { ...START, facts: '[{"type":"ExecutionStarted"},{"type":"ExecutionFailed"}]' },
    ]);
  });

  it('stays a row of its own before everything else', () => {
    const later = { ...END, at: 8 };
    const starting = { ...END, inputs: '{"b":{}}' };
    expect(written(turnWith([later], { ends: true }))).toEqual([START, later]);
    expect(written(turnWith([END]))).toEqual([START, END]);
    expect(written(turnWith([starting], { ends: true }))).toEqual([START, starting]);
    expect(written(turnWith([END, later], { ends: true }))).toEqual([START, END, later]);
    expect(written(turnWith([]))).toEqual([START]);
  });
});

describe('a start whose first result takes its time', () => {
  function holding(count: number) {
    const timers = handTimers();
    const written: Resident[] = [];
    const held = new HeldStarts(timers, (resident) => written.push(resident));
    const residents = Array.from({ length: count }, () => testResident('e'));
    for (const resident of residents) held.hold(resident, turnWith([START]));
    return { held, timers, written, residents };
  }

  it('is written soon where few are held', () => {
    const { timers, written, residents } = holding(63);
    timers.advance(19);
    expect(written).toEqual([]);
    timers.advance(1);
    expect(written).toEqual(residents);
  });

  it('waits longer where many are, and not for ever', () => {
    const { timers, written, residents } = holding(64);
    timers.advance(199);
    expect(written).toEqual([]);
    timers.advance(1);
    expect(written).toEqual(residents);
  });

  it('is not one of many when most have had their result', () => {
    const { timers, written, residents } = holding(64);
    const [first, ...rest] = residents;
    first!.takeHeldStart();
    timers.advance(20);
    expect(written).toEqual(rest);
  });

  it('is written once, and the next one as soon again', () => {
    const { held, timers, written, residents } = holding(1);
    timers.advance(20);
    residents[0]!.takeHeldStart();
    const next = testResident('e');
    held.hold(next, turnWith([START]));
    timers.advance(20);
    expect(written).toEqual([residents[0], next]);
  });

  it('is not written by a runner that stops', () => {
    const { held, timers, written } = holding(64);
    timers.advance(20);
    held.stop();
    timers.advance(1_000);
    expect(written).toEqual([]);
  });
});
