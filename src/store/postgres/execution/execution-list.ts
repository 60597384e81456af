// Lists of executions, newest first: ids first, then rows. The first query has a statement per driving table: the queue for live
// statuses, the outcomes for ended ones, one workflow, one parent, one trigger, chosen ids, or all. With 1,000,000 executions one
// statement over the view took 7 to 1,600 ms; these take 1 to 17. None looks at more than MAX_LOOKED rows: a filter that matches
// almost nothing stops there and says so (`searchedTo`).

import type { Why } from '../../../protocol/execution.ts';
import { type JsonText, type NewExecution, PARKED_FOR, type Timestamp } from '../../port.ts';
import type {
  BriefExecution,
  ExecutionFilter,
  ExecutionPage,
  ExecutionStanding,
  ListedExecution,
  LiveNow,
} from '../../reader-port.ts';
import { uuidArray } from '../array-parameter.ts';
import type { CamelCase, Database } from '../database.ts';
import { patternOf } from '../like-pattern.ts';
import { type Statement, statement, type Values } from '../statement.ts';

const ROWS = statement('execution_rows');
const BRIEF = statement('execution_brief');
const STANDING = statement('execution_standing');
const LIVE_NOW = statement('live_now');
const ATTEMPT_COUNT = statement('attempt_count_of');

/** A driving table of lists: the page, how far it looked if that is bounded, and its own parameters. */
interface Driver {
  readonly page: Statement;
  readonly bound: Statement | null;
  readonly statuses?: readonly string[] | undefined;
  readonly more?: Readonly<Record<string, unknown>>;
}

const ALL = [statement('execution_page'), statement('execution_bound')] as const;
const OF_WORKFLOW = [statement('execution_page_of_workflow'), statement('execution_bound_of_workflow')] as const;
const OF_TRIGGER = [statement('execution_page_of_trigger'), statement('execution_bound_of_trigger')] as const;
const LIVE = [statement('execution_page_live'), statement('execution_bound_live')] as const;
const PARKED = [statement('execution_page_parked'), statement('execution_bound_parked')] as const;
const ENDED = [statement('execution_page_ended'), statement('execution_bound_ended')] as const;
const RESIDENT = statement('execution_page_resident');
const OF_PARENT = statement('execution_page_of_parent');
const OF_IDS = statement('execution_page_of_ids');

export const MAX_LOOKED = 50_000;
const LIVE_STATUSES = ['Pending', 'Running', 'Paused'];
/** Only these have an error. */
const UNSUCCESSFUL_STATUSES = ['Failed', 'Cancelled', 'TimedOut'];
/** Ids begin with their creation time, which may differ slightly from the recorded time. */
const ID_SLACK_MS = 60_000;
const HIGHEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';
const LOWEST = '00000000-0000-0000-0000-000000000000';

export const listExecutions = async (reader: Database, ids: readonly string[]): Promise<ListedExecution[]> =>
  (await rowsOfIds<ListedExecution>(reader, ROWS, ids)).map(viewed);

export const briefExecutions = async (reader: Database, ids: readonly string[]): Promise<BriefExecution[]> =>
  (await rowsOfIds<BriefExecution>(reader, BRIEF, ids)).map(viewed);

/** What runs natively names no driver. */
export function viewed<View extends Pick<NewExecution, 'driver'>>(row: View): View {
  if (row.driver === null) delete row.driver;
  return row;
}

export async function executionStandings(reader: Database, ids: readonly string[]): Promise<ExecutionStanding[]> {
  const rows = await rowsOfIds<StandingRow>(reader, STANDING, ids);
  return rows.map(({ nodeId, attempt, error, ...row }) => ({
    ...row,
    last: nodeId === null ? null : { nodeId, attempt: attempt!, error: error! },
  }));
}

async function rowsOfIds<Row extends CamelCase<Row>>(
  reader: Database,
  command: Statement,
  ids: readonly string[],
): Promise<Row[]> {
  return ids.length === 0 ? [] : reader.run<Row>(command, { executionIds: uuidArray(ids) });
}

export async function attemptCounts(
  reader: Database,
  nodes: readonly { readonly executionId: string; readonly nodeId: string }[],
): Promise<Map<string, number>> {
  if (nodes.length === 0) return new Map();
  const executionIds = uuidArray(nodes.map(({ executionId }) => executionId));
  const nodeIds = nodes.map(({ nodeId }) => nodeId);
  const rows = await reader.run<{ executionId: string; attempt: number }>(ATTEMPT_COUNT, { executionIds, nodeIds });
  return new Map(rows.map(({ executionId, attempt }) => [executionId, attempt]));
}

