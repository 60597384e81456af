// Quotas of tenants: limits and usage. A change that uses a quota locks the tenant's row first, so that two concurrent requests
// cannot both get the last place.

import type { QuotaLimits, QuotaPreset } from '../protocol/quota.ts';
import type { NewExecution, StartOutcome, Timestamp } from './port.ts';

export interface QuotaStore {
  /** null: the tenant never had one. */
  quotaGet(params: { tenantId: string }): Promise<TenantQuota | null>;
  /** Live runs count against a new limit, up to that limit. */
  quotaPut(params: TenantQuota): Promise<void>;
  /** Those that changed after the given time, or shortly before; 0 = all. */
  quotaChanges(params: { after: Timestamp }): Promise<{ quotas: TenantQuota[]; liveRunners: number; at: Timestamp }>;
  /** null: unknown tenant. */
  tenantUsage(params: { tenantId: string }): Promise<TenantUsage | null>;
  /** For every tenant with a quota: the used share of its fullest limit, 1 = used up. For metrics. */
  quotaShares(): Promise<{ tenantId: string; used: number }[]>;
  /** Every tenant with a workflow, a key or a quota. */
  tenantList(params: { afterId: string; limit: number; only: string | null }): Promise<TenantSummary[]>;
  /** Counts in the current month. */
  usageAdd(params: { items: { tenantId: string; executions: number }[] }): Promise<void>;
  /** The reason why another execution of the tenant could not start right now; null: none. */
  quotaFull(params: { tenantId: string }): Promise<QuotaFilled | null>;
  /** Starts executions of a tenant with a quota, as many as allowed; one answer each, in order. One transaction. */
  executionStartLimited(params: {
    tenantId: string;
    items: readonly NewExecution[];
  }): Promise<(StartOutcome | QuotaFilled)[]>;
}

export interface TenantQuota {
  tenantId: string;
  preset: QuotaPreset | null;
  limits: QuotaLimits;
}

export interface TenantSummary {
  tenantId: string;
  preset: string | null;
  workflows: number;
  concurrentRuns: number;
}

export interface TenantUsage {
  workflows: number;
  liveRuns: number;
  /** In this month. */
  executions: number;
  at: Timestamp;
}

/** Why nothing was started. */
export interface QuotaFilled {
  filled: 'concurrentRuns' | 'executionsPerMonth';
  limit: number;
  used: number;
  at: Timestamp;
}
