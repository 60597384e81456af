// A graph in columns from left to right: where each box stands, and the points that each arc passes. An arc that passes columns
// takes a place in each, so that it runs between the boxes and not through them. Deterministic: the same graph gives the same
// picture. Measured with 1,000 nodes: a fan takes 0.05 s, a chain 0.15 s.

import { connect, type Gaps, type Item, item, placeColumns } from './column.ts';
import { rank } from './rank.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Arc {
  readonly from: number;
  readonly to: number;
}

export interface LayeredLayout {
  readonly width: number;
  readonly height: number;
  /** By node: the middle of its box. */
  readonly nodes: readonly Point[];
  /** By arc: the places between its two boxes; none where they stand side by side. */
  readonly arcs: readonly (readonly Point[])[];
}

const GAPS: Gaps = { column: 56, item: 24 };
/** Above this number an arc goes straight: a place for every crossing would cost more than it helps. */
const MAX_ITEMS = 5_000;

export function layOutLayers(
  boxes: readonly { readonly width: number; readonly height: number }[],
  arcs: readonly Arc[],
  gaps: Gaps = GAPS,
): LayeredLayout {
  if (boxes.length === 0) return { width: 0, height: 0, nodes: [], arcs: [] };
  const { columns, isBack } = columnsOf(boxes.length, arcs);
  const items = boxes.map(({ width, height }, index) => item(columns[index]!, width, height));
  let count = 0;
  const ways = arcs.map(({ from, to }, index): Item[] => {
    const [left, right] = isBack[index] ? [items[to]!, items[from]!] : [items[from]!, items[to]!];
    const way = wayBetween(left, right, count);
    count += way.length;
    return isBack[index] ? way.reverse() : way;
  });
  const { width, height } = placeColumns([...items, ...ways.flat()], gaps);
  return { width, height, nodes: items.map(pointOf), arcs: ways.map((way) => way.map(pointOf)) };
}

const pointOf = ({ x, y }: Item): Point => ({ x, y });

/** Ranks from a virtual node before all nodes without predecessors. A part that is one cycle is entered at its first node. */
function columnsOf(size: number, arcs: readonly Arc[]): { columns: number[]; isBack: readonly boolean[] } {
  const leaving = Map.groupBy(arcs, ({ from }) => from);
  const hasBefore = new Set(arcs.filter(({ from, to }) => from !== to).map(({ to }) => to));
  const reached = new Set<number>();
  const entries: Arc[] = [];
  const enter = (node: number): void => {
    entries.push({ from: size, to: node });
    const path = [node];
    for (let next = path.pop(); next !== undefined; next = path.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      for (const { to } of leaving.get(next) ?? []) path.push(to);
    }
  };
  for (let node = 0; node < size; node++) if (!hasBefore.has(node)) enter(node);
  for (let node = 0; node < size; node++) if (!reached.has(node)) enter(node);
  const { columns, isBack } = rank(size + 1, size, [...arcs, ...entries]);
  return { columns: columns.slice(0, size).map((column) => column - 1), isBack: isBack.slice(0, arcs.length) };
}

function wayBetween(left: Item, right: Item, count: number): Item[] {
  if (left === right) return [];
  const length = count > MAX_ITEMS ? 0 : right.column - left.column - 1;
  const way = Array.from({ length }, (_, index) => item(left.column + 1 + index, 0, 0));
  [...way, right].reduce((before, next) => {
    connect(before, next);
    return next;
  }, left);
  return way;
}
