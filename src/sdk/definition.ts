// Definitions as they are sent: the output of the builders, and definitions written by hand.

export type GraphDefinition = {
  readonly id: string;
  readonly displayName: string;
  readonly startNode: string;
  readonly nodes: readonly GraphNode[];
  readonly description?: string;
  readonly triggerSchema?: Readonly<Record<string, unknown>>;
  /** Additional callers: `{ mcp: true }` makes it a tool for AI agents. */
  readonly expose?: { readonly mcp?: boolean };
  readonly timeoutMs?: Milliseconds;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly vars?: Readonly<Record<string, unknown>>;
  readonly finally?: readonly string[];
  readonly compensationTimeoutMs?: Milliseconds;
  readonly triggers?: readonly FileTrigger[];
};

/** Starts the workflow; created when the workflow is published. */
interface FileTrigger {
  readonly name: string;
  readonly triggerType: 'Schedule' | 'Webhook' | 'Event' | 'Manual';
  readonly config?: Readonly<Record<string, unknown>>;
  readonly activationCondition?: string;
  readonly isEnabled?: boolean;
}

export interface GraphNode {
  readonly id: string;
  readonly actionType?: string;
  readonly nodeType?: 'action' | 'subworkflow' | 'wait' | 'end';
  readonly workflowId?: string;
  readonly workflowVersion?: number;
  readonly waitForCompletion?: boolean;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly connection?: string;
  readonly onFailure?: string;
  readonly routePolicy?: 'parallel' | 'firstMatch';
  readonly policies?: NodePolicies;
  readonly edges?: readonly GraphEdge[];
  readonly join?: 'any' | 'all' | { readonly first: number; readonly cancelRest?: boolean };
  /** The node that undoes this one. */
  readonly compensate?: string;
  readonly forEach?: ForEach;
  readonly repeat?: Repeat;
  readonly body?: GraphBody;
  /** Waits only. */
  readonly callback?: boolean;
  readonly events?: readonly EventSource[];
  readonly timeoutMs?: Milliseconds;
  readonly onTimeout?: 'fail' | 'continue';
  readonly count?: number;
  readonly until?: string;
  /** End nodes only. */
  readonly status?: 'Succeeded' | 'Failed';
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message?: string };
}

/** Events of a type whose data has the value `key` at the path `at`. */
export interface EventSource {
  readonly type: string;
  readonly key?: string | number | boolean;
  readonly at?: string;
}

export interface ForEach {
  /** A template that gives a list, or a list. */
  readonly items: string | readonly unknown[];
  readonly parallel?: number;
  readonly maxItems?: number;
  readonly tolerate?: number | `${number}%`;
}

export interface Repeat {
  readonly until: string;
  readonly maxRounds?: number;
  readonly delayMs?: Milliseconds;
  readonly backoffFactor?: number;
  readonly maxDelayMs?: Milliseconds;
  readonly collect?: string;
}

export interface GraphBody {
  readonly startNode: string;
  readonly nodes: readonly GraphNode[];
  readonly outputs?: Readonly<Record<string, unknown>>;
}

export interface GraphEdge {
  readonly targetNode: string;
  readonly when?: 'success' | 'failure' | 'always';
  readonly condition?: string;
  /** Failure edges only: the error codes that take this edge. */
  readonly codes?: readonly string[];
}

interface RetryPolicy {
  readonly maxAttempts?: number;
  readonly baseDelayMs?: Milliseconds;
  readonly backoffFactor?: number;
  readonly maxDelayMs?: Milliseconds;
  readonly jitter?: boolean;
}

export interface NodePolicies {
  readonly timeoutMs?: Milliseconds;
  readonly rerenderOnRetry?: boolean;
  readonly retry?: RetryPolicy | readonly (RetryPolicy & { readonly on: readonly string[] })[];
}

export type PipelineDefinition = {
  readonly name: string;
  readonly tasks: Readonly<Record<string, PipelineTask>>;
  readonly description?: string;
  readonly trigger?: 'api' | 'cron' | 'webhook';
  readonly cron_expression?: string;
  readonly timezone?: string;
  readonly catch_up?: 'skip' | 'latest' | 'all';
  /** Cron only: the body of every run, beside `scheduledFor`. */
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly max_duration_seconds?: number;
  readonly finally?: readonly string[];
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly enabled?: boolean;
};

/** Exactly one of `url`, `sleep`, `wait_for_webhook` and `end` sets its kind. */
export type PipelineTask = {
  readonly needs?:
    | readonly string[]
    | { readonly first: number; readonly of: readonly string[]; readonly cancel_rest?: boolean };
  readonly if?: string;
} & (
  | HttpTask
  | { readonly sleep: Duration }
  | { readonly wait_for_webhook: { readonly timeout?: Duration } }
  | { readonly wait_for: PipelineWait }
  | { readonly end: true | PipelineEnd }
);

interface PipelineWait {
  readonly webhook?: boolean;
  readonly events?: readonly EventSource[];
  readonly timeout?: Duration;
  readonly on_timeout?: 'fail' | 'continue';
  readonly count?: number;
  readonly until?: string;
}

interface PipelineEnd {
  readonly status?: 'completed' | 'failed';
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: string; readonly message?: string };
}

export interface HttpTask {
  readonly url: string;
  readonly connection?: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly retries?:
    | number
    | { readonly times?: number; readonly on?: readonly (number | string)[]; readonly delay?: Duration };
  readonly timeout?: Milliseconds;
  readonly undo?: Pick<HttpTask, 'url' | 'method' | 'headers' | 'body' | 'retries' | 'timeout'>;
  readonly for_each?: string | readonly unknown[];
  readonly parallel?: number;
  readonly max_items?: number;
  readonly tolerate?: number | `${number}%`;
  readonly until?: string;
  readonly every?: Duration;
  readonly max_rounds?: number;
  readonly collect?: string;
}

/** Milliseconds, or `"30s"`, `"5m"`, `"2h"`, `"1d"`. */
export type Milliseconds = number | string;

declare const triggerType: unique symbol;

/** A definition whose trigger type TypeScript knows: see `workflow().trigger<Payload>()`. */
export type Triggered<Trigger> = { readonly [triggerType]?: (trigger: Trigger) => void };

/** An execution plan, as a planner makes it. */
export type PlanDefinition = { readonly metadata: { readonly planId: string }; readonly steps: readonly object[] };

/** `"30s"`, `"5m"`, `"2h"`, `"1d"`, or seconds. */
export type Duration = string | number;
