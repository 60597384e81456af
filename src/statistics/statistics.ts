// Queries of the statistics: numbers over time by workflow, version or action, one line per workflow, and failures by cause.

import { requestInvalid } from '../core/error/request-invalid.ts';
import type { FailureGroup, Grain, StatCounts, StatisticsStore } from '../store/statistics-port.ts';
import { addTo, DURATION_BOUNDS_MS, emptyHistogram, quantile, WAIT_BOUNDS_MS } from './histogram.ts';
import type { StatisticsMeter } from './statistics-meter.ts';

export type StatKey = 'workflow' | 'version' | 'action';

export interface StatPoint extends Omit<StatCounts, 'durations' | 'waits'> {
  readonly at: number;
  readonly key: string;
  readonly p50Ms: number | undefined;
  readonly p95Ms: number | undefined;
  readonly waitP95Ms: number | undefined;
}

export interface StatQuestion {
  readonly tenantId: string;
  readonly from: number;
  readonly until: number;
  readonly grain: Grain;
  readonly by: StatKey;
  /** Restricts the answer to these workflows or actions. */
  readonly keys: readonly string[] | null;
}

const UNIT_MS: Record<Grain, number> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
const MAX_STEPS = 1_500;
const MAX_ROWS = 50_000;
const MAX_CAUSES = 200;
/** Fewer executions say little about the usual duration. */
const FEWEST_ENDED = 20;

export class Statistics {
  private readonly store: StatisticsStore;
  private readonly meter: Pick<StatisticsMeter, 'flush'>;

  constructor(store: StatisticsStore, meter: Pick<StatisticsMeter, 'flush'>) {
    this.store = store;
    this.meter = meter;
  }

  /** Writes the counts of this process now. */
  flush(): Promise<void> {
    return this.meter.flush();
  }

  async over(question: StatQuestion): Promise<StatPoint[]> {
    const { tenantId, grain, from, until, by, keys } = question;
    const steps = (until - from) / UNIT_MS[grain];
    if (!(steps > 0)) throw badRange('`until` must be later than `from`');
    if (steps > MAX_STEPS) throw badRange(`at most ${MAX_STEPS} steps at once: choose a longer \`bucket\``);
    const range = { tenantId, grain, from: from - (from % UNIT_MS[grain]), until, limit: MAX_ROWS };
    if (by === 'action') {
      const rows = await this.store.statsOfActions({ ...range, actionTypes: keys });
      return points(rows.map((row) => ({ ...row, key: row.actionType })));
    }
    const rows = await this.store.statsOfExecutions({ ...range, workflowIds: keys });
    const keyOf = ({ workflowId, version }: (typeof rows)[number]) =>
      by === 'version' ? `${workflowId}@${version}` : workflowId;
    return points(rows.map((row) => ({ ...row, key: keyOf(row) })));
  }

  /** The last day of some workflows, hour by hour. */
  lastDay(tenantId: string, workflowIds: readonly string[], now: number): Promise<StatPoint[]> {
    const until = now - (now % UNIT_MS.hour) + UNIT_MS.hour;
    const day = { from: until - 24 * UNIT_MS.hour, until };
    return this.over({ tenantId, ...day, grain: 'hour', by: 'workflow', keys: workflowIds });
  }

  /** The duration that 99 % of the workflow's executions stayed below in the last week; undefined: fewer than twenty ended. */
  async p99Ms(tenantId: string, workflowId: string, now: number): Promise<number | undefined> {
    const week = { from: now - 7 * UNIT_MS.day, until: now + UNIT_MS.day };
    const range = { tenantId, grain: 'day', ...week, limit: MAX_ROWS } as const;
    const durations = emptyHistogram();
    for (const row of await this.store.statsOfExecutions({ ...range, workflowIds: [workflowId] })) {
      addTo(durations, row.durations);
    }
    const ended = durations.reduce((sum, count) => sum + count, 0);
    return ended < FEWEST_ENDED ? undefined : quantile(DURATION_BOUNDS_MS, durations, 0.99);
  }

  failures(tenantId: string, since: number, workflowId: string | null): Promise<FailureGroup[]> {
    return this.store.failureGroups({ tenantId, since, workflowId, limit: MAX_CAUSES });
  }
}

function points(rows: readonly (StatCounts & { at: number; key: string })[]): StatPoint[] {
  const summed = new Map<string, StatCounts & { at: number; key: string }>();
  for (const row of rows) {
    const place = `${row.at}\n${row.key}`;
    const known = summed.get(place) ?? { ...emptyCounts(), at: row.at, key: row.key };
    known.started += row.started;
    known.succeeded += row.succeeded;
    known.failed += row.failed;
    known.timedOut += row.timedOut;
    known.cancelled += row.cancelled;
    addTo(known.durations, row.durations);
    addTo(known.waits, row.waits);
    summed.set(place, known);
  }
  return [...summed.values()].map(({ durations, waits, ...counts }) => ({
    ...counts,
    p50Ms: quantile(DURATION_BOUNDS_MS, durations, 0.5),
    p95Ms: quantile(DURATION_BOUNDS_MS, durations, 0.95),
    waitP95Ms: quantile(WAIT_BOUNDS_MS, waits, 0.95),
  }));
}

const emptyCounts = (): StatCounts => ({
  ...{ started: 0, succeeded: 0, failed: 0, timedOut: 0, cancelled: 0 },
  ...{ durations: emptyHistogram(), waits: emptyHistogram() },
});

const badRange = (message: string) => requestInvalid([{ code: 'BAD_FORMAT', path: '/query/from', message }]);
