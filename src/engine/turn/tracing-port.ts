// The port to traces. Absent: nothing is traced or prepared. Attempts and children then get the trace context that the execution
// came with, as the standard asks of non-participants.

import type { Transition } from '../../core/decider/fact.ts';
import type { Resident } from './resident.ts';

export interface Tracing {
  /** The W3C trace context of a node's span, the parent of its attempts and its child. */
  contextOf(resident: Resident, node: number): string;
  /** These transitions are durable. */
  committed(resident: Resident, transitions: readonly Transition[]): void;
}

export function traceparentFor(tracing: Tracing | undefined, resident: Resident, node: number): string | null {
  if (tracing !== undefined) return tracing.contextOf(resident, node);
  return resident.execution.traceparent ?? null;
}
