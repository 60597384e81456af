// The layout of a diagram: states in columns from left to right, and columns for the labels of arrows between them, so that no
// text overlaps another. An arrow that crosses columns takes a place in each, like a small state. Deterministic: the same machine
// gives the same picture.

import { connect, type Item, item, placeColumns } from '../../../core/layout/column.ts';
import { rank } from '../../../core/layout/rank.ts';
import type { Machine } from '../machine.ts';
import { type DiagramEdge, diagramEdges } from './edge.ts';
import { LINE_HEIGHT, textWidth } from './text.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly name: string;
  readonly width: number;
  readonly height: number;
}

/** An arrow with its text. Without points it is a self-transition, drawn above its state. */
export interface Arrow {
  readonly edge: DiagramEdge;
  readonly points: readonly Point[];
  /** The middle of its text. */
  readonly label: Point;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly start: Point;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly arrows: readonly Arrow[];
}

const MARGIN = 24;
/** For the dot that leads to the initial state. */
const START_ROOM = 36;
const BOX_HEIGHT = 40;
const BOX_PADDING = 16;
const MIN_BOX_WIDTH = 64;
const LOOP_HEIGHT = 26;
const PORT_GAP = 9;
/** Above this number an arrow only keeps the place of its label and goes straight from there. */
const MAX_ITEMS = 5_000;

/** An arrow on its way, always from left to right; `isBack` means that it points the other way. */
interface Route {
  readonly edge: DiagramEdge;
  readonly isBack: boolean;
  readonly left: string;
  readonly right: string;
  readonly items: readonly Item[];
  /** Where the arrow touches the boxes. */
  leftY: number;
  rightY: number;
}

export function layOut(machine: Machine): Layout {
  const edges = diagramEdges(machine);
  const loops = new Map(edges.filter(({ from, to }) => from === to).map((edge) => [edge.from, edge]));
  const { states, routes } = arrange(machine, edges, loops);
  const room = placeColumns([...states.values(), ...routes.flatMap(({ items }) => items)]);
  const boxes = new Map([...states].map(([name, state]) => [name, boxOf(name, state)]));
  setPorts(routes, boxes);
  const initial = boxes.get(machine.initial)!;
  return {
    width: Math.ceil(room.width + START_ROOM + 2 * MARGIN),
    height: Math.ceil(room.height + 2 * MARGIN),
    start: { x: initial.x - START_ROOM, y: initial.y + BOX_HEIGHT / 2 },
    boxes,
    arrows: [
      ...routes.map((route) => arrowOf(route, boxes)),
      ...[...loops.values()].map((edge) => loopOf(edge, boxes)),
    ],
  };
}

function arrange(machine: Machine, edges: readonly DiagramEdge[], loops: ReadonlyMap<string, DiagramEdge>) {
  const names = [...machine.states.keys()];
  const indexes = new Map(names.map((name, index) => [name, index]));
  const arcs = edges.map(({ from, to }) => ({ from: indexes.get(from)!, to: indexes.get(to)! }));
  const { columns, isBack } = rank(names.length, indexes.get(machine.initial)!, arcs);
  const states = new Map(names.map((name, index) => [name, stateItem(name, 2 * columns[index]!, loops.get(name))]));
  let count = 0;
  const routes = edges.flatMap((edge, index): Route[] => {
    if (edge.from === edge.to) return [];
    const back = isBack[index]!;
    const [left, right] = back ? [edge.to, edge.from] : [edge.from, edge.to];
    const items = wayOf(edge, states.get(left)!, states.get(right)!, back, count > MAX_ITEMS);
    count += items.length;
    return [{ edge, isBack: back, left, right, items, leftY: 0, rightY: 0 }];
  });
  return { states, routes };
}

const boxWidth = (name: string): number => Math.max(MIN_BOX_WIDTH, textWidth(name) + 2 * BOX_PADDING);
const labelWidth = ({ labels }: DiagramEdge): number => Math.max(...labels.map(textWidth));
const labelHeight = ({ labels }: DiagramEdge): number => labels.length * LINE_HEIGHT;

/** Room for the loop above the box, and as much below, so that the box stays in the middle of its arrows. */
function stateItem(name: string, column: number, loop: DiagramEdge | undefined): Item {
  if (loop === undefined) return item(column, boxWidth(name), BOX_HEIGHT);
  const height = BOX_HEIGHT + 2 * (LOOP_HEIGHT + labelHeight(loop));
  return item(column, Math.max(boxWidth(name), labelWidth(loop)), height);
}

/** The places of an arrow between two states. Its text stands beside the state it leaves. */
function wayOf(edge: DiagramEdge, left: Item, right: Item, isBack: boolean, isDirect: boolean): Item[] {
  const labelColumn = isBack ? right.column - 1 : left.column + 1;
  const [first, last] = isDirect ? [labelColumn, labelColumn] : [left.column + 1, right.column - 1];
  const way = Array.from({ length: last - first + 1 }, (_, index) => {
    const column = first + index;
    return column === labelColumn ? item(column, labelWidth(edge), labelHeight(edge)) : item(column, 0, 0);
  });
  [...way, right].reduce((before, next) => {
    connect(before, next);
    return next;
  }, left);
  return way;
}

function boxOf(name: string, { x, y }: Item): Box {
  const width = boxWidth(name);
  return { name, x: MARGIN + START_ROOM + x - width / 2, y: MARGIN + y - BOX_HEIGHT / 2, width, height: BOX_HEIGHT };
}

/** Arrows touch one side of a box in the order in which they arrive, each at its own point. */
function setPorts(routes: readonly Route[], boxes: ReadonlyMap<string, Box>): void {
  for (const [name, leaving] of Map.groupBy(routes, ({ left }) => left)) {
    leaving.sort((a, b) => a.items[0]!.y - b.items[0]!.y);
    for (const [index, route] of leaving.entries()) route.leftY = portOf(boxes.get(name)!, index, leaving.length);
  }
  for (const [name, arriving] of Map.groupBy(routes, ({ right }) => right)) {
    arriving.sort((a, b) => a.items.at(-1)!.y - b.items.at(-1)!.y);
    for (const [index, route] of arriving.entries()) route.rightY = portOf(boxes.get(name)!, index, arriving.length);
  }
}

function portOf({ y, height }: Box, index: number, count: number): number {
  const gap = Math.min(PORT_GAP, (height - 8) / count);
  return y + height / 2 + (index - (count - 1) / 2) * gap;
}

function arrowOf({ edge, isBack, left, right, items, leftY, rightY }: Route, boxes: ReadonlyMap<string, Box>): Arrow {
  const from = boxes.get(left)!;
  const points = [
    { x: from.x + from.width, y: leftY },
    // Level along the text, so that the text lies on the line.
    ...items.flatMap(({ x, y, width }) => [shifted(x - width / 2, y), shifted(x + width / 2, y)]),
    { x: boxes.get(right)!.x, y: rightY },
  ];
  const { x, y } = isBack ? items.at(-1)! : items[0]!;
  return { edge, points: isBack ? points.reverse() : points, label: shifted(x, y) };
}

const shifted = (x: number, y: number): Point => ({ x: MARGIN + START_ROOM + x, y: MARGIN + y });

function loopOf(edge: DiagramEdge, boxes: ReadonlyMap<string, Box>): Arrow {
  const { x, y, width } = boxes.get(edge.from)!;
  return { edge, points: [], label: { x: x + width / 2, y: y - LOOP_HEIGHT - labelHeight(edge) / 2 } };
}
