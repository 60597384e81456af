// Quotas of tenants: what each may have, and what it used. Whatever fills a quota does so in a transaction that locks the
// tenant's row first, so that two who ask at once cannot both have the last place.

import type { QuotaLimits, QuotaPreset } from '../protocol/quota.ts';
import type { NewExecution, StartOutcome, Timestamp } from './port.ts';

export interface QuotaStore {
  /** null: the tenant never had one. */
  quotaGet(params: { tenantId: string }): Promise<TenantQuota | null>;
  /** Runs that are live already count against a limit that comes, up to that limit. */
  quotaPut(params: TenantQuota): Promise<void>;
  /** Those that changed after the given time, or shortly before; 0 = all. */
  quotaChanges(params: { after: Timestamp }): Promise<{ quotas: TenantQuota[]; liveRunners: number; at: Timestamp }>;
  /** null: there is no trace of this tenant. */
  tenantUsage(params: { tenantId: string }): Promise<TenantUsage | null>;
  /** Of every tenant with a quota: the share of its fullest limit that it has used, 1 = used up. For metrics. */
  quotaShares(): Promise<{ tenantId: string; used: number }[]>;
  /** Every tenant with a workflow, a key or a quota. */
  tenantList(params: { afterId: string; limit: number; only: string | null }): Promise<TenantSummary[]>;
  /** Counts in the current month. */
  usageAdd(params: { items: { tenantId: string; executions: number }[] }): Promise<void>;
  /** What would keep another execution of the tenant from starting as things stand; null: nothing. */
  quotaFull(params: { tenantId: string }): Promise<QuotaFilled | null>;
  /** Starts executions of one tenant with a quota, as many as it may have; an answer for each, in their order. One transaction. */
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
