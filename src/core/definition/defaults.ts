// Defaults of graphs, plans and pipelines.

import type { NodePolicy, RetryPolicy, SnapshotPolicy } from '../plan/plan.ts';

export const ATTEMPT_TIMEOUT_MS = 5 * 60_000;
export const GRAPH_TIMEOUT_MS = 60 * 60_000;
export const PIPELINE_MAX_DURATION_SECONDS = 30 * 86_400;
export const PIPELINE_STEP_TIMEOUT_MS = 30_000;
export const PIPELINE_RETRIES = 5;

export const DEFAULT_RETRY: RetryPolicy = {
  maxAttempts: 3,
  baseDelayMs: 2_000,
  backoffFactor: 2,
  maxDelayMs: null,
  jitter: true,
};

const NO_RETRY: RetryPolicy = { ...DEFAULT_RETRY, maxAttempts: 1 };

/** Sleeps, webhooks and children have their own clocks and nothing to retry, unless a timeout is set. */
export const WAITING_POLICY: NodePolicy = { timeoutMs: null, rerenderOnRetry: false, retry: NO_RETRY };

export const DEFAULT_PARALLEL = 10;
export const DEFAULT_MAX_ITEMS = 1_000;
export const DEFAULT_MAX_ROUNDS = 100;

export function pipelineRetry(retries: number): RetryPolicy {
  return { ...DEFAULT_RETRY, maxAttempts: retries + 1, maxDelayMs: 5 * 60_000 };
}

export const DEFAULT_SNAPSHOT: SnapshotPolicy = {
  mode: 'SummaryOnly',
  keysToInclude: [],
  maxContextSizeBytes: 10 * 1024 * 1024,
  overflowBehavior: 'Fail',
};

/** Defaults that an installation may change. Plans are compiled where they run, so that installation's settings count. */
export interface DefinitionDefaults {
  readonly attemptTimeoutMs: number;
  readonly graphTimeoutMs: number;
  /** For a node that waits for its child; null: as long as the child may take. */
  readonly childTimeoutMs: number | null;
  readonly retry: RetryPolicy;
  readonly snapshot: SnapshotPolicy;
}

export const DEFINITION_DEFAULTS: DefinitionDefaults = {
  attemptTimeoutMs: ATTEMPT_TIMEOUT_MS,
  graphTimeoutMs: GRAPH_TIMEOUT_MS,
  childTimeoutMs: null,
  retry: DEFAULT_RETRY,
  snapshot: DEFAULT_SNAPSHOT,
};
