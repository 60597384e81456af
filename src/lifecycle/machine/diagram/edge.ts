// The arrows of a diagram: transitions between the same two states become one arrow with a line of text for each event.

import type { Machine, StateTimeout } from '../machine.ts';

export interface DiagramEdge {
  readonly from: string;
  readonly to: string;
  readonly labels: readonly string[];
}

export function diagramEdges(machine: Machine): DiagramEdge[] {
  const grouped = new Map<string, { from: string; to: string; labels: string[] }>();
  for (const { from, event, to } of machine.transitions) {
    const key = JSON.stringify([from, to]);
    const timeout = machine.states.get(from)!.timeout;
    const label = timeout?.event === event ? `${event} (${timeoutText(timeout)})` : event;
    const edge = grouped.get(key);
    if (edge === undefined) grouped.set(key, { from, to, labels: [label] });
    else edge.labels.push(label);
  }
  return [...grouped.values()];
}

function timeoutText({ afterMs, mode, max, intervalMs }: StateTimeout): string {
  const first = `after ${durationText(afterMs)}`;
  if (mode === 'once') return first;
  const every =
    intervalMs === afterMs ? `every ${durationText(afterMs)}` : `${first}, then every ${durationText(intervalMs)}`;
  return max === null ? every : `${every}, ${max}×`;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** In the largest unit that gives a whole number. */
export function durationText(ms: number): string {
  for (const [unit, size] of UNITS) if (ms % size === 0) return `${ms / size}${unit}`;
  return `${ms}ms`;
}
