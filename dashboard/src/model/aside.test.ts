import { describe, expect, it } from 'vitest';
import type { Plan } from '../../../src/core/plan/plan.ts';
import { asideEdges, joinText } from './aside.ts';

describe('a picture of a plan', () => {
  it('leads from a node to what undoes it, and from the last ones to what runs at last', () => {
    const nodes = [
      { id: 'a' },
      { id: 'b' },
      { id: 'undo-a', undoes: 'a' },
      { id: 'release', isFinally: true as const },
    ];
    expect(asideEdges(nodes, [{ from: 'a' }])).toEqual([
      { from: 'a', to: 'undo-a', when: 'undo', isAside: true },
      { from: 'b', to: 'release', when: 'finally', isAside: true },
    ]);
  });

  it('says how many of its edges a node waits for, where that is not the usual', () => {
    const nodes = ['a', 'b', 'c'].map((id) => ({ id, join: id === 'c' ? 'all' : 'any' }));
    const edges = [
      { from: 0, to: 2 },
      { from: 1, to: 2 },
    ];
    const plan = { nodes, edges } as unknown as Plan;
    expect(joinText(plan, 'c')).toBe('needs all 2');
    expect(joinText(plan, 'a')).toBeUndefined();
    expect(joinText(plan, 'nobody')).toBeUndefined();
    const usual = { nodes: nodes.map(({ id }) => ({ id, join: 'any' })), edges } as unknown as Plan;
    expect(joinText(usual, 'c')).toBeUndefined();
    const first = { nodes: nodes.map(({ id }) => ({ id, join: { first: 1 } })), edges } as unknown as Plan;
    expect(joinText(first, 'c')).toBe('needs the first 1 of 2');
  });
});
