// The one intermediate form of all three definition formats. Immutable and JSON-serialisable: it survives
// JSON.parse(JSON.stringify(plan)) unchanged, so it can be cached, sent to a worker or stored. Nodes and edges are referred to by
// index. Nothing here decides anything: see core/decider.

import type { Expr } from '../expression/ast.ts';
import type { JsonObject } from '../json/json.ts';
import type { Template } from '../template/template.ts';

export type Format = 'graph' | 'pipeline' | 'plan';

/** Default time limit for compensations and `finally`. */
export const DEFAULT_COMPENSATION_MS = 3_600_000;

/** Nodes and the edges between them, by index. */
export interface Graph {
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly PlanEdge[];
  /** Nodes without incoming edges, in definition order. */
  readonly start: readonly number[];
}

/** The body that a loop runs for each item or round, as virtual nodes of the same execution (virtual-node.ts). */
export interface Body extends Graph {
  /** The body is the loop's own step alone, so the item's data is the step's data. */
  readonly isSingle: boolean;
  /** The outputs of an item; null: those of its succeeded nodes without a successor. */
  readonly outputs: Template | null;
  /** The number of the first virtual node. */
  readonly base: number;
  /** How many items or rounds there may be. */
  readonly limit: number;
}

export interface Plan extends Graph {
  readonly planVersion: 1;
  readonly format: Format;
  /** The workflow's id (graph), name (pipeline) or planId (plan). */
  readonly id: string;
  /** Nodes that run at the end in this order, whatever the outcome. */
  readonly finally?: readonly number[];
  /** How long compensations and `finally` may take; absent: an hour. */
  readonly compensationTimeoutMs?: number;
  /** Waits whose keys are known at the start of the execution. Events count for them from the start. */
  readonly earlyWaits?: readonly number[];
  /** Some template reads `attempt`. */
  readonly readsAttempt?: true;
  /** The indexes of loop nodes; absent: there are none. */
  readonly loops?: readonly number[];
  /**
   * failFast: abort what is in flight and fail (graph). continue: go on, the execution still succeeds (pipeline).
   * drain: nothing new starts, what is in flight finishes, then the execution fails (execution plan).
   */
  readonly onUnhandledFailure: 'failFast' | 'continue' | 'drain';
  /** From the start of the execution; null = none. */
  readonly timeoutMs: number | null;
  /** Rendered at the end; null = the outputs of the succeeded nodes that led nowhere, merged in definition order. */
  readonly outputs: Template | null;
  readonly vars: JsonObject;
  /** The `scope` of expressions in an execution plan; `{}` for the other formats. */
  readonly scope: JsonObject;
  readonly snapshot: SnapshotPolicy;
  /** Execution plans only: the contract for the outputs of steps; absent: `typed`. */
  readonly contract?: StepContract;
  /** sha256 (hex) of the canonical JSON of everything above, with expressions as they were written: see checksum.ts. */
  readonly checksum: string;
  /** The planner's own name for this version (`planVersion`); null for the other formats, which only have our number. */
  readonly namedVersion: string | null;
}

export interface PlanNode {
  readonly id: string;
  readonly step: Step;
  /** Compiled parameters; for a subworkflow the child's trigger payload. Sleep and webhook nodes have none. */
  readonly parameters: Template | null;
  readonly policy: NodePolicy;
  readonly join: Join;
  /** Judged after the join passed; false = skipped (pipeline `if`, execution plan `when`). */
  readonly condition: Condition | null;
  readonly routePolicy: 'parallel' | 'firstMatch';
  /** Edge indexes. Outgoing ones in definition order, the implicit `onFailure` edge last. */
  readonly incoming: readonly number[];
  readonly outgoing: readonly number[];
  /** Whether the node's data must stay in memory because an expression, the outputs or the snapshot may read it later. */
  readonly retain: boolean;
  readonly dispatch: Dispatch | null;
  /** The node that undoes this one. It runs when this node succeeded and the execution then fails, is cancelled or times out. */
  readonly compensate?: number;
  /** The node runs only at the end, to undo another node or as part of `finally`. It has no edges. */
  readonly aside?: true;
}

/**
 * When every incoming edge is resolved: `any` runs if at least one is satisfied (graph), `all` if all are (pipeline
 * without `if`, execution plan), `resolved` whatever they are (pipeline with `if`). `first` does not wait for the others.
 * Start nodes always pass.
 */
export type Join = 'any' | 'all' | 'resolved' | FirstJoin;

export interface FirstJoin {
  /** The node starts as soon as this many edges are satisfied. */
  readonly first: number;
  /** Nodes whose every path leads here: cancelled or skipped when this node starts. Empty: they go on. */
  readonly rest: readonly number[];
}

