// Properties of the edges alone: cycles, reachability and order. Plain arrays of numbers and explicit stacks, because a chain of
// a thousand nodes must cost neither recursion nor sorting.

export interface Arc {
  readonly from: number;
  readonly to: number;
}

export interface Walk {
  /** Every node after its predecessors; meaningless when there are cycles. */
  readonly order: readonly number[];
  /** One per tangle: its nodes in order, beginning anywhere. */
  readonly cycles: readonly (readonly number[])[];
}

export function adjacency(size: number, arcs: readonly Arc[]): number[][] {
  const next: number[][] = Array.from({ length: size }, () => []);
  for (const { from, to } of arcs) next[from]!.push(to);
  return next;
}

/** Depth first; an edge back into the current path closes a cycle. Cycles that share a node are one tangle. */
export function walk(next: readonly (readonly number[])[]): Walk {
  const finished: number[] = [];
  const cycles: number[][] = [];
  const tangled = new Set<number>();
  const state = new Uint8Array(next.length); // 0 new, 1 on the path, 2 finished
  const position = new Uint32Array(next.length);
  for (let root = 0; root < next.length; root++) {
    if (state[root] !== 0) continue;
    const path = [root];
    state[root] = 1;
    while (path.length > 0) {
      const node = path.at(-1)!;
      const target = next[node]![position[node]!++];
      if (target === undefined) {
        state[node] = 2;
        finished.push(path.pop()!);
      } else if (state[target] === 0) {
        state[target] = 1;
        path.push(target);
      } else if (state[target] === 1 && !tangled.has(target)) {
        const cycle = path.slice(path.lastIndexOf(target));
        if (!cycle.some((member) => tangled.has(member))) cycles.push(cycle);
        for (const member of cycle) tangled.add(member);
      }
    }
  }
  return { order: finished.reverse(), cycles };
}

export function reachable(start: number, next: readonly (readonly number[])[]): Uint8Array {
  const seen = new Uint8Array(next.length);
  const stack = [start];
  seen[start] = 1;
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const target of next[node]!) {
      if (seen[target] === 1) continue;
      seen[target] = 1;
      stack.push(target);
    }
  }
  return seen;
}

/** Whether `node` precedes `other` on some path. */
export type IsUpstream = (node: number, other: number) => boolean;

/** One bit per pair: a thousand nodes take 125 kB. */
export function upstream(order: readonly number[], next: readonly (readonly number[])[]): IsUpstream {
  const words = Math.ceil(next.length / 32);
  const bits = new Uint32Array(next.length * words);
  for (const node of order) {
    for (const target of next[node]!) {
      for (let word = 0; word < words; word++) bits[target * words + word]! |= bits[node * words + word]!;
      bits[target * words + (node >>> 5)]! |= 1 << (node & 31);
    }
  }
  return (node, other) => (bits[other * words + (node >>> 5)]! & (1 << (node & 31))) !== 0;
}
