// When the execution must be woken next: the earliest of its nodes' timers, its deadline and the end of a grace period. While it
// is paused, retries and the deadline wait for the resume; sleeps and waits go on.

import { nodeAt } from './frame.ts';
import type { State } from './state.ts';
import { isTerminal } from './state.ts';
import { peekTimer } from './timer-heap.ts';

export function nextDue(state: State): number | null {
  if (isTerminal(state.status)) return null;
  const never = Number.POSITIVE_INFINITY;
  const timer = state.timers.times.length === 0 ? never : (nextTimer(state)?.time ?? never);
  const due = Math.min(timer, state.stopping?.graceUntil ?? never, effectiveDeadline(state) ?? never);
  return due === never ? null : due;
}

export function nextTimer(state: State): { time: number; node: number } | undefined {
  const silent = state.status === 'Paused';
  return peekTimer(state.timers, (index, time) => {
    const node = nodeAt(state, index);
    return node !== undefined && node.until === time && !(silent && node.status === 'Retrying');
  });
}

/** Whether the next due timer ends a wait, which mail could still decide. */
export function isWaitEnding(state: State): boolean {
  const timer = nextTimer(state);
  return timer !== undefined && timer.time === nextDue(state) && nodeAt(state, timer.node)!.status === 'Waiting';
}

export function effectiveDeadline(state: State): number | null {
  if (state.status !== 'Running' || state.stopping !== null) return null;
  return state.undo === null ? state.deadline : state.undo.until;
}