export type Step =
  | {
      readonly kind: 'action';
      readonly actionType: string;
      /** Execution plans only: secrets that the attempt resolves, and the plugin that runs it. */
      readonly secretRefs?: readonly SecretRef[];
      /** The connection whose credential the attempt gets; absent: the connector's default. */
      readonly connection?: string;
      readonly plugin?: PluginRef;
      /** Actions that run before and after every attempt. */
      readonly hooks?: StepHooks;
    }
  | {
      readonly kind: 'subworkflow';
      readonly workflowId: string;
      readonly version: number | null;
      readonly waitForCompletion: boolean;
    }
  /** A durable timer: milliseconds, or a template that yields them. */
  | { readonly kind: 'sleep'; readonly durationMs: number | Template }
  | { readonly kind: 'webhook'; readonly timeoutMs: number | null }
  /** Waits for its callback, an event or the end of its time, whichever comes first. */
  | {
      readonly kind: 'wait';
      readonly callback: boolean;
      readonly events: readonly EventSource[];
      readonly timeoutMs: number | null;
      readonly onTimeout: 'fail' | 'continue';
      /** The number of arrivals that end the wait, and a condition that must hold as well. */
      readonly count: number;
      readonly until: Condition | null;
    }
  /** Runs its body for each item of a list, `parallel` of them at a time. */
  | {
      readonly kind: 'forEach';
      readonly items: Template;
      readonly parallel: number;
      /** How many items may fail: a number, or a share of all of them. */
      readonly tolerate: { readonly count: number } | { readonly percent: number };
      readonly body: Body;
    }
  /** Runs its body repeatedly until its condition holds. */
  | {
      readonly kind: 'repeat';
      readonly until: Condition;
      readonly delayMs: number;
      readonly backoffFactor: number;
      readonly maxDelayMs: number | null;
      /** Gives a list after each round; the lists are joined. */
      readonly collect: Template | null;
      readonly body: Body;
    }
  /** Ends the execution at once. `parameters` hold its outputs or its error; null: the usual outputs. */
  | { readonly kind: 'end'; readonly status: 'Succeeded' | 'Failed' };

/** Events of one type whose data has this value at this path; without a path, all events of the type. */
export interface EventSource {
  readonly type: string;
  readonly at: string | null;
  readonly key: Template | null;
}

export interface StepHook {
  readonly actionType: string;
  /** Rendered in the attempt, over HOOK_ROOTS. */
  readonly inputs: JsonObject;
}

export interface StepHooks {
  readonly preStep?: StepHook;
  readonly postStep?: StepHook;
}

/** The names that the inputs of a hook can read. */
export const HOOK_ROOTS = ['step', 'run', 'outcome'] as const;

/** `typed`: outputs that look like a StepOutput must be a valid one. `wrapped`: all outputs must be a StepOutput. */
export type StepContract = 'typed' | 'wrapped';

/** A reference to a secret. The value never enters a plan. */
export interface SecretRef {
  readonly provider: string;
  readonly key: string;
  readonly version?: string;
  /** Where the value appears in the attempt's parameters, such as `env.DBT_PASSWORD`; absent: at `key`. */
  readonly as?: string;
}

export interface PluginRef {
  readonly pluginId: string;
  readonly pluginVersion?: string;
  readonly pluginDigest?: string;
  readonly inputSchemaRef?: string;
  readonly outputSchemaRef?: string;
}

export interface NodePolicy {
  /**
   * Per attempt; null = none. Subworkflow, sleep and webhook nodes have clocks of their own, so they have none unless the
   * definition sets one.
   */
  readonly timeoutMs: number | null;
  readonly rerenderOnRetry: boolean;
  readonly retry: RetryPolicy;
  /** Retries by error code. The first matching rule counts; an error without a rule is final. */
  readonly rules?: readonly RetryRule[];
}

export interface RetryRule extends RetryPolicy {
  /** Codes, names of groups of codes, or `*`: see core/retry/error-match.ts. */
  readonly on: readonly string[];
}

export interface RetryPolicy {
  /** Tries in all: 0 and 1 both mean no retry. */
  readonly maxAttempts: number;
  readonly baseDelayMs: number;
  readonly backoffFactor: number;
  readonly maxDelayMs: number | null;
  readonly jitter: boolean;
}

export interface PlanEdge {
  readonly from: number;
  readonly to: number;
  readonly when: 'success' | 'failure' | 'always';
  readonly condition: Condition | null;
  /** From `onFailure`: satisfied when the node failed and no explicit failure edge was. */
  readonly implicit: boolean;
  /** Failure edges only: the error codes that take this edge; absent: all. */
  readonly codes?: readonly string[];
}

export interface Condition {
  readonly source: string;
  readonly expr: Expr;
}

/** Where an attempt should run, and labels for observability. */
export interface Dispatch {
  readonly taskQueue?: string;
  readonly workerPool?: string;
  readonly runtime?: string;
  readonly resourceClass?: string;
  readonly tags?: JsonObject;
}

export interface SnapshotPolicy {
  readonly mode: 'Full' | 'SummaryOnly' | 'KeysOnly';
  readonly keysToInclude: readonly string[];
  readonly maxContextSizeBytes: number;
  readonly overflowBehavior: 'Fail' | 'AutoPruneOldest' | 'DropOversize';
}
