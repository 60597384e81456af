import { describe, expect, it } from 'vitest';
import { layOutLayers } from './layered.ts';

const boxes = (count: number) => Array.from({ length: count }, () => ({ width: 100, height: 40 }));

describe('layOutLayers', () => {
  it('the layout of an empty graph has no size', () => {
    expect(layOutLayers([], [])).toEqual({ width: 0, height: 0, nodes: [], arcs: [] });
  });

  it('each node is to the right of all nodes that lead to it', () => {
    const arcs = [
      { from: 0, to: 1 },
      { from: 0, to: 2 },
      { from: 1, to: 3 },
      { from: 2, to: 3 },
    ];
    const { nodes } = layOutLayers(boxes(4), arcs);
    for (const { from, to } of arcs) expect(nodes[to]!.x).toBeGreaterThan(nodes[from]!.x);
    expect(nodes[1]!.x).toBe(nodes[2]!.x);
    expect(Math.abs(nodes[1]!.y - nodes[2]!.y)).toBeGreaterThanOrEqual(40);
  });

  it('an arc that passes a column runs between the boxes of that column', () => {
    const { nodes, arcs } = layOutLayers(boxes(3), [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 0, to: 2 },
    ]);
    const [, , long] = arcs;
    expect(long).toHaveLength(1);
    expect(long![0]!.x).toBe(nodes[1]!.x);
    expect(Math.abs(long![0]!.y - nodes[1]!.y)).toBeGreaterThanOrEqual(20);
  });

  it('arcs that lead back are turned, self-loops stay in place, and a pure cycle is laid out', () => {
    const { nodes, arcs } = layOutLayers(boxes(6), [
      { from: 0, to: 1 },
      { from: 1, to: 2 },
      { from: 2, to: 0 },
      { from: 1, to: 1 },
      { from: 3, to: 4 },
      { from: 4, to: 5 },
      { from: 3, to: 5 },
    ]);
    expect(nodes[2]!.x).toBeGreaterThan(nodes[1]!.x);
    expect(arcs[2]!.map(({ x }) => x)).toEqual([nodes[1]!.x]);
    expect(arcs[3]).toEqual([]);
    const ring = layOutLayers(boxes(2), [
      { from: 0, to: 1 },
      { from: 1, to: 0 },
    ]);
    expect(ring.nodes[1]!.x).toBeGreaterThan(ring.nodes[0]!.x);
  });

  it('arcs are straight when there are too many places, and the same graph gives the same layout', () => {
    const chain = Array.from({ length: 119 }, (_, from) => ({ from, to: from + 1 }));
    const long = Array.from({ length: 110 }, (_, from) => ({ from, to: 119 }));
    const first = layOutLayers(boxes(120), [...chain, ...long]);
    expect(first.arcs.at(-1)).toEqual([]);
    expect(first.arcs[119]!.length).toBe(118);
    expect(layOutLayers(boxes(120), [...chain, ...long])).toEqual(first);
  });
});
