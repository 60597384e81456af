// A binary heap of (time, node): which timer rings next. Entries are never removed from the middle. An entry is stale when the
// node's `until` differs from its time; stale entries are dropped at the top. Of two timers at the same time the lower node
// number comes first, so the order does not depend on when they were set (I15).

export interface TimerHeap {
  readonly times: number[];
  readonly nodes: number[];
}

export function createTimerHeap(): TimerHeap {
  return { times: [], nodes: [] };
}

export function pushTimer(heap: TimerHeap, time: number, node: number): void {
  const { times, nodes } = heap;
  let index = times.length;
  times.push(time);
  nodes.push(node);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(time, node, times[parent]!, nodes[parent]!)) break;
    times[index] = times[parent]!;
    nodes[index] = nodes[parent]!;
    index = parent;
  }
  times[index] = time;
  nodes[index] = node;
}

function isBefore(time: number, node: number, otherTime: number, otherNode: number): boolean {
  return time < otherTime || (time === otherTime && node < otherNode);
}

/** The earliest valid entry, after dropping stale ones; undefined: none. */
export function peekTimer(
  heap: TimerHeap,
  isCurrent: (node: number, time: number) => boolean,
): { time: number; node: number } | undefined {
  while (heap.times.length > 0) {
    const time = heap.times[0]!;
    const node = heap.nodes[0]!;
    if (isCurrent(node, time)) return { time, node };
    popTimer(heap);
  }
  return undefined;
}

function popTimer(heap: TimerHeap): void {
  const { times, nodes } = heap;
  const time = times.pop()!;
  const node = nodes.pop()!;
  const size = times.length;
  if (size === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= size) break;
    const right = child + 1;
    if (right < size && isBefore(times[right]!, nodes[right]!, times[child]!, nodes[child]!)) child = right;
    if (!isBefore(times[child]!, nodes[child]!, time, node)) break;
    times[index] = times[child]!;
    nodes[index] = nodes[child]!;
    index = child;
  }
  times[index] = time;
  nodes[index] = node;
}
