// Lists of executions, newest first. Three statements for one question, by what drives them: the queue for live statuses,
// the outcomes for ended ones, the executions themselves otherwise.

import type { Why } from '../../protocol/execution.ts';
import type { ExecutionFilter, ListedExecution } from '../reader-port.ts';
import type { Database } from './database.ts';
import { executionView, type ViewRow } from './execution-view.ts';
import { type Statement, statement } from './statement.ts';

const ALL = statement('execution_list');
const LIVE = statement('execution_list_live');
const ENDED = statement('execution_list_ended');

const LIVE_STATUSES = ['Pending', 'Running', 'Paused'];
/** Ids begin with the time they were made, which may differ a little from the time that is recorded. */
const ID_SLACK_MS = 60_000;

export async function listExecutions(reader: Database, filter: ExecutionFilter): Promise<ListedExecution[]> {
  const rows = await reader.run<ViewRow & { why: Why | null }>(statementFor(filter), [
    filter.tenantId,
    earlier(filter.beforeId, idBound(filter.createdBefore)),
    filter.limit,
    filter.workflowId ?? null,
    filter.version ?? null,
    filter.status ?? null,
    filter.format ?? null,
    filter.parentExecutionId ?? null,
    timeOrNull(filter.createdAfter),
    timeOrNull(filter.createdBefore),
    filter.errorText === undefined ? null : `%${filter.errorText.replaceAll(/[\\%_]/g, '\\$&')}%`,
    filter.why ?? null,
  ]);
  return rows.map((row) => ({ ...executionView(row), why: row.why }));
}

function statementFor({ status, why, workflowId, parentExecutionId }: ExecutionFilter): Statement {
  if (why !== undefined || status?.every((one) => LIVE_STATUSES.includes(one))) return LIVE;
  // Of one workflow or parent, the index of that is the shorter way.
  if (workflowId !== undefined || parentExecutionId !== undefined || status === undefined) return ALL;
  return status.some((one) => LIVE_STATUSES.includes(one)) ? ALL : ENDED;
}

const timeOrNull = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));

function idBound(time: number | undefined): string | null {
  if (time === undefined || time < 0) return null;
  const hex = (time + ID_SLACK_MS).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-ffff-ffff-ffffffffffff`;
}

function earlier(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
