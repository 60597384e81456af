// Definitions as they are sent: what the builders make, and what may be written by hand.

export type GraphDefinition = {
  readonly id: string;
  readonly displayName: string;
  readonly startNode: string;
  readonly nodes: readonly GraphNode[];
  readonly description?: string;
  readonly triggerSchema?: Readonly<Record<string, unknown>>;
  readonly timeoutMs?: number;
  readonly outputs?: Readonly<Record<string, unknown>>;
  readonly vars?: Readonly<Record<string, unknown>>;
};

export interface GraphNode {
  readonly id: string;
  readonly actionType?: string;
  readonly nodeType?: 'action' | 'subworkflow';
  readonly workflowId?: string;
  readonly workflowVersion?: number;
  readonly waitForCompletion?: boolean;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly onFailure?: string;
  readonly routePolicy?: 'parallel' | 'firstMatch';
  readonly policies?: NodePolicies;
  readonly edges?: readonly GraphEdge[];
}

export interface GraphEdge {
  readonly targetNode: string;
  readonly when?: 'success' | 'failure' | 'always';
  readonly condition?: string;
}

export interface NodePolicies {
  readonly timeoutMs?: number;
  readonly rerenderOnRetry?: boolean;
  readonly retry?: {
    readonly maxAttempts?: number;
    readonly baseDelayMs?: number;
    readonly backoffFactor?: number;
    readonly jitter?: boolean;
  };
}

export type PipelineDefinition = {
  readonly name: string;
  readonly tasks: Readonly<Record<string, PipelineTask>>;
  readonly description?: string;
  readonly trigger?: 'api' | 'cron' | 'webhook';
  readonly cron_expression?: string;
  readonly timezone?: string;
  readonly catch_up?: 'skip' | 'latest' | 'all';
  readonly max_duration_seconds?: number;
  readonly enabled?: boolean;
};

/** Exactly one of `url`, `sleep` and `wait_for_webhook` says what it is. */
export type PipelineTask = {
  readonly needs?: readonly string[];
  readonly if?: string;
} & (HttpTask | { readonly sleep: Duration } | { readonly wait_for_webhook: { readonly timeout?: Duration } });

interface HttpTask {
  readonly url: string;
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'HEAD' | 'OPTIONS';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly retries?: number;
  readonly timeout?: number;
}

/** `"30s"`, `"5m"`, `"2h"`, `"1d"`, or seconds. */
export type Duration = string | number;
