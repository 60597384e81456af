// The one intermediate form that all three definition formats compile to. Immutable and JSON-serialisable: it survives
// JSON.parse(JSON.stringify(plan)) unchanged, so it can be cached, sent to a worker or stored. Nodes and edges are
// referred to by their index. Nothing here decides anything: see core/decider.

import type { Expr } from '../expression/ast.ts';
import type { JsonObject } from '../json/json.ts';
import type { Template } from '../template/template.ts';

export type Format = 'graph' | 'pipeline' | 'plan';

export interface Plan {
  readonly planVersion: 1;
  readonly format: Format;
  /** The workflow's id (graph), name (pipeline) or planId (plan). */
  readonly id: string;
  readonly nodes: readonly PlanNode[];
  readonly edges: readonly PlanEdge[];
  /** Nodes without incoming edges, in definition order. */
  readonly start: readonly number[];
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
  /**
   * When every incoming edge is resolved: `any` runs if at least one is satisfied (graph), `all` if all are (pipeline
   * without `if`, execution plan), `resolved` whatever they are (pipeline with `if`). Start nodes always pass.
   */
  readonly join: 'any' | 'all' | 'resolved';
  /** Judged after the join passed; false = skipped (pipeline `if`, execution plan `when`). */
  readonly condition: Condition | null;
  readonly routePolicy: 'parallel' | 'firstMatch';
  /** Edge indexes. Outgoing ones in definition order, the implicit `onFailure` edge last. */
  readonly incoming: readonly number[];
  readonly outgoing: readonly number[];
  /** Whether the node's data must stay in memory: something may read it later (an expression, the outputs, the snapshot). */
  readonly retain: boolean;
  readonly dispatch: Dispatch | null;
}

export type Step =
  | {
      readonly kind: 'action';
      readonly actionType: string;
      /** Execution plans only (004 §19.1, §19.4): what the attempt resolves, and the plugin that runs it. */
      readonly secretRefs?: readonly SecretRef[];
      readonly plugin?: PluginRef;
    }
  | {
      readonly kind: 'subworkflow';
      readonly workflowId: string;
      readonly version: number | null;
      readonly waitForCompletion: boolean;
    }
  /** A durable timer: milliseconds, or a template that yields them. */
  | { readonly kind: 'sleep'; readonly durationMs: number | Template }
  | { readonly kind: 'webhook'; readonly timeoutMs: number | null };

/** A secret by reference: its value never enters a plan. */
export interface SecretRef {
  readonly provider: string;
  readonly key: string;
  readonly version?: string;
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
}

export interface Condition {
  readonly source: string;
  readonly expr: Expr;
}

/** Where an attempt should run (004 §3.1 `dispatch`), and labels for observability. */
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
