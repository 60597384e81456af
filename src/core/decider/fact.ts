// Facts, in the past tense: everything that is recorded of an execution. A transition is the list of facts of one decision; its
// `seq` is the number of its first fact, so (execution, seq) orders the journal. Times in facts are data (milliseconds since the
// epoch): folding a journal never asks a clock (I15, I16).

import type { Json, JsonObject } from '../json/json.ts';
import type { SignalType } from './signal-type.ts';

export interface Transition {
  readonly seq: number;
  readonly at: number;
  readonly facts: readonly Fact[];
  /** Parameters rendered in this transition, by node id. */
  readonly inputs?: JsonObject;
}

export interface NodeError {
  readonly code: string;
  readonly message: string;
  /** For a failed subworkflow: its own error. */
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

/** The outcome of undoing. `Terminated`: somebody skipped it. */
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
      /** The parameters were rendered now (and are in the transition's `inputs`), not reused from an earlier attempt. */
      readonly rendered?: true;
      /** The approximate length of the rendered parameters, where it matters for the execution's budget. */
      readonly bytes?: number;
      /** For a subworkflow node: the execution that this transition creates. */
      readonly childId?: string;
    }
  | {
      readonly type: 'NodeSleeping';
      readonly node: number;
      readonly attempt: number;
      readonly until: number;
      /** The sleep is longer than its attempt may take; `until` is when the attempt times out. */
      readonly cut?: true;
    }
  | {
      readonly type: 'NodeWaiting';
      readonly node: number;
      readonly attempt: number;
      readonly kind: 'webhook' | 'child' | 'items' | 'rounds' | 'wait';
      readonly until: number | null;
      /** For a forEach: the number of items. */
      readonly count?: number;
    }
  /** From now on events of these types and keys go to this node. */
  | { readonly type: 'EventsAwaited'; readonly node: number; readonly subscriptions: readonly Subscription[] }
  /** A callback or event arrived for a wait, perhaps before it began. */
  | {
      readonly type: 'EventReceived';
      readonly node: number;
      readonly by: string;
      readonly data: Json;
      readonly eventId?: string;
    }
  /** These items, or this round, of a loop begin: their virtual nodes exist. */
  | { readonly type: 'NodesExpanded'; readonly node: number; readonly items: readonly number[] }
  /** An item or a round is over, and its virtual nodes are gone. */
  | {
      readonly type: 'ItemFinished';
      readonly node: number;
      readonly item: number;
      readonly bytes: number;
      /** The failure; absent: it succeeded. */
      readonly error?: NodeError;
      /** The outputs of the item. Absent: those of its only node. */
      readonly result?: Json;
      /** The list of `collect` after this round of a repeat. */
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
      /** For a callback: only the beginning of its payload was kept. */
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
      /** It was waiting for its next try: its last attempt had already ended, and is on record. */
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
  /** A skipped node leaves its outgoing edges unsatisfied. `stopped`: because the execution ended, not by routing. */
  | { readonly type: 'NodeSkipped'; readonly node: number; readonly reason: string; readonly stopped?: true }
  | {
      readonly type: 'EdgesResolved';
      /** The number of the first node of the item with these edges; absent: the execution itself. */
      readonly frame?: number;
      readonly satisfied: readonly number[];
      readonly unsatisfied: readonly number[];
      /** The node whose failure none of these edges handles. */
      readonly unhandled?: number;
    }
  /** A callback came before its node waited for it. It is kept until then (I10). */
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
  /** Running attempts were told to stop. The end comes when they have, or at `graceUntil`. */
  | {
      readonly type: 'ExecutionStopping';
      readonly outcome: EndStatus;
      readonly error: ExecutionError;
      readonly graceUntil: number;
      /** Nothing is undone. */
      readonly terminate?: true;
    }
  /** The end is decided. These nodes run before it, one after the other: compensations, then `finally`. */
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
  /** These nodes run again: they and their outgoing edges are pending, as if they had never run. */
  | { readonly type: 'NodesReset'; readonly nodes: readonly number[]; readonly keepAttempts?: true }
  | { readonly type: 'Warning'; readonly code: string; readonly message: string; readonly node?: number };

export type FactType = Fact['type'];

export type FactOf<T extends FactType> = Extract<Fact, { type: T }> | (Fact & { readonly type: T });
