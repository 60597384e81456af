// Quotas as people manage them, and the checks of definitions. The limits of runs and workflows are enforced where they are
// written: in executionStartLimited, and in the transactions that add workflows.

import type { PawlError } from '../core/error/pawl-error.ts';
import { limitsOf, NO_LIMITS, type QuotaLimits, type QuotaRequest } from '../protocol/quota.ts';
import { type Actor, type AuditStore, SYSTEM } from '../store/audit-port.ts';
import type { QuotaStore, TenantQuota, TenantSummary, TenantUsage } from '../store/quota-port.ts';
import { noCron, quotaFilled, tooManyTasks } from '../store/quota-refusal.ts';

export interface QuotasDeps {
  readonly store: QuotaStore & Pick<AuditStore, 'audited'>;
  /** The quota of a tenant has changed here. */
  readonly changed: () => Promise<void>;
}

export interface QuotaReport extends TenantQuota {
  readonly usage: TenantUsage;
}

export class Quotas {
  private readonly deps: QuotasDeps;

  constructor(deps: QuotasDeps) {
    this.deps = deps;
  }

  /** null: unknown tenant. */
  async report(tenantId: string): Promise<QuotaReport | null> {
    const [quota, usage] = await Promise.all([
      this.deps.store.quotaGet({ tenantId }),
      this.deps.store.tenantUsage({ tenantId }),
    ]);
    if (usage === null) return null;
    return { tenantId, preset: quota?.preset ?? null, limits: quota?.limits ?? NO_LIMITS, usage };
  }

  /** By id, after `afterId`; `only`: this tenant alone. */
  tenants(page: { afterId: string; limit: number; only: string | null }): Promise<TenantSummary[]> {
    return this.deps.store.tenantList(page);
  }

  async put(tenantId: string, request: QuotaRequest, by: Actor = SYSTEM): Promise<void> {
    const quota = { tenantId, preset: request.preset ?? null, limits: limitsOf(request) };
    await this.deps.store.audited({
      tenantId,
      by,
      work: (store) => store.quotaPut(quota),
      deed: () => ({ action: 'tenant.quota', target: `tenant/${tenantId}`, details: { ...quota } }),
    });
    await this.deps.changed();
  }

  async checkDefinition(tenantId: string, { tasks, cron }: { tasks: number; cron: boolean }): Promise<void> {
    const limits = await this.limits(tenantId);
    if (limits.tasksPerWorkflow !== null && tasks > limits.tasksPerWorkflow) {
      throw tooManyTasks(limits.tasksPerWorkflow, tasks);
    }
    if (cron && !limits.cron) throw noCron();
  }

  /** Why no run could start right now; null: one could. The start itself decides. */
  async runRefusal(tenantId: string): Promise<PawlError | null> {
    const filled = await this.deps.store.quotaFull({ tenantId });
    return filled === null ? null : quotaFilled(filled);
  }

  /** Throws unless schedules may start executions of this tenant. Checked when one is created and before each slot. */
  async checkCron(tenantId: string): Promise<void> {
    if (!(await this.limits(tenantId)).cron) throw noCron();
  }

  private async limits(tenantId: string): Promise<QuotaLimits> {
    return (await this.deps.store.quotaGet({ tenantId }))?.limits ?? NO_LIMITS;
  }
}
