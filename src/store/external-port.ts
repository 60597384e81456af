// Executions that another engine runs (queue state external). The same rows as everywhere, under another fence: not a runner's slot,
// but the queue row itself, at the epoch that was handed over (I4, I5). A late call of an earlier epoch changes nothing.

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
  /**
   * What has become of an execution since its journal row `afterSeq` (-1: since its start). Null: at this epoch it is not, or no
   * longer, run outside.
   */
  externalLook(params: { executionId: string; epoch: number; afterSeq: number }): Promise<ExternalLook | null>;
  /**
   * One turn of one execution. `applied: false`: nothing was written, the epoch is over. A journal row that is there already is
   * `alreadyApplied`: somebody else's turn came first.
   */
  externalCommit(params: ExternalTurn): Promise<{ applied: boolean; at: Timestamp }>;
  /** Claims runs to hand over or to check; no other process gets them for `holdMs`. */
  externalDue(params: { driver: OutsideDriver; limit: number; holdMs: number }): Promise<ExternalRun[]>;
  /** Handed over, or still there: looked at again after `lookAfterMs`. */
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
  /** Executions of this driver with mail that is older than this: whoever runs them has not heard of it. */
  externalMail(params: { driver: OutsideDriver; olderThanMs: number; limit: number }): Promise<ExternalRun[]>;
  /** Where executions of this driver live that have not ended: workers are needed there. */
  externalPlaces(params: {
    driver: OutsideDriver;
  }): Promise<{ tenantId: string; projectId: string; environmentId: string }[]>;
  /** The whole execution is given up at this epoch: it ends as Failed, with a dead letter for its cause (I20). */
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
  /** A dead letter about an execution that goes on: something that should undo a node has failed. Twice is once. */
  externalLetter(params: {
    executionId: string;
    epoch: number;
    tenantId: string;
    reason: string;
    payload: JsonText;
    attempts: number;
    lastError: string;
  }): Promise<{ applied: boolean }>;
  /** A run that is gone over there goes on in a new one: the execution gets a new epoch, unless it has one by now. */
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
  /** How it waits after this turn; of what has ended this means nothing. */
  readonly dueAt: Timestamp | null;
  readonly waits: number;
  readonly isPaused: boolean;
  /** How long the run that starts a child itself has for it, before the child is handed over like any other. */
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
  /** Something of it runs, or has been due for a while: it does not only sleep or wait. */
  readonly isBusy: boolean;
}
