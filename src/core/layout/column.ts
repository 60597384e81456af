// Places connected items in columns: in an order with few crossings, and each item as close to its connections as there is room.

import { spread } from './spread.ts';

/** Something that takes room in a column: a box, or an arrow on its way. */
export interface Item {
  readonly column: number;
  readonly width: number;
  readonly height: number;
  /** In columns to the left and to the right. */
  readonly before: Item[];
  readonly after: Item[];
  /** Its place in the column, counted from the top. */
  order: number;
  /** Its middle. */
  x: number;
  y: number;
}

export interface Gaps {
  /** Between columns, and between the items of one. */
  readonly column: number;
  readonly item: number;
}

const DEFAULT_GAPS: Gaps = { column: 28, item: 18 };
const SWEEPS = 12;

export function item(column: number, width: number, height: number): Item {
  return { column, width, height, before: [], after: [], order: 0, x: 0, y: 0 };
}

export function connect(left: Item, right: Item): void {
  left.after.push(right);
  right.before.push(left);
}

/** Gives every item its middle, from (0, 0) on, and says how much room they take. */
export function placeColumns(items: readonly Item[], gaps: Gaps = DEFAULT_GAPS): { width: number; height: number } {
  const columns = [...Map.groupBy(items, ({ column }) => column)].sort(([a], [b]) => a - b).map(([, column]) => column);
  columns.forEach(number);
  sweep(columns, (column, side) => sortByNeighbours(column, side));
  const width = placeAcross(columns, gaps.column);
  for (const column of columns) placeDown(column, gaps.item, ({ order }) => order);
  sweep(columns, (column) => placeDown(column, gaps.item, wishOf));
  const top = Math.min(...items.map(({ y, height }) => y - height / 2));
  for (const each of items) each.y -= top;
  return { width, height: Math.max(...items.map(({ y, height }) => y + height / 2)) };
}

function sweep(columns: Item[][], visit: (column: Item[], side: 'before' | 'after') => void): void {
  const back = columns.toReversed();
  for (let count = 0; count < SWEEPS; count++) {
    if (count % 2 === 0) for (const column of columns) visit(column, 'before');
    else for (const column of back) visit(column, 'after');
  }
}

function number(column: readonly Item[]): void {
  for (const [index, each] of column.entries()) each.order = index;
}

function sortByNeighbours(column: Item[], side: 'before' | 'after'): void {
  const wishes = new Map(column.map((each) => [each, mean(each[side].map(({ order }) => order)) ?? each.order]));
  column.sort((a, b) => wishes.get(a)! - wishes.get(b)! || a.order - b.order);
  number(column);
}

function placeAcross(columns: readonly Item[][], gap: number): number {
  let x = 0;
  for (const column of columns) {
    const width = Math.max(...column.map((each) => each.width));
    for (const each of column) each.x = x + width / 2;
    x += width + gap;
  }
  return x - gap;
}

function placeDown(column: readonly Item[], gap: number, wish: (item: Item) => number): void {
  const middles = spread(
    column.map((each) => ({ wish: wish(each), half: each.height / 2 })),
    gap,
  );
  for (const [index, each] of column.entries()) each.y = middles[index]!;
}

const wishOf = ({ before, after, y }: Item): number => mean([...before, ...after].map((other) => other.y)) ?? y;

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}