/** At most `limit` ids, newest first. Live and ended executions are queried separately and merged. */
export async function pageOfExecutions(
  reader: Database,
  given: ExecutionFilter,
  maxLooked = MAX_LOOKED,
): Promise<ExecutionPage> {
  const filter = withStatuses(given);
  return merged(reader, filter, driversFor(filter), maxLooked);
}

async function merged(
  reader: Database,
  filter: ExecutionFilter,
  drivers: readonly Driver[],
  maxLooked: number,
): Promise<ExecutionPage> {
  const pages = await Promise.all(drivers.map((driver) => readPage(reader, filter, driver, maxLooked)));
  const bounds = pages.flatMap(({ searchedTo }) => (searchedTo === null ? [] : [searchedTo]));
  const searchedTo = bounds.length === 0 ? null : bounds.reduce(later);
  // Two drivers may find the same execution.
  const ids = [...new Set(pages.flatMap((page) => page.ids))]
    .filter((id) => searchedTo === null || id >= searchedTo)
    .sort()
    .reverse()
    .slice(0, filter.limit);
  // A full page ends with its last row, wherever the search ended.
  return { ids, searchedTo: ids.length < filter.limit ? searchedTo : null };
}

async function readPage(
  reader: Database,
  filter: ExecutionFilter,
  { page, bound, statuses, more }: Driver,
  maxLooked: number,
): Promise<ExecutionPage> {
  const { beforeId, createdBefore, createdAfter } = filter;
  const values = {
    ...filter,
    statuses,
    ...more,
    maxLooked,
    belowId: earlier(beforeId ?? HIGHEST, idAt(createdBefore, ID_SLACK_MS, 'f') ?? HIGHEST),
    fromId: idAt(createdAfter, -ID_SLACK_MS, '0') ?? LOWEST,
    createdAfter: timeOrNull(createdAfter),
    createdBefore: timeOrNull(createdBefore),
    isFiltered: FILTERS.some((name) => filter[name] !== undefined),
  };
  const ask = (command: Statement) => reader.run<{ id: string }>(command, askedOf(command, values));
  const ids = (await ask(page)).map(({ id }) => id);
  if (bound === null || ids.length >= filter.limit) return { ids, searchedTo: null };
  const [stop] = await ask(bound);
  return { ids, searchedTo: stop?.id ?? null };
}

/** The filters on the executions themselves: see execution_where. */
const FILTERS = (statement('execution_page').parameters ?? []).flatMap(({ name }) =>
  ['tenantId', 'belowId', 'fromId', 'maxLooked', 'statuses', 'limit'].includes(name)
    ? []
    : [name as keyof ExecutionFilter],
);

/** A filter that is not given is null. */
const askedOf = ({ parameters = [] }: Statement, values: Readonly<Record<string, unknown>>): Values =>
  Object.fromEntries(parameters.map(({ name }) => [name, values[name]]));

/** Only unsuccessful executions have an error. */
function withStatuses(filter: ExecutionFilter): ExecutionFilter {
  if (filter.errorText === undefined) return filter;
  const { status = UNSUCCESSFUL_STATUSES } = filter;
  return { ...filter, status: UNSUCCESSFUL_STATUSES.filter((one) => status.includes(one)) };
}

function driversFor(filter: ExecutionFilter): Driver[] {
  const { status, why, workflowId, parentExecutionId, errorText, ids, triggerId } = filter;
  const errorPattern = patternOf(errorText);
  if (ids !== undefined) {
    return [{ page: OF_IDS, bound: null, statuses: status, more: { ids: uuidArray(ids), errorPattern } }];
  }
  if (why !== undefined) return errorText === undefined ? driversOfWhy(why, status) : [];
  if (triggerId !== undefined && errorText === undefined) return [along(OF_TRIGGER, status)];
  if (parentExecutionId !== undefined && errorText === undefined) {
    return [{ page: OF_PARENT, bound: null, statuses: status }];
  }
  const wantedLive = status?.filter((one) => LIVE_STATUSES.includes(one)) ?? [];
  const wantedEnded = status?.filter((one) => !LIVE_STATUSES.includes(one)) ?? [];
  // Those of one workflow that have failed may be far apart, but not as far as its error among all.
  if (workflowId !== undefined && errorText === undefined && (status === undefined || wantedEnded.length > 0)) {
    return [along(OF_WORKFLOW, status)];
  }
  if (status === undefined) return [along(ALL, undefined)];
  return [
    ...(wantedLive.length === 0 ? [] : [along(LIVE, wantedLive)]),
    ...(wantedEnded.length === 0 ? [] : [along(ENDED, wantedEnded, { errorPattern })]),
  ];
}

/** Parked executions are found by an index; resident and ready ones are checked one by one. */
function driversOfWhy(why: Why, statuses: readonly string[] | undefined): Driver[] {
  const parkedFor = BITS_OF[why];
  if (parkedFor === undefined) return [along(LIVE, statuses)];
  return [along(PARKED, statuses, { parkedFor }), { page: RESIDENT, bound: null, statuses }];
}

