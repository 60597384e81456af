// What happened, in the past tense: the only things that are ever recorded of an execution. A transition is the list of
// facts that one decision produced; its `seq` is the number of its first fact, so (execution, seq) orders the journal.
// Times in facts are data (milliseconds since the epoch): folding a journal never asks a clock (I15, I16).

import type { Json, JsonObject } from '../json/json.ts';

export interface Transition {
  readonly seq: number;
  readonly at: number;
  readonly facts: readonly Fact[];
  /** Parameters rendered in this transition, by node id: what each started attempt was given. */
  readonly inputs?: JsonObject;
}

export interface NodeError {
  readonly code: string;
  readonly message: string;
}

export type EndStatus = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface ExecutionError {
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
}

export type SignalType = 'PAUSE' | 'RESUME' | 'RETRY_STEP' | 'UPDATE_PARAMS' | 'INJECT_OVERRIDE' | 'ESCALATE_ALERT';

export type Fact =
  | { readonly type: 'ExecutionStarted'; readonly deadline: number | null }
  | {
      readonly type: 'NodeStarted';
      readonly node: number;
      readonly attempt: number;
      /** The parameters were rendered now (and are in the transition's `inputs`), not taken over from an earlier attempt. */
      readonly rendered?: true;
      /** Of a subworkflow node: the execution that this transition creates. */
      readonly childId?: string;
    }
  | {
      readonly type: 'NodeSleeping';
      readonly node: number;
      readonly attempt: number;
      readonly until: number;
      /** It would sleep longer than its attempt may: `until` is when the attempt times out. */
      readonly cut?: true;
    }
  | {
      readonly type: 'NodeWaiting';
      readonly node: number;
      readonly attempt: number;
      readonly kind: 'webhook' | 'child';
      readonly until: number | null;
    }
  | {
      readonly type: 'NodeSucceeded';
      readonly node: number;
      readonly attempt: number;
      readonly outputs: Json;
      readonly bytes: number;
      /** Left out of the context because it would not fit (`DropOversize`). */
      readonly dropped?: true;
      /** Of a callback: only the beginning of its payload was kept (002 "Response Payload Limits"). */
      readonly truncated?: true;
      /** Nodes whose data made room for this one (`AutoPruneOldest`). */
      readonly pruned?: readonly number[];
    }
  | {
      readonly type: 'NodeFailed' | 'NodeTimedOut';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      /** What a failed attempt still had to say, e.g. the response of an HTTP step. */
      readonly outputs?: Json;
    }
  | {
      readonly type: 'NodeCancelled';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      /** It waited for its next try: its last attempt had ended, and is on record, before. */
      readonly betweenAttempts?: true;
    }
  | {
      readonly type: 'RetryScheduled';
      readonly node: number;
      /** The attempt that failed. */
      readonly attempt: number;
      readonly error: NodeError;
      readonly until: number;
      readonly timedOut?: true;
    }
  /** A skipped node leaves its outgoing edges unsatisfied. `stopped`: not by routing, but because the execution ended. */
  | { readonly type: 'NodeSkipped'; readonly node: number; readonly reason: string; readonly stopped?: true }
  | {
      readonly type: 'EdgesResolved';
      readonly satisfied: readonly number[];
      readonly unsatisfied: readonly number[];
      /** The node whose failure none of these edges handles. */
      readonly unhandled?: number;
    }
  /** A callback came before its node waited for it: kept until it does (I10). */
  | { readonly type: 'WebhookBuffered'; readonly node: number; readonly payload: Json; readonly truncated?: true }
  | {
      readonly type: 'SignalApplied';
      readonly signalId: string;
      readonly signal: SignalType;
      readonly payload: JsonObject;
      /** Present when the signal changed nothing, with the reason. */
      readonly refused?: string;
    }
  | { readonly type: 'ExecutionPaused' }
  | { readonly type: 'ExecutionResumed' }
  /** In-flight attempts were told to stop; the end comes when they have, or at `graceUntil`. */
  | {
      readonly type: 'ExecutionStopping';
      readonly outcome: 'Failed' | 'Cancelled' | 'TimedOut';
      readonly error: ExecutionError;
      readonly graceUntil: number;
    }
  | { readonly type: 'ExecutionSucceeded'; readonly outputs: Json }
  | { readonly type: 'ExecutionFailed'; readonly error: ExecutionError }
  | { readonly type: 'ExecutionCancelled'; readonly error: ExecutionError }
  | { readonly type: 'ExecutionTimedOut'; readonly error: ExecutionError }
  | { readonly type: 'ExecutionReopened'; readonly generation: number; readonly deadline: number | null }
  /** These nodes are to run again: they and their outgoing edges are pending as if they had never run. */
  | { readonly type: 'NodesReset'; readonly nodes: readonly number[]; readonly keepAttempts?: true }
  | { readonly type: 'Warning'; readonly code: string; readonly message: string; readonly node?: number };

export type FactType = Fact['type'];
