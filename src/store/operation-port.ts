// Storage for operators and housekeeping: dead letters, retention, the database's clock, shared secrets. Part of the storage port
// (port.ts).

import type { CommitBatch, JsonText, NewMessage, OutcomeRow, Timestamp } from './port.ts';

export interface OperationStore {
  /** Poison: the row leaves the queue, its cause is kept, and the execution ends as Failed (I20). One statement. */
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
    /** false: the execution ends without a letter. */
    keepLetter?: boolean;
  }): Promise<{ applied: boolean }>;
  /** A letter for an execution that goes on: a compensation has failed. Once per execution, and only by its owner (I4). */
  deadLetterNote(params: {
    slotId: string;
    tenantId: string;
    executionId: string;
    reason: string;
    payload: JsonText;
    attempts: number;
    lastError: string;
  }): Promise<{ applied: boolean }>;
  /** The execution is running compensations: lists show it until the end. Only by its owner (I4). */
  executionUndoing(params: { slotId: string; executionId: string }): Promise<{ applied: boolean }>;
  /**
   * Oldest first, after the given id (`'0'` at first). `executionReopen` requeues an execution; a firing is fired again.
   * null: of all tenants, which each letter then names.
   */
  deadLetterList(params: { tenantId: string | null; afterId: string; limit: number }): Promise<DeadLetter[]>;
  /** Those of these ids, or all of the tenant's (null). */
  deadLetterPurge(params: { tenantId: string; ids: string[] | null }): Promise<number>;
  /**
   * Deletes ended executions older than the limit with all their rows, in id order; live and referenced rows stay (I24). A
   * version of an execution plan that is not current and no longer referenced goes with its last execution. Runners are
   * removed a day after their lease ended, whatever the limit.
   */
  retentionPurge(params: { endedBefore: Timestamp; limit: number }): Promise<number>;
  now(): Promise<Timestamp>;
  /** A random key that all processes of this installation share, created on first use. */
  secretGet(params: { name: string }): Promise<Uint8Array>;
}

export interface DeadLetter {
  id: string;
  tenantId?: string;
  /** null: it never began, because a trigger's payload could not be used. */
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
