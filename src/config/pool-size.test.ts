import { expect, it } from 'vitest';
import { connectionsPerProcess, poolSizes } from './pool-size.ts';

const usual = { engineConnections: 10, readConnections: 5 };

it('pools keep their size without a total, or within the total', () => {
  expect(poolSizes(usual)).toEqual(usual);
  expect(poolSizes({ ...usual, maxConnections: 17 })).toEqual(usual);
  expect(connectionsPerProcess(usual)).toBe(17);
});

it('pools shrink to a total that is never exceeded, and each of them keeps something', () => {
  for (let maxConnections = 8; maxConnections < 17; maxConnections++) {
    const { engineConnections, readConnections } = poolSizes({ ...usual, maxConnections });
    expect(engineConnections).toBeGreaterThan(readConnections);
    expect(readConnections).toBeGreaterThan(0);
    expect(connectionsPerProcess({ ...usual, maxConnections })).toBe(maxConnections);
  }
});
