// Where the nodes of a plan stand, and the curves of its edges.

import { layOutLayers, type Point } from '../../../src/core/layout/layered.ts';

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 58;

export interface PlacedGraph {
  readonly width: number;
  readonly height: number;
  /** By node: the upper left corner. */
  readonly nodes: readonly Point[];
  /** By edge: the path of an SVG line, and the middle of it. */
  readonly edges: readonly { readonly path: string; readonly middle: Point }[];
}

export function placeGraph(
  ids: readonly string[],
  edges: readonly { readonly from: string; readonly to: string }[],
): PlacedGraph {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const arcs = edges.map(({ from, to }) => ({ from: indexes.get(from) ?? 0, to: indexes.get(to) ?? 0 }));
  const boxes = ids.map(() => ({ width: NODE_WIDTH, height: NODE_HEIGHT }));
  const { width, height, nodes, arcs: ways } = layOutLayers(boxes, arcs, { column: 52, item: 20 });
  return {
    width,
    height,
    nodes: nodes.map(({ x, y }) => ({ x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 })),
    edges: arcs.map(({ from, to }, index) => curveOf(nodes[from]!, ways[index]!, nodes[to]!)),
  };
}

/** Level where it leaves, where it arrives and where it passes a column. */
function curveOf(from: Point, way: readonly Point[], to: Point): { path: string; middle: Point } {
  const isBack = to.x <= from.x;
  const start = { x: from.x + (isBack ? -1 : 1) * (NODE_WIDTH / 2), y: from.y };
  const end = { x: to.x + (isBack ? 1 : -1) * (NODE_WIDTH / 2 + 4), y: to.y };
  const level = way.flatMap(({ x, y }) => {
    const half = (isBack ? -1 : 1) * (NODE_WIDTH / 2);
    return [
      { x: x - half, y },
      { x: x + half, y },
    ];
  });
  const points = [start, ...level, end];
  let path = `M${start.x},${start.y}`;
  for (let index = 1; index < points.length; index++) {
    const before = points[index - 1]!;
    const next = points[index]!;
    const bend = (before.x + next.x) / 2;
    path +=
      before.y === next.y ? ` L${next.x},${next.y}` : ` C${bend},${before.y} ${bend},${next.y} ${next.x},${next.y}`;
  }
  const middle = points[Math.floor((points.length - 1) / 2)]!;
  const after = points[Math.floor((points.length - 1) / 2) + 1]!;
  return { path, middle: { x: (middle.x + after.x) / 2, y: (middle.y + after.y) / 2 } };
}
