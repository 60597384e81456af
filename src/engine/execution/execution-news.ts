// Who waits in this process for the end of an execution: told what it came to the moment it ends here, and otherwise now and
// then to look for themselves, because it may end elsewhere.

import type { EndStatus } from '../../core/decider/fact.ts';
import type { JsonText } from '../../store/port.ts';
import type { EndedExecution, Timers } from '../environment.ts';

export interface ExecutionEnd {
  readonly status: EndStatus;
  readonly outputs: JsonText | null;
  readonly error: JsonText | null;
}

export interface News {
  /** Null: look again. */
  readonly promise: Promise<EndedExecution | null>;
  cancel(): void;
}

const LOOK_AGAIN_MS = 250;

export class ExecutionNews {
  private readonly timers: Timers;
  private readonly waiters = new Map<string, Set<(ended: EndedExecution | null) => void>>();

  constructor(timers: Timers) {
    this.timers = timers;
  }

  next(executionId: string): News {
    const { promise, resolve } = Promise.withResolvers<EndedExecution | null>();
    const waiters = this.waiters.get(executionId) ?? new Set();
    this.waiters.set(executionId, waiters);
    const wake = (ended: EndedExecution | null): void => {
      cancelTimer();
      waiters.delete(wake);
      if (waiters.size === 0) this.waiters.delete(executionId);
      resolve(ended);
    };
    const cancelTimer = this.timers.after(LOOK_AGAIN_MS, () => wake(null));
    waiters.add(wake);
    return { promise, cancel: () => wake(null) };
  }

  tell(ended: EndedExecution): void {
    for (const wake of this.waiters.get(ended.execution.executionId) ?? []) wake(ended);
  }
}

/** What its outcome row says, without reading it. Null: that is not known here. */
export function endOf({ status, state }: EndedExecution): ExecutionEnd | null {
  if (state === null) return null;
  return {
    status: status as EndStatus,
    outputs: state.outputs === undefined ? null : JSON.stringify(state.outputs),
    error: state.error === null ? null : JSON.stringify(state.error),
  };
}
