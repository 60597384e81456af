import { describe, expect, it } from 'vitest';
import { withHeldStart } from './held-start.ts';
import type { Resident } from './resident.ts';
import { emptyTurn, type Turn } from './transition.ts';

const EXECUTION = { execution: { executionId: 'e' } };
const START = { executionId: 'e', seq: 0, at: 7, facts: '[{"type":"ExecutionStarted"}]', inputs: '{"a":{}}' };
const END = { executionId: 'e', seq: 1, at: 7, facts: '[{"type":"ExecutionFailed"}]', inputs: null };

function turnWith(events: (typeof START | typeof END)[], rest: Partial<Turn> = {}): Turn {
  const turn = emptyTurn(EXECUTION as unknown as Resident);
  return { ...turn, written: { ...turn.written, events }, ...rest };
}

function written(turn: Turn) {
  const resident = { ...EXECUTION, heldStart: turnWith([START]) } as unknown as Resident;
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
