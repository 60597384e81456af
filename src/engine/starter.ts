// Accepts executions: many requests that arrive together become one statement, and each is answered only when its row is
// durable (I1). A requestId that is known already answers with the execution that has it; for another workflow it is a
// conflict (WFENG001).

import { PawlError } from '../core/error/pawl-error.ts';
import type { HintedLane } from '../store/hint-port.ts';
import type { ExecutionStore, NewExecution, StartOutcome } from '../store/port.ts';
import { StoreError } from '../store/store-error.ts';
import type { Timers } from './environment.ts';

const MAX_BATCH = 256;
const MAX_IN_FLIGHT = 2;

/** Not new: the same request was accepted before, and this is its execution. */
export type Started =
  | { readonly executionId: string; readonly isNew: true; readonly createdAt: number }
  | { readonly executionId: string; readonly isNew: false };

/** Starts them as this process's own, if its runner has a place for each at once; null: they queue like all others. */
export type Adopt = (items: NewExecution[]) => Promise<StartOutcome[]> | null;

interface Waiting {
  readonly item: NewExecution;
  readonly resolve: (started: Started) => void;
  readonly reject: (error: unknown) => void;
}

export class Starter {
  private readonly store: ExecutionStore;
  private readonly timers: Timers;
  private readonly adopt: Adopt;
  private readonly accepted: (lanes: readonly HintedLane[]) => void;
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private scheduled = false;

  constructor(
    store: ExecutionStore,
    timers: Timers,
    accepted: (lanes: readonly HintedLane[]) => void,
    adopt: Adopt = () => null,
  ) {
    this.store = store;
    this.timers = timers;
    this.accepted = accepted;
    this.adopt = adopt;
  }

  start(item: NewExecution): Promise<Started> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.scheduled || this.inFlight === MAX_IN_FLIGHT || this.waiting.length === 0) return;
    this.scheduled = true;
    this.timers.soon(() => {
      this.scheduled = false;
      void this.flush();
    });
  }

  private async flush(): Promise<void> {
    const batch = this.waiting.splice(0, MAX_BATCH);
    this.inFlight++;
    this.schedule();
    await this.insert(batch);
    this.inFlight--;
    this.schedule();
  }

  private async insert(batch: readonly Waiting[]): Promise<void> {
    try {
      const items = batch.map(({ item }) => item);
      const adopted = this.adopt(items);
      const outcomes = await (adopted ?? this.store.executionStart({ items }));
      for (const [index, outcome] of outcomes.entries()) answer(batch[index]!, outcome);
      if (adopted === null) this.accepted(lanesOf(batch));
    } catch (error) {
      const isTheirs = error instanceof StoreError && error.failure === 'data';
      if (!isTheirs || batch.length === 1) return refuse(batch, error, isTheirs);
      // Somebody's data is at fault: the others must not pay for it (I17).
      const middle = batch.length >> 1;
      await this.insert(batch.slice(0, middle));
      await this.insert(batch.slice(middle));
    }
  }
}

function lanesOf(batch: readonly Waiting[]): HintedLane[] {
  const lanes = new Map<string, HintedLane>();
  for (const { item } of batch) {
    const { tenantId, priority } = item;
    lanes.set(`${priority}:${tenantId}`, { tenantId, priority });
  }
  return [...lanes.values()];
}

function refuse(batch: readonly Waiting[], error: unknown, isTheirs: boolean): void {
  const reason = isTheirs ? new PawlError('REQUEST_INVALID', 'the request holds a value that cannot be stored') : error;
  for (const { reject } of batch) reject(reason);
}

function answer({ item, resolve, reject }: Waiting, outcome: StartOutcome): void {
  try {
    resolve(startedOf(item, outcome));
  } catch (error) {
    reject(error);
  }
}

/** The version that was to be started is not the current one any more. */
export class StaleVersionError extends Error {
  override readonly name = 'StaleVersionError';
}

/** Throws when the requestId is another request's, or the version is stale. */
export function startedOf(item: NewExecution, { existing, stale }: StartOutcome): Started {
  if (stale === true) throw new StaleVersionError();
  if (existing === null) return { executionId: item.executionId, isNew: true, createdAt: item.createdAt };
  if (existing.workflowId === item.workflowId) return { executionId: existing.executionId, isNew: false };
  throw requestIdTaken(item.requestId!, existing.workflowId);
}

export function requestIdTaken(requestId: string | null, workflowId: string): PawlError {
  return new PawlError('WFENG001', `requestId "${requestId}" belongs to an execution of workflow "${workflowId}"`);
}
