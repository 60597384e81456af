// Quotas on PostgreSQL. A change that uses one locks the tenant's row, counts in a new statement, then writes.

import type { QuotaPreset } from '../../../protocol/quota.ts';
import type { StartOutcome, Timestamp } from '../../port.ts';
import type { QuotaFilled, QuotaStore, TenantQuota, TenantSummary } from '../../quota-port.ts';
import { tooManyWorkflows } from '../../quota-refusal.ts';
import type { Database, Session } from '../database.ts';
import { startExecutions } from '../execution/execution-store.ts';
import { statement } from '../statement.ts';

const GET = statement('quota_get');
const PUT = statement('quota_put');
const SEED_RUNS = statement('quota_runs_seed');
const CHANGES = statement('quota_changes');
const LOCK = statement('quota_lock');
const RUNS = statement('quota_runs');
const ADD_RUNS = statement('quota_runs_add');
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
      const { liveRunners, at } = rows[0]!;
      const quotas = rows.flatMap((row) => (row.tenantId === null ? [] : [tenantQuota(row as QuotaRow)]));
      return { quotas, liveRunners, at };
    },
    async tenantUsage({ tenantId }) {
      const [row] = await reader.run<UsageRow & { workflows: number }>(USAGE, [tenantId]);
      if (row === undefined) return null;
      return { workflows: row.workflows, liveRuns: row.liveRuns, executions: row.executions, at: row.at };
    },
    async quotaShares() {
      const rows = await reader.run<{ tenantId: string; used: number }>(SHARES, []);
      return rows.map(({ tenantId, used }) => ({ tenantId, used }));
    },
    tenantList: ({ afterId, limit, only }) => reader.run<TenantSummary>(TENANTS, [afterId, limit, only]),
    async usageAdd({ items }) {
      await engine.run(ADD_USAGE, [items.map(({ tenantId }) => tenantId), items.map(({ executions }) => executions)]);
    },
    async quotaFull({ tenantId }) {
      const [row] = await reader.run<QuotaRow>(GET, [tenantId]);
      return row === undefined ? null : filledLimit(tenantQuota(row).limits, await usageOf(reader, tenantId));
    },
    executionStartLimited: ({ tenantId, items }) =>
      engine.transaction(async (session) => {
        const limits = await lockQuota(session, tenantId);
        const usage = await usageOf(session, tenantId);
        const answers: (StartOutcome | QuotaFilled)[] = [];
        const runs: string[] = [];
        while (answers.length < items.length) {
          const liveRuns = usage.liveRuns + runs.length;
          const filled = filledLimit(limits, { ...usage, liveRuns });
          if (filled !== null) return [...(await counted()), ...items.slice(answers.length).map(() => filled)];
          // Repeated requests take no place, so there may be room for more.
          const room = (limits?.concurrentRuns ?? Number.POSITIVE_INFINITY) - liveRuns;
          const next = items.slice(answers.length, answers.length + room);
          const { outcomes } = await startExecutions(session, next);
          answers.push(...outcomes);
          for (const [index, { existing, stale }] of outcomes.entries())
            if (existing === null && stale !== true) runs.push(next[index]!.executionId);
        }
        return counted();

        async function counted() {
          if (limits !== null && limits.concurrentRuns !== null && runs.length > 0)
            await session.run(ADD_RUNS, [tenantId, runs]);
          return answers;
        }
      }),
  };
}

async function usageOf(session: Session, tenantId: string): Promise<UsageRow> {
  const [usage] = await session.run<UsageRow>(RUNS, [tenantId]);
  return usage!;
}

function filledLimit(
  limits: TenantQuota['limits'] | null,
  { liveRuns: live, executions, at }: UsageRow,
): QuotaFilled | null {
  const { concurrentRuns = null, executionsPerMonth = null } = limits ?? {};
  if (executionsPerMonth !== null && executions >= executionsPerMonth) {
    return { filled: 'executionsPerMonth', limit: executionsPerMonth, used: executions, at };
  }
  if (concurrentRuns !== null && live >= concurrentRuns) {
    return { filled: 'concurrentRuns', limit: concurrentRuns, used: live, at };
  }
  return null;
}

/** In a transaction that has added a workflow: throws, and so rolls back, if that was one too many. */
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
    tenantId: row.tenantId,
    preset: row.preset,
    limits: {
      workflows: row.workflows,
      tasksPerWorkflow: row.tasksPerWorkflow,
      concurrentRuns: row.concurrentRuns,
      // A bigint comes as text.
      executionsPerMonth: row.executionsPerMonth === null ? null : Number(row.executionsPerMonth),
      cron: row.cron,
      httpStepsAtOnce: row.httpStepsAtOnce,
    },
  };
}

interface QuotaRow {
  tenantId: string;
  preset: QuotaPreset | null;
  workflows: number | null;
  tasksPerWorkflow: number | null;
  concurrentRuns: number | null;
  executionsPerMonth: string | null;
  cron: boolean;
  httpStepsAtOnce: number | null;
}

type ChangeRow = { [Column in keyof QuotaRow]: QuotaRow[Column] | null } & { liveRunners: number; at: Timestamp };

interface UsageRow {
  liveRuns: number;
  executions: number;
  at: Timestamp;
}
