// Assigns each node of a graph its column: one after every node that leads to it. Arcs that lead back are reversed first, so a
// graph may have cycles. Iterative, because a chain of a thousand nodes must not recurse.

export interface Ranking {
  /** By node. */
  readonly columns: readonly number[];
  /** By arc: whether it leads to an earlier column, or back to its own node. */
  readonly isBack: readonly boolean[];
}

interface Arc {
  readonly from: number;
  readonly to: number;
}

/** Every node can be reached from the start. */
export function rank(size: number, start: number, arcs: readonly Arc[]): Ranking {
  const { isBack, order } = walk(size, start, arcs);
  const columns = new Array<number>(size).fill(0);
  const leaving = Map.groupBy(
    arcs.filter((_, index) => !isBack[index]),
    ({ from }) => from,
  );
  for (const node of order) {
    for (const { to } of leaving.get(node) ?? []) columns[to] = Math.max(columns[to]!, columns[node]! + 1);
  }
  return { columns, isBack };
}

/** Depth first: an arc into the current path leads back. In the resulting order every node comes after its predecessors. */
function walk(size: number, start: number, arcs: readonly Arc[]): { isBack: boolean[]; order: number[] } {
  const isBack = arcs.map(() => false);
  const leaving: number[][] = Array.from({ length: size }, () => []);
  for (const [index, { from }] of arcs.entries()) leaving[from]!.push(index);
  const state = new Uint8Array(size); // 0 new, 1 on the path, 2 finished
  const position = new Uint32Array(size);
  const finished: number[] = [];
  const path = [start];
  state[start] = 1;
  while (path.length > 0) {
    const node = path.at(-1)!;
    const arc = leaving[node]![position[node]!++];
    if (arc === undefined) {
      state[node] = 2;
      finished.push(path.pop()!);
      continue;
    }
    const { to } = arcs[arc]!;
    if (state[to] === 1) isBack[arc] = true;
    else if (state[to] === 0) {
      state[to] = 1;
      path.push(to);
    }
  }
  return { isBack, order: finished.reverse() };
}
