import { expect, it } from 'vitest';
import { Circuit } from './circuit.ts';

function failing(times: number): Circuit {
  const circuit = new Circuit({ failuresToOpen: 3, probeMs: 100 });
  for (let count = 0; count < times; count++) circuit.failed(0);
  return circuit;
}

it('a circuit lets everything through until enough failures came in a row', () => {
  const circuit = failing(2);
  expect(circuit.room(0, 16, true)).toBe(16);
  circuit.succeeded();
  expect(circuit.failed(0)).toBe(false);
  expect(circuit.isOpen).toBe(false);
});

it('a circuit reports once that it opened, and then lets one through at a time when due', () => {
  const circuit = failing(2);
  expect(circuit.failed(0)).toBe(true);
  expect(circuit.room(0, 16, true)).toBe(0);
  expect(circuit.waitMs(40)).toBe(60);
  expect(circuit.room(100, 16, true)).toBe(1);
  expect(circuit.room(100, 16, false)).toBe(0);
  expect(circuit.failed(100)).toBe(false);
  expect(circuit.room(150, 16, true)).toBe(0);
  expect(circuit.room(200, 16, true)).toBe(1);
});

it('a circuit closes with the first success', () => {
  const circuit = failing(5);
  circuit.succeeded();
  expect(circuit.room(0, 16, false)).toBe(16);
  expect(circuit.isOpen).toBe(false);
});
