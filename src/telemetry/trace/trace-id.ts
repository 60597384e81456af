// Computes trace and span ids instead of remembering them: one process may start an execution and another end it, and their spans
// must fit together. An execution without a given trace uses its own id.

import { createHash, randomBytes } from 'node:crypto';
import { idOf, nodeAt } from '../../core/decider/frame.ts';
import type { State } from '../../core/decider/state.ts';
import { parseTraceparent, type TraceContext } from '../../core/id/trace-context.ts';
import type { NewExecution } from '../../store/port.ts';

export interface ExecutionTrace {
  readonly traceId: string;
  readonly sampled: boolean;
  /** The caller's span, in the same trace. */
  readonly parent: TraceContext | null;
  /** The parent execution's node. A child has its own trace, so a trace stays as small as one execution. */
  readonly link: TraceContext | null;
}

type Traced = Pick<NewExecution, 'executionId' | 'parentId' | 'traceparent'>;

/** `sampleRatio` applies when the caller did not decide about sampling. A caller's decision covers everything that follows. */
export function traceOf({ executionId, parentId, traceparent }: Traced, sampleRatio: number): ExecutionTrace {
  const given = traceparent == null ? null : parseTraceparent(traceparent);
  const ownId = executionId.replaceAll('-', '');
  if (given === null) return { traceId: ownId, sampled: isSampled(ownId, sampleRatio), parent: null, link: null };
  if (parentId !== null) return { traceId: ownId, sampled: given.sampled, parent: null, link: given };
  return { traceId: given.traceId, sampled: given.sampled, parent: given, link: null };
}

/** The last digits of an id are random, and the same in every process. */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < ratio;
}

/** One span per opening: a retry of a failed execution is a new span. */
export function executionSpanId(executionId: string, generation: number): string {
  return derivedId(`${executionId}/${generation}`);
}

/** One span for all attempts since the node was last reset. */
export function nodeSpanId(state: State, node: number): string {
  return derivedId(`${state.start.executionId}/${idOf(state, node)}/${nodeAt(state, node)?.attemptBase ?? 0}`);
}

/** For an attempt: after a crash the same attempt may run twice, and that gives two spans. */
export const newSpanId = (): string => randomBytes(8).toString('hex');

const derivedId = (name: string): string => createHash('sha256').update(name).digest('hex').slice(0, 16);
