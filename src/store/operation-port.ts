// What operators and housekeeping ask of storage: dead letters, retention, the database's clock, shared secrets. Part of the one
// door to storage (port.ts).

import type { CommitBatch, JsonText, NewMessage, OutcomeRow, Timestamp } from './port.ts';

export interface OperationStore {
  /** Poison: the row leaves the queue, its cause is kept, the execution ends as Failed (I20). One statement. */
  deadLetterAdd(params: {
    slotId: string;
    outcome: OutcomeRow;
    reason: string;
    payload: JsonText;
    attempts: number;
    lastError: string;
    /** The journal's last row, if the journal can still be written. */
    event?: CommitBatch['events'][number];
    /** The parent that waits for this execution. */
    sent?: NewMessage[];
    /** False: the execution ends, and no letter is written. */
    keepLetter?: boolean;
  }): Promise<{ applied: boolean }>;
  /**
   * A letter about an execution that goes on: what should undo one of its steps has failed. Once for an execution, and only by its
   * owner (I4).
   */
  deadLetterNote(params: {
    slotId: string;
    tenantId: string;
    executionId: string;
    reason: string;
    payload: JsonText;
    attempts: number;
    lastError: string;
  }): Promise<{ applied: boolean }>;
  /** The execution undoes what it has done: lists say so until it ends. Only by its owner (I4). */
  executionUndoing(params: { slotId: string; executionId: string }): Promise<{ applied: boolean }>;
  /** Oldest first, after the given id (`'0'` at first). `executionReopen` requeues an execution; a firing is fired again. Null: of every tenant, which each letter then names. */
  deadLetterList(params: { tenantId: string | null; afterId: string; limit: number }): Promise<DeadLetter[]>;
  /** Those of these ids, or all of the tenant's (null). */
  deadLetterPurge(params: { tenantId: string; ids: string[] | null }): Promise<number>;
  /**
   * Deletes ended executions older than the limit with all their rows, in id order; live and referenced rows stay (I24).
   * A version of an execution plan that nothing refers to any more, and that is not current, goes with its last execution.
   * Runners are forgotten a day after their lease ended, whatever the limit says.
   */
  retentionPurge(params: { endedBefore: Timestamp; limit: number }): Promise<number>;
  now(): Promise<Timestamp>;
  /** A random key that all processes of this installation share, made when first asked for. */
  secretGet(params: { name: string }): Promise<Uint8Array>;
}

export interface DeadLetter {
  id: string;
  tenantId?: string;
  /** Null: it never began, because what a trigger brought could not be used. */
  executionId: string | null;
  triggerId: string | null;
  /** Of that firing. */
  requestId: string | null;
  enqueuedAt: Timestamp;
  reason: string;
  payload: JsonText;
  attempts: number;
  lastError: string | null;
}
