// What happened, in the past tense: the only things that are ever recorded of an execution. A transition is the list of
// facts that one decision produced; its `seq` is the number of its first fact, so (execution, seq) orders the journal.
// Times in facts are data (milliseconds since the epoch): folding a journal never asks a clock (I15, I16).

import type { Json, JsonObject } from '../json/json.ts';
import type { SignalType } from './signal-type.ts';

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
  /** Of a subworkflow that failed: its own error. */
  readonly cause?: ExecutionError;
}

export type EndStatus = 'Succeeded' | 'Failed' | 'Cancelled' | 'TimedOut';

export interface ExecutionError {
  readonly code: string;
  readonly message: string;
  readonly nodeId?: string;
  readonly cause?: ExecutionError;
}

/** `key` is `path=value`; empty: every event of the type. */
export interface Subscription {
  readonly type: string;
  readonly key: string;
}

/** How the undoing went. `Terminated`: somebody had it skipped. */
export interface Compensation {
  readonly status: 'Succeeded' | 'Failed' | 'TimedOut' | 'Terminated';
  readonly nodes: readonly { readonly nodeId: string; readonly status: string }[];
}

export type Fact =
  | { readonly type: 'ExecutionStarted'; readonly deadline: number | null }
  | {
      readonly type: 'NodeStarted';
      readonly node: number;
      readonly attempt: number;
      /** The parameters were rendered now (and are in the transition's `inputs`), not taken over from an earlier attempt. */
      readonly rendered?: true;
      /** About how long the rendered parameters are, where that matters for the budget of the execution. */
      readonly bytes?: number;
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
      readonly kind: 'webhook' | 'child' | 'items' | 'rounds' | 'wait';
      readonly until: number | null;
      /** Of a forEach: how many items there are. */
      readonly count?: number;
    }
  /** Events of these types and keys are for this node from now on. */
  | { readonly type: 'EventsAwaited'; readonly node: number; readonly subscriptions: readonly Subscription[] }
  /** Something came that the node waits for, or will. */
  | {
      readonly type: 'EventReceived';
      readonly node: number;
      readonly by: string;
      readonly data: Json;
      readonly eventId?: string;
    }
  /** These items, or this round, of a loop begin: their virtual nodes are there. */
  | { readonly type: 'NodesExpanded'; readonly node: number; readonly items: readonly number[] }
  /** An item or a round is over, and its virtual nodes are gone. */
  | {
      readonly type: 'ItemFinished';
      readonly node: number;
      readonly item: number;
      readonly bytes: number;
      /** Why it failed; absent: it did not. */
      readonly error?: NodeError;
      /** The outputs of the item. Absent: those of its only node. */
      readonly result?: Json;
      /** What `collect` of a repeat gave after this round. */
      readonly collected?: readonly Json[];
    }
  | {
      readonly type: 'NodeSucceeded';
      readonly node: number;
      readonly attempt: number;
      readonly outputs: Json;
      readonly bytes: number;
      /** Left out of the context because it would not fit (`DropOversize`). */
      readonly dropped?: true;
      /** Of a callback: only the beginning of its payload was kept. */
      readonly truncated?: true;
      /** Nodes whose data made room for this one (`AutoPruneOldest`). */
      readonly pruned?: readonly number[];
    }
  | {
      readonly type: 'NodeFailed' | 'NodeTimedOut';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      /** The outputs of a failed attempt, e.g. the response of an HTTP step. */
      readonly outputs?: Json;
    }
  | {
      readonly type: 'NodeCancelled';
      readonly node: number;
      readonly attempt: number;
      readonly error: NodeError;
      /** It waited for its next try: its last attempt had ended, and is on record, before. */
      readonly betweenAttempts?: true;
      /** Skipped by routing because no path needs the node, not because the execution ends. */
      readonly lost?: true;
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
      /** The number of the first node of the item that these edges belong to; absent: they are the execution's own. */
      readonly frame?: number;
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
      readonly outcome: EndStatus;
      readonly error: ExecutionError;
      readonly graceUntil: number;
      /** Nothing is undone. */
      readonly terminate?: true;
    }
  /** The end is known, and these nodes run before it, one after the other: compensations, then `finally`. */
  | {
      readonly type: 'ExecutionCompensating';
      readonly outcome: EndStatus;
      readonly error?: ExecutionError;
      /** The outputs of a succeeded execution. */
      readonly result?: Json;
      readonly nodes: readonly number[];
      readonly until: number;
    }
  | { readonly type: 'ExecutionSucceeded'; readonly outputs: Json; readonly compensation?: Compensation }
  | {
      readonly type: 'ExecutionFailed' | 'ExecutionCancelled' | 'ExecutionTimedOut';
      readonly error: ExecutionError;
      readonly compensation?: Compensation;
    }
  | { readonly type: 'ExecutionReopened'; readonly generation: number; readonly deadline: number | null }
  /** These nodes are to run again: they and their outgoing edges are pending as if they had never run. */
  | { readonly type: 'NodesReset'; readonly nodes: readonly number[]; readonly keepAttempts?: true }
  | { readonly type: 'Warning'; readonly code: string; readonly message: string; readonly node?: number };

export type FactType = Fact['type'];

export type FactOf<T extends FactType> = Extract<Fact, { type: T }> | (Fact & { readonly type: T });
