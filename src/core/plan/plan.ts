// The one intermediate form that all three definition formats compile to. Immutable and JSON-serialisable: it survives
// JSON.parse(JSON.stringify(plan)) unchanged, so it can be cached, sent to a worker or stored. Nodes and edges are
// referred to by their index. Nothing here decides anything: see core/decider.

import type { Expr } from '../expression/ast.ts';
import type { JsonObject } from '../json/json.ts';
import type { Template } from '../template/template.ts';

export type Format = 'graph' | 'pipeline' | 'plan';

/** How long undoing may take. */
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
  /** The loop's own step and nothing else: the item's data is the step's. */
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
  /** Nodes that run at the end, in this order, whatever the outcome. */
  readonly finally?: readonly number[];
  /** How long compensations and `finally` may take; absent: an hour. */
  readonly compensationTimeoutMs?: number;
  /** Waits whose keys are known when the execution starts: events count for them from then on. */
  readonly earlyWaits?: readonly number[];
  /** Some template reads `attempt`; absent: none does. */
  readonly readsAttempt?: true;
  /** Nodes that are loops; absent: none is. */
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
  /** What expressions of an execution plan see as `scope`; `{}` for the other formats. */
  readonly scope: JsonObject;
  readonly snapshot: SnapshotPolicy;
  /** Of an execution plan: what the outputs of its steps are held to; absent: `typed`. */
  readonly contract?: StepContract;
  /** sha256 (hex) of the canonical JSON of everything above, with expressions as they were written: see checksum.ts. */
  readonly checksum: string;
  /** How its planner named this version (004 `planVersion`); null for the other formats, which have our number and no more. */
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
  /** Whether the node's data must stay in memory: something may read it later (an expression, the outputs, the snapshot). */
  readonly retain: boolean;
  readonly dispatch: Dispatch | null;
  /** The node that undoes this one: it runs when the execution ends otherwise than well after this one succeeded. */
  readonly compensate?: number;
  /** It runs at the end only, to undo another or because it is in `finally`: no edge leads to it or from it. */
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
  /** Nodes whose every path leads here, and nowhere else: given up when the node starts. Empty: they go on. */
  readonly rest: readonly number[];
}

export type Step =
  | {
      readonly kind: 'action';
      readonly actionType: string;
      /** Execution plans only: what the attempt resolves, and the plugin that runs it. */
      readonly secretRefs?: readonly SecretRef[];
      /** Whose credential the attempt gets; absent: the default of its connector. */
      readonly connection?: string;
      readonly plugin?: PluginRef;
      /** Actions that every attempt calls before and after. */
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
      /** How many arrivals it takes, and what must hold of them besides. */
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
  /** Runs its body again and again, until its condition holds. */
  | {
      readonly kind: 'repeat';
      readonly until: Condition;
      readonly delayMs: number;
      readonly backoffFactor: number;
      readonly maxDelayMs: number | null;
      /** Gives a list after each round; all of them are joined. */
      readonly collect: Template | null;
      readonly body: Body;
    }
  /** Ends the execution at once. `parameters` are its outputs, or its error; null: the usual ones. */
  | { readonly kind: 'end'; readonly status: 'Succeeded' | 'Failed' };

/** Events of a type whose data has this value at this path; without a path every one of the type. */
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

/** `typed`: outputs that look like a StepOutput are held to it. `wrapped`: every output is one. */
export type StepContract = 'typed' | 'wrapped';

/** A secret by reference: its value never enters a plan. */
export interface SecretRef {
  readonly provider: string;
  readonly key: string;
  readonly version?: string;
  /** Where its value stands in what the attempt is given, such as `env.DBT_PASSWORD`; absent: at `key`. */
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
  /** Per attempt; null = none (subworkflow, sleep and webhook nodes have their own clocks, unless one is written). */
  readonly timeoutMs: number | null;
  readonly rerenderOnRetry: boolean;
  readonly retry: RetryPolicy;
  /** Retries by the code of the error: the first rule that matches counts, and an error that none matches is final. */
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
  /** Of a failure edge: the errors that it is for; absent: every one. */
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
