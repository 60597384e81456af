// A definition after reading and before checking: the three formats in one shape, with unresolved names and unparsed expressions,
// each with its place for problems. Readers (graph.ts, pipeline.ts, execution-plan.ts) make it; link.ts, expressions.ts and
// compile.ts turn it into a Plan.

import type { Json, JsonObject } from '../json/json.ts';
import type {
  Dispatch,
  FirstJoin,
  Format,
  Join,
  NodePolicy,
  Plan,
  PlanEdge,
  PlanNode,
  RetryPolicy,
  Step,
  StepContract,
} from '../plan/plan.ts';
import type { DefinitionDefaults } from './defaults.ts';

export interface Located<T> {
  readonly value: T;
  /** JSON pointer. */
  readonly at: string;
}

export interface Draft {
  readonly format: Format;
  readonly id: string;
  /** Graphs only. Other formats start at every node without dependencies. */
  readonly startNode: Located<string> | null;
  readonly nodes: readonly DraftNode[];
  readonly edges: readonly DraftEdge[];
  readonly onUnhandledFailure: Plan['onUnhandledFailure'];
  readonly timeoutMs: number | null;
  readonly outputs: Located<Json> | null;
  readonly vars: JsonObject;
  readonly scope: JsonObject;
  readonly snapshot: Plan['snapshot'];
  readonly namedVersion: string | null;
  readonly contract?: StepContract;
  /** Nodes that run at the end, whatever the outcome. */
  readonly finally?: readonly Located<string>[];
  readonly compensationTimeoutMs?: number;
}

export interface DraftNode {
  /** '' when there is no usable id. */
  readonly id: string;
  readonly at: string;
  readonly idAt: string;
  readonly step: DraftStep | null;
  /** The place of the action type, if it must be a known action. */
  readonly actionAt: string | null;
  readonly parameters: Located<Json> | null;
  readonly policy: NodePolicy;
  /** The codes in its retry rules. */
  readonly retryCodes?: readonly Located<string>[];
  readonly join: DraftJoin;
  readonly condition: DraftCondition | null;
  readonly routePolicy: PlanNode['routePolicy'];
  readonly dispatch: Dispatch | null;
  /** The node that undoes this one. */
  readonly compensate?: Located<string>;
  /** The node runs its step or a body more than once. */
  readonly loop?: DraftLoop;
}

export type DraftLoop = DraftForEach | DraftRepeat;

interface DraftForEach {
  readonly kind: 'forEach';
  readonly items: Located<Json>;
  readonly parallel: number;
  readonly limit: number;
  readonly tolerate: { readonly count: number } | { readonly percent: number };
  /** null: the node's own step. */
  readonly body: DraftBody | null;
}

interface DraftRepeat {
  readonly kind: 'repeat';
  readonly until: Located<string>;
  readonly limit: number;
  readonly delayMs: number;
  readonly backoffFactor: number;
  readonly maxDelayMs: number | null;
  readonly collect: Located<Json> | null;
  readonly body: DraftBody | null;
}

/** An inline workflow. */
export interface DraftBody {
  readonly startNode: Located<string> | null;
  readonly nodes: readonly DraftNode[];
  readonly edges: readonly DraftEdge[];
  readonly outputs: Located<Json> | null;
}

/** Includes the nodes of inline bodies. */
export function allDraftNodes({ nodes }: { readonly nodes: readonly DraftNode[] }): DraftNode[] {
  return nodes.flatMap((node) => [node, ...(node.loop?.body?.nodes ?? [])]);
}

export type DraftJoin = Exclude<Join, FirstJoin> | { readonly first: Located<number>; readonly cancelRest: boolean };

export interface DraftWait extends Omit<Extract<Step, { kind: 'wait' }>, 'events' | 'until'> {
  readonly events: readonly { readonly type: string; readonly at: string | null; readonly key: Located<Json> | null }[];
  readonly until: Located<string> | null;
}

/** As in the plan, but the duration of a delay may still be an uncompiled template. */
export type DraftStep =
  | Exclude<Step, { kind: 'sleep' | 'forEach' | 'repeat' | 'wait' }>
  | DraftWait
  | { kind: 'sleep'; durationMs: number | Located<string> };

export interface DraftCondition extends Located<string> {
  /** `when.on` of an execution plan: the path that the condition sees as `on`. */
  readonly on: Located<string> | null;
}

export interface DraftEdge {
  /** The node that declares the edge, and the name of the other end. */
  readonly owner: number;
  readonly other: Located<string>;
  readonly direction: 'fromOwner' | 'toOwner';
  readonly when: PlanEdge['when'];
  readonly condition: Located<string> | null;
  readonly implicit: boolean;
  readonly codes?: readonly Located<string>[];
}

export interface ReadOptions {
  /** Named policies for `retryPolicyRef`. Without them any name means the default, with a warning. */
  readonly retryPolicies?: Readonly<Record<string, Partial<RetryPolicy>>>;
  readonly defaults?: DefinitionDefaults;
}
