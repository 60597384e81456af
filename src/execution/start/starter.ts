// Accepts executions: concurrent requests become one statement, and each is answered only when its row is durable (I1). A known
// requestId is answered with its execution; for another workflow it is a conflict (WFENG001).

import type { Timers } from '../../clock/timers.ts';
import { PawlError } from '../../core/error/pawl-error.ts';
import { GroupWrite, type Waiting } from '../../store/group-write.ts';
import { type HintedLane, hintedLanes } from '../../store/hint-port.ts';
import type { ExecutionStore, NewExecution, StartOutcome } from '../../store/port.ts';

const MAX_BATCH = 256;
const MAX_IN_FLIGHT = 2;

/** Not new: the same request was accepted before, and this is its execution. */
export type Started =
  | { readonly executionId: string; readonly isNew: true; readonly createdAt: number }
  | { readonly executionId: string; readonly isNew: false };

/** Starts them as this process's own if its runner has room for all at once; null: they go through the queue. */
export type Adopt = (items: NewExecution[]) => Promise<StartOutcome[]> | null;

type Accepting = Waiting<NewExecution, Started>;

export class Starter {
  private readonly store: ExecutionStore;
  private readonly adopt: Adopt;
  private readonly accepted: (lanes: readonly HintedLane[]) => void;
  private readonly group: GroupWrite<NewExecution, Started>;

  constructor(
    store: ExecutionStore,
    timers: Timers,
    accepted: (lanes: readonly HintedLane[]) => void,
    adopt: Adopt = () => null,
  ) {
    this.store = store;
    this.accepted = accepted;
    this.adopt = adopt;
    this.group = new GroupWrite({
      timers,
      maxInFlight: MAX_IN_FLIGHT,
      split: (waiting) => [waiting.slice(0, MAX_BATCH), waiting.slice(MAX_BATCH)],
      write: (batch) => this.insert(batch),
    });
  }

  start(item: NewExecution): Promise<Started> {
    return this.group.submit(item);
  }

  private async insert(batch: readonly Accepting[]): Promise<void> {
    const items = batch.map(({ item }) => item);
    const adopted = this.adopt(items);
    const outcomes = await (adopted ?? this.store.executionStart({ items }));
    for (const [index, outcome] of outcomes.entries()) answer(batch[index]!, outcome);
    if (adopted === null) this.accepted(hintedLanes(items));
  }
}

export function answer({ item, resolve, reject }: Accepting, outcome: StartOutcome): void {
  try {
    resolve(startedOf(item, outcome));
  } catch (error) {
    reject(error);
  }
}

/** The version to start is no longer current. */
export class StaleVersionError extends Error {
  override readonly name = 'StaleVersionError';
}

/** Throws when the requestId belongs to another workflow, or the version is stale. */
export function startedOf(item: NewExecution, { existing, stale }: StartOutcome): Started {
  if (stale === true) throw new StaleVersionError();
  if (existing === null) return { executionId: item.executionId, isNew: true, createdAt: item.createdAt };
  if (existing.workflowId === item.workflowId) return { executionId: existing.executionId, isNew: false };
  throw requestIdTaken(item.requestId!, existing.workflowId);
}

export function requestIdTaken(requestId: string | null, workflowId: string): PawlError {
  return new PawlError('WFENG001', `requestId "${requestId}" belongs to an execution of workflow "${workflowId}"`);
}
