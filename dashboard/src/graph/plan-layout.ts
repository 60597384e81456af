// The layout of a plan: nodes and curved edges, from left to right or from top to bottom, whichever is larger in the available
// room.

import { layOutLayers, type Point } from '../../../src/core/layout/layered.ts';

export const NODE_WIDTH = 184;
export const NODE_HEIGHT = 58;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface PlacedGraph extends Size {
  readonly isDown: boolean;
  /** By node: the upper left corner. */
  readonly nodes: readonly Point[];
  /** By edge: the path of an SVG line, and the middle of it. */
  readonly edges: readonly { readonly path: string; readonly middle: Point }[];
}

interface Arc {
  readonly from: number;
  readonly to: number;
}

/** Between columns is room for the texts of edges; between rows they need less. */
const GAPS = { right: { column: 52, item: 20 }, down: { column: 46, item: 24 } } as const;
/** Above this nobody sees the whole at once, and a second layout only costs time. */
const BOTH_WAYS = 150;

export function placeGraph(
  ids: readonly string[],
  edges: readonly { readonly from: string; readonly to: string }[],
  room: Size,
): PlacedGraph {
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const arcs = edges.map(({ from, to }) => ({ from: indexes.get(from) ?? 0, to: indexes.get(to) ?? 0 }));
  const right = place(ids.length, arcs, false);
  if (ids.length > BOTH_WAYS || scaleIn(right, room) === 1) return right;
  const down = place(ids.length, arcs, true);
  return scaleIn(down, room) > scaleIn(right, room) ? down : right;
}

/** How large it may be shown, at most as it is. */
const scaleIn = ({ width, height }: Size, room: Size): number =>
  Math.min(1, room.width / Math.max(1, width), room.height / Math.max(1, height));

function place(count: number, arcs: readonly Arc[], isDown: boolean): PlacedGraph {
  const turned = (point: Point): Point => (isDown ? { x: point.y, y: point.x } : point);
  const box = isDown ? { width: NODE_HEIGHT, height: NODE_WIDTH } : { width: NODE_WIDTH, height: NODE_HEIGHT };
  const layout = layOutLayers(
    Array.from({ length: count }, () => box),
    arcs,
    isDown ? GAPS.down : GAPS.right,
  );
  return {
    isDown,
    width: isDown ? layout.height : layout.width,
    height: isDown ? layout.width : layout.height,
    nodes: layout.nodes.map(turned).map(({ x, y }) => ({ x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 })),
    edges: arcs.map(({ from, to }, index) => {
      const points = pointsOf(layout.nodes[from]!, layout.arcs[index]!, layout.nodes[to]!, box.width);
      const half = Math.floor((points.length - 1) / 2);
      const [before, after] = [points[half]!, points[half + 1]!];
      const middle = { x: (before.x + after.x) / 2, y: (before.y + after.y) / 2 };
      return { path: pathOf(points, turned), middle: turned(middle) };
    }),
  };
}

/** Level where the edge leaves, where it arrives and where it passes a column. */
function pointsOf(from: Point, way: readonly Point[], to: Point, width: number): readonly Point[] {
  const isBack = to.x <= from.x;
  const half = (isBack ? -1 : 1) * (width / 2);
  const start = { x: from.x + half, y: from.y };
  const end = { x: to.x - half - (isBack ? -4 : 4), y: to.y };
  const level = way.flatMap(({ x, y }) => [
    { x: x - half, y },
    { x: x + half, y },
  ]);
  return [start, ...level, end];
}

function pathOf(points: readonly Point[], turned: (point: Point) => Point): string {
  const text = (x: number, y: number): string => {
    const point = turned({ x, y });
    return `${point.x},${point.y}`;
  };
  let path = `M${text(points[0]!.x, points[0]!.y)}`;
  for (let index = 1; index < points.length; index++) {
    const before = points[index - 1]!;
    const next = points[index]!;
    const bend = (before.x + next.x) / 2;
    path +=
      before.y === next.y
        ? ` L${text(next.x, next.y)}`
        : ` C${text(bend, before.y)} ${text(bend, next.y)} ${text(next.x, next.y)}`;
  }
  return path;
}
