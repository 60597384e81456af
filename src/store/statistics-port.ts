// Statistics of executions and attempts: counts and histograms by minute, hour and day, and failures by cause.

import type { Timestamp } from './port.ts';

export interface StatisticsStore {
  /** Adds to the stored numbers, at all three grains. */
  statsAdd(params: {
    executions: readonly ExecutionStat[];
    actions: readonly ActionStat[];
    failures: readonly FailureStat[];
  }): Promise<void>;
  /** Forgets minutes after two days, hours after ninety, failures after thirty. */
  statsPurge(): Promise<void>;
  /** In the order of their times, no more than `limit`. */
  statsOfExecutions(params: StatRange & { workflowIds: readonly string[] | null }): Promise<ExecutionStat[]>;
  statsOfActions(params: StatRange & { actionTypes: readonly string[] | null }): Promise<ActionStat[]>;
  /** By cause, the most frequent first. */
  failureGroups(params: {
    tenantId: string;
    since: Timestamp;
    workflowId: string | null;
    limit: number;
  }): Promise<FailureGroup[]>;
}

export interface StatCounts {
  started: number;
  succeeded: number;
  failed: number;
  timedOut: number;
  cancelled: number;
  durations: number[];
  waits: number[];
}

export interface ExecutionStat extends StatCounts {
  tenantId: string;
  workflowId: string;
  version: number;
  at: Timestamp;
}

export interface ActionStat extends StatCounts {
  tenantId: string;
  actionType: string;
  at: Timestamp;
}

export interface FailureGroup {
  fingerprint: string;
  workflowId: string;
  /** '': the execution itself. */
  nodeId: string;
  code: string;
  message: string;
  count: number;
  firstAt: Timestamp;
  lastAt: Timestamp;
  sampleId: string;
}

export interface FailureStat extends FailureGroup {
  tenantId: string;
  at: Timestamp;
}

export type Grain = 'minute' | 'hour' | 'day';

export interface StatRange {
  tenantId: string;
  grain: Grain;
  from: Timestamp;
  until: Timestamp;
  limit: number;
}
