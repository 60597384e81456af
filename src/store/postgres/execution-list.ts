// Lists of executions, newest first: which ids, then their rows. The first question has five statements, by what drives it: the
// queue for live statuses, the outcomes for ended ones, the executions of a workflow, of a parent, or all of them otherwise.
// With 1,000,000 executions one statement over the view took 7 to 1,600 ms; these take 1 to 17.

import type { Why } from '../../protocol/execution.ts';
import type { ExecutionFilter, ListedExecution } from '../reader-port.ts';
import { uuidArray } from './array-parameter.ts';
import type { Database } from './database.ts';
import { executionView, type ViewRow } from './execution-view.ts';
import { patternOf } from './like-pattern.ts';
import { type Statement, statement } from './statement.ts';

const ALL = statement('execution_page');
const OF_WORKFLOW = statement('execution_page_of_workflow');
const OF_PARENT = statement('execution_page_of_parent');
const LIVE = statement('execution_page_live');
const ENDED = statement('execution_page_ended');
const ROWS = statement('execution_rows');

const LIVE_STATUSES = ['Pending', 'Running', 'Paused'];
/** Only these have an error. */
const UNSUCCESSFUL_STATUSES = ['Failed', 'Cancelled', 'TimedOut'];
/** Ids begin with the time they were made, which may differ a little from the time that is recorded. */
const ID_SLACK_MS = 60_000;
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LOWEST = '00000000-0000-0000-0000-000000000000';

export async function listExecutions(reader: Database, filter: ExecutionFilter): Promise<ListedExecution[]> {
  const ids = await pageOf(reader, filter);
  if (ids.length === 0) return [];
  const rows = await reader.run<ViewRow & { why: Why | null }>(ROWS, [uuidArray(ids)]);
  return rows.map((row) => ({ ...executionView(row), why: row.why }));
}

/** No further than `limit`. */
export async function countExecutions(reader: Database, filter: ExecutionFilter): Promise<number> {
  return (await pageOf(reader, filter)).length;
}

async function pageOf(reader: Database, given: ExecutionFilter): Promise<string[]> {
  const filter = withStatuses(given);
  const rows = await reader.run<{ id: string }>(statementFor(filter), [
    filter.tenantId,
    earlier(filter.beforeId ?? HIGHEST, idAt(filter.createdBefore, ID_SLACK_MS, 'f') ?? HIGHEST),
    filter.limit,
    filter.workflowId ?? null,
    filter.version ?? null,
    filter.status ?? null,
    filter.format ?? null,
    filter.parentExecutionId ?? null,
    timeOrNull(filter.createdAfter),
    timeOrNull(filter.createdBefore),
    patternOf(filter.errorText),
    filter.why ?? null,
    idAt(filter.createdAfter, -ID_SLACK_MS, '0') ?? LOWEST,
  ]);
  return rows.map(({ id }) => id);
}

/** What has an error has not succeeded, and is not live. */
function withStatuses(filter: ExecutionFilter): ExecutionFilter {
  if (filter.errorText === undefined) return filter;
  const { status = UNSUCCESSFUL_STATUSES } = filter;
  return { ...filter, status: UNSUCCESSFUL_STATUSES.filter((one) => status.includes(one)) };
}

function statementFor({ status, why, workflowId, parentExecutionId, errorText }: ExecutionFilter): Statement {
  if (parentExecutionId !== undefined && why === undefined) return OF_PARENT;
  if (why !== undefined) return LIVE;
  const wantsLive = status?.some((one) => LIVE_STATUSES.includes(one));
  if (wantsLive === true && status?.every((one) => LIVE_STATUSES.includes(one))) return LIVE;
  // Those of one workflow that have failed may be far apart, but not as far as its error among all.
  if (workflowId !== undefined && errorText === undefined) return OF_WORKFLOW;
  return wantsLive === false ? ENDED : ALL;
}

const timeOrNull = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));

/** The lowest or the highest id of a time, by what fills the rest. */
function idAt(time: number | undefined, slackMs: number, rest: '0' | 'f'): string | null {
  if (time === undefined) return null;
  const at = Math.min(Math.max(time + slackMs, 0), 2 ** 48 - 1);
  const hex = at.toString(16).padStart(12, '0') + rest.repeat(20);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const earlier = (one: string, other: string): string => (one < other ? one : other);
