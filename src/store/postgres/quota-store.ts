// Quotas on PostgreSQL. Whatever fills one locks the tenant's row, then counts in a new statement, then writes.

import type { QuotaPreset } from '../../protocol/quota.ts';
import type { Timestamp } from '../port.ts';
import type { QuotaFilled, QuotaStore, TenantQuota, TenantSummary } from '../quota-port.ts';
import { tooManyWorkflows } from '../quota-refusal.ts';
import type { Database, Session } from './database.ts';
import { startExecutions } from './execution-store.ts';
import { statement } from './statement.ts';

const GET = statement('quota_get');
const PUT = statement('quota_put');
const SEED_RUNS = statement('quota_runs_seed');
const CHANGES = statement('quota_changes');
const LOCK = statement('quota_lock');
const RUNS = statement('quota_runs');
const ADD_RUN = statement('quota_run_add');
const COUNT_WORKFLOWS = statement('quota_workflows');
const ADD_USAGE = statement('usage_add');
const USAGE = statement('tenant_usage');
const SHARES = statement('quota_shares');
const TENANTS = statement('tenant_list');

export function quotaStore(engine: Database, reader: Database): QuotaStore {
  return {
    async quotaGet({ tenantId }) {
      const [row] = await reader.run<QuotaRow>(GET, [tenantId]);
      return row === undefined ? null : tenantQuota(row);
    },
    quotaPut: ({ tenantId, preset, limits }) =>
      reader.transaction(async (session) => {
        const { workflows, tasksPerWorkflow, concurrentRuns, executionsPerMonth, cron, httpStepsAtOnce } = limits;
        const counts = [workflows, tasksPerWorkflow, concurrentRuns, executionsPerMonth];
        await session.run(PUT, [tenantId, preset, ...counts, cron, httpStepsAtOnce]);
        if (concurrentRuns !== null) await session.run(SEED_RUNS, [tenantId]);
      }),
    async quotaChanges({ after }) {
      const rows = await reader.run<ChangeRow>(CHANGES, [new Date(after)]);
      const { live_runners: liveRunners, at } = rows[0]!;
      const quotas = rows.flatMap((row) => (row.tenant_id === null ? [] : [tenantQuota(row as QuotaRow)]));
      return { quotas, liveRunners, at };
    },
    async tenantUsage({ tenantId }) {
      const [row] = await reader.run<UsageRow & { workflows: number }>(USAGE, [tenantId]);
      if (row === undefined) return null;
      return { workflows: row.workflows, liveRuns: row.live_runs, executions: row.executions, at: row.at };
    },
    async quotaShares() {
      const rows = await reader.run<{ tenant_id: string; used: number }>(SHARES, []);
      return rows.map(({ tenant_id, used }) => ({ tenantId: tenant_id, used }));
    },
    tenantList: ({ afterId, limit, only }) => reader.run<TenantSummary>(TENANTS, [afterId, limit, only]),
    async usageAdd({ items }) {
      await engine.run(ADD_USAGE, [items.map(({ tenantId }) => tenantId), items.map(({ executions }) => executions)]);
    },
    async quotaFull({ tenantId }) {
      const [row] = await reader.run<QuotaRow>(GET, [tenantId]);
      return row === undefined ? null : filledLimit(reader, tenantId, tenantQuota(row).limits);
    },
    executionStartLimited: ({ item }) =>
      engine.transaction(async (session) => {
        const { tenantId } = item;
        const limits = await lockQuota(session, tenantId);
        const filled = await filledLimit(session, tenantId, limits);
        if (filled !== null) return filled;
        const { outcomes } = await startExecutions(session, [item]);
        const [outcome] = outcomes;
        if (outcome!.existing === null && limits !== null && limits.concurrentRuns !== null) {
          await session.run(ADD_RUN, [tenantId, item.executionId]);
        }
        return outcome!;
      }),
  };
}

async function filledLimit(
  session: Session,
  tenantId: string,
  limits: TenantQuota['limits'] | null,
): Promise<QuotaFilled | null> {
  const [usage] = await session.run<UsageRow>(RUNS, [tenantId]);
  const { live_runs: live, executions, at } = usage!;
  const { concurrentRuns = null, executionsPerMonth = null } = limits ?? {};
  if (executionsPerMonth !== null && executions >= executionsPerMonth) {
    return { filled: 'executionsPerMonth', limit: executionsPerMonth, used: executions, at };
  }
  if (concurrentRuns !== null && live >= concurrentRuns) {
    return { filled: 'concurrentRuns', limit: concurrentRuns, used: live, at };
  }
  return null;
}

/** Of a transaction that has added a workflow: undoes it by throwing if that was one too many. */
export async function requireWorkflowRoom(session: Session, tenantId: string): Promise<void> {
  const limit = (await lockQuota(session, tenantId))?.workflows ?? null;
  if (limit === null) return;
  const [row] = await session.run<{ workflows: number }>(COUNT_WORKFLOWS, [tenantId]);
  if (row!.workflows > limit) throw tooManyWorkflows(limit);
}

async function lockQuota(session: Session, tenantId: string): Promise<TenantQuota['limits'] | null> {
  const [row] = await session.run<QuotaRow>(LOCK, [tenantId]);
  return row === undefined ? null : tenantQuota(row).limits;
}

function tenantQuota(row: QuotaRow): TenantQuota {
  return {
    tenantId: row.tenant_id,
    preset: row.preset,
    limits: {
      workflows: row.workflows,
      tasksPerWorkflow: row.tasks_per_workflow,
      concurrentRuns: row.concurrent_runs,
      // A bigint comes as text.
      executionsPerMonth: row.executions_per_month === null ? null : Number(row.executions_per_month),
      cron: row.cron,
      httpStepsAtOnce: row.http_steps_at_once,
    },
  };
}

interface QuotaRow {
  tenant_id: string;
  preset: QuotaPreset | null;
  workflows: number | null;
  tasks_per_workflow: number | null;
  concurrent_runs: number | null;
  executions_per_month: string | null;
  cron: boolean;
  http_steps_at_once: number | null;
}

type ChangeRow = { [Column in keyof QuotaRow]: QuotaRow[Column] | null } & { live_runners: number; at: Timestamp };

interface UsageRow {
  live_runs: number;
  executions: number;
  at: Timestamp;
}
