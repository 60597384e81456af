// Waits for the end of executions. One that ends in this process hands its outcome to the waiters without a read; the ends of all
// others are found by one look for everybody (shared-look.ts).

import type { Timers } from '../clock/timers.ts';
import type { EndedExecution } from '../engine/environment.ts';
import type { ExecutionReader, ExecutionView } from '../store/reader-port.ts';
import { SharedLook, type SharedLookDeps } from './shared-look.ts';
import { within } from './within.ts';

export interface AwaitedEndsDeps extends Pick<SharedLookDeps<unknown>, 'isHere' | 'warn'> {
  readonly timers: Timers;
  readonly store: Pick<ExecutionReader, 'executionEnded'>;
  /** The stored execution; throws when the tenant has no such execution (S1). */
  readonly read: (tenantId: string, executionId: string) => Promise<ExecutionView>;
}

export interface Awaited {
  readonly tenantId: string;
  readonly executionId: string;
}

export interface Patience {
  /** Infinity: without limit. */
  readonly waitMs: number;
  readonly signal?: AbortSignal | undefined;
}

type End = EndedExecution | 'elsewhere';

/** More than the callers of one process ever start without awaiting. */
const MAX_FRESH = 10_000;

export class AwaitedEnds {
  private readonly deps: AwaitedEndsDeps;
  private readonly ends: SharedLook<End>;
  /** Started by this process and not ended in it, by id, with their tenant: their first wait needs no read. */
  private readonly fresh = new Map<string, string>();

  constructor(deps: AwaitedEndsDeps) {
    this.deps = deps;
    this.ends = new SharedLook<End>({
      ...deps,
      look: async (executionIds) =>
        new Map((await deps.store.executionEnded({ executionIds })).map((id) => [id, 'elsewhere'])),
    });
  }

  /** An execution was started by this process. */
  started({ tenantId, executionId }: Awaited): void {
    this.fresh.set(executionId, tenantId);
    if (this.fresh.size > MAX_FRESH) this.fresh.delete(this.fresh.keys().next().value!);
  }

  /** An execution has ended in this process. */
  tell(ended: EndedExecution): void {
    this.fresh.delete(ended.execution.executionId);
    this.ends.tell(ended.execution.executionId, ended);
  }

  private isFresh(tenantId: string, executionId: string): boolean {
    return this.fresh.get(executionId) === tenantId;
  }

  /** The ended execution; null: the time is up or the caller has left. */
  async of({ tenantId, executionId }: Awaited, { waitMs, signal }: Patience): Promise<ExecutionView | null> {
    const { timers, read } = this.deps;
    const until = timers.monotonicMs() + waitMs;
    // If it has ended in another process since, the first look finds it.
    for (let isKnownLive = this.isFresh(tenantId, executionId); ; isKnownLive = false) {
      const waiting = this.ends.wait(executionId);
      try {
        const view = isKnownLive ? null : await read(tenantId, executionId);
        if (view !== null && view.endedAt !== null) return view;
        const end = await within(waiting, { timers, waitMs: until - timers.monotonicMs(), signal });
        if (end === null) return null;
        const told = end === 'elsewhere' ? null : viewOf(end);
        if (told !== null) return told;
      } finally {
        waiting.cancel();
      }
    }
  }
}

/** The result of a read; null: not known here. */
function viewOf({ execution, outcome }: EndedExecution): ExecutionView | null {
  if (outcome === null) return null;
  const { status, startedAt, endedAt, outputs, error, contextSnapshot } = outcome;
  return { ...execution, engineRunRef: null, status, startedAt, endedAt, outputs, error, contextSnapshot };
}
