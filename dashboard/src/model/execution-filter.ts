// The filters of the executions page: in the address, in the API's query and in words. One description, three readers.

export interface ExecutionFilter {
  readonly why?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly workflowId?: string | undefined;
  readonly version?: number | undefined;
  readonly format?: string | undefined;
  /** `15m`, `1h`, `24h`, `7d`, `30d`: created within it. */
  readonly since?: string | undefined;
  readonly error?: string | undefined;
  readonly requestId?: string | undefined;
  readonly triggerId?: string | undefined;
  readonly parentExecutionId?: string | undefined;
  readonly environmentId?: string | undefined;
  /** Live for longer than this. */
  readonly olderThan?: string | undefined;
}

export const WHYS = [
  'queued',
  'noWorker',
  'needsNewerRunner',
  'running',
  'retrying',
  'waiting',
  'sleeping',
  'paused',
  'compensating',
  'delayed',
] as const;
export const STATUSES = ['Pending', 'Running', 'Paused', 'Succeeded', 'Failed', 'Cancelled', 'TimedOut'] as const;
export const PERIODS = {
  '15m': 900_000,
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 604_800_000,
  '30d': 2_592_000_000,
} as const;
export const PERIOD_NAMES: Readonly<Record<string, string>> = {
  '15m': 'Last 15 minutes',
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
};
const FORMATS = ['graph', 'pipeline', 'plan'];

const TEXTS = [
  'workflowId',
  'error',
  'requestId',
  'triggerId',
  'parentExecutionId',
  'environmentId',
  'olderThan',
] as const;

/** The valid part of the address; the rest is dropped, because anybody may type an address. */
export function filterOfSearch(search: Readonly<Record<string, unknown>>): ExecutionFilter {
  const filter: Record<string, unknown> = {};
  const { why, status, version, format, since } = search;
  if (typeof why === 'string' && (WHYS as readonly string[]).includes(why)) filter.why = why;
  const statuses = String(status ?? '')
    .split(',')
    .filter((each) => (STATUSES as readonly string[]).includes(each));
  if (statuses.length > 0) filter.status = statuses;
  if (Number.isInteger(Number(version)) && Number(version) > 0) filter.version = Number(version);
  if (typeof format === 'string' && FORMATS.includes(format)) filter.format = format;
  if (typeof since === 'string' && Object.hasOwn(PERIODS, since)) filter.since = since;
  for (const name of TEXTS) {
    const value = search[name];
    if ((typeof value === 'string' || typeof value === 'number') && String(value) !== '') {
      filter[name] = String(value).slice(0, 200);
    }
  }
  return filter as ExecutionFilter;
}

export function searchOfFilter(filter: ExecutionFilter): Record<string, string> {
  const search: Record<string, string> = {};
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && value !== '') search[name] = Array.isArray(value) ? value.join(',') : String(value);
  }
  return search;
}

/** As the list's API wants it. */
export function queryOfFilter({ since, ...rest }: ExecutionFilter, now: number): Record<string, unknown> {
  if (since === undefined) return rest;
  // In whole minutes, so that repeated queries have the same text.
  const from = Math.floor((now - PERIODS[since as keyof typeof PERIODS]) / 60_000) * 60_000;
  return { ...rest, createdAfter: new Date(from).toISOString() };
}

/** The executions that failed for one cause. */
export const filterOfFailure = (
  { workflowId, code }: { readonly workflowId: string; readonly code: string },
  since: string,
): ExecutionFilter => ({ workflowId, status: ['Failed', 'TimedOut'], error: code, since });

export const isEmptyFilter = (filter: ExecutionFilter): boolean => Object.keys(searchOfFilter(filter)).length === 0;

export interface View {
  readonly name: string;
  readonly filter: ExecutionFilter;
}

export const BUILT_IN_VIEWS: readonly View[] = [
  { name: 'All', filter: {} },
  { name: 'Trouble', filter: { status: ['Failed', 'TimedOut'], since: '24h' } },
  { name: 'Live', filter: { status: ['Pending', 'Running', 'Paused'] } },
  { name: 'Retrying', filter: { why: 'retrying' } },
  { name: 'Waiting', filter: { why: 'waiting' } },
  { name: 'Stuck > 1 h', filter: { status: ['Pending', 'Running'], olderThan: '1h' } },
];

const MAX_VIEWS = 20;

/** Saved views from local storage, which anyone may have written. */
export function readViews(text: string | null): View[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    if (!Array.isArray(list)) return [];
    return list
      .filter((each): each is { name: string; filter: Record<string, unknown> } => isView(each))
      .map(({ name, filter }) => ({
        name: name.slice(0, 60),
        filter: filterOfSearch(searchOfFilter(filter as ExecutionFilter)),
      }))
      .slice(0, MAX_VIEWS);
  } catch {
    return [];
  }
}

function isView(each: unknown): boolean {
  return (
    typeof each === 'object' &&
    each !== null &&
    'name' in each &&
    typeof each.name === 'string' &&
    'filter' in each &&
    typeof each.filter === 'object' &&
    each.filter !== null
  );
}

/** A view of the same name is replaced; the oldest makes room. */
export function withView(views: readonly View[], view: View): View[] {
  return [...views.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS);
}
