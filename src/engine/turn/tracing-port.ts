// Who is told where the time of an execution goes, for traces. Absent: nobody, and nothing is made for them. What is passed
// on to attempts and children without it is the context that the execution came with, as the standard asks of those who
// take no part.

import type { Transition } from '../../core/decider/fact.ts';
import type { Resident } from './resident.ts';

export interface Tracing {
  /** The W3C trace context of a node's span: what its attempts and its child belong to. */
  contextOf(resident: Resident, node: number): string;
  /** These have happened: they are durable. */
  committed(resident: Resident, transitions: readonly Transition[]): void;
}

export function traceparentFor(tracing: Tracing | undefined, resident: Resident, node: number): string | null {
  if (tracing !== undefined) return tracing.contextOf(resident, node);
  return resident.execution.traceparent ?? null;
}