const SETS = Array.from({ length: 128 }, (_, bits) => bits);
const has = (bits: number, some: number): boolean => (bits & some) > 0;
const WAITS = PARKED_FOR.callback | PARKED_FOR.child;
const UNPAUSED = SETS.filter((bits) => !has(bits, PARKED_FOR.paused | PARKED_FOR.undo));
const BITS_OF: Partial<Record<Why, readonly number[]>> = {
  paused: SETS.filter((bits) => has(bits, PARKED_FOR.paused)),
  compensating: SETS.filter((bits) => has(bits, PARKED_FOR.undo) && !has(bits, PARKED_FOR.paused)),
  retrying: UNPAUSED.filter((bits) => has(bits, PARKED_FOR.retry)),
  waiting: UNPAUSED.filter((bits) => !has(bits, PARKED_FOR.retry) && has(bits, WAITS)),
  sleeping: UNPAUSED.filter((bits) => !has(bits, PARKED_FOR.retry | WAITS | PARKED_FOR.worker)),
  delayed: [PARKED_FOR.delayed],
};

/** Executions whose attempts run elsewhere, or wait for a worker. */
const WITH_WORKERS = UNPAUSED.filter((bits) => !has(bits, PARKED_FOR.retry | WAITS) && has(bits, PARKED_FOR.worker));

/** Executions with an open callback, whatever else they wait for. */
const WITH_CALLBACK = SETS.filter((bits) => has(bits, PARKED_FOR.callback));

export function pageOfWaiting(reader: Database, filter: ExecutionFilter): Promise<ExecutionPage> {
  const resident = { page: RESIDENT, bound: null, more: { why: 'waiting' } };
  const drivers = [along(PARKED, undefined, { parkedFor: WITH_CALLBACK }), resident];
  return merged(reader, filter, drivers, MAX_LOOKED);
}

export async function liveNow(reader: Database, tenantId: string, limit: number): Promise<LiveNow> {
  const [row] = await reader.run<LiveRow>(LIVE_NOW, { tenantId, limit });
  const { ready, owned, parked, external, deadLetters, newest, oldestReadyAt, hasRunner, tooNew, unserved } = row!;
  const counts = JSON.parse(parked) as Record<string, number>;
  const withWorkers = WITH_WORKERS.reduce((total, bits) => total + (counts[bits] ?? 0), 0);
  const outside = JSON.parse(external) as Partial<Record<Why, number>>;
  const count = (why: Why, here = 0) => Math.min(limit, here + (outside[why] ?? 0));
  const sum = (why: Why) =>
    count(
      why,
      BITS_OF[why]?.reduce((total, bits) => total + (counts[bits] ?? 0), 0),
    );
  return {
    hasRunner,
    queued: count('queued', (hasRunner ? ready - tooNew : 0) + (counts[PARKED_FOR.queued] ?? 0)),
    delayed: sum('delayed'),
    needsNewerRunner: tooNew,
    noWorker: unserved + (hasRunner ? 0 : ready),
    running: count('running', owned + Math.max(0, withWorkers - unserved)),
    paused: sum('paused'),
    compensating: sum('compensating'),
    retrying: sum('retrying'),
    waiting: sum('waiting'),
    sleeping: sum('sleeping'),
    oldestReadyAt,
    deadLetters,
    newest,
  };
}

const along = (
  [page, bound]: readonly [Statement, Statement],
  statuses: readonly string[] | undefined,
  more: Readonly<Record<string, unknown>> = {},
): Driver => ({ page, bound, statuses, more });

const timeOrNull = (time: number | undefined): Date | null => (time === undefined ? null : new Date(time));

/** The lowest or the highest id of a time, by what fills the rest. */
function idAt(time: number | undefined, slackMs: number, rest: '0' | 'f'): string | null {
  if (time === undefined) return null;
  const at = Math.min(Math.max(time + slackMs, 0), 2 ** 48 - 1);
  const hex = at.toString(16).padStart(12, '0') + rest.repeat(20);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

const earlier = (one: string, other: string): string => (one < other ? one : other);
const later = (one: string, other: string): string => (one > other ? one : other);

type StandingRow = Omit<ExecutionStanding, 'last'> & {
  [Field in keyof NonNullable<ExecutionStanding['last']>]: NonNullable<ExecutionStanding['last']>[Field] | null;
};

interface LiveRow {
  ready: number;
  oldestReadyAt: Timestamp | null;
  owned: number;
  parked: JsonText;
  external: JsonText;
  deadLetters: number;
  newest: string | null;
  hasRunner: boolean;
  /** Ready ones that no live runner understands. */
  tooNew: number;
  /** Parked executions with an attempt in a task queue that has no worker. */
  unserved: number;
}
