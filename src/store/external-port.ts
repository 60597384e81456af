// Executions on another engine (queue state external). The same rows under another fence: the queue row itself at the handed-over
// epoch instead of a runner's slot (I4, I5). A late call of an earlier epoch changes nothing.

import type {
  CommitBatch,
  InboxMessage,
  JournalRow,
  JsonText,
  LoadedExecution,
  OutcomeRow,
  Timestamp,
} from './port.ts';

export const OUTSIDE_DRIVERS = ['temporal', 'conductor'] as const;
export type OutsideDriver = (typeof OUTSIDE_DRIVERS)[number];

export interface ExternalStore {
  /** The changes since journal row `afterSeq` (-1: since the start). null: not, or no longer, run outside at this epoch. */
  externalLook(params: { executionId: string; epoch: number; afterSeq: number }): Promise<ExternalLook | null>;
  /**
   * One turn of one execution. `applied: false`: nothing was written, the epoch is over. An existing journal row means
   * `alreadyApplied`: another turn came first.
   */
  externalCommit(params: ExternalTurn): Promise<{ applied: boolean; at: Timestamp }>;
  /** Claims runs to hand over or to check; no other process gets them for `holdMs`. */
  externalDue(params: { driver: OutsideDriver; limit: number; holdMs: number }): Promise<ExternalRun[]>;
  /** Handed over, or still there: look again after `lookAfterMs`. */
  externalNote(params: {
    executionId: string;
    epoch: number;
    /** Absent: it could not be handed over, for this reason. */
    ref?: JsonText;
    error?: string;
    lookAfterMs: number;
  }): Promise<{ noted: boolean }>;
  /** Look at these as soon as possible, e.g. because they were accepted just now. */
  externalGet(params: { executionId: string }): Promise<ExternalRun | null>;
  /** Executions of this driver with mail older than this: their engine has not heard of it. */
  externalMail(params: { driver: OutsideDriver; olderThanMs: number; limit: number }): Promise<ExternalRun[]>;
  /** Places of live executions of this driver, which need workers. */
  externalPlaces(params: {
    driver: OutsideDriver;
  }): Promise<{ tenantId: string; projectId: string; environmentId: string }[]>;
  /** Gives up the execution at this epoch: it ends as Failed, with a dead letter for its cause (I20). */
  externalGiveUp(params: {
    epoch: number;
    outcome: OutcomeRow;
    reason: string;
    payload: JsonText;
    lastError: string;
    event?: CommitBatch['events'][number];
    sent: CommitBatch['sent'];
    keepLetter: boolean;
  }): Promise<{ applied: boolean }>;
  /** A dead letter for an execution that goes on: a compensation has failed. Idempotent. */
  externalLetter(params: {
    executionId: string;
    epoch: number;
    tenantId: string;
    reason: string;
    payload: JsonText;
    attempts: number;
    lastError: string;
  }): Promise<{ applied: boolean }>;
  /** Continues in a new run after the old one was lost: the execution gets a new epoch, unless it already has one. */
  externalAgain(params: { executionId: string; epoch: number }): Promise<{ again: boolean }>;
}

export interface ExternalLook {
  readonly driver: OutsideDriver;
  readonly at: Timestamp;
  readonly journal: JournalRow[];
  readonly attempts: LoadedExecution['attempts'];
  readonly inbox: InboxMessage[];
}

export interface ExternalTurn extends Omit<CommitBatch, 'slotId' | 'crashResets' | 'paused' | 'resumed'> {
  readonly executionId: string;
  readonly epoch: number;
  /** How it waits after this turn; meaningless after the end. */
  readonly dueAt: Timestamp | null;
  readonly waits: number;
  readonly isPaused: boolean;
  /** How long the parent's run may take to start a child itself before the child is handed over. */
  readonly childHandOverMs: number;
}

export interface ExternalRun {
  readonly executionId: string;
  readonly driver: OutsideDriver;
  readonly epoch: number;
  readonly tenantId: string;
  readonly projectId: string;
  readonly environmentId: string;
  readonly workflowId: string;
  readonly version: number;
  readonly requestId: string | null;
  /** Of this epoch; null: not handed over yet. */
  readonly ref: JsonText | null;
  readonly failures: number;
  readonly lastError: string | null;
  /** Some attempt runs, or has been due for a while: it does not only sleep or wait. */
  readonly isBusy: boolean;
}
